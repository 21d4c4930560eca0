"""Anthropic's own count: asked when it is asked for, of the whole request. The network is a double."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from ctxopt_core import ContextBudget, ContextBudgetError, ContextRequest, Message, fit
from ctxopt_core.counting.anthropic_counter import AnthropicRequestCounter
from ctxopt_core.counting.counters import counter_for

MODEL = "claude-sonnet-4-5"
LIMIT = 1_000


class Network:
    """A client's `messages`: counts so many tokens for a hundred characters of the messages."""

    def __init__(self, per_cent=100):
        self.per_cent = per_cent
        self.asked = []

    def count_tokens(self, *, model, messages, **others):
        self.asked.append({"model": model, "messages": messages, **others})
        return SimpleNamespace(input_tokens=characters_of(messages) * self.per_cent // 100)


class AsyncNetwork(Network):
    async def count_tokens(self, **request):
        await asyncio.sleep(0)
        return super().count_tokens(**request)


def characters_of(messages):
    return sum(len(row["content"]) for row in messages)


def client_of(network):
    return SimpleNamespace(messages=network)


def rows(characters):
    return [{"role": "user", "content": "x" * characters}]


def request_of(target):
    return {"messages": rows(target), "system": "Answer briefly."}


def test_t12_a_request_is_counted_whole_with_one_call():
    network = Network()
    counter = AnthropicRequestCounter(client_of(network), f" {MODEL} ")
    messages = rows(30)

    assert counter.count(messages, system="Answer briefly.", tools=None, thinking={"type": "disabled"}) == 30
    assert network.asked == [
        {"model": MODEL, "messages": messages, "system": "Answer briefly.", "thinking": {"type": "disabled"}}
    ]
    assert repr(counter) == f"AnthropicRequestCounter('{MODEL}')"


@pytest.mark.parametrize("network", [Network(), AsyncNetwork()], ids=["plain-client", "async-client"])
async def test_t12_both_kinds_of_client_can_be_awaited(network):
    counter = AnthropicRequestCounter(client_of(network), MODEL)

    assert await counter.acount(rows(30)) == 30
    assert await counter.awithin(LIMIT, request_of) == request_of(LIMIT)
    assert len(network.asked) == 2


def test_t12_an_async_client_without_an_event_loop_is_an_error():
    counter = AnthropicRequestCounter(client_of(AsyncNetwork()), MODEL)

    with pytest.raises(TypeError, match="`client` can only be awaited"):
        counter.count(rows(30))


@pytest.mark.parametrize(
    ("per_cent", "targets"),
    [
        pytest.param(100, [LIMIT], id="fits-at-once"),
        pytest.param(125, [LIMIT, 784], id="local-count-a-fifth-too-low"),
        pytest.param(400, [LIMIT, 245], id="far-too-low"),
    ],
)
def test_t12_a_request_that_is_counted_over_the_limit_is_built_smaller(per_cent, targets):
    network, built = Network(per_cent), []
    counter = AnthropicRequestCounter(client_of(network), MODEL)

    request = counter.within(LIMIT, lambda target: built.append(target) or request_of(target))

    assert built == targets
    assert counter.count(**request) <= LIMIT


def test_t12_what_does_not_get_smaller_is_a_typed_error():
    network = Network()
    counter = AnthropicRequestCounter(client_of(network), MODEL)

    with pytest.raises(
        ContextBudgetError, match="counts 1200 tokens where 1000 are allowed, after 2 attempts"
    ) as caught:
        counter.within(LIMIT, lambda target: request_of(1_200), most_calls=2)
    assert (caught.value.needed, caught.value.available, len(network.asked)) == (1_200, LIMIT, 2)


def test_t12_a_request_is_never_built_for_no_tokens_at_all():
    targets = []
    with pytest.raises(ContextBudgetError):
        AnthropicRequestCounter(client_of(Network()), MODEL).within(
            3, lambda target: targets.append(target) or request_of(1_200)
        )
    assert targets == [3, 1, 1]


def test_t12_a_fit_is_repeated_until_the_provider_agrees():
    history = [Message(role="user" if n % 2 == 0 else "assistant", content="lantern " * 20) for n in range(30)]
    network = Network()

    def build(target):
        fitted = fit(
            ContextRequest(history=history), ContextBudget(max_input_tokens=target), counter=counter_for(too_few)
        )
        return {"messages": [{"role": m.role, "content": m.content} for m in fitted.messages()]}

    request = AnthropicRequestCounter(client_of(network), MODEL).within(2_000, build)

    assert len(network.asked) == 2
    assert 1_700 < characters_of(request["messages"]) <= 2_000


def too_few(text):
    return len(text) * 3 // 4


@pytest.mark.parametrize(
    "client",
    [None, object(), SimpleNamespace(messages=None), SimpleNamespace(messages=SimpleNamespace(count_tokens=3))],
)
def test_t12_what_cannot_count_is_no_client(client):
    with pytest.raises(TypeError, match=f"`client` must have `messages.count_tokens`.*got {type(client).__name__}"):
        AnthropicRequestCounter(client, MODEL)


@pytest.mark.parametrize("model", [None, "", " ", 4])
def test_t12_a_model_must_be_named(model):
    with pytest.raises(ValueError, match="`model` must be the id of a model"):
        AnthropicRequestCounter(client_of(Network()), model)


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": 2.5}, {"limit": LIMIT, "most_calls": 0}])
def test_t12_limits_are_whole_numbers(wrong):
    counter = AnthropicRequestCounter(client_of(Network()), MODEL)

    with pytest.raises(ValueError, match="must be a whole number"):
        counter.within(build=request_of, **wrong)
