"""A question, the sentence that answers it and sentences about something else, in several scripts."""

from __future__ import annotations

from typing import NamedTuple


class Answered(NamedTuple):
    """One question: the sentence that answers it, one about something else with a number, and what parts the two."""

    question: str
    answer: str
    other: str
    space: str = " "

    def text(self, start: int, stop: int, answer_at: int | None = None) -> str:
        """Return the numbered sentences from `start` to `stop`, with the answer before one of them."""
        sentences = [self.other.format(n=number) for number in range(start, stop)]
        if answer_at is not None:
            sentences.insert(answer_at, self.answer)
        return self.space.join(sentences)


ANSWERED = {
    "arabic": Answered(
        "لماذا تشقق فرن البستان؟",
        "تشقق فرن البستان في شهر مارس لأن الطلاء كان رطبًا.",
        "الفانوس رقم {n} معلق على الجسر القديم قرب الميناء.",
    ),
    "chinese": Answered(
        "果园的窑为什么裂开", "果园的窑因为釉料受潮在三月裂开了。", "第{n}盏铜灯挂在老桥边等待初雪降临。", ""
    ),
    "english": Answered(
        "Why did the orchard kiln crack?",
        "The kiln in the orchard cracked in March because its glaze was damp.",
        "Lantern number {n} hangs at the old bridge near the harbour.",
    ),
    "greek": Answered(
        "Γιατί ράγισε ο φούρνος του περιβολιού;",
        "Ο φούρνος του περιβολιού ράγισε τον Μάρτιο από την υγρασία.",
        "Το φανάρι με αριθμό {n} κρέμεται στην παλιά γέφυρα.",
    ),
    "hindi": Answered(
        "बाग का भट्ठा क्यों फटा?",
        "बाग का भट्ठा मार्च में फटा क्योंकि मिट्टी गीली थी।",
        "लालटेन संख्या {n} पुराने पुल के पास लटकी हुई है।",
    ),
    "japanese": Answered(
        "果樹園の窯はなぜ割れたのか",
        "果樹園の窯は釉薬が湿っていたため三月に割れた。",
        "{n}番目のランタンは古い橋のそばに吊るされている。",
        "",
    ),
    "korean": Answered(
        "과수원 가마는 왜 갈라졌나?",
        "과수원 가마는 유약이 젖어서 삼월에 갈라졌다.",
        "등불 {n}번은 오래된 다리 옆에 걸려 있다.",
    ),
    "russian": Answered(
        "Почему треснула печь в саду?",
        "Печь в саду треснула в марте из-за сырой глазури.",
        "Фонарь номер {n} висит у старого моста возле гавани.",
    ),
    "thai": Answered(
        "เตาเผาในสวนแตกเพราะอะไร",
        "เตาเผาในสวนแตกในเดือนมีนาคมเพราะน้ำเคลือบชื้น",
        "ตะเกียงดวงที่ {n} แขวนอยู่ที่สะพานเก่าริมท่าเรือ",
    ),
}
