"""How tool schemas are rendered and counted for each provider."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxopt_core import ContextBudget, ContextRequest, Message, Shares, fit, plan
from ctxopt_core.providers.rules import rules_for
from ctxopt_core.providers.tool_schemas import json_tokens, schema_texts
from ctxopt_core.providers.typescript_schemas import declaration
from request_tokens import count_text, recount


def tool(properties=None, *, name="look", description=None, **schema):
    parameters = {"type": "object", "properties": properties or {}, **schema}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def rendered(properties, **schema):
    lines = declaration(json.dumps(tool(properties, **schema)["function"])).splitlines()
    assert lines[0] == "type look = (_: {"
    assert lines[-1] == "}) => any;"
    return lines[1:-1]


def schema_tokens(model, tools, count=len, system=None):
    return rules_for(model).schema_tokens(tools, count, system)


@pytest.mark.parametrize(
    ("schema", "lines"),
    [
        ({"type": "string"}, ["a?: string,"]),
        ({"type": "integer"}, ["a?: number,"]),
        ({"type": "string", "enum": ["x", "y"]}, ['a?: "x" | "y",']),
        ({"enum": [1, None]}, ["a?: 1 | null,"]),
        ({"const": "x", "type": "string"}, ['a?: "x",']),
        ({"type": ["string", "null"]}, ["a?: string | null,"]),
        ({"type": "string", "nullable": True}, ["a?: string | null,"]),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, ["a?: string | null,"]),
        ({"oneOf": [{"type": "number"}, {"type": "boolean"}]}, ["a?: number | boolean,"]),
        ({"allOf": [{"$ref": "#/$defs/Leaf"}, {"type": "object"}]}, ["a?: string & object,"]),
        ({"type": "array"}, ["a?: any[],"]),
        ({"type": "array", "items": {"type": "string"}}, ["a?: string[],"]),
        ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "null"}]}, ["a?: [string, null],"]),
        ({"type": "object"}, ["a?: object,"]),
        ({"type": "object", "properties": {"b": {"type": "null"}}}, ["a?: {", "  b?: null,", "},"]),
        ({"properties": {"b": {}}, "required": ["b"]}, ["a?: {", "  b: any,", "},"]),
        ({"$ref": "#/$defs/Leaf"}, ["a?: string,"]),
        ({"$ref": "#/$defs/Absent"}, ["a?: #/$defs/Absent,"]),
        ({"type": "string", "description": " one\n   two "}, ["// one", "two", "a?: string,"]),
        ({"type": "boolean", "default": False}, ["a?: boolean, // default: false"]),
        ({"type": "string", "default": "x", "description": ""}, ["a?: string, // default: x"]),
        ({"type": "integer", "minimum": 3, "title": "A"}, ["// minimum: 3", '// title: "A"', "a?: number,"]),
        (True, ["a?: any,"]),
        ({}, ["a?: any,"]),
    ],
    ids=str,
)
def test_t2_a_property_is_rendered_as_openai_shows_it(schema, lines):
    assert rendered({"a": schema}, **{"$defs": {"Leaf": {"type": "string"}}}) == lines


def test_t2_what_is_required_has_no_question_mark_and_additional_properties_may_be_forbidden():
    lines = rendered({"a": {}, "b": {}}, required=["a"], additionalProperties=False, strict=True)

    assert lines == ["a: any,", "b?: any,"]


def test_t2_what_a_provider_may_send_or_not_counts_as_json():
    assert rendered({"a": {}}, patternProperties={"x": {}})[0] == '// patternProperties: {"x": {}}'


@pytest.mark.parametrize(
    "definitions",
    [
        {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
        {f"N{i}": {"properties": {k: {"$ref": f"#/$defs/N{i + 1}"} for k in "ab"}} for i in range(40)},
    ],
    ids=["refers to itself", "two to the fortieth"],
)
def test_t2_definitions_without_an_end_are_counted_as_json(definitions):
    looped = tool({"a": {"$ref": f"#/$defs/{next(iter(definitions))}"}}, **{"$defs": definitions})

    assert schema_tokens("gpt-4o", [looped]) > json_tokens([looped["function"]], len)


def test_t2_definitions_cost_the_larger_of_their_json_and_of_what_they_stand_for():
    unit = {"type": "string", "enum": ["one", "two"]}
    many = {name: {"$ref": "#/$defs/Unit"} for name in "abcdefghijklmnopqrst"}
    long = {"Unit": {**unit, "description": "how it is measured, " * 9}}

    spelled = schema_tokens("gpt-4o", [tool(dict.fromkeys(many, unit))])
    assert schema_tokens("gpt-4o", [tool(many, **{"$defs": {"Unit": unit}})]) >= spelled
    used = tool({"a": {"$ref": "#/$defs/Unit"}}, **{"$defs": long})
    assert schema_tokens("gpt-4o", [used]) > json_tokens([used["function"]], len)


@pytest.mark.parametrize(
    ("beside", "tokens"),
    [
        ({"tool_choice": "auto"}, 0),
        ({"tool_choice": "none"}, 1),
        ({"tool_choice": "required"}, 2),
        ({"tool_choice": "any"}, 2),
        ({"tool_choice": True}, 2),
        ({"tool_choice": "look"}, 7 + 4),
        ({"tool_choice": {"type": "function", "function": {"name": "look"}}}, 7 + 4),
        ({"tool_choice": {"type": "function", "name": "look"}}, 7 + 4),
        ({"type": "web_search"}, len('[{"type":"web_search"}]')),
        ('{"type":"web_search"}', len('[{"type":"web_search"}]')),
        ("anything", len("[anything]")),
        ("{not json", len("[{not json]")),
    ],
    ids=str,
)
def test_t2_the_choice_of_a_tool_and_tools_of_other_kinds_are_counted_beside_functions(beside, tokens):
    alone = schema_tokens("gpt-4o", [tool()])

    assert schema_tokens("gpt-4o", [tool(), beside]) == alone + tokens
    assert schema_tokens("gpt-4o", [beside]) == tokens


def test_t2_a_schema_given_as_json_is_counted_like_the_schema():
    assert schema_tokens("gpt-4o", [json.dumps(tool({"a": {}}))]) == schema_tokens("gpt-4o", [tool({"a": {}})])


@pytest.mark.parametrize(
    ("system", "tokens"),
    [(None, 0), ("", 0), ("Be brief.", -4), ("Be brief", -3), ("Why?", -4), ("{x}", -4), ("简短。", -3)],
)
def test_t2_functions_join_the_system_message(system, tokens):
    assert schema_tokens("gpt-4o", [tool()], system=system) == schema_tokens("gpt-4o", [tool()]) + tokens


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
@pytest.mark.parametrize("mark", '.?!:;)",]}')
def test_t2_a_line_break_is_one_token_with_the_mark_before_it(mark, encoding):
    assert count_text(f"so{mark}\n", encoding) == count_text(f"so{mark}", encoding)


@pytest.mark.parametrize(
    ("model", "prompt"),
    [
        ("claude-3-opus-20240229", 530),
        ("claude-3-5-sonnet-20241022", 530),
        ("claude-sonnet-4-20250514", 530),
        ("claude-sonnet-4-5", 589),
        ("us.anthropic.claude-opus-4-6-v1", 589),
        ("claude-opus-4-7", 804),
        ("claude-opus-4-8", 410),
        ("claude-sonnet-5", 474),
        ("claude-opus-5-5", 804),
        ("claude-next", 804),
    ],
)
def test_t2_claude_adds_a_system_prompt_for_tools(model, prompt):
    tools = [tool({"a": {"type": "string"}})]

    assert schema_tokens(model, tools) == json_tokens(tools, len) + prompt
    assert schema_tokens(model, []) == 0


@pytest.mark.parametrize("model", [None, "gemini-2.5-pro", "llama3.1:8b", "deepseek-chat", "gpt-oss-20b"])
def test_t2_everyone_else_has_compact_json_one_by_one_or_as_one_list(model):
    tools = [tool({"a": {"type": "string"}}), "text"]
    texts = schema_texts(tools)

    assert schema_tokens(model, tools) == max(sum(map(len, texts)), len(f"[{','.join(texts)}]"))


def test_l27_mistral_has_json_with_spaces_between_two_control_tokens():
    tools = [tool({"a": {"type": "string"}}), json.dumps(tool({"b": {"type": "string"}})), "text"]
    sent = f"[{json.dumps(tools[0])}, {tools[1]}, text]"

    assert schema_tokens("mistral-large-latest", tools) == schema_tokens("open-mixtral-8x7b", tools) == len(sent) + 2
    assert schema_tokens("mistral-large-latest", []) == 0


def test_t2_a_schema_is_rendered_once_whichever_object_holds_it():
    tools = [tool({"first": {"type": "string"}}), tool({"second": {"type": "string"}})]
    schema_tokens("gpt-4o", tools)
    before = declaration.cache_info().misses
    schema_tokens("gpt-4o", copy.deepcopy(tools))

    assert declaration.cache_info().misses == before


KEYS = tuple("type properties items required anyOf enum $ref description default const $defs x".split())  # noqa: SIM905
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["name", "description", "parameters", "function", "type"]), JSON, max_size=5))
def test_t2_no_schema_makes_it_fail(schema):
    before = copy.deepcopy(schema)

    assert schema_tokens("gpt-4o", [schema]) > 0
    assert schema == before


TOOLS = [tool({f"field_{i}": {"type": "string", "description": f"the field {i} of it"} for i in range(9)}, name="note")]
ROWS = [{"role": r, "content": f"message {i} {'word ' * 30}"} for i in range(30) for r in ("user", "assistant")]


@pytest.mark.parametrize("model", ["gpt-4o", None])
@pytest.mark.parametrize("target", [400, 500, 800])
def test_t2_a_fit_leaves_room_for_the_schemas_as_json(target, model):
    budget = ContextBudget.for_model(model, target_tokens=target) if model else ContextBudget(target_tokens=target)
    history = [Message(**row) for row in ROWS] + [Message(role="user", content="and now?")]
    fitted = fit(ContextRequest(history=history, tools=TOOLS), budget)
    rows = [{"role": message.role, "content": message.content} for message in fitted.messages()]

    assert fitted.report.tokens_after <= recount(rows, TOOLS) <= target
    counted = fitted.report.fixed + sum(component.after for component in fitted.report.components.values())
    assert fitted.report.tokens_after == counted


def test_t2_a_system_message_that_is_emptied_no_longer_carries_the_tools():
    request = ContextRequest(system="word " * 400, query="why is that so?", tools=TOOLS)
    fitted = fit(request, ContextBudget.for_model("gpt-4o", target_tokens=260, shares=Shares(system=0)))

    assert not any(fitted.system)
    rows = [{"role": "user", "content": fitted.query[0]}]
    assert fitted.report.tokens_after == recount(rows) + schema_tokens("gpt-4o", TOOLS, count_text)


def test_a10_schemas_are_fixed_and_never_reported_as_saved():
    request = ContextRequest(history=[Message(**row) for row in ROWS], tools=TOOLS)
    report = plan(request, ContextBudget.for_model("gpt-4o", target_tokens=500))
    bare = plan(ContextRequest(history=request.history), ContextBudget.for_model("gpt-4o", target_tokens=500))

    assert report.fixed - bare.fixed == schema_tokens("gpt-4o", TOOLS, count_text)
    assert report.tokens_saved == report.tokens_before - report.tokens_after
