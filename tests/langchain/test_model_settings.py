"""What is read from a model object: name, window, answer limit, and the schemas that go with every request."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel, FakeListLLM
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import (
    ConfigurableField,
    Runnable,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
)
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

from chat_model_doubles import ListeningModel, NamedModel
from langchain_ctxopt.model_settings import settings_of
from langchain_ctxopt.sent_schemas import format_as_sent


@tool
def inspect(lantern: int, *, thorough: bool = False) -> str:
    """Tell whether a lantern is lit."""
    return f"{lantern}{thorough}"


class Verdict(BaseModel):
    """Whether a lantern is lit."""

    lit: bool
    reason: str


def polish(lantern: int) -> str:
    """Polish one lantern.

    Args:
        lantern: Its number.
    """
    return str(lantern)


SCHEMA = convert_to_openai_tool(inspect)
MODEL = NamedModel()
SMALL = NamedModel(model_name="gpt-4")
LIMIT = ConfigurableField(id="limit")
CHOICE = ConfigurableField(id="choice")


def schemas(model: object) -> list[Any]:
    return list(settings_of(model).schemas)


@pytest.mark.parametrize(
    ("model", "found"),
    [
        pytest.param(MODEL, [], id="nothing bound"),
        pytest.param(MODEL.bind_tools([inspect]), [SCHEMA], id="bind_tools"),
        pytest.param(MODEL.bind(tools=[SCHEMA]), [SCHEMA], id="bind"),
        pytest.param(MODEL.bind(tools=(SCHEMA,)), [SCHEMA], id="a tuple"),
        pytest.param(MODEL.bind(tools=[inspect]), [SCHEMA], id="a tool that was not converted"),
        pytest.param(MODEL.bind(tools=[Verdict]), [convert_to_openai_tool(Verdict)], id="a class as a tool"),
        pytest.param(MODEL.bind(tools=[polish]), [convert_to_openai_tool(polish)], id="a function as a tool"),
        pytest.param(MODEL.bind(functions=[SCHEMA["function"]]), [SCHEMA["function"]], id="functions"),
        pytest.param(
            MODEL.bind(response_format={"type": "json_object"}), [{"type": "json_object"}], id="response_format"
        ),
        pytest.param(MODEL.bind(response_format=Verdict), [format_as_sent(Verdict)], id="a class as the format"),
        pytest.param(MODEL.bind(format={"type": "object"}), [{"type": "object"}], id="format"),
        pytest.param(MODEL.bind(format="json"), ["json"], id="a text as the format"),
        pytest.param(MODEL.bind(tools=SCHEMA), [SCHEMA], id="one tool instead of a list"),
        pytest.param(MODEL.bind(response_format=7), ["7"], id="something that is no schema"),
        pytest.param(MODEL.bind(tools=[], stop=["x"]), [], id="no tools"),
        pytest.param(MODEL.bind(tools=None), [], id="tools that are None"),
        pytest.param(
            MODEL.bind_tools([inspect], response_format={"type": "json_object"}),
            [SCHEMA, {"type": "json_object"}],
            id="tools and a format",
        ),
        pytest.param(MODEL.bind_tools([inspect]).bind(stop=["x"]), [SCHEMA], id="a binding around a binding"),
        pytest.param(MODEL.bind(stop=["x"]).bind(tools=[SCHEMA]), [SCHEMA], id="tools in the outer binding"),
        pytest.param(MODEL.bind(tools=[SCHEMA]).with_retry().bind(tools=[]), [], id="the outer binding wins"),
        pytest.param(MODEL.bind_tools([inspect]).with_config(tags=["t"]), [SCHEMA], id="with_config"),
        pytest.param(MODEL.bind_tools([inspect]).with_retry(), [SCHEMA], id="with_retry"),
        pytest.param(MODEL.bind_tools([inspect]).with_fallbacks([SMALL]), [SCHEMA], id="with_fallbacks"),
        pytest.param(MODEL.bind_tools([inspect]).with_listeners(on_end=print), [SCHEMA], id="with_listeners"),
        pytest.param(MODEL.bind_tools([inspect]).with_types(output_type=str), [SCHEMA], id="with_types"),
        pytest.param(MODEL.bind_tools([inspect]) | StrOutputParser(), [SCHEMA], id="a sequence"),
        pytest.param(
            RunnableLambda(str).bind(stop=["x"]) | MODEL.bind_tools([inspect]),
            [SCHEMA],
            id="a binding that is no model",
        ),
        pytest.param(
            NamedModel(model_kwargs={"response_format": {"type": "json_object"}}),
            [{"type": "json_object"}],
            id="model_kwargs",
        ),
    ],
)
def test_a10_schemas_are_found_wherever_they_are_bound(model: object, found: list[Any]) -> None:
    assert schemas(model) == found


@pytest.mark.parametrize("include_raw", [False, True])
def test_a10_structured_output_counts_its_schema(include_raw: bool) -> None:
    model = MODEL.with_structured_output(Verdict, include_raw=include_raw)
    assert schemas(model) == [convert_to_openai_tool(Verdict), {"tool_choice": "any"}]
    assert settings_of(model).name == "gpt-4o"


@pytest.mark.parametrize(
    ("model", "name"),
    [
        pytest.param(MODEL, "gpt-4o", id="model_name"),
        pytest.param(NamedModel(model_name=" gpt-4 "), "gpt-4", id="blanks"),
        pytest.param(NamedModel(model_name=""), None, id="an empty name"),
        pytest.param(ListeningModel(), None, id="no name"),
        pytest.param(FakeListLLM(responses=["x"]), None, id="a model of texts"),
        pytest.param(MODEL.bind(model="gpt-4"), "gpt-4", id="a name that is bound"),
        pytest.param(MODEL.bind(model="o3").with_retry().bind(model="gpt-4"), "gpt-4", id="the outer name wins"),
        pytest.param(MODEL.with_fallbacks([SMALL]), "gpt-4o", id="the first of several models"),
        pytest.param(MODEL.configurable_alternatives(CHOICE, small=SMALL), "gpt-4o", id="the default alternative"),
        pytest.param(
            MODEL.configurable_alternatives(CHOICE, small=SMALL).with_config(configurable={"choice": "small"}),
            "gpt-4",
            id="the chosen alternative",
        ),
        pytest.param(
            MODEL.configurable_alternatives(CHOICE, small=SMALL)
            .with_config(configurable={"choice": "small"})
            .bind(stop=["x"]),
            "gpt-4",
            id="the chosen alternative inside a binding",
        ),
        pytest.param(
            MODEL.configurable_fields(model_name=CHOICE).with_config(configurable={"choice": "gpt-4"}),
            "gpt-4",
            id="a configured field",
        ),
        pytest.param(RunnableParallel(one=RunnablePassthrough(), two=SMALL), "gpt-4", id="a model in a mapping"),
        pytest.param(RunnablePassthrough() | (StrOutputParser() | SMALL), "gpt-4", id="a model deep in a sequence"),
    ],
)
def test_t9_the_name_is_that_of_the_model_which_will_be_called(model: Runnable[Any, Any], name: str | None) -> None:
    assert settings_of(model).name == name


def test_t9_other_attributes_may_hold_the_name() -> None:
    class Other(ListeningModel):
        model: str = "claude-sonnet-4-5"

    class Deployed(ListeningModel):
        deployment_name: str = "gpt-4"
        model_name: str | None = None

    assert settings_of(Other()).name == "claude-sonnet-4-5"
    assert settings_of(Deployed()).name == "gpt-4"


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        (MODEL, None),
        (NamedModel(max_tokens=700), 700),
        (NamedModel(max_tokens=0), None),
        (NamedModel(max_tokens=700).bind(max_tokens=300), 300),
        (NamedModel(max_tokens=700).bind(max_completion_tokens=300), 300),
        (MODEL.bind(num_predict=300), 300),
        (MODEL.bind(num_predict=-1), None),
        (MODEL.bind(max_tokens=True), None),
        (MODEL.bind(max_tokens="300"), None),
    ],
)
def test_a2_the_answer_limit_is_read_from_the_call_then_from_the_model(model: object, tokens: int | None) -> None:
    assert settings_of(model).answer_tokens == tokens


@pytest.mark.parametrize(
    ("configured", "profile", "window"),
    [
        pytest.param({"num_ctx": 4_096}, None, 4_096, id="ollama"),
        pytest.param({"n_ctx": 512}, None, 512, id="llama.cpp"),
        pytest.param({"num_ctx": 4_096}, {"max_input_tokens": 9_000}, 4_096, id="below the profile"),
        pytest.param({"num_ctx": 40_960}, {"max_input_tokens": 9_000}, 9_000, id="above the profile"),
        pytest.param({"num_ctx": None}, {"max_input_tokens": 9_000}, 2_048, id="not configured"),
        pytest.param({"n_ctx": None}, {"max_input_tokens": 9_000}, 9_000, id="not configured, and no Ollama"),
        pytest.param({"num_ctx": -1}, None, 2_048, id="no number of tokens"),
    ],
)
def test_t9_the_window_that_a_local_model_is_loaded_with_is_its_window(
    configured: dict[str, Any], profile: Any, window: int | None
) -> None:
    model = NamedModel(model_name="llama3.1")
    for name, value in {**configured, "profile": profile}.items():
        object.__setattr__(model, name, value)

    assert settings_of(model.bind(stop=["x"])).window_tokens == window


@pytest.mark.parametrize(
    ("profile", "limits"),
    [
        ({"max_input_tokens": 9_000, "max_output_tokens": 800}, (9_000, 800)),
        ({"max_input_tokens": 9_000}, (9_000, None)),
        ({"max_input_tokens": None, "max_output_tokens": 0}, (None, None)),
        ({"max_input_tokens": "9000", "max_output_tokens": True}, (None, None)),
        ({}, (None, None)),
        (None, (None, None)),
    ],
)
def test_t9_a_profile_is_read_with_care(profile: Any, limits: tuple[int | None, int | None]) -> None:
    model = FakeListChatModel(responses=["x"])
    object.__setattr__(model, "profile", profile)
    settings = settings_of(model.bind(stop=["x"]))
    assert (settings.max_input_tokens, settings.max_output_tokens) == limits


@pytest.mark.parametrize("thing", [7, True, 3.5, ["gpt-4o"], object(), StrOutputParser(), RunnableLambda(str), {}])
def test_t10_what_is_no_model_is_refused_with_a_remedy(thing: object) -> None:
    with pytest.raises(TypeError, match=r"`model` must be a model name or a LangChain language model, got .*give"):
        settings_of(thing)


@pytest.mark.parametrize("choice", ["auto", None])
def test_a10_a_choice_that_is_left_to_the_model_is_not_sent(choice: str | None) -> None:
    assert schemas(MODEL.bind(tools=[{"name": "look"}], tool_choice=choice)) == [{"name": "look"}]
