"""The independent checker: count a request and name what is wrong with a trimmed one, without the code under test."""

from __future__ import annotations

from langchain_rows import langchain_to_dict
from request_tokens import MEDIA_ALLOWANCE, count_message, count_text, load_encoding, recount
from view_problems import problems

__all__ = [
    "MEDIA_ALLOWANCE",
    "count_message",
    "count_text",
    "langchain_to_dict",
    "load_encoding",
    "problems",
    "recount",
]
