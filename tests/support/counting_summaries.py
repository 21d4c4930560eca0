"""Small language models and functions that note what they are asked to summarize."""

from __future__ import annotations

import asyncio

from ctxopt_core import CallableCounter, Message

WORDS = CallableCounter(lambda text: len(text.split()), name="words")


def chat(*texts):
    """Return messages with these texts, a user's and an assistant's in turn."""
    return [Message(role=("user", "assistant")[i % 2], content=text) for i, text in enumerate(texts)]


class CountingAnswer:
    """A function from a text to a text."""

    def __init__(self, answer="They talked."):
        self.answer = answer
        self.asked = []

    def __call__(self, text):
        self.asked.append(text)
        return self.answer


class AwaitedAnswer(CountingAnswer):
    """The same to be awaited; it notes on which loops it ran."""

    def __init__(self, answer="They talked."):
        super().__init__(answer)
        self.loops = []

    async def __call__(self, text):
        self.loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return super().__call__(text)


class PlainModel:
    """The methods by which LangChain calls a model, and what it answers with."""

    model_name = "plain-1"

    def __init__(self, answer="They talked."):
        self.answer = CountingAnswer(answer)

    def invoke(self, text):
        return Answer(content=self.answer(text))


class AwaitedModel:
    """A model that can only be awaited."""

    model = "awaited-1"

    def __init__(self, answer="They talked."):
        self.answer = AwaitedAnswer(answer)

    async def ainvoke(self, text):
        return Answer(content=await self.answer(text))


class Answer:
    """What a model gives: attributes."""

    def __init__(self, **attributes):
        vars(self).update(attributes)
