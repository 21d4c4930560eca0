"""Conversations as people and agents have them, for every provider, made from one source of choices.

`made` takes the choices from a function, so that Hypothesis can draw and shrink them, and a seeded generator can make
thousands. Every conversation is valid for its provider while nothing is cut.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

Pick = Callable[[int], int]
"""Returns a number from 0 to below the given one."""

PROVIDERS = ("openai_chat", "openai_responses", "anthropic", "google", "mistral", "ollama")
SENTENCES = (
    "The lamplighter polishes forty brass lanterns before the first snow arrives on the long pier. ",
    "Nobody at the harbour knows who wound the tower clock on the night of the storm. ",
    "El faro guarda silencio mientras las barcas vuelven con la marea alta. ",
    '{"lamp": 17, "lit": true, "oil": "12.50", "place": ["pier", "quay 4"]}, ',
    "def light(lamp):\n    return lamp.oil > 0 and not lamp.broken\n",
)
LENGTHS = (0, 1, 1, 3, 12, 60)
"""Sentences of a tool result: none, one, few, many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call and its result, which is a string or a list of text blocks."""

    identity: str
    arguments: dict[str, Any]
    result: str | list[str]
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One assistant message that calls tools, with what it said and thought before."""

    text: str
    thinks: bool
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a user asks, what the model does, and its answer; None where the run is still going on."""

    questions: tuple[str, ...]
    image: bool
    name: str | None
    instruction: str | None
    steps: tuple[Step, ...]
    special: int
    answer: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A whole request: system prompt and turns; `thinking` is whether the model thinks."""

    provider: str
    system: str | None
    thinking: bool
    turns: tuple[Turn, ...]

    @property
    def question(self) -> str:
        """What is asked now."""
        return self.turns[-1].questions[-1]


@dataclass(slots=True)
class _Maker:
    """Makes the parts, and counts the calls so that ids and texts differ."""

    pick: Pick
    provider: str
    calls: int = 0
    earlier: int = 0

    def chance(self, one_in: int) -> bool:
        return self.pick(one_in) == one_in - 1

    def text(self, sentences: int) -> str:
        return SENTENCES[self.pick(len(SENTENCES))] * sentences

    def identity(self) -> str:
        """Return an id in the form of the provider; in chats with OpenAI a later turn sometimes uses one again."""
        self.calls += 1
        number = self.calls
        if self.provider == "openai_chat" and self.earlier and self.chance(8):
            number = self.earlier
            self.earlier = 0
        return {"anthropic": f"toolu_{number:020d}", "mistral": f"m{number:08d}"}.get(
            self.provider, f"call_{number:024d}"
        )

    def call(self) -> Call:
        words = self.text(LENGTHS[self.pick(len(LENGTHS))])
        listed = self.chance(6) and bool(words)
        arguments = {"word": self.text(self.pick(3)) or "lamp", "page": self.pick(90)}
        return Call(
            identity=self.identity(),
            arguments=arguments,
            result=[words, "The end."] if listed else words,
            failed=self.chance(6),
        )

    def step(self, *, thinking: bool) -> Step:
        return Step(
            text=self.text(self.pick(2)).strip(),
            thinks=thinking,
            calls=tuple(self.call() for _ in range(1 + self.pick(3))),
        )

    def turn(self, *, last: bool, thinking: bool, number: int) -> Turn:
        self.earlier = self.calls
        steps = tuple(self.step(thinking=thinking) for _ in range((0, 0, 1, 1, 4)[self.pick(5)]))
        asked = f"Question {number}: what burns at quay {number + self.pick(50)}? "
        long = self.text((0, 0, 2, 20)[self.pick(4)])
        questions = (asked + long,) if not self.chance(7) else ("Listen. ", asked + long)
        may_instruct = self.provider in {"openai_chat", "openai_responses", "ollama"}
        return Turn(
            questions=tuple(question.strip() for question in questions),
            image=self.chance(7),
            name="tom" if self.provider == "openai_chat" and self.chance(7) else None,
            instruction="From now on, answer in one line." if may_instruct and number and self.chance(9) else None,
            steps=steps,
            special=self.pick(12) if self.chance(3) else 0,
            answer=None if last else self.text(1 + self.pick(12)).strip(),
        )


def made(pick: Pick, provider: str) -> Conversation:
    """Make a conversation of choices."""
    maker = _Maker(pick, provider)
    thinking = maker.chance(3)
    count = (1, 2, 4, 8, 14)[pick(5)]
    turns = [maker.turn(last=number == count - 1, thinking=thinking, number=number) for number in range(count)]
    system = maker.text((1, 4, 15)[pick(3)]).strip() if not maker.chance(5) else None
    return Conversation(provider=provider, system=system, thinking=thinking, turns=tuple(turns))


@st.composite
def conversations(draw: st.DrawFn, provider: str) -> Conversation:
    """Draw a conversation for a provider."""
    return made(lambda below: draw(st.integers(0, below - 1)), provider)
