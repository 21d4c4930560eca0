"""`summarize` and `hybrid` inside one long turn: a question, and more calls with results than fit."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core import (
    ContextBudget,
    ContextBudgetError,
    ContextRequest,
    Document,
    HistoryPolicy,
    Message,
    ToolCall,
    afit,
    fit,
    summarizer,
    trim_history,
)
from ctxopt_core.counting.callable_counter import CallableCounter
from ctxopt_core.formats.anthropic_messages import fitted_anthropic, message_from_anthropic
from ctxopt_core.formats.openai_messages import fitted_openai, message_from_openai
from drawn_examples import examples

WORDS = CallableCounter(lambda text: len(text.split()), name="words")
QUESTION = "Which files are broken?"
SUMMARIZING = ["summarize", "hybrid"]


class Counting:
    """A function that summarizes, and remembers what it was given."""

    def __init__(self, answer="Every file was whole."):
        self.answer = answer
        self.asked = []

    def __call__(self, transcript):
        self.asked.append(transcript)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def user(text=QUESTION):
    return Message(role="user", content=text)


def exchange(number, words=12, *, results=1):
    calls = tuple(ToolCall(id=f"c{number}.{n}", name="read", arguments="{}") for n in range(results))
    texts = [" ".join(f"file{number}.{n}.{word}" for word in range(words)) for n in range(results)]
    found = [Message(role="tool", content=text, tool_call_id=f"c{number}.{n}") for n, text in enumerate(texts)]
    return [Message(role="assistant", tool_calls=calls), *found]


def run(exchanges, words=12, *, results=1, before=()):
    rest = [message for number in range(exchanges) for message in exchange(number, words, results=results)]
    return [*before, user(), *rest]


def turns(number):
    pairs = [(user(f"Question {n} about lantern {n}?"), f"Lantern {n} hangs at pier {n}.") for n in range(number)]
    return [message for asked, said in pairs for message in (asked, Message(role="assistant", content=said))]


def policy_of(strategy, function=None, **options):
    if strategy == "stable_prefix":
        return HistoryPolicy(stable_prefix=True)
    if strategy in SUMMARIZING:
        options["summarizer"] = summarizer(function or Counting())
    return HistoryPolicy(strategy=strategy, **options)


def fitted(messages, function=None, *, strategy="summarize", limit=400, **options):
    budget, policy = ContextBudget(max_input_tokens=limit), policy_of(strategy, function, **options)
    return fit(ContextRequest(history=messages), budget, counter=WORDS, history=policy)


def tokens(message):
    called = sum(len(call.name.split()) + len(call.arguments.split()) + 1 for call in message.tool_calls)
    return 4 + sum(len(text.split()) for text in message.texts) + called + (1 if message.tool_call_id else 0)


def check_order(messages):
    """Each call is answered at once, and before a call stands a user or a result."""
    assert messages[0].role == "user"
    for before, message in pairwise(messages):
        assert not (before.role == "tool" and message.role == "user")
        if message.tool_calls:
            assert before.role in ("user", "tool")
        if message.role == "tool":
            assert before.role == "tool" or before.tool_calls
    called = [call.id for message in messages for call in message.tool_calls]
    assert called == [message.tool_call_id for message in messages if message.role == "tool"]


RUNS = [
    pytest.param(run(300), 400, id="short results"),
    pytest.param(run(300, 200), 400, id="long results"),
    pytest.param(run(100, results=3), 400, id="parallel calls"),
    pytest.param([Message(role="system", content="Be brief."), *run(300)], 400, id="system message"),
    pytest.param([*run(299), *exchange(299, 300)], 600, id="long result that nobody has read"),
    pytest.param(run(300)[:-1], 400, id="call without result yet"),
    pytest.param([*run(300), Message(role="assistant", content="All of them.")], 400, id="with an answer"),
]
MIXED = [
    pytest.param(run(300, before=turns(20)), 400, id="after several turns"),
    pytest.param(run(300, before=turns(1)), 400, id="after one turn"),
    pytest.param([*run(300), *turns(2), user("And now?")], 400, id="an earlier turn"),
    pytest.param([Message(role="assistant", content="Welcome."), *run(300)], 400, id="a greeting first"),
]


@pytest.mark.parametrize("strategy", SUMMARIZING)
@pytest.mark.parametrize(("messages", "limit"), [*RUNS, *MIXED])
def test_l15_what_is_dropped_inside_a_turn_is_summarized(strategy, messages, limit):
    function = Counting()
    result = fitted(messages, function, strategy=strategy, limit=limit)
    history, sent = result.history, result.messages()

    assert len(function.asked) == 1
    assert "Every file was whole." in history.placeholder
    assert sum(message.synthetic for message in sent) == 1
    assert set(history.kept) | set(history.summarized) >= {n for n, m in enumerate(messages) if m.role == "tool"}
    assert not set(history.kept) & set(history.summarized)
    assert (result.report.strategy, result.report.fallback) == (strategy, None)
    assert result.report.tokens_after == 3 + sum(map(tokens, sent)) <= limit
    if sent[-1].role == "tool":
        check_order([message for message in sent if message.role != "system"])


@pytest.mark.parametrize(("messages", "limit"), RUNS)
def test_l15_the_summary_follows_the_question_as_a_users_message(messages, limit):
    sent = [message for message in fitted(messages, limit=limit).messages() if message.role != "system"]

    assert [message.role for message in sent[:3]] == ["user", "user", "assistant"]
    assert (sent[0].content, sent[1].synthetic) == (QUESTION, True)


def test_l15_between_two_users_messages_the_summary_is_the_assistants():
    sent = fitted(run(300, before=turns(20))).messages()

    assert [message.role for message in sent[:4]] == ["user", "assistant", "user", "assistant"]
    assert sent[1].synthetic
    assert sent[2].content == QUESTION


def test_l15_a_question_that_is_no_message_is_sent_after_the_run():
    request = ContextRequest(history=run(300), query="And which are whole?")
    for strategy in SUMMARIZING:
        function = Counting()
        policy = policy_of(strategy, function)
        result = fit(request, ContextBudget(max_input_tokens=400), counter=WORDS, history=policy)
        assert len(function.asked) == 1
        assert [message.role for message in result.messages()[:3]] == ["user", "user", "assistant"]


def test_l15_a_conversation_alone_is_summarized_inside_its_turn():
    for strategy in SUMMARIZING:
        trimming = trim_history(run(300), 400, WORDS, policy=policy_of(strategy))
        assert "Every file" in trimming.placeholder
        assert (trimming.placeholder_after, trimming.placeholder_role) == (0, "user")
        assert trimming.tokens <= 400


@pytest.mark.parametrize("strategy", SUMMARIZING)
def test_l15_documents_beside_the_run(strategy):
    function, document = Counting(), Document(text="Whole files end with a period. " * 60, score=1.0)
    request = ContextRequest(history=run(300), documents=[document])
    result = fit(request, ContextBudget(max_input_tokens=600), counter=WORDS, history=policy_of(strategy, function))
    assert len(function.asked) == 1
    assert result.history.placeholder
    assert result.report.tokens_after <= 600


@pytest.mark.parametrize("strategy", SUMMARIZING)
def test_l15_awaited_the_result_is_the_same(strategy):
    async def summarize(transcript):
        await asyncio.sleep(0)
        return "Every file was whole."

    plain = fitted(run(300), strategy=strategy)
    policy = policy_of(strategy, summarize)
    awaited = asyncio.run(afit(plain.request, ContextBudget(max_input_tokens=400), counter=WORDS, history=policy))

    assert awaited.messages() == plain.messages()


@pytest.mark.parametrize("strategy", SUMMARIZING)
@pytest.mark.parametrize("answer", [OSError("down"), "", None], ids=["raises", "empty", "none"])
def test_l15_where_the_summarizer_fails_the_room_is_used_and_the_report_says_why(strategy, answer):
    result = fitted(run(300), Counting(answer), strategy=strategy)
    newest = fitted(run(300), strategy="turns")

    assert result.history.kept == newest.history.kept
    assert result.report.tokens_after == newest.report.tokens_after > 350
    assert result.report.fallback == "turns"
    assert result.report.notes[0].startswith("the summarizer failed with")


@pytest.mark.parametrize("strategy", SUMMARIZING)
def test_l15_what_a_short_summary_does_not_need_goes_to_messages(strategy):
    short = fitted(run(300), Counting("Whole."), strategy=strategy)
    long = fitted(run(300), Counting("Many long words. " * 100), strategy=strategy)

    assert len(short.history.kept) >= len(long.history.kept) + 4
    assert short.history.kept[-len(long.history.kept) + 1 :] == long.history.kept[1:]


@pytest.mark.parametrize("strategy", SUMMARIZING)
@pytest.mark.parametrize(("words", "most"), [(12, 12), (60, 30)])
def test_l15_a_run_of_100_steps_asks_the_summarizer_once_a_step_of_the_cut(strategy, words, most):
    function = Counting()
    policy, messages, asked, cuts = policy_of(strategy, function), run(100, words), 0, set()
    for end in range(1, len(messages) + 1, 2):
        request = ContextRequest(history=messages[:end])
        result = fit(request, ContextBudget(max_input_tokens=600), counter=WORDS, history=policy)
        if len(function.asked) > asked:
            asked = len(function.asked)
            cuts.add(result.history.kept[1])
        assert result.unchanged or result.history.kept[1] in cuts
    assert 1 < asked == len(cuts) <= most
    # The transcript is bounded, however long the run has become.
    assert max(len(transcript.split()) for transcript in function.asked) <= 8_000


def test_l15_each_request_of_a_run_begins_with_the_one_before_it():
    policy, messages, before, same = policy_of("summarize"), run(100), (), 0
    for end in range(1, len(messages) + 1, 2):
        result = fit(
            ContextRequest(history=messages[:end]), ContextBudget(max_input_tokens=600), counter=WORDS, history=policy
        )
        now = result.messages()
        if not result.unchanged and before:
            common = next(
                (n for n, pair in enumerate(zip(before, now, strict=False)) if pair[0] != pair[1]), len(before)
            )
            assert result.report.reused_prefix_tokens == sum(map(tokens, before[:common]))
            same += common == len(before)
        before = now
    assert same >= 60


STRATEGIES = ["auto", "turns", "relevance", "sliding_window", "stable_prefix", *SUMMARIZING]


@given(
    sizes=st.lists(st.integers(1, 120), min_size=5, max_size=40),
    limit=st.integers(60, 600),
    strategy=st.sampled_from(STRATEGIES),
    summary=st.sampled_from(["Whole.", "Many long words. " * 60]),
)
@settings(max_examples=examples(120), deadline=None)
def test_l15_the_room_is_used_or_the_report_says_why_it_is_not(sizes, limit, strategy, summary):
    messages = [user(), *(message for n, size in enumerate(sizes) for message in exchange(n, size))]
    try:
        result = fitted(messages, Counting(summary), strategy=strategy, limit=limit)
    except ContextBudgetError:
        return
    if result.unchanged:
        return
    sent, left = result.messages(), limit - result.report.tokens_after
    assert result.report.tokens_after == 3 + sum(map(tokens, sent))
    dropped = [index for index in result.history.dropped if messages[index].tool_calls]
    # A summary may be up to 15 tokens shorter than the report's note could know.
    if dropped and left > max(0.65 * limit, limit / 2 + 16) and not result.report.notes:
        # The next exchange does not fit, not even with an excerpt of its result.
        least = sum(map(tokens, messages[dropped[-1] : dropped[-1] + 2]))
        assert min(least, 60) > left


@given(
    sizes=st.lists(st.integers(1, 60), min_size=10, max_size=40),
    results=st.integers(1, 3),
    earlier=st.integers(0, 4),
    limit=st.integers(150, 500),
    strategy=st.sampled_from(SUMMARIZING),
)
@settings(max_examples=examples(80), deadline=None)
def test_l15_a_summary_stands_in_the_request_or_a_note_says_why_not(sizes, results, earlier, limit, strategy):
    rest = [message for n, size in enumerate(sizes) for message in exchange(n, size, results=results)]
    result = fitted([*turns(earlier), user(), *rest], strategy=strategy, limit=limit)
    sent = result.messages()

    assert result.report.tokens_after == 3 + sum(map(tokens, sent)) <= limit
    check_order(sent)
    if result.history.dropped and not result.history.summarized:
        assert result.report.notes or result.report.fallback


def openai_run(exchanges):
    found = [{"role": "user", "content": QUESTION}]
    for n in range(exchanges):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        found.append({"role": "assistant", "content": None, "tool_calls": [call]})
        found.append({"role": "tool", "tool_call_id": f"c{n}", "content": f"file{n} " * 12})
    return found


def test_l15_a_stored_summary_is_not_taken_for_the_question_and_goes_on_in_the_next_one():
    function = Counting()
    policy = policy_of("summarize", function)
    stored, budget = openai_run(60), ContextBudget(max_input_tokens=400)
    for round_number in range(3):
        request = ContextRequest(history=list(map(message_from_openai, stored)))
        stored = fitted_openai(stored, fit(request, budget, counter=WORDS, history=policy).history)
        assert stored[0] == {"role": "user", "content": QUESTION}
        assert [message["role"] for message in stored[:3]] == ["user", "user", "assistant"]
        assert sum("What was said there" in str(message["content"]) for message in stored) == 1
        if round_number:
            assert "What was said there, in short: Every file was whole." in function.asked[-1]
        stored += openai_run(60)[1:]
    assert len(function.asked) == 3


@pytest.mark.parametrize(
    "before",
    [[], [Message(role="system", content="Be brief.")], [*turns(2)]],
    ids=["alone", "after the system message", "after an answer"],
)
def test_l15_a_user_who_writes_like_a_summary_is_heard(before):
    written = {"role": "user", "content": "[3 earlier messages omitted. What was said there, in short: nothing.]"}
    history = [*before, message_from_openai(written), *run(40)[1:]]
    sent = fitted(history, strategy="auto").messages()

    assert written["content"] in [message.content for message in sent]


def test_l15_in_anthropics_shape_the_question_and_the_summary_are_one_message():
    messages = [{"role": "user", "content": QUESTION}]
    for n in range(60):
        use = {"type": "tool_use", "id": f"c{n}", "name": "read", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": f"file{n} " * 12}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    history = fitted(list(map(message_from_anthropic, messages))).history
    sent = fitted_anthropic(messages, history)

    assert [message["role"] for message in sent[:3]] == ["user", "assistant", "user"]
    assert [block["type"] for block in sent[0]["content"]] == ["text", "text"]
    assert sent[0]["content"][1]["text"] == history.placeholder
