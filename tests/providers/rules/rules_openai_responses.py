"""What OpenAI's Responses API refuses.

Sources: the API reference of `POST /responses` and the messages that people report, named at each rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from broken_rule import Broken, Request, broken_by

PREFIXES = {
    "message": "msg_",
    "reasoning": "rs_",
    "function_call": "fc_",
    "custom_tool_call": "ctc_",
    "web_search_call": "ws_",
    "computer_call": "cu_",
}
SCREENSHOTS = ("computer_screenshot", "input_image")
"""The second is what the first edition of the guide sends, and LangChain."""
REASONED = {"message", "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"}
"""What may follow a reasoning item besides the calls that have a `call_id`."""
LONGEST_CALL_ID = 64  # characters, by the API reference


def broken_rules(request: Request, issued: Request | None = None) -> list[Broken]:
    """Return every rule that the body of a request breaks.

    Args:
        request: The body.
        issued: The uncut request: the server has each of its items with what it came with.
    """
    return broken_by(request, issued, RULES, SEALED_RULES)


def items_of(request: Request) -> list[dict[str, Any]]:
    """Return the input as items; a string is one user message."""
    given = request.get("input")
    return [{"role": "user", "content": given}] if isinstance(given, str) else list(given or ())


def kind_of(item: dict[str, Any]) -> str:
    """Return the type of an item; a message may leave it out."""
    return item.get("type") or ("message" if "role" in item else "")


def _is_call(item: dict[str, Any]) -> bool:
    return kind_of(item).endswith("_call") and "call_id" in item


def _is_output(item: dict[str, Any]) -> bool:
    return kind_of(item).endswith("_call_output")


def _words(kind: str) -> str:
    return kind.removesuffix("_output").replace("_", " ")


def calls_have_outputs(request: Request) -> Iterator[str]:
    """https://github.com/openai/openai-agents-python/issues with 'No tool output found for function call'."""
    items = items_of(request)
    for at, item in enumerate(items):
        answers = {kind_of(later) for later in items[at:] if later.get("call_id") == item.get("call_id")}
        if _is_call(item) and f"{kind_of(item)}_output" not in answers:
            yield f"No tool output found for {_words(kind_of(item))} {item['call_id']}."


def outputs_have_calls(request: Request) -> Iterator[str]:
    """https://github.com/langchain-ai/langchain/issues/37937."""
    called: set[tuple[str, str]] = set()
    for item in items_of(request):
        if _is_call(item):
            called.add((f"{kind_of(item)}_output", item["call_id"]))
        elif _is_output(item) and (kind_of(item), item.get("call_id")) not in called:
            yield f"No tool call found for {_words(kind_of(item))} output with call_id {item.get('call_id')}."


def call_ids_stand_once(request: Request) -> Iterator[str]:
    """One output for each call, and no item twice."""
    items = items_of(request)
    found = Counter((kind_of(item), item["call_id"]) for item in items if item.get("call_id"))
    found.update(("item", item["id"]) for item in items if item.get("id"))
    for (_, identity), times in found.items():
        if times > 1:
            yield f"Duplicate item found with id {identity}. Remove duplicate items from your input and try again."


def call_ids_have_1_to_64_characters(request: Request) -> Iterator[str]:
    """The API reference."""
    for at, item in enumerate(items_of(request)):
        identity = item.get("call_id", "none")
        if not isinstance(identity, str) or not 1 <= len(identity) <= LONGEST_CALL_ID:
            yield (
                f"Invalid 'input[{at}].call_id': string too long. Expected a string with maximum length "
                f"{LONGEST_CALL_ID}, but got a string with length {len(str(identity))} instead."
            )


def reasoning_is_followed(request: Request) -> Iterator[str]:
    """https://github.com/vercel/ai/issues/7099."""
    items = items_of(request)
    for at, item in enumerate(items):
        if kind_of(item) != "reasoning":
            continue
        behind = next((later for later in items[at + 1 :] if kind_of(later) != "reasoning"), None)
        is_made = behind is not None and (_is_call(behind) or kind_of(behind) in REASONED | {"item_reference"})
        if not is_made or (behind or {}).get("role", "assistant") != "assistant":
            yield f"Item '{item.get('id')}' of type 'reasoning' was provided without its required following item."


def item_ids_have_their_prefix(request: Request) -> Iterator[str]:
    """https://github.com/langchain-ai/langchain/issues with 'Expected an ID that begins with'."""
    for at, item in enumerate(items_of(request)):
        wanted = PREFIXES.get(kind_of(item))
        identity = item.get("id")
        if wanted and identity is not None and not str(identity).startswith(wanted):
            yield f"Invalid 'input[{at}].id': '{identity}'. Expected an ID that begins with '{wanted.rstrip('_')}'."


def parts_go_with_their_role(request: Request) -> Iterator[str]:
    """The API reference: user parts are `input_*`, assistant parts `output_text` and `refusal`."""
    for at, item in enumerate(items_of(request)):
        content = item.get("content")
        if kind_of(item) != "message" or not isinstance(content, list):
            continue
        for part in content:
            kind = str(part.get("type"))
            written = item.get("role") == "assistant"
            if not (kind in {"output_text", "refusal"} if written else kind.startswith("input_")):
                wanted = "'output_text' and 'refusal'" if written else "'input_text', 'input_image' and 'input_file'"
                yield f"Invalid value: '{kind}'. Supported values are: {wanted}. (input[{at}].content)"


def arguments_are_strings(request: Request) -> Iterator[str]:
    """The API reference."""
    for at, item in enumerate(items_of(request)):
        if kind_of(item) == "function_call" and not isinstance(item.get("arguments"), str):
            yield f"Invalid type for 'input[{at}].arguments': expected a string, but got an object instead."


def arrays_are_not_empty(request: Request) -> Iterator[str]:
    """As in Chat Completions."""
    arrays = [("input", request.get("input"))]
    arrays += [(f"input[{at}].content", item.get("content")) for at, item in enumerate(items_of(request))]
    for where, found in arrays:
        if found == []:
            yield f"Invalid '{where}': empty array. Expected an array with minimum length 1."


def computer_outputs_are_screenshots(request: Request) -> Iterator[str]:
    """https://github.com/Azure-Samples/computer-use/issues/22."""
    for at, item in enumerate(items_of(request)):
        if kind_of(item) != "computer_call_output":
            continue
        output = item.get("output")
        is_shot = isinstance(output, dict) and output.get("type") in SCREENSHOTS
        if not is_shot or not (output.get("image_url") or output.get("file_id")):
            yield f"Invalid value for 'input[{at}].output': expected an object of type '{SCREENSHOTS[0]}'."


def approvals_have_requests(request: Request) -> Iterator[str]:
    """The guide of remote MCP servers: a response names its request."""
    asked: set[Any] = set()
    for item in items_of(request):
        if kind_of(item) == "mcp_approval_request":
            asked.add(item.get("id"))
        if kind_of(item) == "mcp_approval_response" and item.get("approval_request_id") not in asked:
            yield f"No approval request found with id {item.get('approval_request_id')}."


def required_reasoning_is_there(request: Request, issued: Request) -> Iterator[str]:
    """An item that came with a reasoning item needs it back: https://github.com/0xPlaygrounds/rig/issues/751.

    The server knows an item by its id; one that comes without it is new to it.
    """
    whole, items = items_of(issued), items_of(request)
    made_with = {
        item["id"]: before["id"]
        for before, item in pairwise(whole)
        if kind_of(before) == "reasoning" and before.get("id") and item.get("id")
    }
    for before, item in zip([{}, *items], items, strict=False):
        needed = made_with.get(item.get("id") or "")
        if needed and kind_of(item) != "item_reference" and needed != before.get("id"):
            yield (
                f"Item '{item['id']}' of type '{kind_of(item)}' was provided without its required 'reasoning' item: "
                f"'{needed}'."
            )


def encrypted_reasoning_is_unmodified(request: Request, issued: Request) -> Iterator[str]:
    """https://github.com/vercel/ai/issues with 'could not be verified'."""
    known = {(item.get("id"), item.get("encrypted_content")) for item in items_of(issued)}
    for item in items_of(request):
        if kind_of(item) == "reasoning" and (item.get("id"), item.get("encrypted_content")) not in known:
            yield f"The encrypted content for item {item.get('id')} could not be verified."


def references_are_known(request: Request, issued: Request) -> Iterator[str]:
    """https://github.com/earendil-works/pi/issues/5059."""
    known = {item.get("id") for item in items_of(issued)}
    for item in items_of(request):
        if kind_of(item) == "item_reference" and item.get("id") not in known:
            yield f"Item with id '{item.get('id')}' not found."
    previous = request.get("previous_response_id")
    if previous is not None and previous != issued.get("previous_response_id"):
        yield f"Previous response with id '{previous}' not found."


RULES = (
    calls_have_outputs,
    outputs_have_calls,
    call_ids_stand_once,
    call_ids_have_1_to_64_characters,
    reasoning_is_followed,
    item_ids_have_their_prefix,
    parts_go_with_their_role,
    arguments_are_strings,
    arrays_are_not_empty,
    computer_outputs_are_screenshots,
    approvals_have_requests,
)
SEALED_RULES = (required_reasoning_is_there, encrypted_reasoning_is_unmodified, references_are_known)
