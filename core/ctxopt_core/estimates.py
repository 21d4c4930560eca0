"""Counters that do not know the model's vocabulary, and say so."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxopt_core.tokens import TokenCounter

# Costs are twentieths of a token. They follow cl100k_base, which outside English is the dearer of the two bundled
# vocabularies, and leave some room; a character that is not listed costs a token for each of its bytes.
_TOKEN = 20
_SCRIPTS = {
    "latin": ("\u00aa-\u024f\u1e00-\u1eff", 20),
    "greek": ("\u0370-\u03ff\u1f00-\u1fff", 24),
    "cyrillic": ("\u0400-\u04ff", 16),
    "hebrew": ("\u05d0-\u05ea", 25),
    "arabic": ("\u0620-\u06ff", 20),
    "devanagari": ("\u0900-\u097f", 26),
    "thai": ("\u0e00-\u0e7f", 22),
    "kana": ("\u3040-\u30ff", 25),
    "han": ("\u4e00-\u9fff", 32),
    "hangul": ("\uac00-\ud7a3", 32),
    "punctuation": ("\u2000-\u206f\u3000-\u303f\uff00-\uffef", 40),
    "emoji": ("\U0001f000-\U0001faff", 60),
}
_PER_CHARACTER = {"space": 0, "signs": 20, "dense": 16, **{script: cost for script, (_, cost) in _SCRIPTS.items()}}
_CHARACTERS_PER_TOKEN = {"word": 4, "capitals": 2, "digits": 2, "number": 2, "blanks": 16, "lines": 2}
_RUN = re.compile(
    "|".join(
        (
            # Keys, hashes and base64: long, and with a digit early on.
            r"(?P<dense>(?=[A-Za-z+/=_-]{0,23}[0-9])[A-Za-z0-9+/=_-]{24,})",
            r"(?P<word>[A-Z]?[a-z]+)",
            r"(?P<capitals>[A-Z]+)",
            r"(?P<digits>[0-9]+)",
            # Unlike a word, a number does not take in the space before it.
            r"(?P<number> [0-9]+)",
            r"(?P<blanks>[ \t]{2,}|\t)",
            r"(?P<space> )",
            r"(?P<lines>[\r\n]+)",
            r"(?P<signs>[!-/:-@\[-`{-~]+)",
            *(f"(?P<{script}>[{characters}]+)" for script, (characters, _) in _SCRIPTS.items()),
            rf"(?P<other>[^\t\r\n -~{''.join(characters for characters, _ in _SCRIPTS.values())}]+)",
        )
    )
)


class EstimateCounter:
    """Estimate tokens from the scripts of a text, with no vocabulary at all.

    It leans towards counting too many: by about a half for English and code, severalfold for scripts that newer
    vocabularies know better. Use it where no tokenizer can be had; reports mark its figures as estimates.
    """

    __slots__ = ()

    name = "estimate"
    exact = False

    def __repr__(self) -> str:
        return "EstimateCounter()"

    def count(self, text: str) -> int:
        """Return the estimated tokens of `text`; an empty or missing text counts 0."""
        return max(1, -(-_cost(text) // _TOKEN)) if text else 0

    def exceeds(self, text: str, limit: int) -> bool:
        """Tell whether `text` is estimated at more than `limit` tokens."""
        if not text or limit <= 0:
            return limit < 0 or bool(text)
        left = limit * _TOKEN
        for run in _RUN.finditer(text):
            left -= _run_cost(run)
            if left < 0:
                return True
        return False

    def prefix_length(self, text: str, limit: int) -> int:
        """Return how many characters from the start are estimated at most at `limit` tokens."""
        if not text or limit <= 0:
            return 0
        left = limit * _TOKEN
        for run in _RUN.finditer(text):
            cost = _run_cost(run)
            if cost > left:
                return run.start() + _longest_part(run.group(), left, from_end=False)
            left -= cost
        return len(text)

    def suffix_length(self, text: str, limit: int) -> int:
        """Return how many characters up to the end are estimated at most at `limit` tokens."""
        if not text or limit <= 0:
            return 0
        over = _cost(text) - limit * _TOKEN
        if over <= 0:
            return len(text)
        for run in _RUN.finditer(text):
            over -= _run_cost(run)
            if over <= 0:
                break
        rest = len(text) - run.end()
        longer = rest + _longest_part(run.group(), -over, from_end=True)
        return rest if self.exceeds(text[len(text) - longer :], limit) else longer


class ScaledCounter:
    """Another counter's figures times a safety factor, for models whose own tokenizer is not published.

    Args:
        counter: The counter to scale.
        factor: At least 1; the result is rounded up.
        name: What the report calls this estimate; by default the counter's name and the factor.

    Raises:
        ValueError: `factor` is below 1.
    """

    __slots__ = ("_counter", "_factor", "name")

    exact = False

    def __init__(self, counter: TokenCounter, factor: float, *, name: str | None = None) -> None:
        if not factor >= 1:
            message = f"`factor` must be at least 1, so that the estimate stays on the safe side, got {factor!r}"
            raise ValueError(message)
        self._counter = counter
        self._factor = Fraction(str(factor))
        self.name = name or f"{counter.name} x {factor:g}"

    def __repr__(self) -> str:
        return f"ScaledCounter({self._counter!r}, {float(self._factor):g})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScaledCounter):
            return NotImplemented
        return (self._counter, self._factor, self.name) == (other._counter, other._factor, other.name)

    def __hash__(self) -> int:
        return hash((self._counter, self._factor, self.name))

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self._counter, float(self._factor), self.name)

    def count(self, text: str) -> int:
        """Return the scaled tokens of `text`, rounded up."""
        return math.ceil(self._counter.count(text) * self._factor)

    def exceeds(self, text: str, limit: int) -> bool:
        """Tell whether `text` counts more than `limit` scaled tokens."""
        return limit < 0 or self._counter.exceeds(text, self._unscaled(limit))

    def prefix_length(self, text: str, limit: int) -> int:
        """Return how many characters from the start count at most `limit` scaled tokens."""
        return self._counter.prefix_length(text, self._unscaled(limit))

    def suffix_length(self, text: str, limit: int) -> int:
        """Return how many characters up to the end count at most `limit` scaled tokens."""
        return self._counter.suffix_length(text, self._unscaled(limit))

    def _unscaled(self, limit: int) -> int:
        return math.floor(limit / self._factor)


def _rebuild(counter: TokenCounter, factor: float, name: str) -> ScaledCounter:
    return ScaledCounter(counter, factor, name=name)


def _cost(text: str) -> int:
    return sum(map(_run_cost, _RUN.finditer(text)))


def _run_cost(run: re.Match[str]) -> int:
    kind = run.lastgroup or "other"
    length = run.end() - run.start()
    per_character = _PER_CHARACTER.get(kind)
    if per_character is not None:
        return length * per_character
    characters = _CHARACTERS_PER_TOKEN.get(kind)
    if characters is None:
        return _TOKEN * len(run.group().encode("utf-8", "surrogatepass"))
    return _TOKEN * -(-(length + (kind == "number")) // characters)


def _longest_part(run: str, room: int, *, from_end: bool) -> int:
    low, high = 0, len(run)
    while low < high:
        middle = (low + high + 1) // 2
        if _cost(run[len(run) - middle :] if from_end else run[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return low
