"""What is counted with a model call, what is left alone, and where its report goes."""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain.agents.structured_output import AutoStrategy, ProviderStrategy, ToolStrategy
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from langchain_ctxopt import ContextOptimizerMiddleware
from langchain_ctxopt.agents.call_schemas import schemas_of_call
from scripted_model import PAGE, TOOLS, ScriptedModel, calling

SECRET = "marmalade"
CHAT: list[Any] = [
    *(message for i in range(30) for message in (HumanMessage(f"{SECRET} {i}?"), AIMessage(PAGE))),
    HumanMessage("How many lanterns are there?"),
]


class Count(BaseModel):
    """How many lanterns there are in the harbour, as the keeper's log book has it for the day."""

    lanterns: int = Field(description="The number of lanterns, the broken ones on the long pier included. " * 4)


class Refusal(BaseModel):
    """Why there is no number of lanterns."""

    reason: str


class Plain(TypedDict):
    lanterns: int


PLAIN_SCHEMA = {"title": "count", "type": "object", "properties": {"lanterns": {"type": "integer"}}}


class ObligingModel(ScriptedModel):
    """Answers in the form that it is asked for."""

    def _answer(self, messages: list[BaseMessage], options: dict[str, Any]) -> AIMessage:
        super()._answer(messages, options)
        if "response_format" in options:
            return AIMessage('{"lanterns": 40}')
        name = options["tools"][2]["function"]["name"]
        return calling((name, {"lanterns": 40}))


def request_of(model: Any, **fields: Any) -> ModelRequest[Any]:
    return ModelRequest(model=model, messages=CHAT, **fields)


@pytest.mark.parametrize("structured", [True, False], ids=["provider's form known", "unknown"])
@pytest.mark.parametrize(
    "response_format",
    [
        pytest.param(Count, id="a model"),
        pytest.param(Plain, id="a typed dict"),
        pytest.param(PLAIN_SCHEMA, id="a JSON schema"),
        pytest.param(AutoStrategy(Count), id="automatic"),
        pytest.param(ToolStrategy(Count), id="as a tool"),
        pytest.param(ToolStrategy(Count | Refusal), id="as one of two tools"),
        pytest.param(ProviderStrategy(Count), id="in the provider's form"),
        pytest.param(ProviderStrategy(Count, strict=True), id="in the provider's strict form"),
    ],
)
def test_i3_the_response_format_is_counted_as_it_is_bound(response_format: Any, structured: bool) -> None:
    profile: Any = {"max_input_tokens": 800, "structured_output": structured}
    model = ObligingModel(window=800, profile=profile, model_name="scripted")
    reports: list[Any] = []
    middleware = ContextOptimizerMiddleware(on_report=reports.append, token_counter="o200k_base")
    agent = create_agent(model, TOOLS, response_format=response_format, middleware=[middleware])
    assert agent.invoke({"messages": CHAT})["structured_response"]
    assert model.refused == []
    [counted] = model.counted
    [report] = reports
    assert 600 < counted <= report.tokens_after <= 700
    assert len(model.bound[0]["tools"]) > 2 or "response_format" in model.bound[0]


@pytest.mark.parametrize("response_format", [None, ToolStrategy(Count), ProviderStrategy(Count)])
def test_i3_tools_of_the_provider_are_counted_as_they_are(response_format: Any) -> None:
    search = {"type": "web_search", "user_location": {"city": "Quillmere"}}
    for schemas in schemas_of_call([search, *TOOLS], response_format):
        assert schemas[0] is search
        assert len(schemas) == 3 + (response_format is not None)


def test_i3_without_the_agents_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "langchain_ctxopt.agents.middleware")
    monkeypatch.setitem(sys.modules, "langchain.agents.middleware", None)
    with pytest.raises(ImportError, match=r"pip install 'ctxopt-core\[agents\]'"):
        importlib.import_module("langchain_ctxopt.agents.middleware")


def test_i3_tool_choice_and_response_format_are_left_as_they_are() -> None:
    sent: list[Any] = []
    system = SystemMessage("Be brief.")
    settings = {"stop": ["x"]}
    given = request_of(
        ScriptedModel(window=700),
        tools=list(TOOLS),
        tool_choice="read",
        response_format=ToolStrategy(Count),
        system_message=system,
        model_settings=settings,
    )

    def handler(request: ModelRequest[Any]) -> ModelResponse[Any]:
        sent.append(request)
        return ModelResponse(result=[AIMessage("ok")])

    ContextOptimizerMiddleware().wrap_model_call(given, handler)
    [request] = sent
    assert given.messages is CHAT
    assert len(request.messages) < len(CHAT)
    for name in ("model", "tools", "tool_choice", "response_format", "system_message", "model_settings", "state"):
        assert getattr(request, name) is getattr(given, name)


def test_i3_a_system_message_in_the_state_stays_a_message() -> None:
    sent: list[Any] = []
    given = ModelRequest(model=ScriptedModel(window=700), messages=[SystemMessage("Be brief."), *CHAT])
    ContextOptimizerMiddleware().wrap_model_call(given, sent.append)
    assert sent[0].system_message is None
    assert sent[0].messages[0] is given.messages[0]


def test_i3_a_system_prompt_that_was_emptied_is_not_sent() -> None:
    sent: list[Any] = []
    given = request_of(ScriptedModel(window=700), system_message=SystemMessage(PAGE * 90))
    ContextOptimizerMiddleware(shares={"system": 0, "query": 50, "documents": 0, "history": 50}).wrap_model_call(
        given, sent.append
    )
    [request] = sent
    assert request.messages[-1] is CHAT[-1]
    assert request.system_message is None or len(request.system_message.text) < len(PAGE)


def test_i3_the_report_goes_to_callbacks_and_holds_no_content() -> None:
    events: list[Any] = []

    class Recorder(BaseCallbackHandler):
        def on_custom_event(self, name: str, data: Any, **options: Any) -> None:
            events.append((name, data))

    agent = create_agent(ScriptedModel(window=700), TOOLS, middleware=[ContextOptimizerMiddleware()])
    agent.invoke({"messages": CHAT}, {"callbacks": [Recorder()]})
    [(name, data)] = events
    assert name == "ctxopt_report"
    assert data["messages"]["given"] == len(CHAT)
    assert data["input_budget"] == 600
    assert SECRET not in json.dumps(data)


async def test_i3_the_report_streams_among_the_events_of_the_agent() -> None:
    agent = create_agent(ScriptedModel(window=700), TOOLS, middleware=[ContextOptimizerMiddleware()])
    seen = [event async for event in agent.astream_events({"messages": CHAT}, version="v2")]
    [report] = [event for event in seen if event["event"] == "on_custom_event"]
    assert (report["name"], report["data"]["unchanged"]) == ("ctxopt_report", False)


@pytest.mark.parametrize("stream_reports", [True, False])
def test_i3_reports_are_written_to_the_custom_stream_when_asked_for(stream_reports: bool) -> None:
    middleware = ContextOptimizerMiddleware(stream_reports=stream_reports)
    agent = create_agent(ScriptedModel(window=700), TOOLS, middleware=[middleware])
    written = list(agent.stream({"messages": CHAT}, stream_mode="custom"))
    assert [list(chunk) for chunk in written] == [["ctxopt_report"]] * stream_reports


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        pytest.param({"window": 7}, TypeError, "has no setting `window`; it has attachment_tokens", id="unknown"),
        pytest.param({"prompt": "x"}, TypeError, "has no setting `prompt`", id="one of another class"),
        pytest.param({"target_tokens": 0}, ValueError, "`target_tokens`", id="no tokens"),
        pytest.param({"trigger": 2}, ValueError, "`trigger`", id="trigger"),
        pytest.param({"output_reserve": -1}, ValueError, "`output_reserve`", id="reserve"),
        pytest.param({"protect": ("history",)}, ValueError, "`protect`", id="protect"),
        pytest.param({"context_window": 100, "output_reserve": 200}, ValueError, "nothing is left", id="no room"),
        pytest.param({"history": {"strategy": "none"}}, ValueError, "`strategy`", id="strategy"),
    ],
)
def test_i3_settings_are_checked_when_the_middleware_is_made(
    settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ContextOptimizerMiddleware(**settings)


@pytest.mark.parametrize(
    ("settings", "budget"),
    [
        pytest.param({}, 900, id="the model's"),
        pytest.param({"target_tokens": 500}, 500, id="target_tokens"),
        pytest.param({"context_window": 800}, 700, id="window"),
        pytest.param({"max_input_tokens": 650}, 650, id="input"),
        pytest.param({"output_reserve": 300}, 700, id="reserve"),
        pytest.param({"safety_margin": 50}, 850, id="margin"),
    ],
)
def test_i3_settings_go_before_what_the_model_says(settings: dict[str, Any], budget: int) -> None:
    reports: list[Any] = []
    model = ScriptedModel(window=1_000)
    middleware = ContextOptimizerMiddleware(on_report=reports.append, **settings)
    create_agent(model, middleware=[middleware]).invoke({"messages": CHAT})
    assert [report.input_budget for report in reports] == [budget]
    assert model.counted[0] <= budget
