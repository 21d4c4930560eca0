"""Small embedding models that note what they are asked; a text's vector is how often it holds certain words."""

from __future__ import annotations

import asyncio

WORDS = ("rain", "sun", "snow")


def vector_of(text):
    """Return the counts of the words in a text; a text without any has zeros."""
    return [float(text.count(word)) for word in WORDS]


class CountingFunction:
    """A function from texts to vectors."""

    def __init__(self):
        self.calls = []

    def __call__(self, texts):
        self.calls.append(list(texts))
        return [vector_of(text) for text in texts]

    @property
    def embedded(self):
        """Every text that was embedded, as often as it was."""
        return [text for call in self.calls for text in call]


class CountingCoroutine(CountingFunction):
    """The same to be awaited; it notes on which loops it ran."""

    def __init__(self, pause=0.0):
        super().__init__()
        self.pause = pause
        self.loops = []
        self.started = asyncio.Event()
        self.cancelled = 0

    async def __call__(self, texts):
        self.loops.append(asyncio.get_running_loop())
        self.started.set()
        try:
            await asyncio.sleep(self.pause)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return super().__call__(texts)


class PlainMethods:
    """The methods by which LangChain calls a model."""

    def __init__(self):
        self.texts = CountingFunction()
        self.queries = CountingFunction()

    def embed_documents(self, texts):
        return self.texts(texts)

    def embed_query(self, text):
        return self.queries([text])[0]


class AsyncMethods:
    """A model that can only be awaited."""

    def __init__(self, pause=0.0):
        self.texts = CountingCoroutine(pause)
        self.queries = CountingCoroutine(pause)

    async def aembed_documents(self, texts):
        return await self.texts(texts)

    async def aembed_query(self, text):
        return (await self.queries([text]))[0]
