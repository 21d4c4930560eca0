"""What images, recordings and files cost by the providers' rules, and the allowance where those do not apply.

The figures of OpenAI are the examples of its guide "Images and vision" and usage figures that were reported in
community.openai.com/t/1262691 (an image of 128 x 64 pixels with a text of 12 or 13 tokens) and verified in the tests of
pamelafox/openai-messages-token-helper; those of Anthropic are the table of its page "Images and vision".
"""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxopt_core import (
    Attachment,
    ContextBudget,
    ContextRequest,
    Message,
    ModelWindow,
    TokenCounter,
    counter_for,
    fit,
    plan,
)
from ctxopt_core.budget.model_budget import counter_of
from ctxopt_core.conversation.message_tokens import message_tokens
from ctxopt_core.formats.anthropic_messages import AnthropicMessages
from ctxopt_core.formats.openai_messages import OpenAIMessages, fitted_openai, message_from_openai
from ctxopt_core.messages.message import ALLOWANCES, MediaFacts
from ctxopt_core.providers.rules import rules_for
from media_files import image_url, png, wav

WORDS = counter_for(lambda text: len(text.split()))


def image(width=None, height=None, detail=None, media_type="image/png"):
    facts = MediaFacts(width=width, height=height, detail=detail, media_type=media_type)
    return Attachment(kind="image", facts=facts)


def cost(model, attachment, **allowances):
    return rules_for(model, allowances).attachment_tokens(attachment)


@pytest.mark.parametrize(
    ("model", "size", "detail", "tokens"),
    [
        ("gpt-4o", (1024, 1024), None, 765),
        ("gpt-4o", (2048, 4096), "high", 1105),
        ("gpt-4o", (4096, 8192), "low", 85),
        ("gpt-4o", (1, 1), "auto", 255),
        ("gpt-4o", (1686, 488), None, 765),
        ("gpt-4o", (128, 64), "high", 255),
        ("azure/gpt-4o-2024-08-06", (128, 64), "low", 85),
        ("openai:gpt-4.1", (128, 64), None, 255),
        ("gpt-4-turbo", (128, 64), None, 255),
        ("gpt-4o-mini", (1, 1), None, 8_500),
        ("gpt-4o-mini", (9, 9), "low", 2_833),
        ("o1", (512, 512), None, 225),
        ("o3", (512, 512), "low", 75),
        ("gpt-5", (1024, 1024), None, 630),
        ("gpt-5-chat-latest", (9, 9), "low", 70),
        ("computer-use-preview", (512, 512), None, 194),
        ("gpt-5-mini", (1024, 1024), None, 1_659),
        ("gpt-4.1-mini", (128, 64), None, 13),
        ("gpt-4.1-nano", (128, 64), None, 20),
        ("o4-mini", (128, 64), None, 14),
        ("o4-mini", (1800, 2400), None, 2_498),
        ("gpt-4.1-nano-2025-04-14", (1800, 2400), None, 3_572),
        ("gpt-5.4", (3840, 2160), "high", 2_765),
        ("gpt-5.4", (3840, 2160), "original", 9_792),
        ("gpt-5.5", (3840, 2160), None, 9_792),
        ("gpt-5.6-sol", (10_000, 10_000), None, 117_563),
    ],
)
def test_t13_images_cost_openais_models_what_openai_publishes(model, size, detail, tokens):
    assert cost(model, image(*size, detail)) == tokens


@pytest.mark.parametrize(
    ("size", "standard", "high_resolution"),
    [
        ((200, 200), 64, 64),
        ((1000, 1000), 1296, 1296),
        ((1092, 1092), 1521, 1521),
        ((1920, 1080), 1560, 2691),
        ((2000, 1500), 1564, 3888),
        ((3840, 2160), 1560, 4784),
    ],
    ids=str,
)
def test_t13_images_cost_claude_what_anthropic_publishes(size, standard, high_resolution):
    for model, published in (("claude-sonnet-4-5", standard), ("us.anthropic.claude-opus-4-8", high_resolution)):
        assert published <= cost(model, image(*size)) <= published * 1.05


@pytest.mark.parametrize(
    ("model", "size", "detail", "tokens"),
    [
        ("gemini-2.5-flash", (384, 384), None, 258),
        ("gemini-2.0-flash", (960, 540), None, 6 * 258),
        ("models/gemini-2.5-pro", (3000, 3000), None, 16 * 258),
        ("gemini-3.1-pro-preview", (4000, 4000), None, 1_120),
        ("gemini-3-flash", (40, 40), "low", 280),
        ("gemini-3-flash", (40, 40), "ultra_high", 2_240),
        ("gemini-3-flash", (None, None), None, 1_120),
    ],
)
def test_t13_images_cost_gemini_what_google_publishes(model, size, detail, tokens):
    assert cost(model, image(*size, detail)) == tokens


@pytest.mark.parametrize(
    ("model", "kind", "facts", "tokens"),
    [
        ("gemini-2.5-flash", "audio", MediaFacts(seconds=60, media_type="audio/wav"), 1_920),
        ("gemini-2.5-flash", "video", MediaFacts(seconds=10, media_type="video/mp4"), 3_000),
        ("gemini-2.5-flash", "file", MediaFacts(pages=10), 2_580),
        ("gemini-3-pro", "file", MediaFacts(pages=10), 5_600),
        ("gpt-4o-audio-preview", "audio", MediaFacts(seconds=2.5, media_type="audio/wav"), 25),
        ("claude-sonnet-4-5", "file", MediaFacts(pages=2), 2 * 4_568),
        ("gpt-4o", "file", MediaFacts(pages=2), 1_000),
        ("claude-sonnet-4-5", "audio", MediaFacts(seconds=9, media_type="audio/wav"), 500),
    ],
    ids=[
        "audio",
        "video",
        "pages",
        "pages of gemini 3",
        "audio of openai",
        "pages of claude",
        "no rule",
        "no rule for it",
    ],
)
def test_t13_recordings_and_pages_cost_what_is_documented(model, kind, facts, tokens):
    assert cost(model, Attachment(kind=kind, facts=facts)) == tokens


@pytest.mark.parametrize(
    ("model", "kind", "tokens"),
    [
        (None, "image", 850),
        ("gpt-4o", "image", 850),
        ("gpt-5-mini", "image", 850),
        ("gpt-4o-mini", "image", 25_501),
        ("claude-opus-4-8", "image", 1_500),
        ("gemini-2.5-pro", "image", 850),
        ("llama-3.1-8b", "image", 850),
        ("gpt-oss-20b", "image", 850),
        *(
            (model, kind, tokens)
            for model in ("gpt-4o", "claude-sonnet-5")
            for kind, tokens in ALLOWANCES.items()
            if kind != "image"
        ),
    ],
)
def test_t13_what_is_not_known_has_the_allowance_of_its_kind(model, kind, tokens):
    assert cost(model, Attachment(kind=kind)) == tokens


def test_t13_allowances_are_set_by_kind_and_hold_where_the_size_is_not_known():
    assert cost("gpt-4o", Attachment(kind="image"), image=99) == 99
    assert cost("claude-sonnet-5", Attachment(kind="image"), image=0) == 0
    assert cost("gpt-4o", Attachment(kind="file"), image=99) == 1_000
    assert cost("gpt-4o", image(1024, 1024), image=99) == 765
    assert cost("gpt-4o", Attachment(kind="image", tokens=7), image=99) == 7


@given(
    st.sampled_from(
        ["gpt-4o", "gpt-4o-mini", "o3", "gpt-5-mini", "gpt-5.4", "claude-sonnet-4-5", "claude-opus-5", "gemini-2.5-pro"]
    ),
    st.integers(1, 20_000),
    st.integers(1, 20_000),
)
def test_t13_every_size_has_a_cost_whichever_way_it_is_turned(model, width, height):
    tokens = cost(model, image(width, height))

    assert 0 < tokens == cost(model, image(height, width))
    assert tokens <= {"gpt-4o-mini": 48_169}.get(model, 200_000 if model.startswith("gemini") else 5_000)


ROWS = [{"role": "user", "content": [{"type": "text", "text": "what is this"}, image_url(png(1024, 1024))]}]


@pytest.mark.parametrize(
    ("budget", "tokens"),
    [
        (ContextBudget.for_model("gpt-4o"), 765),
        (ContextBudget.for_model("gpt-4.1-mini"), 1_659),
        (ContextBudget.for_model("claude-sonnet-4-5"), 1_399),
        (ContextBudget(context_window=9_000), 850),
        (ContextBudget(context_window=9_000, attachment_tokens={"image": 40}), 40),
    ],
    ids=["gpt-4o", "patches", "claude", "no model", "own allowance"],
)
def test_t13_the_model_of_the_budget_decides_and_the_bytes_are_never_counted(budget, tokens):
    report = plan(ContextRequest(history=OpenAIMessages(ROWS)), budget, counter=WORDS)

    assert report.tokens_after == 3 + (3 + 1 + 3) + tokens
    assert report.encoding == "<lambda>"


def test_t13_a_window_of_ones_own_names_the_model_too():
    window = ModelWindow(model="gpt-4o", context_window=900, encoding="o200k_base", exact=True)
    report = plan(ContextRequest(history=OpenAIMessages(ROWS)), ContextBudget.for_model(window), counter=WORDS)

    assert report.unchanged
    assert not plan(
        ContextRequest(history=OpenAIMessages(ROWS)), ContextBudget(target_tokens=800), counter=WORDS
    ).unchanged


def test_t13_messages_of_anthropics_form_cost_what_claude_charges_where_no_model_is_named():
    rows = [{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "https://a.b/c"}}]}]
    report = plan(ContextRequest(history=AnthropicMessages(rows)), ContextBudget(target_tokens=5_000), counter=WORDS)

    assert report.tokens_after == 3 + 4 + 1_500


def test_t13_a_kept_image_is_the_identical_part():
    rows = [{"role": "user", "content": "word " * 900}, {"role": "assistant", "content": "so"}, *ROWS]
    before = copy.deepcopy(rows)
    budget = ContextBudget.for_model("gpt-4o", target_tokens=1_000)
    fitted = fit(ContextRequest(history=OpenAIMessages(rows)), budget, counter=WORDS)
    left = fitted_openai(rows, fitted.history)

    assert not fitted.unchanged
    assert left[-1] is rows[-1]
    assert rows == before


def test_t13_a_recording_inside_a_result_is_charged_by_its_length():
    audio = {"type": "audio", "source": {"type": "base64", "data": wav(100)}}
    row = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [audio]}]}
    counter = counter_of(ContextBudget.for_model("gemini-2.5-flash"), WORDS)

    assert message_tokens(message_from_openai(row), counter) == 3 + 1 + 1 + 3_200


def test_t13_media_inside_a_part_of_an_unknown_kind_are_charged_by_size():
    counter = counter_of(ContextBudget.for_model("gpt-4o"), counter_for(lambda text: 0))
    row = {
        "role": "user",
        "content": [{"type": "novelty", "pictures": [image_url(png(512, 512)), {"data": png(9, 9)}]}],
    }

    assert message_tokens(message_from_openai(row), counter) == 3 + 2 * 255


@pytest.mark.parametrize(
    "allowances",
    [{"picture": 1}, {"image": -1}, {"image": 1.5}, {"image": None}, [("image", 1)]],
    ids=["kind", "negative", "fraction", "none", "list"],
)
def test_a4_an_allowance_that_is_none_is_refused(allowances):
    with pytest.raises(ValueError, match="attachment_tokens"):
        ContextBudget(context_window=1_000, attachment_tokens=allowances)


def test_a_message_without_attachments_is_not_copied():
    message = Message(role="user", content="hello")

    assert message_tokens(message, counter_of(ContextBudget.for_model("gpt-4o"), WORDS)) == 5


def test_a_counter_with_rules_is_a_value_that_travels():
    counter = counter_of(ContextBudget.for_model("gpt-4o", attachment_tokens={"file": 9}))
    same = pickle.loads(pickle.dumps(counter))  # noqa: S301

    assert (same, hash(same), same.rules) == (counter, hash(counter), counter.rules)
    assert same.count("two words") == counter.count("two words")
    assert isinstance(same, TokenCounter)
    assert counter != counter_of(ContextBudget.for_model("gpt-4o"))
    assert counter_of(ContextBudget(target_tokens=9)) == counter_for("o200k_base")
