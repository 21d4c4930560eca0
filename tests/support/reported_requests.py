"""The rows of reported usage; see `reported_usage` for their sources."""

from __future__ import annotations

from typing import Any

import reported_usage as of
from reported_usage import BOT, HELLO, Reported, choice, function, text

Q = (("user", "What is the largest city in the user country?"),)
COUNTRY = function("get_user_country", "", {})
CITY = {"city": text(), "country": text()}


def strict(properties: dict[str, Any]) -> dict[str, Any]:
    return {"additionalProperties": False, "properties": properties, "required": [*properties], "type": "object"}


def told(kind: str, *names: str) -> dict[str, Any]:
    return strict({"data": strict({name: text() for name in names}), "kind": {"const": kind, "type": "string"}})


def answer_format(name: str, schema: dict[str, Any], **more: str) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": name, **more, "schema": schema, "strict": True}}


def chat(model: str, messages: Any, tools: list[dict[str, Any]], tokens: int, spare: int = 0) -> Reported:
    return Reported(model=model, messages=tuple(messages), tools=tuple(tools), tokens=tokens, spare=spare)


def stuff(*messages: tuple[str, str]) -> tuple[Any, list[dict[str, Any]]]:
    return messages, [function("do_stuff", None, {})]


COOKBOOK = {
    "cookbook: gpt-3.5-turbo": chat("gpt-3.5-turbo", of.ABOUT_WEATHER, [of.WEATHER], 105),
    "cookbook: gpt-4": chat("gpt-4", of.ABOUT_WEATHER, [of.WEATHER], 105),
    "cookbook: gpt-4o": chat("gpt-4o", of.ABOUT_WEATHER, [of.WEATHER], 101),
    "cookbook: gpt-4o-mini": chat("gpt-4o-mini", of.ABOUT_WEATHER, [of.WEATHER], 101),
}
HMARR = {
    "hmarr: nothing": chat("gpt-3.5-turbo", HELLO, [function("foo", None, {})], 31),
    "hmarr: description": chat("gpt-3.5-turbo", HELLO, [function("foo", "Do a foo", {})], 36),
    "hmarr: property": chat("gpt-3.5-turbo", HELLO, [function("bing_bong", "Do a bing bong", {"foo": text()})], 49),
    "hmarr: two": chat(
        "gpt-3.5-turbo",
        HELLO,
        [
            function(
                "bing_bong", "Do a bing bong", {"foo": text(), "bar": {"type": "number", "description": "A number"}}
            )
        ],
        57,
    ),
    "hmarr: nested": chat(
        "gpt-3.5-turbo",
        HELLO,
        [function("bing_bong", "Do a bing bong", {"foo": {"type": "object", "properties": of.LETTERS}})],
        68,
    ),
    "hmarr: array of objects": chat("gpt-3.5-turbo", HELLO, [of.RECIPE], 106),
    "hmarr: system": chat("gpt-3.5-turbo", *stuff(("system", "Hello"), ("user", "Hi there")), 35),
    "hmarr: colon": chat("gpt-3.5-turbo", *stuff(("system", "Hello:"), ("user", "Hi there")), 35),
    "hmarr: two systems": chat(
        "gpt-3.5-turbo", *stuff(("system", "Hello:"), ("system", "Hello"), ("user", "Hi there")), 40
    ),
}
FOX = {
    "fox: auto": chat("gpt-4", BOT, [of.SEARCH], 66),
    "fox: none": chat("gpt-4", BOT, [of.SEARCH, choice("none")], 67),
    "fox: named": chat("gpt-4", BOT, [of.SEARCH, choice("search_sources")], 75),
    "fox: integers": chat("gpt-4", BOT, [of.INTEGERS, choice("none")], 54),
    "fox: integers, named": chat("gpt-4", BOT, [of.INTEGERS, choice("data_demonstration")], 64),
    "fox: no parameters": chat("gpt-4", BOT, [of.SEARCH_BARE], 42),
    "fox: no parameters, named": chat("gpt-4", BOT, [of.SEARCH_BARE, choice("search_sources")], 51),
    "fox: no description": chat("gpt-4", BOT, [of.SEARCH_OF_ANYTHING], 49, 1),
    "fox: strings": chat("gpt-4", BOT, [of.ORDER, choice("none")], 86),
    "fox: inner object": chat("gpt-4", BOT, [of.inside({"string1": text()}), choice("none")], 65, 2),
    "fox: inner enum": chat("gpt-4", BOT, [of.inside(of.MOODS), choice("none")], 73),
    "fox: inner description": chat("gpt-4", BOT, [of.inside({**of.MOODS, **of.LOST}), choice("none")], 89, 3),
    "fox: inner and outer": chat(
        "gpt-4",
        BOT,
        [
            of.inside({**of.MOODS, **of.LOST}, string_1=text(description="Not required gets a question mark")),
            choice("none"),
        ],
        103,
        3,
    ),
    "fox: boolean": chat("gpt-4", BOT, [of.ESCALATION, choice("none")], 89),
    "fox: array": chat("gpt-4", BOT, [of.ADDRESSES, choice("none")], 59),
    "fox: null": chat("gpt-4", BOT, [of.NULL, choice("none")], 55),
    "fox: no type": chat("gpt-4", BOT, [of.NO_TYPE, choice("none")], 59),
}
PYDANTIC = {
    "pydantic: two tools, required": chat(
        "gpt-4o",
        Q,
        [
            COUNTRY,
            function("final_result", "The final response which ends this conversation", CITY, ["city", "country"]),
            choice("required"),
        ],
        68,
        3,
    ),
    "pydantic: strict": chat(
        "gpt-4.1-mini",
        (("system", "You are a helpful assistant."), ("user", "What is the temperature in Tokyo?")),
        [function("get_temperature", "", {"city": text()}, ["city"])],
        50,
    ),
    "pydantic: twenty tools": chat("gpt-4o", (("user", "Get me a dict, respond on one line"),), [*of.MCP], 398),
    "pydantic: twenty tools, another question": chat(
        "gpt-4o", (("user", "What is 0 degrees Celsius in Fahrenheit?"),), [*of.MCP], 398
    ),
    "coder: chat": chat(
        "gpt-4.1",
        (("user", "how large is the README.md file in my current path"),),
        [function("read_file", "Read the contents of a file at the given path.", {"path": text()}, ["path"])],
        60,
    ),
}
RESPONSES = {
    "pydantic: required": chat(
        "gpt-4.1-mini",
        (("user", "What is the weather in Paris?"),),
        [function("get_weather", "Get the weather for a location", {"location": text()}), choice("required")],
        51,
    ),
    "pydantic: output type": chat(
        "gpt-4o",
        (("user", "Give me the name and age of Brazil, Argentina, and Chile."),),
        [
            function(
                "final_result",
                "The final response which ends this conversation",
                {"age": {"type": "integer"}, "name": text()},
                ["name", "age"],
            ),
            choice("required"),
        ],
        66,
    ),
    "pydantic: background": chat(
        "gpt-4o",
        (("user", "What is the weather in Paris? Use the get_weather tool."),),
        [function("get_weather", "Get current weather for a city.", {"city": text()}, ["city"])],
        51,
    ),
    "pydantic: instructions": chat(
        "gpt-4.1",
        (
            ("system", "Use the provided tool when the user asks for the conversation code."),
            ("user", "Call get_conversation_code and reply with only the returned code."),
        ),
        [function("get_conversation_code", None, {})],
        57,
    ),
    "coder: responses": chat(
        "gpt-4.1",
        (("user", "Is 3 + 5 a prime number? Use the add function to calculate the sum."),),
        [function("add", "Add two numbers together.", {"a": {"type": "number"}, "b": {"type": "number"}}, ["a", "b"])],
        58,
    ),
}
FORMATS = {
    "pydantic: format": chat(
        "gpt-4o",
        Q,
        [COUNTRY, answer_format("CityLocation", strict(CITY), description="A city and its country.")],
        79,
    ),
    "pydantic: format with choices": chat(
        "gpt-4o",
        Q,
        [
            COUNTRY,
            answer_format(
                "final_result",
                strict(
                    {
                        "result": {
                            "anyOf": [
                                told("CityLocation", "city", "country"),
                                told("CountryLanguage", "country", "language"),
                            ]
                        }
                    }
                ),
            ),
        ],
        148,
    ),
}
CHAT = {**COOKBOOK, **HMARR, **FOX, **PYDANTIC}
