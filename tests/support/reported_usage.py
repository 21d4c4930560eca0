"""Requests with tools, and the `prompt_tokens` that OpenAI's API reported for them, as others have published them.

Sources of the rows, by the word before the colon of their id:

* `cookbook`: openai/openai-cookbook, "How to count tokens with tiktoken", section 7: its example, as printed.
* `hmarr`: hmarr/openai-chat-tokens, tests/token-counts.test.ts, validated against gpt-3.5-turbo in 2023.
* `fox`: pamelafox/openai-messages-token-helper, tests/functions.py, verified against gpt-3.5-turbo and gpt-4 in 2024.
* `pydantic`: pydantic/pydantic-ai, recorded requests of its tests, 2025 and 2026: test_openai_tool_output,
  test_openai_instructions_with_tool_calls_keep_instructions, test_mcp (two), and of the Responses API
  test_responses_count_tokens_with_tools, test_background_mode_with_tool_vcr, test_openai_responses_output_type,
  test_openai_conversation_id_tool_call_continuation, and with a response format test_openai_native_output and
  test_openai_native_output_multiple.
* `coder`: coder/aibridge, fixtures/openai, chatcompletions and responses/blocking, single_builtin_tool.txtar, 2025/26.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BOT = (("system", "You are a bot."),)
HELLO = (("user", "hello"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """One request and what was reported.

    Args:
        model: The model.
        messages: (role, text) pairs.
        tools: Functions without their wrapper, and anything else that goes with the request.
        tokens: The reported `prompt_tokens` or `input_tokens`.
        spare: How many tokens too many are counted at most, where that is more than 2 %.
    """

    model: str
    messages: tuple[tuple[str, str], ...]
    tools: tuple[dict[str, Any], ...]
    tokens: int
    spare: int = 0


def function(name, description=None, properties=None, required=None):
    described = {"name": name}
    if description is not None:
        described["description"] = description
    if properties is not None:
        described["parameters"] = {"type": "object", "properties": properties}
        described["parameters"] |= {"required": required} if required else {}
    return described


def text(**more):
    return {"type": "string", **more}


def choice(name):
    return {"tool_choice": {"type": "function", "function": {"name": name}} if name not in CHOICES else name}


CHOICES = ("none", "required")
WEATHER = function(
    "get_current_weather",
    "Get the current weather in a given location",
    {
        "location": text(description="The city and state, e.g. San Francisco, CA"),
        "unit": text(description="The unit of temperature to return", enum=["celsius", "fahrenheit"]),
    },
    ["location"],
)
ABOUT_WEATHER = (
    ("system", "You are a helpful assistant that can answer to questions about the weather."),
    ("user", "What's the weather like in San Francisco?"),
)
SEARCH = function(
    "search_sources",
    "Retrieve sources from the Azure AI Search index",
    {"search_query": text(description="Query string to retrieve documents from azure search eg: 'Health care plan'")},
    ["search_query"],
)
SEARCH_OF_ANYTHING = function(
    "search_sources", "Retrieve sources from the Azure AI Search index", {"search_query": text()}, ["search_query"]
)
SEARCH_BARE = function("search_sources", "Retrieve sources from the Azure AI Search index")
INTEGERS = function(
    "data_demonstration",
    "This is the main function description",
    {"integer_enum": {"type": "integer", "enum": [-1, 1]}},
)
ORDER = function(
    "summarize_order",
    "Summarize the customer order request",
    {
        "product_name": text(description="Product name ordered by customer"),
        "quantity": {"type": "integer", "description": "Quantity ordered by customer"},
        "unit": text(enum=["meals", "days"], description="unit of measurement of the customer order"),
    },
    ["product_name", "quantity", "unit"],
)
ESCALATION = function(
    "human_escalation",
    "Check if user wants to escalate to a human",
    {
        "requires_escalation": {
            "type": "boolean",
            "description": (
                "If user is showing signs of frustration or anger in the query. "
                "Also if the user says they want to talk to a real person and not a chat bot."
            ),
        }
    },
    ["requires_escalation"],
)
ADDRESSES = function(
    "get_coordinates",
    "Get the latitude and longitude of multiple mailing addresses",
    {"addresses": {"type": "array", "description": "The mailing addresses to be located", "items": text()}},
    ["addresses"],
)
NULL = function(
    "get_null",
    "Get the null value",
    {"null_value": {"type": "null", "description": "The null value to be returned"}},
    ["null_value"],
)
NO_TYPE = function(
    "get_no_type",
    "Get the no type value",
    {"no_type_value": {"description": "The no type value to be returned"}},
    ["no_type_value"],
)
MOODS = {"string_2a": text(enum=["Happy", "Sad"])}
LOST = {"string_2b": text(description="Description in a second object is lost")}
A_NUMBER = {"type": "number", "description": "A number"}
LETTERS = {"bar": text(enum=["a", "b", "c"]), "baz": {"type": "boolean"}}
INGREDIENT = {
    "type": "object",
    "required": ["name", "unit", "amount"],
    "properties": {
        "name": text(),
        "unit": text(enum=["grams", "ml", "cups", "pieces", "teaspoons"]),
        "amount": {"type": "number"},
    },
}
RECIPE = function(
    "get_recipe",
    None,
    {
        "ingredients": {"type": "array", "items": INGREDIENT},
        "instructions": {
            "type": "array",
            "items": text(),
            "description": "Steps to prepare the recipe (no numbering)",
        },
        "time_to_cook": {"type": "number", "description": "Total time to prepare the recipe in minutes"},
    },
    ["ingredients", "instructions", "time_to_cook"],
)


def inside(properties, **beside):
    described = {"type": "object", "description": "The object data type as a property", "properties": properties}
    return function(
        "data_demonstration", "This is the main function description", {"object_1": described, **beside}, ["object_1"]
    )


def of_mcp(name, description="", properties=None, required=None):
    return function(name, description, properties or {}, required)


MCP = (
    of_mcp(
        "celsius_to_fahrenheit",
        "Convert Celsius to Fahrenheit.\n\n    Args:\n        celsius: Temperature in Celsius\n\n"
        "    Returns:\n        Temperature in Fahrenheit\n    ",
        {"celsius": {"type": "number"}},
        ["celsius"],
    ),
    of_mcp(
        "get_weather_forecast",
        "Get the weather forecast for a location.\n\n    Args:\n"
        "        location: The location to get the weather forecast for.\n\n"
        "    Returns:\n        The weather forecast for the location.\n    ",
        {"location": text()},
        ["location"],
    ),
    *map(of_mcp, ("get_image_resource", "get_image_resource_link", "get_audio_resource", "get_audio_resource_link")),
    *map(of_mcp, ("get_product_name", "get_product_name_link", "get_image", "get_dict", "get_unstructured_dict")),
    of_mcp("get_error", "", {"value": {"default": False, "type": "boolean"}}),
    *map(of_mcp, ("get_none", "get_multiple_items")),
    of_mcp("get_log_level", "Get the current log level.\n\n    Returns:\n        The current log level.\n    "),
    of_mcp(
        "echo_deps",
        "Echo the run context.\n\n    Args:\n"
        "        ctx: Context object containing request and session information.\n\n"
        "    Returns:\n        Dictionary with an echo message and the deps.\n    ",
    ),
    of_mcp("use_sampling", "Use sampling callback.", {"foo": text()}, ["foo"]),
    of_mcp(
        "get_client_info",
        "Get information about the connected MCP client.\n\n    Returns:\n"
        "        Dictionary with client info (name, version, etc.) or None if not available.\n    ",
    ),
    of_mcp(
        "use_elicitation",
        "Use elicitation callback to ask the user a question.",
        {"question": text()},
        ["question"],
    ),
    of_mcp("enable_hidden_tool", "Enable the hidden tool, triggering a ToolListChangedNotification."),
)
