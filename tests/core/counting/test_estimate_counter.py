"""Estimates say that they are estimates and lean towards too many."""

from __future__ import annotations

import base64
import json
import random
import time
import uuid

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.counting.counter_wrappers import ScaledCounter
from ctxopt_core.counting.estimate_counter import EstimateCounter
from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.counting.token_counter import TokenCounter
from hostile_text import HOSTILE_SAMPLES, hostile_text, huge_samples
from independent_recount import count_text
from kinds_of_text import tekken_tokens
from shape_rows import FAMILY, SCRIPTS, SENTENCE

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
WORST_UNDERCOUNT = 0.95
# Digits in one run are the widest off; an estimate beyond that would be of no use.
MOST_OVERCOUNT = 2.5
EITHER = EstimateCounter()
NEWER = EstimateCounter(like="o200k_base")
COUNTERS = pytest.mark.parametrize("counter", [EITHER, NEWER], ids=lambda counter: counter.name)

DICE = random.Random(40)
PROSE = (
    "Nobody in Quillmere remembers who lit the first lantern. The council's ledger, begun in 1702, speaks of “a lamp "
    "by the bridge” — and of a fine for whoever let it go out! Most evenings, though, the wind wouldn't allow it.\n\n"
)
CODE = '''
@dataclass(frozen=True)
class Lantern:
    """A lamp on a bridge."""

    name: str
    oil_level: float = 0.0

    def is_lit(self, *, minimum: float = 0.05) -> bool:
        if not self.name.startswith("_") and self.oil_level >= minimum:
            return True
        return any(wick["dry"] is False for wick in self._wicks[1:])  # TODO: ask the keeper


async function getLanternById(lanternId) { const res = await fetch(`/api/lanterns/${lanternId}`); return res?.json(); }
'''
ROWS = [
    {"id": number * 7919, "name": f"lantern {number}", "oil": round(number * 0.37, 2), "lit": True, "tags": ["a", None]}
    for number in range(40)
]
SAMPLES = {
    "prose": PROSE * 3,
    "prose_short": "Light it!",
    "prose_in_capitals": PROSE.upper(),
    "french": "L'été dernier, à Quillmère, l'allumeur de réverbères a remplacé les lanternes abîmées près du pont. ",
    "code": CODE,
    "markup": '<ul class="lamps"><li id="l-1"><b>lit</b> &amp; clean</li></ul>\n| a | b |\n|---|---|\n| 1 | x |\n' * 5,
    "json": json.dumps(ROWS),
    "json_compact": json.dumps(ROWS, separators=(",", ":")),
    "json_indented": json.dumps(ROWS, indent=2),
    "uuids": "\n".join(str(uuid.UUID(int=DICE.getrandbits(128))) for _ in range(40)),
    "uuids_in_capitals": " ".join(str(uuid.UUID(int=DICE.getrandbits(128))).upper() for _ in range(40)),
    "hex": DICE.randbytes(600).hex(),
    "base64": base64.b64encode(DICE.randbytes(900)).decode(),
    "base64_of_a_url": base64.urlsafe_b64encode(DICE.randbytes(900)).decode(),
    "digits": "".join(DICE.choices("0123456789", k=900)),
    "numbers": " ".join(str(DICE.randrange(10**size)) for size in range(1, 9) for _ in range(10)),
    "tabs": "lamp" + "\t" * 400 + "lit",
    "single_digits": "1 2 3 4 5 6 7 8 9 " * 9,
    "table_of_numbers": "\n".join(",".join(f"{DICE.random() * 900:.3f}" for _ in range(6)) for _ in range(20)),
    "log": "\n".join(f"2026-11-0{day}T10:3{day}:07.41{day}Z WARN [lamp-{day}] oil at {day}%" for day in range(1, 9)),
    "links": "\n".join(f"https://lamps.example/q/{DICE.getrandbits(64):x}?page={n}&lang=en" for n in range(20)),
    **SCRIPTS,
    "chinese_notice": "我们已经收到您的请求，将尽快回复。请不要与任何人分享您的密码。",
    "chinese_traditional": "我們已經收到您的請求，將盡快回覆。臺灣的鐵路網絡覆蓋廣闊。",
    "japanese_notice": "ご依頼を受け付けました。パスワードを他の人と共有しないでください。",
    "hindi_notice": "हमने आपका अनुरोध प्राप्त कर लिया है। कृपया अपना पासवर्ड किसी के साथ साझा न करें।",
    "thai_notice": "เราได้รับคำขอของคุณแล้ว กรุณาอย่าเปิดเผยรหัสผ่านของท่านแก่ผู้อื่น",
    "korean_notice": "요청이 접수되었습니다. 비밀번호를 다른 사람과 공유하지 마십시오.",
    "bengali": "আমরা আপনার অনুরোধ পেয়েছি এবং শীঘ্রই উত্তর দেব।",
    "greek": "Λάβαμε το αίτημά σας και θα απαντήσουμε το συντομότερο δυνατόν.",
    "emoji": "🎉🔥😀✨🚀❤️" * 5,
    "emoji_joined": FAMILY * 5 + "🇯🇵👍🏽" * 5,
    "emoji_in_prose": "Well done 🎉! See you soon 😀👍🏽 ❤️ " * 5,
}


@pytest.mark.parametrize("text", SAMPLES.values(), ids=SAMPLES.keys())
def test_t11_an_estimate_under_counts_by_a_twentieth_at_most_and_stays_of_use(text):
    newer = count_text(text, "o200k_base")
    dearest = max(newer, count_text(text, "cl100k_base"), tekken_tokens(text))

    assert WORST_UNDERCOUNT * dearest <= EITHER.count(text) <= MOST_OVERCOUNT * dearest
    assert WORST_UNDERCOUNT * newer <= NEWER.count(text) <= MOST_OVERCOUNT * newer


def test_t11_english_and_code_are_not_estimated_at_half_as_much_again():
    for name in ("prose", "code", "json", "json_indented", "uuids", "base64", "table_of_numbers"):
        newer, dearest = count_text(SAMPLES[name], "o200k_base"), tekken_tokens(SAMPLES[name])
        assert NEWER.count(SAMPLES[name]) < 1.4 * newer, name
        assert EITHER.count(SAMPLES[name]) < 1.4 * max(newer, dearest), name


def test_t11_an_estimate_says_that_it_is_one():
    assert isinstance(EITHER, TokenCounter)
    assert (EITHER.name, EITHER.exact, repr(EITHER)) == ("estimate", False, "EstimateCounter()")
    assert (NEWER.name, NEWER.exact) == ("estimate like o200k_base", False)
    assert repr(NEWER) == "EstimateCounter(like='o200k_base')"


def test_estimates_are_equal_that_follow_the_same_vocabulary():
    assert EstimateCounter(like="cl100k_base") == EITHER != NEWER
    assert {EITHER, NEWER, EstimateCounter()} == {EITHER, NEWER}


@pytest.mark.parametrize("like", ["", "gpt-4o", "p50k_base", None])
def test_an_estimate_follows_one_of_the_bundled_vocabularies(like):
    with pytest.raises(ValueError, match=f"`like` must be one of 'cl100k_base', 'o200k_base', got {like!r}"):
        EstimateCounter(like=like)


@COUNTERS
def test_characters_of_no_known_script_count_their_bytes(counter):
    assert counter.count("ⴰⵣⵓⵍ") == 12
    assert counter.count("\x00\ud800") == 1 + 3


@pytest.mark.parametrize(
    "text", [SCRIPTS["hindi"], SAMPLES["bengali"], SCRIPTS["thai"]], ids=["hindi", "bengali", "thai"]
)
def test_newer_vocabularies_need_half_of_what_older_ones_need_for_some_scripts(text):
    assert 2 * NEWER.count(text) < EITHER.count(text)


def test_anything_at_all_counts_at_least_one():
    assert [EstimateCounter().count(text) for text in (" ", "a", ".")] == [1, 1, 1]


@pytest.mark.parametrize("text", [*huge_samples().values(), SENTENCE * 12_000], ids=[*huge_samples(), "prose"])
def test_t4_a_million_characters_are_estimated_in_time(text):
    counter = EstimateCounter()
    started = time.process_time()

    counter.count(text)
    head, tail = counter.prefix_length(text, 100_000), counter.suffix_length(text, 100_000)

    assert time.process_time() - started < 9
    assert 0 < counter.count(text[:head]) <= 100_000
    assert 0 < counter.count(text[len(text) - tail :]) <= 100_000


@UNHURRIED
@given(st.one_of(hostile_text(), st.sampled_from([*SAMPLES.values(), *HOSTILE_SAMPLES])), st.integers(-1, 400))
def test_x10_a_part_is_never_estimated_at_more_than_asked(text, limit):
    for counter in (EITHER, NEWER):
        check_parts(counter, text, limit)


def check_parts(counter, text, limit):
    whole = counter.count(text)
    head, tail = counter.prefix_length(text, limit), counter.suffix_length(text, limit)

    assert counter.exceeds(text, limit) == (whole > limit)
    assert counter.count(text[:head]) <= max(0, limit)
    assert counter.count(text[len(text) - tail :]) <= max(0, limit)
    if 0 < limit >= whole:
        assert head == tail == len(text)


def test_x10_a_space_that_would_join_a_number_is_left_out():
    assert EstimateCounter().count(" 5") == 2
    assert EstimateCounter().suffix_length("lamp  5", 1) == 1


@pytest.mark.parametrize("text", [PROSE * 9, CODE * 3, SCRIPTS["chinese"] * 40, SAMPLES["base64"] * 2])
def test_a_part_uses_nearly_all_of_its_limit(text):
    counter = EstimateCounter()

    for limit in (20, 100, 500):
        head, tail = counter.prefix_length(text, limit), counter.suffix_length(text, limit)
        assert counter.count(text[:head]) >= limit - 3
        assert counter.count(text[len(text) - tail :]) >= limit - 3


@pytest.mark.parametrize(
    ("factor", "tokens"),
    [
        pytest.param(1, 10, id="one"),
        pytest.param(1.2, 12, id="no-rounding-error"),
        pytest.param(1.35, 14, id="rounded-up"),
        pytest.param(1.0000001, 11, id="hardly-more"),
        pytest.param(2.5, 25, id="two-and-a-half"),
    ],
)
def test_a_scaled_count_is_rounded_up(factor, tokens):
    counter = ScaledCounter(CallableCounter(len), factor)

    assert isinstance(counter, TokenCounter)
    assert not counter.exact
    assert counter.count("x" * 10) == tokens
    assert not counter.exceeds("x" * 10, tokens)
    assert counter.exceeds("x" * 10, tokens - 1)


@given(st.integers(0, 60), st.integers(-1, 150), st.decimals(1, 3, places=2))
def test_x10_a_scaled_part_never_counts_more_than_asked(length, limit, factor):
    counter = ScaledCounter(CallableCounter(len), float(factor))
    text = "x" * length
    head, tail = counter.prefix_length(text, limit), counter.suffix_length(text, limit)

    assert counter.exceeds(text, limit) == (counter.count(text) > limit)
    assert head == tail
    assert counter.count(text[:head]) <= max(0, limit)
    assert head == length or counter.count("x" * (head + 1)) > limit


@pytest.mark.parametrize("factor", [0.99, 0, -1, float("nan")])
def test_a_factor_below_one_is_an_error(factor):
    with pytest.raises(ValueError, match=rf"`factor` must be at least 1, .* got {factor}"):
        ScaledCounter(EstimateCounter(), factor)


def test_a_scaled_counter_is_named_after_what_it_scales():
    assert ScaledCounter(TiktokenCounter(), 1.2).name == "o200k_base x 1.2"
    assert ScaledCounter(TiktokenCounter(), 1.2, name="a model").name == "a model"
    assert repr(ScaledCounter(EstimateCounter(), 2)) == "ScaledCounter(EstimateCounter(), 2)"
