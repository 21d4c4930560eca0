"""How long a request is for its provider, counted without the code under test, and in which words it is too long.

OpenAI's counts follow the cookbook's "How to count tokens with tiktoken" (o200k; ids and structure added as text).
Mistral's are those of `mistral-common`, its own tokenizer. Claude's and Gemini's tokenizers are not published: o200k
times what the project's reference assumes for them. Ollama's models have many: plain o200k, which is the least.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from broken_rule import TOO_LONG, Broken, Request, blocks_of
from rules_openai_responses import items_of, kind_of

from request_tokens import count_text

PER_MESSAGE, PER_REQUEST, PER_NAME = 3, 3, 1  # tokens, by the cookbook
PER_FUNCTION, PER_PROPERTIES, PER_PROPERTY, PER_ENUM_ITEM, ENUM_SAVES, AFTER_FUNCTIONS = 7, 3, 3, 3, -3, 12  # as above
OPENAI_IMAGE = 255  # tokens of an image of one tile: 85 + 170, by the guide of images
GEMINI_IMAGE = 258  # tokens of a small image, by the guide of tokens
CLAUDE_TOOL_PROMPT = 346  # tokens of the system prompt for tools with `auto`, by the guide of tool use
ITEM_FRAME = frozenset({"type", "id", "call_id", "status", "pending_safety_checks"})
"""What frames an item, as role and id frame a message: what it costs is not published."""
SEALED = frozenset({"signature", "data", "encrypted_content", "encrypted_index"})
CLAUDE_OVER_O200K, GEMINI_OVER_O200K = 1.2, 1.05  # assumed; no provider was asked
OLLAMA_WINDOW = 4096  # tokens, Ollama's own default without `num_ctx`

Refusal = Broken | None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _text_tokens(content: Any, image: int = 0) -> int:
    """Return the tokens of content: its texts, `image` for each image, anything else as JSON."""
    total = 0
    for block in blocks_of(content):
        if isinstance(block.get("text"), str):
            total += count_text(block["text"])
        elif "image" in str(block.get("type")) or "inlineData" in block:
            total += image
        else:
            total += count_text(_json(block))
    return total


# OpenAI


def openai_chat_tokens(request: Request) -> int:
    """Return the tokens of the prompt of a chat completion."""
    total = PER_REQUEST + _function_tokens([tool.get("function", tool) for tool in request.get("tools") or ()])
    for message in request["messages"]:
        total += PER_MESSAGE + count_text(str(message["role"])) + _text_tokens(message.get("content"), OPENAI_IMAGE)
        total += count_text(message["name"]) + PER_NAME if message.get("name") else 0
        for call in message.get("tool_calls") or ():
            total += sum(count_text(str(call["function"].get(key) or "")) for key in ("name", "arguments"))
    return total


def _function_tokens(functions: list[dict[str, Any]]) -> int:
    total = AFTER_FUNCTIONS if functions else 0
    for function in functions:
        if "name" not in function:
            total += count_text(_json(function))
            continue
        total += PER_FUNCTION + count_text(f"{function['name']}:{(function.get('description') or '').rstrip('.')}")
        properties = (function.get("parameters") or {}).get("properties") or {}
        total += PER_PROPERTIES if properties else 0
        for name, given in properties.items():
            total += PER_PROPERTY
            total += count_text(f"{name}:{given.get('type')}:{(given.get('description') or '').rstrip('.')}")
            items = given.get("enum") or ()
            total += (ENUM_SAVES if items else 0) + sum(PER_ENUM_ITEM + count_text(str(item)) for item in items)
    return total


def openai_responses_tokens(request: Request) -> int:
    """Return the tokens of the input of a response."""
    total = PER_REQUEST + _function_tokens(request.get("tools") or [])
    total += PER_MESSAGE + count_text(request["instructions"]) if request.get("instructions") else 0
    for item in items_of(request):
        total += PER_MESSAGE
        if kind_of(item) == "message":
            total += count_text(str(item["role"])) + _text_tokens(item.get("content"), OPENAI_IMAGE)
        elif kind_of(item) == "reasoning":
            total += _text_tokens(item.get("summary"))
        elif kind_of(item) == "function_call":
            total += count_text(item["name"]) + count_text(str(item.get("arguments")))
        elif "output" in item:
            total += _text_tokens(item["output"] if isinstance(item["output"], (str, list)) else None, OPENAI_IMAGE)
        else:
            total += count_text(_json({key: value for key, value in item.items() if key not in ITEM_FRAME}))
    return total


# Anthropic


def anthropic_tokens(request: Request) -> int:
    """Return the tokens of the prompt of a message."""
    system = request.get("system")
    total = PER_REQUEST + (_text_tokens(system) if system else 0)
    if request.get("tools"):
        total += CLAUDE_TOOL_PROMPT + count_text(_json(request["tools"]))
    for message in request["messages"]:
        total += PER_MESSAGE + sum(_claude_block_tokens(block) for block in blocks_of(message.get("content")))
    return math.ceil(total * CLAUDE_OVER_O200K)


def _claude_block_tokens(block: dict[str, Any]) -> int:
    kind = block.get("type")
    if kind == "text":
        return count_text(block.get("text") or "")
    if kind == "image":
        return 1  # (width x height) / 750
    if kind == "thinking":
        return count_text(block.get("thinking") or "")
    if kind == "tool_use":
        return count_text(block["name"]) + count_text(_json(block.get("input")))
    if kind == "tool_result":
        return _text_tokens(block.get("content"), 1)
    return count_text(_json(_unsealed(block)))


def _unsealed(value: Any) -> Any:
    """Return a JSON value without what is encrypted: what that costs is not published."""
    if isinstance(value, dict):
        return {key: _unsealed(inner) for key, inner in value.items() if key not in SEALED}
    return [_unsealed(inner) for inner in value] if isinstance(value, list) else value


# Google


def google_tokens(request: Request) -> int:
    """Return the tokens of the contents."""
    total = count_text(_json(request["tools"])) if request.get("tools") else 0
    turns = [*(request.get("contents") or ())]
    turns += [request[key] for key in ("systemInstruction", "system_instruction") if request.get(key)]
    for part in (part for turn in turns for part in turn.get("parts") or ()):
        if "text" in part:
            total += count_text(part["text"])
        elif "inlineData" in part:
            total += GEMINI_IMAGE
        else:
            total += count_text(_json({key: value for key, value in part.items() if key != "thoughtSignature"}))
    return math.ceil(total * GEMINI_OVER_O200K)


# Mistral and Ollama


@lru_cache(maxsize=1)
def _tekken() -> Any:
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

    return MistralTokenizer.v3(is_tekken=True)


def mistral_tokens(request: Request) -> int:
    """Return the tokens of the prompt, as Mistral's own tokenizer renders and counts it."""
    encode = _tekken().instruct_tokenizer.tokenizer.encode

    def count(text: str) -> int:
        return len(encode(text, bos=False, eos=False))

    total = PER_REQUEST + (2 + count(_json(request["tools"])) if request.get("tools") else 0)
    for message in request["messages"]:
        content = message.get("content")
        texts = [part.get("text") or "" for part in blocks_of(content)]
        total += 2 + sum(map(count, texts))  # the control tokens around a message
        for call in message.get("tool_calls") or ():
            shown = {"name": call["function"]["name"], "arguments": call["function"]["arguments"], "id": call["id"]}
            total += count(_json(shown))
        total += count('{"content": "", "call_id": "abcdefghi"}') if message["role"] == "tool" else 0
    return total


def ollama_tokens(request: Request) -> int:
    """Return the least tokens of the prompt."""
    total = count_text(_json(request["tools"])) if request.get("tools") else 0
    for message in request["messages"]:
        total += PER_MESSAGE + count_text(message.get("content") or "")
        total += sum(count_text(_json(call["function"])) for call in message.get("tool_calls") or ())
    return total


# Refusals


def openai_chat_refusal(request: Request, window: int) -> Refusal:
    """Prompt and answer share the window."""
    prompt = openai_chat_tokens(request)
    answer = request.get("max_completion_tokens") or request.get("max_tokens") or 0
    if prompt + answer <= window:
        return None
    if answer:
        told = f"you requested {prompt + answer} tokens ({prompt} in the messages, {answer} in the completion)"
    else:
        told = f"your messages resulted in {prompt} tokens"
    message = (
        f"This model's maximum context length is {window} tokens. However, {told}. Please reduce the length of the "
        "messages or completion."
    )
    return Broken(rule=TOO_LONG, message=message, code="context_length_exceeded")


def openai_responses_refusal(request: Request, window: int) -> Refusal:
    """Input and answer share the window."""
    if openai_responses_tokens(request) + (request.get("max_output_tokens") or 0) <= window:
        return None
    message = "Your input exceeds the context window of this model. Please adjust your input and try again."
    return Broken(rule=TOO_LONG, message=message, code="context_length_exceeded")


def anthropic_refusal(request: Request, window: int) -> Refusal:
    """The prompt alone, or prompt and answer together."""
    prompt, answer = anthropic_tokens(request), request.get("max_tokens") or 0
    if prompt > window:
        return Broken(rule=TOO_LONG, message=f"prompt is too long: {prompt} tokens > {window} maximum")
    if prompt + answer > window:
        told = f"input length and `max_tokens` exceed context limit: {prompt} + {answer} > {window}"
        return Broken(
            rule=TOO_LONG, message=f"{told}, decrease input length or `max_tokens` and try again", code="max_tokens"
        )
    return None


def google_refusal(request: Request, window: int) -> Refusal:
    """The limit is for the input alone."""
    prompt = google_tokens(request)
    if prompt <= window:
        return None
    message = f"The input token count ({prompt}) exceeds the maximum number of tokens allowed ({window})."
    return Broken(rule=TOO_LONG, message=message)


def mistral_refusal(request: Request, window: int) -> Refusal:
    """Prompt and answer share the window."""
    prompt, answer = mistral_tokens(request), request.get("max_tokens") or 0
    if prompt + answer <= window:
        return None
    message = (
        f"Prompt contains {prompt + answer} tokens and 0 draft tokens, too large for model with {window} maximum "
        "context length"
    )
    return Broken(rule=TOO_LONG, message=message, code="3051")


def ollama_cut(request: Request, window: int | None = None) -> Refusal:
    """Never refused: what is over `num_ctx` is cut at the front without a word, which is what this reports."""
    size = (request.get("options") or {}).get("num_ctx") or window or OLLAMA_WINDOW
    prompt = ollama_tokens(request)
    if prompt <= size:
        return None
    return Broken(rule=TOO_LONG, message=f"truncating input prompt limit={size} prompt={prompt}", status=200)


Refuse = Callable[[Request, int], Refusal]


def texts_in(value: Any) -> Iterator[str]:
    """Yield every string inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)
