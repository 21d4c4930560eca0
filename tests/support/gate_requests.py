"""A request about the doors of gates: one fact in each document, one sentence in each message."""

from __future__ import annotations

from hypothesis import strategies as st

from ctxopt_core import ContextRequest, Document, Message

short_texts = st.lists(st.sampled_from(["ant", "bee", "cat.", "dog.", "eel", "fox"]), min_size=1, max_size=9).map(
    " ".join
)
conversations = st.lists(short_texts, max_size=8).map(
    lambda texts: [Message(role=("user", "assistant")[i % 2], content=text) for i, text in enumerate(texts)]
)
small_requests = st.builds(
    ContextRequest,
    query=short_texts,
    system=short_texts,
    documents=st.lists(short_texts.map(lambda text: Document(text=text)), max_size=4),
    history=conversations,
)


def gate_request(gates=10, turns=15):
    return ContextRequest(
        system="Be brief.",
        query="Where is the key of gate 7?",
        documents=[
            Document(
                id=f"d{i}", text=f"Gate {i} has a door. " * 8 + f"Gate {i} opens with key {i}{i}{i}.", score=99 - i
            )
            for i in range(gates)
        ],
        history=[
            Message(role=r, content=f"{r} {i} passes by gate. " * 4)
            for i in range(turns)
            for r in ("user", "assistant")
        ],
    )
