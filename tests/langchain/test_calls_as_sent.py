"""What a model is really called with decides window, answer limit, name and schemas; what a server holds is refused."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.exceptions import ContextOverflowError
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import ConfigurableField
from pydantic import BaseModel, Field

from chat_model_doubles import NamedModel
from ctxopt_core import ContextBudgetError, ServerStateError, UnknownModelWarning
from langchain_ctxopt import (
    ContextOptimizer,
    ContextOptimizerCompressor,
    ContextOptimizerMiddleware,
    RequestOverflowError,
    pre_model_hook,
    with_optimizer,
)
from langchain_ctxopt.model_settings import settings_of
from langchain_ctxopt.sent_schemas import format_as_sent
from scripted_model import PAGE, TOOLS, ScriptedModel


class Local(NamedModel):
    """A model of a server that loads it with a window, as Ollama does."""

    model_name: str = "llama3.1"
    num_ctx: int | None = None
    num_predict: int | None = None
    format: Any = None


class Responding(NamedModel):
    """A model whose server can hold the conversation."""

    use_previous_response_id: bool = False
    previous_response_id: str | None = None
    cached_content: str | None = None
    extra_body: dict[str, Any] | None = None
    instructions: str | None = None


class Amazon(NamedModel):
    """A model that is called by an ARN."""

    model_name: str | None = None  # type: ignore[assignment]
    model_id: str = "arn:aws:bedrock:us-east-1:1:application-inference-profile/4x8y1z"
    base_model_id: str | None = None
    provider: str | None = None


class Part(BaseModel):
    """A part."""

    name: str


class Verdict(BaseModel):
    """Whether a lantern is lit."""

    lit: bool
    reason: str = Field(default="", description="Why.")
    part: Part = Field(description="Of what.")


STATES = [
    pytest.param(Responding(use_previous_response_id=True), "`use_previous_response_id`", id="LangChain's field"),
    pytest.param(Responding(previous_response_id="resp_1"), "`previous_response_id`", id="a field"),
    pytest.param(Responding(cached_content="cachedContents/1"), "`cached_content`", id="cached content"),
    pytest.param(Responding(model_kwargs={"previous_response_id": "r"}), "`previous_response_id`", id="model_kwargs"),
    pytest.param(Responding(extra_body={"conversation": "conv_1"}), "`conversation`", id="extra_body"),
    pytest.param(NamedModel().bind(previous_response_id="resp_1"), "`previous_response_id`", id="bound"),
    pytest.param(NamedModel().bind(prompt={"id": "pmpt_1"}), "`prompt`", id="a stored prompt"),
    pytest.param(NamedModel().bind(conversation={"id": "conv_1"}), "`conversation`", id="a bound mapping"),
    pytest.param(NamedModel().bind(extra_body={"conversation": "c"}), "`conversation`", id="in a bound mapping"),
    pytest.param(
        NamedModel().bind_tools(TOOLS, previous_response_id="r").with_retry(), "`previous_response_id`", id="deep"
    ),
]


@pytest.mark.parametrize(("model", "named"), STATES)
def test_l14_what_the_server_holds_is_refused_with_the_remedy(model: Any, named: str) -> None:
    with pytest.raises(ServerStateError, match=rf"{named} makes the server add .*; (send|set)"):
        settings_of(model)
    for front in (ContextOptimizer, ContextOptimizerCompressor):
        with pytest.raises(ServerStateError, match=named):
            front(model=model)


@pytest.mark.parametrize("value", [None, "", False])
def test_l14_where_nothing_is_held_nothing_is_refused(value: Any) -> None:
    settings_of(NamedModel().bind(previous_response_id=value, conversation=value, store=True))


@pytest.mark.parametrize("way", ["field", "call", "mapping"])
def test_l14_an_optimized_model_does_not_send_what_the_server_would_lengthen(way: str) -> None:
    if way == "field":
        with pytest.raises(ServerStateError, match="set it to False"):
            with_optimizer(Responding(use_previous_response_id=True), max_input_tokens=3_000)
        return
    double = ScriptedModel()
    model = with_optimizer(double)
    called = model.bind(previous_response_id="r") if way == "call" else model.bind(extra_body={"conversation": "c"})
    with pytest.raises(ServerStateError, match="send the messages instead"):
        called.batch(["Hi"])
    assert double.heard == []


def test_l14_an_agent_does_not_either() -> None:
    class Held(ScriptedModel):
        use_previous_response_id: bool = True

    model = Held()
    agent = create_agent(model, middleware=[ContextOptimizerMiddleware(max_input_tokens=3_000)])
    with pytest.raises(ServerStateError):
        agent.invoke({"messages": [HumanMessage("Hi")]})
    assert model.heard == []


def window_of(model: Any, **settings: Any) -> int | None:
    return ContextOptimizer(model=model, **settings).budget.context_window


@pytest.mark.parametrize(
    ("model", "window"),
    [
        pytest.param(Local(num_ctx=32_768), 32_768, id="the field"),
        pytest.param(Local(num_ctx=32_768).bind(options={"num_ctx": 4_096}), 4_096, id="options of a call"),
        pytest.param(Local(num_ctx=4_096).bind(options={"num_ctx": 32_768}), 32_768, id="larger options"),
        pytest.param(Local(num_ctx=4_096).bind(model="qwen2.5"), 4_096, id="another model in the same window"),
        pytest.param(Local(num_ctx=999_999), 128_000, id="more than the model can take"),
        pytest.param(NamedModel().bind(extra_body={"options": {"num_ctx": 4_096}}), 4_096, id="through another client"),
        pytest.param(Local(num_ctx=8_192).with_retry().with_config(tags=["t"]), 8_192, id="wrapped"),
    ],
)
def test_l16_the_window_is_the_one_that_is_sent(model: Any, window: int) -> None:
    assert window_of(model) == window


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(Local(model_name="llama3.1"), id="no num_ctx"),
        pytest.param(
            Local(model_name="llama3.2", num_ctx=8_192).bind(options={"temperature": 0}), id="options replace it"
        ),
        pytest.param(Local(model_name="nobody-knows"), id="an unknown model"),
    ],
)
def test_l16_without_num_ctx_ollamas_own_default_is_used_with_one_warning(model: Any) -> None:
    with pytest.warns(UnknownModelWarning, match="`num_ctx`.*2048 tokens") as caught:
        assert [window_of(model) for _ in range(3)] == [2_048] * 3
    assert len(caught) == 1


@pytest.mark.parametrize("limit", ["context_window", "max_input_tokens"])
def test_l16_a_limit_of_ones_own_needs_no_warning(limit: str) -> None:
    assert ContextOptimizer(model=Local(), output_reserve=0, **{limit: 16_000}).budget.input_budget == 16_000


@pytest.mark.parametrize(
    ("model", "reserve"),
    [
        pytest.param(Local(num_ctx=8_192, num_predict=500), 500, id="num_predict"),
        pytest.param(Local(num_ctx=8_192, num_predict=-1), 1_024, id="no limit"),
        pytest.param(Local(num_ctx=8_192).bind(options={"num_ctx": 8_192, "num_predict": 300}), 300, id="options"),
        pytest.param(
            Local(num_ctx=8_192, num_predict=500).bind(options={"num_ctx": 8_192}), 1_024, id="options without it"
        ),
        pytest.param(NamedModel().bind(generation_config={"max_output_tokens": 70}), 70, id="a configuration"),
        pytest.param(NamedModel().bind(inferenceConfig={"maxTokens": 80}), 80, id="Amazon's"),
        pytest.param(NamedModel(model_kwargs={"max_completion_tokens": 90}), 90, id="model_kwargs"),
        pytest.param(NamedModel(max_tokens=700).bind(max_completion_tokens=60), 60, id="a call over a field"),
        pytest.param(NamedModel().bind(max_tokens=10, max_completion_tokens=60), 60, id="the larger of two"),
    ],
)
def test_l16_the_answer_limit_is_the_one_that_is_sent(model: Any, reserve: int) -> None:
    assert ContextOptimizer(model=model).budget.output_reserve == reserve


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"base_model_id": "anthropic.claude-3-5-sonnet-20240620-v1:0"}, "anthropic.claude-3-5-sonnet-20240620-v1:0"),
        ({"provider": "anthropic"}, "anthropic.claude-4x8y1z"),
        ({"provider": "meta"}, "meta.meta-4x8y1z"),
        ({}, "arn:aws:bedrock:us-east-1:1:application-inference-profile/4x8y1z"),
        (
            {"model_id": "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-v2", "provider": "anthropic"},
            "anthropic.claude-v2",
        ),
    ],
)
def test_l16_a_model_behind_an_arn_is_counted_as_what_it_is(fields: dict[str, Any], name: str) -> None:
    assert settings_of(Amazon(**fields)).name == name


def test_l16_the_rules_of_the_base_model_count() -> None:
    model = Amazon(base_model_id="anthropic.claude-3-5-sonnet-20240620-v1:0")
    budget = ContextOptimizer(model=model).budget
    assert budget.window is not None
    assert (budget.context_window, budget.window.safety_factor) == (200_000, 1.35)


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        pytest.param(NamedModel(model_name="gpt-4", max_tokens=6_000), 2_192, id="more than half of the window"),
        pytest.param(NamedModel(model_name="gpt-4").bind(max_tokens=8_000), 192, id="of a call"),
        pytest.param(NamedModel(model_name="gpt-5", max_tokens=128_000), 272_000, id="input and answer apart"),
        pytest.param(
            NamedModel(model_name="gpt-5", max_tokens=128_000, profile={"max_input_tokens": 272_000}),
            272_000,
            id="the same by its profile",
        ),
        pytest.param(NamedModel(model_name="gpt-5", max_tokens=200_000), 200_000, id="beyond what is apart"),
    ],
)
def test_l25_the_whole_answer_limit_is_kept_free(model: Any, tokens: int) -> None:
    assert ContextOptimizer(model=model).budget.input_budget == tokens


@pytest.mark.parametrize("answer", [8_192, 9_000])
@pytest.mark.parametrize("front", ["model", "call", "middleware", "hook", "chain"])
def test_l25_an_answer_of_the_whole_window_is_a_typed_error_with_both_figures(front: str, answer: int) -> None:
    double = NamedModel(model_name="gpt-4", max_tokens=answer)
    expected = pytest.raises(
        ContextBudgetError, match=rf"answer limit of gpt-4 is {answer} tokens, .* has 8192, .*lower"
    )
    with expected as caught:
        if front == "model":
            with_optimizer(double)
        elif front == "call":
            with_optimizer(NamedModel(model_name="gpt-4")).invoke("Hi", max_tokens=answer)
        elif front == "middleware":
            create_agent(double, middleware=[ContextOptimizerMiddleware()]).invoke({"messages": [HumanMessage("Hi")]})
        elif front == "hook":
            pre_model_hook(double)
        else:
            ContextOptimizer(model=double)
    assert isinstance(caught.value, ContextOverflowError)
    assert double.heard == []


def test_l25_where_the_answer_leaves_too_little_the_error_says_so() -> None:
    model = with_optimizer(NamedModel(model_name="gpt-4", max_tokens=6_000))
    with pytest.raises(
        RequestOverflowError, match=r"budget is 2,192 .*`max_tokens` of the model; 6,000 tokens are kept"
    ):
        model.invoke(PAGE * 400)


def test_l25_what_a_profile_says_of_answers_is_no_limit_of_them() -> None:
    model = NamedModel(model_name="mine", profile={"max_input_tokens": 9_000, "max_output_tokens": 8_000})
    assert ContextOptimizer(model=model).budget.output_reserve == 1_125


def test_l25_a_limit_of_the_input_leaves_room_for_the_answer() -> None:
    model = Local(num_ctx=4_096, num_predict=1_000)
    assert ContextOptimizer(model=model, max_input_tokens=3_900).budget.input_budget == 3_096


SENT = {
    "type": "json_schema",
    "name": "Verdict",
    "schema": {"type": "object", "properties": {"lit": {"type": "boolean"}}},
}


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        pytest.param({"response_format": Verdict}, format_as_sent(Verdict), id="a class"),
        pytest.param({"response_format": SENT}, SENT, id="a mapping"),
        pytest.param({"output_config": {"format": SENT, "effort": "low"}}, SENT, id="Anthropic's"),
        pytest.param({"output_config": {"textFormat": SENT}}, SENT, id="Amazon's"),
        pytest.param({"output_format": SENT}, SENT, id="Anthropic's first"),
        pytest.param({"response_json_schema": SENT, "response_mime_type": "application/json"}, SENT, id="Google's"),
        pytest.param({"response_schema": Verdict}, format_as_sent(Verdict), id="a class of Google's"),
        pytest.param({"generation_config": {"response_schema": SENT}}, SENT, id="in Google's configuration"),
        pytest.param({"text": {"format": SENT, "verbosity": "low"}}, SENT, id="Responses"),
        pytest.param({"extra_body": {"guided_json": SENT}}, SENT, id="vLLM's"),
        pytest.param({"format": SENT}, SENT, id="Ollama's"),
        pytest.param({"instructions": "Be brief."}, "Be brief.", id="instructions"),
    ],
)
def test_l17_a_response_format_is_counted_wherever_it_stands(arguments: dict[str, Any], found: Any) -> None:
    assert list(settings_of(NamedModel().bind(**arguments)).schemas) == [found]


@pytest.mark.parametrize(
    "arguments",
    [{"text": {"format": {"type": "text"}}}, {"text": {"verbosity": "low"}}, {"output_config": {"effort": "low"}}],
)
def test_l17_what_is_no_format_costs_nothing(arguments: dict[str, Any]) -> None:
    assert settings_of(NamedModel().bind(**arguments)).schemas == ()


@pytest.mark.parametrize(
    ("model", "found"),
    [
        pytest.param(Local(format=SENT), SENT, id="Ollama's field"),
        pytest.param(Responding(extra_body={"response_format": SENT}), SENT, id="extra_body"),
        pytest.param(Responding(instructions="Be brief."), "Be brief.", id="instructions"),
    ],
)
def test_l17_fields_that_go_with_each_request_are_counted(model: Any, found: Any) -> None:
    assert list(settings_of(model).schemas) == [found]


def test_l17_a_class_is_counted_in_its_strict_form() -> None:
    schema = format_as_sent(Verdict)["json_schema"]["schema"]  # type: ignore[index]
    assert (schema["additionalProperties"], schema["required"]) == (False, ["lit", "reason", "part"])
    assert schema["properties"]["part"]["properties"] == {"name": {"title": "Name", "type": "string"}}
    assert schema["properties"]["part"]["description"] == "Of what."


def test_l17_a_class_that_refers_to_itself_ends() -> None:
    class Node(BaseModel):
        child: Node | None = Field(default=None, description="Below.")

    assert "Node" in str(format_as_sent(Node))


LIMITS = [{"max_input_tokens": 2_900}, {"context_window": 4_000}, {"target_tokens": 2_900}]


@pytest.mark.parametrize("limit", LIMITS, ids=str)
def test_l8_a_limit_is_enough_for_a_model_that_nobody_knows(limit: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (
            NamedModel(model_name="a-gateway-name"),
            FakeListChatModel(responses=["x"]),
            "a-gateway-name",
            None,
        ):
            assert ContextOptimizer(model=model, **limit).budget.input_budget <= 3_500
            ContextOptimizer(model=model, on_unknown_model="error", **limit)
        with_optimizer(FakeListChatModel(responses=["x"]), **limit).invoke("Hi")
        agent = create_agent(FakeListChatModel(responses=["x"]), middleware=[ContextOptimizerMiddleware(**limit)])
        agent.invoke({"messages": [HumanMessage("Hi")]})


def configurable(**parameters: Any) -> Any:
    from langchain.chat_models import init_chat_model

    return init_chat_model(configurable_fields=parameters.pop("fields", "any"), config_prefix="m", **parameters)


@pytest.mark.parametrize("limit", LIMITS, ids=str)
@pytest.mark.parametrize(
    "parameters",
    [
        {"model": "gpt-4o", "model_provider": "openai"},
        {"model": "a-gateway-name", "model_provider": "openai"},
        {"model": "openai:gpt-4o", "max_tokens": 100},
        {"model": "llama3.1", "model_provider": "ollama"},
        {"fields": ("model", "model_provider")},
    ],
    ids=str,
)
def test_l8_a_limit_is_enough_for_a_model_that_a_run_configures(parameters: Any, limit: dict[str, Any]) -> None:
    model = configurable(**parameters)
    for given in (model, model.bind_tools(TOOLS), model.with_retry(), model.bind(stop=["x"])):
        assert 0 < ContextOptimizer(model=given, **limit).budget.input_budget <= 3_900
    assert ContextOptimizerCompressor(model=model, max_tokens=100).budget_tokens == 100
    pre_model_hook(model, **limit)


def test_l8_what_is_bound_to_a_configurable_model_is_counted() -> None:
    model = configurable(model="gpt-4o", model_provider="openai", max_tokens=300)
    bound = ContextOptimizer(model=model.bind_tools(TOOLS), context_window=4_000)
    assert bound.budget.output_reserve == 300
    assert bound.count_tokens([]) > ContextOptimizer(model=model, context_window=4_000).count_tokens([]) + 50
    structured = ContextOptimizer(model=model.with_structured_output(Verdict), context_window=4_000)
    assert structured.count_tokens([]) > 50


def test_l8_the_reported_agent_is_fitted() -> None:
    sent: list[Any] = []
    middleware = ContextOptimizerMiddleware(max_input_tokens=2_900)
    from langchain.agents.middleware.types import ModelRequest

    messages: list[Any] = [*(AIMessage(PAGE) if i % 2 else HumanMessage(PAGE) for i in range(300)), HumanMessage("Hi")]
    model = configurable(model="gpt-4o", model_provider="openai")
    middleware.wrap_model_call(ModelRequest(model=model, messages=messages), sent.append)  # type: ignore[arg-type]
    assert 0 < len(sent[0].messages) < 301


def test_l8_an_optimized_model_says_what_to_do_with_a_configurable_one() -> None:
    with pytest.raises(TypeError, match=r"one that a run configures is fitted by `ContextOptimizer\(model=...\)`"):
        with_optimizer(configurable(model="gpt-4o", model_provider="openai"), max_input_tokens=2_900)


def test_l16_a_configured_model_is_the_one_of_the_run() -> None:
    choice = ConfigurableField(id="choice")
    model = NamedModel().configurable_alternatives(choice, small=NamedModel(model_name="gpt-4", max_tokens=6_000))
    reports: list[Any] = []
    optimizer = ContextOptimizer(model=model, on_report=reports.append)
    optimizer.invoke([HumanMessage("Hi")])
    optimizer.invoke([HumanMessage("Hi")], {"configurable": {"choice": "small"}})
    (optimizer | model).invoke([HumanMessage("Hi")], {"configurable": {"choice": "small"}})
    optimizer.invoke([HumanMessage("Hi")])
    assert [report.input_budget for report in reports] == [123_904, 2_192, 2_192, 123_904]


async def test_l16_a_configured_model_is_the_one_of_the_run_async() -> None:
    model = NamedModel().configurable_fields(model_name=ConfigurableField(id="name"))
    reports: list[Any] = []
    optimizer = ContextOptimizer(model=model, on_report=reports.append)
    await optimizer.ainvoke([HumanMessage("Hi")], {"configurable": {"name": "gpt-4"}})
    assert reports[0].context_window == 8_192


@pytest.mark.parametrize(
    ("settings", "remedy"),
    [
        ({"max_input_tokens": 1_000}, "a larger `max_input_tokens`"),
        ({"target_tokens": 1_000}, "a larger `target_tokens`"),
        ({"context_window": 1_000}, "a larger `context_window`"),
        ({"model": "gpt-4o", "max_input_tokens": 1_000}, "a larger `max_input_tokens`"),
        ({"model": NamedModel(model_name="gpt-4")}, "a model with a larger context window"),
        ({"model": Local(num_ctx=1_000)}, "a larger `num_ctx` of the model"),
    ],
    ids=str,
)
def test_l7_the_error_names_the_setting_that_gave_the_limit(settings: dict[str, Any], remedy: str) -> None:
    with pytest.raises(RequestOverflowError) as caught:
        ContextOptimizer(protect=("query",), **settings).fit([HumanMessage(PAGE * 800)])
    assert f"use {remedy}" in str(caught.value)


def test_l7_tool_schemas_are_named_where_they_are_the_cost() -> None:
    many = [{**tool.tool_call_schema.model_json_schema(), "title": f"tool_{i}"} for i in range(60) for tool in TOOLS]
    with pytest.raises(RequestOverflowError, match=r"of which tools \d.*fewer tools or tools with shorter schemas"):
        ContextOptimizer(max_input_tokens=900, tools=many).fit([HumanMessage("Hi")])
