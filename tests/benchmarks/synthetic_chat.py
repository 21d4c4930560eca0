"""Long conversations of made-up sentences: the same on every run, and no two messages alike."""

from __future__ import annotations

import random

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

VOCABULARY = """
account adapter afternoon agreement allocation although answer archive argument assemble attempt average backlog
balance batch because before behavior between boundary branch bridge budget buffer building calendar careful category
certainly change channel chapter circuit client collect column compare compile complete condition configuration
connection consider constant container context contract convert copper corridor counter customer cycle decide default
delivery depend deploy describe detail device different directory distance document doubtful draft during early effect
electricity element empty engine enough entry equal estimate evening every example exception expect experiment explain
external factory failure familiar feature figure filter finally finish follow forecast forward framework freight
function further garden general generate gravel handover harbour heading heavy history however hundred identical
immediate improve include independent inspection instead instrument interval invoice journey junction keyboard kitchen
label language latency later launch layer leakage lesson level library limit linear listen little machine maintenance
manual margin material measure member memory message migration minute missing modest moment monitor morning mountain
neighbor network nevertheless notice number object observe offline often operate opposite order ordinary outcome
overview package paragraph parallel partner pattern payment percent perhaps pipeline planning platform position
possible practice precise prepare pressure previous probably problem procedure process produce program promise
proposal protocol quality quantity quarter question quickly radiator random reason receive record reduce reference
refuse region register release remember repair repeat report request require reserve resistance response restore
result retrieval reversible review river robust routine sample schedule search second section segment selection
sensible separate sequence service several shorten signal similar simple single slowly software solution somewhere
source specific stable standard station storage straight strategy structure subject suddenly suggestion summary
support surface switch table technician temperature template temporary terminal thermostat threshold throughput
together tomorrow tolerance torque track traffic transfer translate trigger truncate tunnel turbine typical understand
uniform unusual update usually vacation validate valve variable vehicle version vibration village visible voltage
warehouse warning weather whether window without workflow workshop yesterday
"""
"""Everyday and technical English; some of them are one token, some are two or three."""

SYSTEM = SystemMessage("You are a careful assistant. Answer in short sentences, and say so when you do not know.")


class Writer:
    """Writes messages.

    Args:
        seed: Equal seeds write equal messages.
    """

    def __init__(self, seed: int = 20261129) -> None:
        self._random = random.Random(seed)
        self._words = VOCABULARY.split()

    def text(self, words: int) -> str:
        """Return sentences of about `words` words; a fifth more or less."""
        rest = self._random.randint(words * 4 // 5, words * 6 // 5)
        sentences: list[str] = []
        while rest > 0:
            length = min(rest, self._random.randint(6, 18))
            sentence = " ".join(self._random.choices(self._words, k=length)).capitalize()
            sentences.append(f"{sentence} {self._random.randint(2, 9999)}.")
            rest -= length
        return " ".join(sentences)

    def messages(self, count: int, words: int) -> list[BaseMessage]:
        """Return `count` messages by user and assistant in turn, each of about `words` words."""
        kinds = (HumanMessage, AIMessage)
        return [kinds[position % 2](self.text(words)) for position in range(count)]
