"""Images in LangChain messages are charged by the rules of the model that they go to."""

from __future__ import annotations

import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate

from langchain_ctxopt import ContextOptimizer
from media_files import base64_text, image_url, png

PICTURE = png(1024, 1024)
BLOCKS = {
    "openai": image_url(PICTURE),
    "responses": {"type": "input_image", "image_url": f"data:image/png;base64,{base64_text(PICTURE)}"},
    "anthropic": {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": base64_text(PICTURE)},
    },
    "standard": {"type": "image", "base64": base64_text(PICTURE), "mime_type": "image/png"},
    "google": {"type": "media", "mime_type": "image/png", "data": PICTURE},
}


def words(text):
    return len(text.split())


def optimizer(model, **settings):
    return ContextOptimizer(model=model, token_counter=words, **settings)


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
@pytest.mark.parametrize(
    ("model", "tokens"),
    [("gpt-4o", 765), ("gpt-5-mini", 1_659), ("claude-sonnet-4-5", 1_399), ("gemini-2.5-pro", 1_032)],
)
def test_t13_an_image_costs_what_the_model_charges_in_every_form_of_a_block(model, tokens, block):
    message = HumanMessage(content=[{"type": "text", "text": "what is this"}, block])

    assert optimizer(model).count_tokens([message]) == 3 + (3 + 1 + 3) + tokens


def test_t13_the_prompt_renders_an_image_at_the_same_cost():
    prompt = ChatPromptTemplate.from_messages(["{question}", ("placeholder", "{history}")])
    values = {"question": "what is this", "history": [HumanMessage(content=[image_url(PICTURE)])]}

    assert optimizer("gpt-4o", prompt=prompt).count_tokens(values) == 3 + (3 + 1 + 3) + (3 + 1) + 765


def test_t13_the_message_that_keeps_its_image_is_the_identical_object():
    picture = HumanMessage(content=[{"type": "text", "text": "what is this"}, image_url(PICTURE)])
    history = [SystemMessage("be brief"), HumanMessage("word " * 900), HumanMessage("word " * 900), picture]
    left = optimizer("gpt-4o", target_tokens=900).invoke(history)

    assert len(left) < len(history)
    assert left[-1] is picture


def test_t13_an_image_that_the_window_cannot_hold_leaves_a_mark():
    picture = HumanMessage(content=[{"type": "text", "text": "what is this"}, image_url(PICTURE)])
    [left] = optimizer("gpt-4o", target_tokens=100).invoke([picture])

    assert [part["type"] for part in left.content] == ["text", "text"]
    assert len(picture.content) == 2
