"""How providers say that a request is too long: their words, and the figures in them.

Their clients' errors have no class in common, and some arrive as any invalid request or as an HTTP error. So an error
is known by its class or its code where it has one, else by its words. No client is imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from langchain_core.exceptions import ContextOverflowError, LangChainException

from ctxopt_core import ContextBudgetError
from langchain_ctxopt.errors import RequestOverflowError

_CODES = frozenset({"context_length_exceeded", "model_max_prompt_tokens_exceeded", "exceed_context_size_error"})
# HTTP statuses of errors that a shorter request does not mend: no key, no access, no such model, too many requests.
_OTHER_STATUSES = frozenset({401, 403, 404, 429})
# Parts of a request that may be too large, by the names of remedies.
_PARTS = frozenset({"tools", "fixed", "system", "query"})
# Errors inside an error: a client wraps one or two times, a group holds a few.
_MOST_ERRORS = 20

_CONTEXT_LENGTH = r"maximum context length is (?P<M>\d+) tokens.{0,80}?"
# N: the tokens of the input. M: the most that there may be. A: those of the answer that was asked for.
_WORDS: tuple[str, ...] = (
    # Anthropic, also on Bedrock and Vertex
    r"prompt is too long: (?P<N>\d+) tokens > (?P<M>\d+)",
    r"input length and .?max_tokens.? exceed context limit: (?P<N>\d+) \+ (?P<A>\d+) > (?P<M>\d+)",
    # OpenAI, Azure, Groq, DeepSeek, OpenRouter, vLLM and other servers of the same interface
    rf"{_CONTEXT_LENGTH}requested (?:about )?\d+ tokens \((?P<parts>[^)]*?)(?P<A>\d+) (?:in|for) the (?:compl|output)",
    rf"{_CONTEXT_LENGTH}(?:resulted in|requested(?: about)?|request has|prompt contains(?: at least)?) (?P<N>\d+)",
    r"maximum prompt length is (?P<M>\d+) but the request contains (?P<N>\d+)",  # xAI
    r"prompt \((?:total )?length (?P<N>\d+)\) is (?:too long|longer).{0,60}?(?:length of|context length) (?P<M>\d+)",
    r"configured limit of (?P<M>\d+) tokens.{0,40}?resulted in (?P<N>\d+)",
    r"passed (?P<N>\d+) input tokens.{0,160}?maximum input length of (?P<M>\d+)",
    r"current length is (?P<N>\d+) while limit is (?P<M>\d+)",  # Cerebras
    # SGLang
    r"input \((?P<N>\d+) tokens\) is longer than the model's context length \((?P<M>\d+)",
    r"context length of (?P<M>\d+) tokens\. you requested a total of \d+ tokens: (?P<N>\d+).{0,50}? (?P<A>\d+) tok",
    # Mistral
    r"prompt contains (?P<N>\d+) tokens.{0,60}?too large for model with (?P<M>\d+)",
    # Google, on its own and on Vertex
    r"input token count \((?P<N>\d+)\) exceeds the maximum number of tokens allowed \((?P<M>\d+)\)",
    r"input token count is (?P<N>\d+) but model only supports up to (?P<M>\d+)",
    # llama.cpp, its Python package, and Ollama where it refuses
    r"request \((?P<N>\d+) tokens\) exceeds the available context size \((?P<M>\d+)",
    r"requested tokens \((?P<N>\d+)\) exceed context window of (?P<M>\d+)",
    # Text Generation Inference, Together
    r"must be <= (?P<M>\d+)\. given: (?P<N>\d+) .?inputs.? tokens and (?P<A>\d+)",
    r"inputs.? must have less than (?P<M>\d+) tokens\. given: (?P<N>\d+)",
    # Cohere, Copilot, Moonshot, Fireworks
    r"tokens in the prompt cannot exceed (?P<M>\d+) - received (?P<N>\d+)",
    r"prompt token count of (?P<N>\d+) exceeds the limit of (?P<M>\d+)",
    r"exceeded model token limit: (?P<M>\d+) \(requested: (?P<N>\d+)",
    r"prompt is too long: (?P<N>\d+), model maximum context length: (?P<M>\d+)",
    # watsonx, DeepInfra
    r"(?:input|prompt) (?:length|tokens) (?P<N>\d+) (?:exceeds|cannot exceed) .{0,40}?(?P<M>\d+)",
    # Amazon, in characters
    r"expected maxlength: (?P<M>\d{4,}), actual: (?P<N>\d+)",
    # Without figures
    r"prompt is too long",
    r"input is too long",
    r"input length and .?max_tokens.? exceed context limit",
    r"maximum context length is \d+",
    r"exceeds the (?:model's )?(?:context window|maximum context length|available context size)",
    r"input token count.{0,40}exceeds the maximum",
    r"number of input tokens exceeds maximum length",  # Amazon
    r"reduce the length of the (?:messages|prompt|input)",
    r"too large for model with \d+ maximum context length",
    r"context window exceeds limit",
    r"context[_ ](?:length|size|window)[_ ](?:has been )?exceeded",
    r"size limit exceeded by \d+ tokens",  # Cohere
    r"greater than the context length|context length of only \d+ tokens",  # LM Studio
    r"max_tokens must be at least 1, got -\d",  # vLLM, which subtracts the input from its window
    r"prompt exceeds max length",  # Zhipu
    r"range of input length should be",  # Alibaba
)
_PATTERNS = tuple(re.compile(words, re.IGNORECASE | re.DOTALL) for words in _WORDS)
# Limits of the input alone: those of Google's models, and what is left of a window beside the answer.
_INPUT_ALONE = re.compile(r"input token count|maximum input length of", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
# Characters of an error that are read: the figures come first, and some errors repeat the request.
_MOST_TEXT = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A provider's refusal of a request for its length.

    Args:
        asked: The tokens of the input, as the provider counts them; None where it does not say.
        allowed: The most that the input may have, by the same count.
        includes_answer: Whether the answer must find room in `allowed` as well.
    """

    asked: int | None = None
    allowed: int | None = None
    includes_answer: bool = False

    def part(self, answer_tokens: int) -> float | None:
        """Return what part of the refused input may be sent; None where the refusal has no figures.

        Args:
            answer_tokens: The tokens that are kept free for the answer.
        """
        if self.asked is None or self.allowed is None:
            return None
        room = self.allowed - answer_tokens if self.includes_answer else self.allowed
        part = (room if room > 0 else self.allowed) / self.asked
        return part if 0 < part < 1 else None


def refusal_in(error: BaseException) -> Refusal | None:
    """Return the refusal that an error is, or that it was made from; None for any other error.

    An error of our own is none: nothing can be made smaller.

    Args:
        error: What calling a model raised.
    """
    found: Refusal | None = None
    for inner in _errors_in(error):
        if isinstance(inner, ContextBudgetError):
            return None
        refusal = _refusal(inner)
        if refusal is not None and (found is None or found.asked is None):
            found = refusal
    return found


def final_refusal(error: Exception, unfit: ContextBudgetError | None = None) -> Exception:
    """Return a refusal as an error that says that another try cannot succeed; the error itself where it says so.

    Args:
        error: What a provider's client raised.
        unfit: What says that the request cannot be made smaller; None where a smaller one was refused, too.
    """
    if isinstance(error, LangChainException) and not getattr(error, "is_retryable", True):
        return error
    remedies = {
        "max_input_tokens": "a smaller `max_input_tokens`",
        "token_counter": "a `token_counter` that counts as the provider does",
    }
    if unfit is not None:
        cut = {name: phrase for name, phrase in unfit.remedies.items() if name in _PARTS}
        remedies = {"context_window": "a model with a larger context window", **cut}
    reason = "the second, smaller one too" if unfit is None else "it cannot be made smaller"
    return RequestOverflowError(
        f"the provider refused the request for its length ({type(error).__name__}), and {reason}", remedies=remedies
    )


@contextmanager
def refusals_are_final() -> Iterator[None]:
    """Raise a refusal of what is called inside as an error that is not tried again; any other error as it is."""
    try:
        yield
    except Exception as error:  # clients' errors have no class in common; all but refusals are raised
        final = error if refusal_in(error) is None else final_refusal(error)
        if final is error:
            raise
        raise final from error


def _refusal(error: BaseException) -> Refusal | None:
    known = isinstance(error, ContextOverflowError) or _code_of(error) in _CODES
    if not known and _status_of(error) in _OTHER_STATUSES:
        return None
    for text in _texts_of(error):
        for pattern in _PATTERNS:
            if (match := pattern.search(text)) is not None:
                return _with_figures(match)
    return Refusal() if known else None


def _with_figures(match: re.Match[str]) -> Refusal:
    figures = match.groupdict()
    limit = int(figures.get("M") or 0)
    answer = int(figures.get("A") or 0)
    # Some list what the input is made of: messages, functions, images.
    listed = sum(map(int, re.findall(r"\d+", figures.get("parts") or "")))
    asked = int(figures.get("N") or 0) or listed
    if not limit or not asked or limit <= answer:
        return Refusal()
    alone = _INPUT_ALONE.search(match[0]) is not None
    return Refusal(asked=asked, allowed=limit - answer, includes_answer=not answer and not alone)


def _errors_in(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, those in it if it is a group, and those that it was raised from."""
    waiting, seen = [error], set[int]()
    while waiting and len(seen) < _MOST_ERRORS:
        current = waiting.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        inside = current.exceptions if isinstance(current, BaseExceptionGroup) else ()
        context = None if current.__suppress_context__ else current.__context__
        waiting += [inner for inner in (*inside, current.__cause__, context) if inner is not None]


def _texts_of(error: BaseException) -> Iterator[str]:
    response = getattr(error, "response", None)
    try:
        body = getattr(response, "text", None)
    except RuntimeError:  # httpx: a streamed response that was not read
        body = None
    for given in (str(error), getattr(error, "message", None), getattr(error, "body", None), body, response):
        if isinstance(given, (str, Mapping)):
            yield _THOUSANDS.sub("", str(given)[:_MOST_TEXT])


def _code_of(error: BaseException) -> Any:
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    codes = (getattr(error, "code", None), inner.get("code") if isinstance(inner, Mapping) else None)
    return next((code for code in codes if isinstance(code, str)), None)


def _status_of(error: BaseException) -> Any:
    response = getattr(error, "response", None)
    statuses = (
        getattr(error, "status_code", None),
        getattr(error, "code", None),
        getattr(response, "status_code", None),
    )
    return next((status for status in statuses if isinstance(status, int)), None)
