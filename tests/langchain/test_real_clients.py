"""The real clients of providers, in front of a transport that answers by heart: what they send is counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_anthropic import ChatAnthropic
from langchain_aws import ChatBedrockConverse
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import ConfigurableField
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_mistralai import ChatMistralAI
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI
from openai.lib._parsing._completions import type_to_response_format_param
from pydantic import BaseModel, Field, SecretStr

from ctxopt_core import ServerStateError, counter_for
from ctxopt_core.adapters import schema_texts
from langchain_ctxopt import ContextOptimizer, ContextOptimizerMiddleware, with_optimizer
from langchain_ctxopt.model_settings import settings_of
from run_listener import RunListener
from scripted_model import PAGE

KEY = SecretStr("none")
CHAT: list[Any] = [
    *(message for i in range(40) for message in (HumanMessage(f"Question {i}?"), AIMessage(PAGE))),
    HumanMessage("How many lanterns are there?"),
]
METHODS = ["function_calling", "json_mode", "json_schema"]


class Part(BaseModel):
    """A part of a lantern."""

    name: str
    weight: float | None = None


class Verdict(BaseModel):
    """Whether a lantern is lit."""

    lit: bool
    reason: str = Field(description="Why, in one sentence.")
    parts: list[Part]
    first: Part = Field(description="The part that was looked at first.")


MODELS: dict[str, Callable[[], Any]] = {
    "openai": lambda: ChatOpenAI(model="gpt-4o", api_key=KEY),
    "responses": lambda: ChatOpenAI(model="gpt-4o", api_key=KEY, use_responses_api=True),
    "anthropic": lambda: ChatAnthropic(model="claude-sonnet-4-5", api_key=KEY),
    "google": lambda: ChatGoogleGenerativeAI(model="gemini-2.5-flash", api_key=KEY),
    "mistral": lambda: ChatMistralAI(model="mistral-large-latest", api_key=KEY),
    "ollama": lambda: ChatOllama(model="llama3.1", num_ctx=4_096),
    "bedrock": lambda: ChatBedrockConverse(model="anthropic.claude-sonnet-4-5-20250929-v1:0", region_name="us-east-1"),
}


def formats_in_payload(name: str, model: Any, bound: dict[str, Any]) -> list[str]:
    """Return the tools and the response format of the request that a client makes, as JSON."""
    bound = {key: value for key, value in bound.items() if key != "ls_structured_output_format"}
    if name in ("openai", "responses", "anthropic"):
        payload = model._get_request_payload("Hi", **bound)
    elif name == "ollama":
        payload = model._chat_params([HumanMessage("Hi")], **bound)
    else:
        payload = bound  # what is bound is passed on, or wrapped in objects of the client
    found: list[Any] = [*(payload.get("tools") or [])]
    for key in ("response_format", "text_format", "format", "response_json_schema"):
        if payload.get(key):
            form = payload[key]
            found.append(type_to_response_format_param(form) if isinstance(form, type) else form)
    found += [value for key in ("text", "output_config") for value in (payload.get(key) or {}).values()]
    return [one if isinstance(one, str) else json.dumps(one, separators=(",", ":")) for one in found]


@pytest.mark.parametrize("include_raw", [False, True])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore")
def test_l17_structured_output_is_counted_as_the_client_sends_it(name: str, method: Any, include_raw: bool) -> None:
    model = MODELS[name]()
    count = counter_for("o200k_base").count
    structured = model.with_structured_output(Verdict, method=method, include_raw=include_raw)
    inner = structured.steps__["raw"] if include_raw and hasattr(structured, "steps__") else structured
    binding = inner.first if hasattr(inner, "first") else inner
    binding = binding.steps__["raw"] if hasattr(binding, "steps__") else binding
    sent = formats_in_payload(name, model, dict(binding.kwargs))
    assert sent
    counted = schema_texts(settings_of(structured).schemas)
    assert sum(map(count, counted)) >= sum(map(count, sent))


@pytest.mark.parametrize("strict", [None, True, False])
@pytest.mark.parametrize("name", ["openai", "responses"])
def test_l17_strict_forms_are_counted_as_the_client_sends_them(name: str, strict: bool | None) -> None:
    model = MODELS[name]()
    structured = model.with_structured_output(Verdict, method="json_schema", strict=strict)
    sent = formats_in_payload(name, model, dict(structured.first.kwargs))
    count = counter_for("o200k_base").count
    assert sum(map(count, schema_texts(settings_of(structured).schemas))) >= sum(map(count, sent))


class Provider:
    """A transport that keeps what it was sent and answers as OpenAI does."""

    def __init__(self, text: str = "Done.") -> None:
        self.text = text
        self.requests: list[dict[str, Any]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        given = json.loads(request.content)
        self.requests.append(given)
        if "responses" in request.url.path:
            return _responses_answer(given, self.text)
        return _chat_answer(given, self.text)


def _chat_answer(given: dict[str, Any], text: str) -> httpx.Response:
    head = {"id": "c", "created": 1, "model": "gpt-4o"}
    if not given.get("stream"):
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return httpx.Response(200, json={**head, "object": "chat.completion", "choices": [choice]})
    choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    chunk = json.dumps({**head, "object": "chat.completion.chunk", "choices": [choice]})
    return httpx.Response(200, text=f"data: {chunk}\n\ndata: [DONE]\n\n", headers={"content-type": "text/event-stream"})


def _responses_answer(given: dict[str, Any], answer: str) -> httpx.Response:
    text = {"type": "output_text", "text": answer, "annotations": []}
    message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]}
    response = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-4o",
        "status": "completed",
        "output": [message],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    if not given.get("stream"):
        return httpx.Response(200, json=response)
    delta = {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0}
    events = [
        {"type": "response.created", "sequence_number": 0, "response": {**response, "output": []}},
        {**delta, "delta": answer, "sequence_number": 1, "logprobs": []},
        {"type": "response.completed", "sequence_number": 2, "response": response},
    ]
    lines = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return httpx.Response(200, text=lines, headers={"content-type": "text/event-stream"})


def openai_model(provider: Provider, **fields: Any) -> ChatOpenAI:
    transport = httpx.MockTransport(provider)
    return ChatOpenAI(
        model="gpt-4o",
        api_key=KEY,
        max_retries=0,
        http_client=httpx.Client(transport=transport),
        http_async_client=httpx.AsyncClient(transport=transport),
        **fields,
    )


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream", "batch"])
@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_l12_openais_client_sends_what_fits_and_traces_what_was_given(api: str, way: str) -> None:
    provider, listener = Provider(), RunListener()
    plain = openai_model(provider, use_responses_api=api == "responses")
    model = with_optimizer(plain, max_input_tokens=600, output_reserve=0)
    config: Any = {"callbacks": [listener], "configurable": {"ctxopt": {"target_tokens": 500}}}
    if way == "invoke":
        assert model.invoke(CHAT, config).text == "Done."
    elif way == "ainvoke":
        assert (await model.ainvoke(CHAT, config)).text == "Done."
    elif way == "stream":
        assert "".join(chunk.text for chunk in model.stream(CHAT, config)) == "Done."
    elif way == "astream":
        assert "".join([chunk.text async for chunk in model.astream(CHAT, config)]) == "Done."
    else:
        assert model.batch([CHAT], config)[0].text == "Done."
    [request] = provider.requests
    messages = request["messages"] if api == "chat" else request["input"]
    assert 0 < len(messages) < len(CHAT) == len(listener.started[0])
    assert "ctxopt" not in request
    assert model.last_report is not None
    assert model.last_report.input_budget == 500


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore:Cannot use method='json_schema'")
def test_l17_openais_client_parses_a_fitted_request(method: Any) -> None:
    verdict = Verdict(lit=True, reason="It is dark.", parts=[], first=Part(name="wick"))
    provider = Provider(verdict.model_dump_json())
    model = with_optimizer(openai_model(provider), max_input_tokens=900, output_reserve=0)
    structured = model.with_structured_output(Verdict, method=method, include_raw=True)
    structured.invoke(CHAT)
    [request] = provider.requests
    assert len(request["messages"]) < len(CHAT)
    assert model.last_report is not None
    sent = [request[key] for key in ("response_format",) if key in request] + request.get("tools", [])
    tokens = counter_for("o200k_base").count(json.dumps([sent, request["messages"]], separators=(",", ":")))
    assert model.last_report.fixed > 0
    assert tokens < 900 + 8 * len(request["messages"])  # the JSON of a message is longer than its framing


def test_l14_a_server_that_holds_the_conversation_is_refused() -> None:
    held = ChatOpenAI(model="gpt-5", api_key=KEY, use_responses_api=True, use_previous_response_id=True)
    with pytest.raises(ServerStateError, match="`use_previous_response_id`"):
        with_optimizer(held, max_input_tokens=3_000)
    agent = create_agent(held, middleware=[ContextOptimizerMiddleware(max_input_tokens=3_000)])
    with pytest.raises(ServerStateError, match="`use_previous_response_id`"):
        agent.invoke({"messages": [HumanMessage("Hi")]})


def test_l16_ollamas_client_sends_the_window_that_is_counted() -> None:
    model = ChatOllama(model="llama3.1", num_ctx=32_768)
    for called in (model, model.bind(options={"num_ctx": 4_096}), model.bind(options={"num_ctx": 8_192, "seed": 1})):
        sent = model._chat_params([HumanMessage("Hi")], **getattr(called, "kwargs", {}))
        assert ContextOptimizer(model=called).budget.context_window == sent["options"]["num_ctx"]


@pytest.mark.parametrize(
    ("model", "window"),
    [
        pytest.param(
            lambda: (
                ChatOpenAI(model="gpt-4o", api_key=KEY)
                .configurable_fields(model_name=ConfigurableField(id="name"))
                .with_config(configurable={"name": "gpt-4"})
            ),
            8_192,
            id="a configured field",
        ),
        pytest.param(
            lambda: ChatOpenAI(model="gpt-4o", api_key=KEY).model_copy(update={"model_name": "gpt-4"}),
            8_192,
            id="a copy",
        ),
        pytest.param(
            lambda: with_optimizer(ChatOpenAI(model="gpt-4o", api_key=KEY)).model_copy(update={"model_name": "gpt-4"}),
            8_192,
            id="a copy of an optimized one",
        ),
        pytest.param(
            lambda: ChatOpenAI(model="gpt-4", api_key=KEY, profile={"max_input_tokens": 30_000}), 30_000, id="one's own"
        ),
        pytest.param(
            lambda: ChatOpenAI(
                model="a-gateway-name", api_key=KEY, profile=ChatOpenAI(model="gpt-4o", api_key=KEY).profile
            ),
            128_000,
            id="another model's, given for a name that is not known",
        ),
        pytest.param(
            lambda: ChatMistralAI(model="mistral-large-latest", api_key=KEY).model_copy(
                update={"model": "ministral-3b-latest"}
            ),
            settings_of(ChatMistralAI(model="ministral-3b-latest", api_key=KEY)).max_input_tokens,
            id="a copy of another client",
        ),
    ],
)
def test_l16_the_window_is_that_of_the_model_by_its_own_name(model: Callable[[], Any], window: int) -> None:
    assert settings_of(model()).max_input_tokens == window


def test_l16_amazons_models_are_counted_as_their_base_model() -> None:
    model = ChatBedrockConverse(
        model="arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/4x8y1z",
        base_model="anthropic.claude-sonnet-4-5-20250929-v1:0",
        provider="anthropic",
        region_name="us-east-1",
    )
    budget = ContextOptimizer(model=model).budget
    assert budget.window is not None
    assert (budget.context_window, budget.window.safety_factor > 1.3) == (200_000, True)


@pytest.mark.parametrize("name", ["openai", "anthropic", "mistral", "google"])
def test_l25_the_answer_limit_that_each_client_sends_is_kept_free(name: str) -> None:
    model = MODELS[name]().bind(max_tokens=70_000)
    assert ContextOptimizer(model=model).budget.output_reserve == 70_000


def test_l8_the_reported_agent_is_fitted_by_a_limit_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    provider = Provider()
    http_client = httpx.Client(transport=httpx.MockTransport(provider))
    # Without a prefix the model takes the keys that LangGraph adds to a configuration for parameters of its own.
    options: Any = {"configurable_fields": "any", "config_prefix": "llm", "http_client": http_client}
    model = init_chat_model("gpt-4o", model_provider="openai", **options)
    agent = create_agent(model, [], middleware=[ContextOptimizerMiddleware(max_input_tokens=600)])
    agent.invoke({"messages": CHAT})
    assert 0 < len(provider.requests[0]["messages"]) < len(CHAT)
