"""Guess the language of a string, well enough to choose its sentence rules.

The script decides wherever it can; within a script, letters or words that only one of its languages uses; among the
languages of the Latin script, function words. A wrong guess costs an abbreviation or two, never a character.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter

DEFAULT_LANGUAGE = "en"
_SAMPLE = 1_000  # characters that are looked at; more cost time and change hardly any guess
_ENGLISH_EVERY = 200  # characters with one "the", "of" or "and": so many are English, and need no further look
_FUNCTION_WORD_SHARE = 0.1  # of the different words; below it a string is a table, code or of another language
_LATIN_SCRIPT = "latin"
_BLOCKS = (
    (0x0000, _LATIN_SCRIPT),
    (0x0370, "el"),
    (0x0400, "ru"),
    (0x0530, "hy"),
    (0x0590, ""),
    (0x0600, "ar"),
    (0x0780, ""),
    (0x0900, "hi"),
    (0x0980, "bn"),
    (0x0A00, "pa"),
    (0x0A80, "gu"),
    (0x0B00, ""),
    (0x0B80, "ta"),
    (0x0C00, "te"),
    (0x0C80, "kn"),
    (0x0D00, "ml"),
    (0x0D80, ""),
    (0x1000, "my"),
    (0x10A0, ""),
    (0x1200, "am"),
    (0x13A0, ""),
    (0x3040, "ja"),
    (0x3100, "zh"),
    (0xA000, ""),
)
_BLOCK_STARTS = [start for start, _ in _BLOCKS]
# Letters or words of one language that the main language of its script does not have.
_MARKS = {
    "ru": (
        ("kk", ("ә", "ғ", "қ", "ң", "ө", "ұ", "ү", "һ")),
        ("uk", ("і", "ї", "є", "ґ")),
        ("bg", ("ът", "ър", "ъл", "ъв", "ъд", "ък", "ън", "ъз", "ъж", "ъс", "ъм", "ъб")),
    ),
    "ar": (("ur", ("ٹ", "ڈ", "ڑ", "ں", "ے", "۔")), ("fa", ("پ", "چ", "ژ", "گ"))),
    "hi": (("mr", ("ळ", "आहे", "आणि")),),
    "zh": (("ja", ("の", "は", "を", "に", "が", "と", "で", "た", "す", "い")),),
}
# Danish and Catalan are missing on purpose: their sentence rules run a hundred times slower than the others.
_FUNCTION_WORDS = {
    "en": "the of and to in is that it was for with as his on be at by this had not are but from have they which you "
    "he she we i a an or were what when who will there their would been my your if all do does did so no how",
    "de": "der die das und ist nicht ein eine einen einem einer zu den dem des von mit auf für im sich auch es ich sie "
    "er wir war wird sind hat haben aus bei nach wie nur oder aber am als dass noch um zum zur wurde über man in "
    "an",
    "es": "el la los las de que y en un una es no por con para su se lo como más pero sus le ya este esta ha fue del "
    "al yo me mi tiene era son o si muy sobre sin hay está qué nos a él cuando también desde todo",
    "fr": "le la les de des du un une et est en que qui dans pour pas sur ce il elle ne se au aux par plus avec son sa "
    "ses nous vous je ont été sont mais ou cette comme être fait leur on y tout l d n s qu c a à ces",
    "it": "il lo la i gli le di che e è un una in non per con del della dei delle al alla nel nella si da sono ha come "
    "più anche ma questo questa o se mi ci ho su suo sua era dal dalla sul l a cosa io lei tutti molto",
    "nl": "de het een en van in is dat op te zijn niet met voor er die aan was hij ze ik je ook als bij door om maar "
    "uit naar dan nog werd wordt heeft hebben deze dit over geen wat zich tot kan worden",
    "pt": "o a os as de que e do da em um uma para é com não por mais dos das no na se foi como mas ao ele ela são seu "
    "sua ou também já eu está nos nas pelo pela isso muito até entre quando",
    "pl": "i w na z nie się do to że jest o jak po za od co tak ale przez dla są być tylko czy oraz był było ich jego "
    "już może ze przy który która które tym",
    "sk": "a v na sa je to že so z do o aj ako za sú po bol bola bolo pre pri ale od by ktorý ktorá ktoré nie už len "
    "alebo podľa jeho čo si ich bude medzi tak",
    "fi": "ja on ei se että hän oli ovat mutta kun myös joka niin kuin ole tai minä sen mitä nyt vain jos voi hänen "
    "mukaan jo ollut olla sekä sitä",
    "no": "og i det er at på en et til av for ikke med som den jeg har de var du vi han hun kan fra men om skal så af "
    "der sig mig eller blev også efter ved være",
}
_LATIN = {language: frozenset(words.split()) for language, words in _FUNCTION_WORDS.items()}


def guess_language(text: str) -> str:
    """Return the code of the language whose sentence rules suit `text` best; English if nothing decides.

    Only the first 1,000 characters are looked at.
    """
    sample = text[:_SAMPLE]
    script = _LATIN_SCRIPT if sample.isascii() else _commonest_script(sample)
    if script != _LATIN_SCRIPT:
        return _within_script(script, sample)
    english = sample.count(" the ") + sample.count(" of ") + sample.count(" and ")
    if english * _ENGLISH_EVERY >= len(sample):
        return DEFAULT_LANGUAGE
    return _by_function_words(sample)


def _commonest_script(sample: str) -> str:
    blocks = Counter(bisect_right(_BLOCK_STARTS, ord(letter)) - 1 for letter in set(sample) if letter.isalpha())
    return _BLOCKS[blocks.most_common(1)[0][0]][1] if blocks else _LATIN_SCRIPT


def _within_script(language: str, sample: str) -> str:
    lower_case = sample.lower()
    for other, marks in _MARKS.get(language, ()):
        if any(mark in lower_case for mark in marks):
            return other
    return language or DEFAULT_LANGUAGE


def _by_function_words(sample: str) -> str:
    words = set(sample.lower().replace("'", " ").replace("’", " ").split())
    scores = {language: len(known & words) for language, known in _LATIN.items()}
    best = max(scores, key=scores.__getitem__)
    return best if scores[best] > _FUNCTION_WORD_SHARE * len(words) else DEFAULT_LANGUAGE
