"""The providers' refusals of a request for its length: which errors are one, and how small the second request is."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRetryMiddleware
from langchain_core import exceptions
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, HumanMessage

from langchain_ctxopt import ContextOptimizerMiddleware, RequestOverflowError
from langchain_ctxopt.agents.refusals import Refusal, refusal_in
from scripted_model import PAGE, ScriptedModel

CHAT: list[Any] = [
    *(message for i in range(30) for message in (HumanMessage(f"Question {i}?"), AIMessage(PAGE))),
    HumanMessage("How many lanterns are there?"),
]
NO_FIGURES = (None, None)


class ClientError(Exception):
    """What a client of a provider raises: attributes differ from client to client."""

    def __init__(self, text: str, **attributes: Any) -> None:
        super().__init__(text)
        for name, value in attributes.items():
            setattr(self, name, value)


def http_error(status: int, text: str, *, read: bool = True) -> httpx.HTTPStatusError:
    """Return the error of a client that has no errors of its own."""
    request = httpx.Request("POST", "https://provider.invalid/v1/chat/completions")
    stream = httpx.ByteStream(text.encode())
    response = httpx.Response(status, text=text, request=request) if read else httpx.Response(status, stream=stream)
    response.request = request
    return httpx.HTTPStatusError(f"Error response {status} while fetching /v1/chat", request=request, response=response)


MISTRAL = (
    '{"object":"error","message":"Prompt contains 7852 tokens, too large for model with 6000 maximum context length"}'
)
REFUSALS = [
    pytest.param("prompt is too long: 213462 tokens > 200000 maximum", (213_462, 200_000), id="anthropic"),
    pytest.param(
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length",
        (190_000, 180_000),
        id="anthropic with the answer",
    ),
    pytest.param("prompt is too long: 213,462 tokens > 200,000 maximum", (213_462, 200_000), id="thousands"),
    pytest.param(
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens. Please "
        "reduce the length of the messages.",
        (8_545, 8_192),
        id="openai",
    ),
    pytest.param(
        "This model's maximum context length is 8192 tokens. However, you requested 10033 tokens (4033 in the "
        "messages, 6000 in the completion). Please reduce the length of the messages or completion.",
        (4_033, 2_192),
        id="openai with the answer",
    ),
    pytest.param(
        "This model's maximum context length is 8192 tokens. However, you requested 9100 tokens (4000 in the "
        "messages, 1100 in the functions, and 4000 in the completion).",
        (5_100, 4_192),
        id="openai with functions",
    ),
    pytest.param(
        "This model's maximum context length is 4097 tokens, however you requested 4226 tokens (3970 in your prompt; "
        "256 for the completion). Please reduce your prompt; or completion length.",
        (3_970, 3_841),
        id="openai completions",
    ),
    pytest.param(
        "This endpoint's maximum context length is 131072 tokens. However, you requested about 132463 tokens (1463 of "
        "text input, 131000 in the output). Please reduce the length of either one.",
        (1_463, 72),
        id="openrouter",
    ),
    pytest.param(
        "'max_tokens' is too large: 900. This model's maximum context length is 4096 tokens and your request has 3800 "
        "input tokens (900 > 4096 - 3800).",
        (3_800, 4_096),
        id="vllm",
    ),
    pytest.param(
        "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
        (9_000, 8_192),
        id="vllm v1",
    ),
    pytest.param("Your input exceeds the context window of this model. Please adjust.", NO_FIGURES, id="responses"),
    pytest.param("Please reduce the length of the messages or completion.", NO_FIGURES, id="groq"),
    pytest.param(
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        (537_812, 131_072),
        id="xai",
    ),
    pytest.param(
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        (1_196_265, 1_048_575),
        id="gemini",
    ),
    pytest.param(
        "Unable to submit request because the input token count is 40000 but model only supports up to 32768.",
        (40_000, 32_768),
        id="vertex",
    ),
    pytest.param(
        "An error occurred (ValidationException) when calling the Converse operation: Input is too long for requested "
        "model.",
        NO_FIGURES,
        id="bedrock",
    ),
    pytest.param(
        "An error occurred (ValidationException) when calling the Converse operation: The model returned the following "
        "errors: prompt is too long: 200049 tokens > 200000 maximum",
        (200_049, 200_000),
        id="bedrock with figures",
    ),
    pytest.param(
        "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it",
        (9_000, 4_096),
        id="llama.cpp",
    ),
    pytest.param("Requested tokens (2100) exceed context window of 2048", (2_100, 2_048), id="llama.cpp in Python"),
    pytest.param(
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 3474 `inputs` tokens and "
        "60 `max_new_tokens`",
        (3_474, 1_988),
        id="together",
    ),
    pytest.param(
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000",
        (5_000, 4_081),
        id="cohere",
    ),
    pytest.param(
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 310000 tokens. Please "
        "reduce the length of the messages.",
        (310_000, 272_000),
        id="openai, a limit of the input",
    ),
    pytest.param(
        "You passed 5000 input tokens and requested 1000 output tokens. However, the model's context length is only "
        "4096 tokens, resulting in a maximum input length of 3096 tokens. Please reduce the length of the input.",
        (5_000, 3_096),
        id="vllm with the answer",
    ),
    pytest.param("max_tokens must be at least 1, got -504.", NO_FIGURES, id="vllm without room"),
    pytest.param(
        "The input (5000 tokens) is longer than the model's context length (4096 tokens).", (5_000, 4_096), id="sglang"
    ),
    pytest.param(
        "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of "
        "5000 tokens: 4000 tokens from the input messages and 1000 tokens for the completion.",
        (4_000, 3_096),
        id="sglang with the answer",
    ),
    pytest.param(
        "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
        (9_000, 8_192),
        id="cerebras",
    ),
    pytest.param("Requested input length 9000 exceeds maximum input length 8191", (9_000, 8_191), id="deepinfra"),
    pytest.param(
        "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model",
        (5_000, 4_096),
        id="watsonx",
    ),
    pytest.param(
        "Malformed input request: expected maxLength: 50000, actual: 53433, please reformat your input and try again.",
        (53_433, 50_000),
        id="bedrock in characters",
    ),
    pytest.param(
        "too many tokens: size limit exceeded by 8326 tokens. Try using shorter or fewer inputs.",
        NO_FIGURES,
        id="cohere's second",
    ),
    pytest.param(
        "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context "
        "length of only 4096 tokens, which is not enough.",
        NO_FIGURES,
        id="lm studio",
    ),
    pytest.param("Prompt exceeds max length", NO_FIGURES, id="zhipu"),
    pytest.param("Context size has been exceeded.", NO_FIGURES, id="the size"),
    pytest.param("Error: context_length_exceeded", NO_FIGURES, id="the code among the words"),
]
SHAPES = [
    pytest.param(ClientError, id="the message alone"),
    pytest.param(lambda text: ClientError(text, status_code=400, code="invalid_request_error"), id="an HTTP status"),
    pytest.param(lambda text: ClientError("400", body={"error": {"message": text}}), id="the body"),
    pytest.param(lambda text: ClientError("Bad request", message=text), id="the attribute `message`"),
    pytest.param(lambda text: ClientError("Bad request", response={"Error": {"Message": text}}), id="a mapping"),
    pytest.param(lambda text: http_error(422, text), id="the text of the response"),
    pytest.param(ContextOverflowError, id="LangChain's class"),
    pytest.param(lambda text: ExceptionGroup("several", [ValueError("other"), ClientError(text)]), id="a group"),
]


@pytest.mark.parametrize(("text", "figures"), REFUSALS)
def test_l26_every_providers_refusal_is_known_with_its_figures(
    text: str, figures: tuple[int | None, int | None]
) -> None:
    found = refusal_in(ClientError(text))
    assert found is not None
    assert (found.asked, found.allowed) == figures


@pytest.mark.parametrize("shape", SHAPES)
def test_l26_a_refusal_is_known_wherever_its_words_stand(shape: Any) -> None:
    found = refusal_in(shape(MISTRAL))
    assert found is not None
    assert (found.asked, found.allowed) == (7_852, 6_000)


def raised(error: Exception, *, cause: Exception | None = None, context: Exception | None = None) -> Exception:
    """Return an error as it is after `raise ... from`, or after one that was raised while another was handled."""
    if cause is not None:
        error.__cause__ = cause
    error.__context__ = context
    return error


def test_l26_a_refusal_is_known_in_the_error_that_a_client_makes_of_it() -> None:
    inner, outer = ClientError(MISTRAL), ValueError("the call failed")
    assert refusal_in(raised(ValueError("failed"), cause=inner)) == Refusal(
        asked=7_852, allowed=6_000, includes_answer=True
    )
    assert refusal_in(raised(ValueError("failed"), context=inner)) is not None
    assert refusal_in(raised(ValueError("failed"), cause=raised(outer, cause=inner))) is not None
    hidden = raised(ValueError("failed"), context=inner)
    hidden.__suppress_context__ = True
    assert refusal_in(hidden) is None


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(ContextOverflowError("too much"), id="the class"),
        pytest.param(ClientError("400", code="context_length_exceeded"), id="the code"),
        pytest.param(ClientError("400", body={"error": {"code": "context_length_exceeded"}}), id="the code in a body"),
        pytest.param(ClientError("400", body={"code": "context_length_exceeded"}), id="the code of a body"),
    ],
)
def test_l26_a_refusal_without_words_is_known_by_its_class_or_code(error: Exception) -> None:
    assert refusal_in(error) == Refusal()


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(ConnectionError("down"), id="connection"),
        pytest.param(ClientError("invalid schema", status_code=400, code="invalid_schema"), id="another bad request"),
        pytest.param(
            ClientError("max_tokens is too large: 9000. This model supports at most 4096 completion tokens"),
            id="answer",
        ),
        pytest.param(ClientError("max_tokens must be at least 1, got 0"), id="no answer"),
        pytest.param(
            ClientError("string too long. Expected a string with maximum length 40, but got one with length 60"),
            id="a long id",
        ),
        pytest.param(
            ClientError("Request too large: Limit 6000, Requested 7000 tokens per minute", status_code=413), id="rate"
        ),
        pytest.param(
            ClientError("please reduce the length of the messages", status_code=429, code="rate_limit_exceeded"),
            id="too many requests",
        ),
        pytest.param(http_error(401, "prompt is too long"), id="no access"),
        pytest.param(http_error(500, "busy", read=False), id="a response that was not read"),
        pytest.param(RequestOverflowError("prompt is too long: 9 tokens > 8"), id="our own"),
        pytest.param(ValueError(), id="no message"),
    ],
)
def test_l26_any_other_error_is_no_refusal(error: Exception) -> None:
    assert refusal_in(error) is None


def test_l26_our_own_error_inside_another_one_is_no_refusal() -> None:
    error = ContextOverflowError("prompt is too long")
    error.__cause__ = RequestOverflowError("nothing to cut")
    assert refusal_in(error) is None


@pytest.mark.parametrize(
    ("refusal", "part"),
    [
        (Refusal(), None),
        (Refusal(asked=1_000, allowed=800), 0.8),
        (Refusal(asked=1_000, allowed=800, includes_answer=True), 0.7),
        (Refusal(asked=1_000, allowed=50, includes_answer=True), 0.05),
        (Refusal(asked=1_000, allowed=1_000), None),
        (Refusal(asked=1_000, allowed=2_000), None),
    ],
    ids=str,
)
def test_l26_the_figures_say_what_part_may_be_sent(refusal: Refusal, part: float | None) -> None:
    assert refusal.part(100) == part


class Refusing(ScriptedModel):
    """Refuses the first request with an error of one's own."""

    error: Any = None

    def _answer(self, messages: Any, options: Any) -> Any:
        if not self.refused:
            self.refused.append(len(messages))
            raise self.error
        return super()._answer(messages, options)


async def run(model: Any, way: str, chat: Any = CHAT, around: Any = (), **settings: Any) -> list[Any]:
    reports: list[Any] = []
    middleware = ContextOptimizerMiddleware(on_report=reports.append, **settings)
    agent = create_agent(model, middleware=[*around, middleware])
    given: Any = {"messages": chat}
    if way == "invoke":
        agent.invoke(given)
    elif way == "ainvoke":
        await agent.ainvoke(given)
    else:
        list(agent.stream(given, stream_mode="messages"))
    return reports


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream"])
@pytest.mark.parametrize(
    ("error", "part"),
    [
        pytest.param(http_error(422, MISTRAL), 0.95 * 5_900 / 7_852, id="mistral"),
        pytest.param(
            exceptions.ModelAPIError("input length and `max_tokens` exceed context limit: 900 + 100 > 800")
            if hasattr(exceptions, "ModelAPIError")
            else ClientError("input length and `max_tokens` exceed context limit: 900 + 100 > 800"),
            0.95 * 700 / 900,
            id="anthropic's second",
        ),
        pytest.param(ClientError("Input is too long for requested model."), 0.75, id="no figures"),
        pytest.param(
            ClientError("The input token count (1000) exceeds the maximum number of tokens allowed (500)."),
            0.95 * 0.5,
            id="gemini",
        ),
    ],
)
async def test_l26_the_second_request_is_as_small_as_the_figures_say(way: str, error: Exception, part: float) -> None:
    model = Refusing(window=1_000, error=error)
    first, second = await run(model, way)
    assert second.input_budget == int(first.tokens_after * part)
    assert model.counted[0] <= second.input_budget
    assert len(model.heard) == 1


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_l26_no_second_request_where_it_is_not_wanted(way: str) -> None:
    model = Refusing(window=1_000, error=http_error(422, MISTRAL))
    with pytest.raises(httpx.HTTPStatusError):
        await run(model, way, retry_factor=None)
    assert model.heard == []


class AlwaysRefusing(ScriptedModel):
    """Refuses every request with an error of one's own."""

    error: Any = None

    def _answer(self, messages: Any, options: Any) -> Any:
        self.refused.append(len(messages))
        raise self.error


FINAL = [
    pytest.param(lambda: http_error(422, MISTRAL), id="mistral"),
    pytest.param(lambda: http_error(400, "Input is too long for requested model."), id="an HTTP error, no figures"),
    pytest.param(lambda: ClientError(MISTRAL), id="the message alone"),
    pytest.param(lambda: ClientError("400", code="context_length_exceeded"), id="the code"),
    pytest.param(lambda: ClientError("400", body={"error": {"message": MISTRAL}}), id="the body"),
    pytest.param(lambda: ExceptionGroup("several", [ValueError("other"), ClientError(MISTRAL)]), id="a group"),
    pytest.param(lambda: raised(ValueError("failed"), cause=ClientError(MISTRAL)), id="the cause"),
    pytest.param(lambda: ContextOverflowError("too much"), id="LangChain's class"),
    pytest.param(
        lambda: getattr(exceptions, "ModelAPIError", ClientError)(
            "input length and `max_tokens` exceed context limit: 900 + 100 > 800"
        ),
        id="a class of LangChain's that may be tried again",
    ),
]


@pytest.mark.parametrize("chat", [pytest.param(CHAT, id="smaller"), pytest.param(CHAT[-1:], id="no smaller one")])
@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream"])
@pytest.mark.parametrize("make", FINAL)
async def test_l26_a_second_refusal_is_not_tried_again(make: Any, way: str, chat: list[Any]) -> None:
    model = AlwaysRefusing(window=1_000, error=make())
    retrying = ModelRetryMiddleware(initial_delay=0.0, max_retries=2, on_failure="error")
    with pytest.raises(ContextOverflowError) as caught:
        await run(model, way, chat, around=[retrying])
    assert len(model.refused) == (2 if chat is CHAT else 1)
    assert not getattr(caught.value, "is_retryable", False)
    if isinstance(caught.value, RequestOverflowError):
        assert "the provider refused the request for its length" in str(caught.value)
        remedy = "a smaller `max_input_tokens`" if chat is CHAT else "a larger context window or a shorter question"
        assert remedy in str(caught.value)
        assert caught.value.__cause__ is model.error


async def test_l26_another_error_of_the_second_request_is_raised_as_it_is() -> None:
    class Failing(Refusing):
        def _answer(self, messages: Any, options: Any) -> Any:
            if self.refused:
                raise ConnectionError
            return super()._answer(messages, options)

    with pytest.raises(ConnectionError):
        await run(Failing(window=1_000, error=http_error(422, MISTRAL)), "invoke")
