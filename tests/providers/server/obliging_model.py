"""A model that does what a standard test asks for: calls the tool, fills in the schema, else says a few words."""

from __future__ import annotations

import json
from typing import Any

from broken_rule import Request
from provider_answers import Answer

NUMBER = 3  # what the standard tests ask the magic function for
WORD, CUSTOMERS = "brottsplats", ("你好啊集团", "こんにちは株式会社")
OTHERS = {"number": 1.5, "boolean": True, "array": [], "object": {}, "null": None}


def obliging_answer(request: Request) -> Answer:
    """Return the answer that the request asks for."""
    wanted = (request.get("response_format") or {}).get("json_schema")
    if wanted:
        return Answer(text=json.dumps(filled(wanted["schema"])))
    if request.get("response_format"):
        return Answer(text=json.dumps({"setup": "Why?", "punchline": "Because."}))
    tools = [tool["function"] for tool in request.get("tools") or ()]
    has_result = request["messages"][-1]["role"] == "tool"
    if not tools or has_result or request.get("tool_choice") == "none":
        return Answer(text="One two three four.")
    tool = tools[_chosen(request, tools)]
    arguments = filled(tool.get("parameters") or {}, _name_in(request))
    return Answer(text="", calls=((tool["name"], arguments),))


def _name_in(request: Request) -> str:
    """Return the name that the test of Unicode asks for, where it does."""
    said = json.dumps(request["messages"], ensure_ascii=False)
    return next((name for name in CUSTOMERS if name in said), WORD)


def _chosen(request: Request, tools: list[dict[str, Any]]) -> int:
    choice = request.get("tool_choice")
    name = choice["function"]["name"] if isinstance(choice, dict) else None
    return next((at for at, tool in enumerate(tools) if tool["name"] == name), 0)


def filled(schema: dict[str, Any], word: str = WORD) -> Any:
    """Return a value that a JSON schema allows: what is required, with fixed words and numbers."""
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return filled(schema["anyOf"][0], word)
    if schema.get("type") == "integer":
        return NUMBER
    if schema.get("type") == "object" or "properties" in schema:
        given = schema.get("properties") or {}
        return {name: filled(inner, word) for name, inner in given.items() if name in schema.get("required", ())}
    return OTHERS.get(str(schema.get("type")), word)
