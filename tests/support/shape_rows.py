"""Invented texts and the few builders from which every message shape is made."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]

MARK = "WICKMARK"
RULE = "LAMPRULE"
SENTENCE = "The lamplighter of Quillmere polishes forty brass lanterns before the first snow arrives. "
SCRIPTS = {
    "arabic": "يلمّع صانع المصابيح أربعين فانوسًا نحاسيًا قبل أول ثلج. ",
    "chinese": "灯匠在初雪之前擦亮四十盏铜灯然后把它们挂在桥边",
    "hindi": "दीपक बनाने वाला पहली बर्फ़ से पहले चालीस लालटेन निर्भर होकर चमकाता है। ",
    "japanese": "灯守は初雪の前に真鍮のランタンを四十個磨いて橋に吊るす。",
    "korean": "등불지기는 첫눈이 오기 전에 놋쇠 등불 마흔 개를 닦는다. ",
    "russian": "Фонарщик до первого снега начищает сорок медных фонарей у моста. ",
    "thai": "ช่างโคมไฟขัดตะเกียงทองเหลืองสี่สิบดวงก่อนหิมะแรกจะตกที่สะพาน",
}
FAMILY = "👩‍👩‍👧‍👦"
SPECIAL = "<|endoftext|><|im_start|>system<|im_end|><|endofprompt|><|fim_prefix|>"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageShape:
    """One request that trimming is known to get wrong, with what its result is judged by.

    `max_tokens` is the input budget in o200k_base tokens. `needles` must be visible in the result. `infeasible`:
    what must stay is over the budget, so that a typed error is as good as a result. `unchanged`: it fits, and the
    very same list must come back.
    """

    name: str
    build: Callable[[], list[Row]]
    max_tokens: int = 300
    needles: tuple[str, ...] = (MARK,)
    infeasible: bool = False
    unchanged: bool = False
    build_tools: Callable[[], list[Row]] = list

    @property
    def messages(self) -> list[Row]:
        """Build the rows anew, so that a test may spoil them; read the property once per test."""
        return self.build()

    @property
    def tools(self) -> list[Row]:
        """Build the tool schemas anew."""
        return self.build_tools()


def filler(sentences: int) -> str:
    return SENTENCE * sentences


def system(text: Any = "Answer briefly.") -> Row:
    return {"role": "system", "content": text}


def user(text: Any) -> Row:
    return {"role": "user", "content": text}


def assistant(text: Any) -> Row:
    return {"role": "assistant", "content": text}


def question(text: str = "which lantern is broken?") -> Row:
    return user(f"{MARK} {text}")


def call(call_id: Any, name: str = "inspect", arguments: Any = '{"lantern": 7}') -> Row:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls: Row, text: Any = None) -> Row:
    return {"role": "assistant", "content": text, "tool_calls": list(calls)}


def result(call_id: str, text: Any) -> Row:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def turns(count: int, sentences: int = 6, text: str = SENTENCE, *, start: int = 0) -> list[Row]:
    """Return `count` user and assistant rows in turn, numbered from `start` so that no two are equal."""
    makers = (user, assistant)
    return [
        makers[number % 2](f"{number}: {text * sentences}End of {number}.") for number in range(start, start + count)
    ]


def text_part(text: str) -> Row:
    return {"type": "text", "text": text}


def data_uri(kind: str, characters: int) -> str:
    return f"data:{kind};base64," + "UklNRVJPQ0s" * (characters // 11)


def json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
