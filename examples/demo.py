"""One request that is too long for its model: rejected without the optimizer, answered with it.

Run it with `make demo`. Nothing here needs a network: the search runs over this project's own documentation, and the
model is a double that enforces its context window as a provider does.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, BaseMessage, convert_to_messages
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate, format_document
from langchain_core.runnables import Runnable, RunnableParallel, RunnablePassthrough
from langsmith import tracing_context
from markdown_search import MarkdownSearch
from window_model import WindowedChatModel

from ctxopt_core import FitReport
from langchain_ctxopt import ContextOptimizer

EXAMPLES = Path(__file__).resolve().parent
WIDTH = 110
QUESTION = (
    "Our chain sends documents, history and a question to a model with a window of 8,192 tokens. When does the "
    "optimizer cut anything at all, how is surplus handed on, and what becomes of a document or a tool result that "
    "does not fit?"
)
RULES = """You help developers to integrate a retrieval pipeline.
1. Answer from the chunks below, and name each one that you use by the reference in its brackets.
2. If the chunks do not say it, answer that they do not say it. Never guess a figure.
3. The conversation tells what has been tried; do not propose it again.
4. Be brief: a short paragraph for each part of the question."""
CHUNK = PromptTemplate.from_template("[{source}#{part}] {heading}\n{page_content}")
PROMPT = ChatPromptTemplate.from_messages(
    [("system", "{system}\n\n{context}"), MessagesPlaceholder("chat_history"), ("human", "{question}")]
)
TOOLS: list[dict[str, Any]] = [
    {
        "name": "read_fault_memory",
        "description": "Read the fault memory of a connected unit.",
        "parameters": {
            "type": "object",
            "properties": {
                "unit": {"type": "string", "description": "Serial number of the unit."},
                "format": {"type": "string", "enum": ["grouped", "raw"]},
            },
            "required": ["unit"],
        },
    },
    {
        "name": "lookup_part",
        "description": "Return stock and price of a spare part.",
        "parameters": {"type": "object", "properties": {"number": {"type": "string"}}, "required": ["number"]},
    },
]


def main() -> int:
    """Run the demo; 0 when the promise was kept."""
    model = WindowedChatModel()
    bound = model.bind_tools(TOOLS)
    reports: list[FitReport] = []
    optimizer = ContextOptimizer(
        prompt=PROMPT, model=bound, documents_as="text", document_prompt=CHUNK, on_report=reports.append
    )
    gather = gathering()
    rejected = show_rejection(gather | joined | PROMPT | bound)
    answer = show_answer(gather | optimizer | PROMPT | bound)
    show_report(reports[-1])
    kept = show_promise(model, answer, reports[-1])
    return 0 if rejected and kept else 1


def gathering() -> Runnable[str, dict[str, Any]]:
    """Return the step that collects what the prompt needs: rules, chunks, conversation and question."""
    search = MarkdownSearch.over(EXAMPLES.parent)
    conversation = load_conversation(EXAMPLES / "conversation.json")
    found = search(QUESTION)
    turns = sum(message.type == "human" for message in conversation)
    print(fill(f"The question: {QUESTION}", width=WIDTH))
    print(f"Retrieved for it: {len(found)} of {len(search.chunks)} chunks of this project's Markdown files.")
    print(f"Before it: a conversation of {turns} turns in {len(conversation)} messages.")
    return RunnableParallel(
        system=lambda _: RULES,
        context=search,
        chat_history=lambda _: conversation,
        question=RunnablePassthrough(),
    )


def load_conversation(path: Path) -> list[BaseMessage]:
    """Return the conversation of an OpenAI-shaped JSON file as LangChain messages."""
    return convert_to_messages(json.loads(path.read_text(encoding="utf-8")))


def joined(values: dict[str, Any]) -> dict[str, Any]:
    """Return the prompt's input with all its chunks rendered, as the optimizer renders those that it keeps."""
    return {**values, "context": "\n\n".join(format_document(chunk, CHUNK) for chunk in values["context"])}


def show_rejection(chain: Runnable[str, AIMessage]) -> bool:
    """Send the whole request, and return whether the model rejected it."""
    headline("1. Without the optimizer")
    try:
        chain.invoke(QUESTION)
    except ContextOverflowError as error:
        print(fill(f"Rejected by the model: {type(error).__name__}: {error}", width=WIDTH))
        return True
    print("Not rejected: the whole request fits, so that there is nothing to show.")
    return False


def show_answer(chain: Runnable[str, AIMessage]) -> AIMessage:
    """Stream the answer of the chain with the optimizer in it."""
    headline("2. With the optimizer in front of the prompt, streamed")
    pieces = 0
    for piece in chain.stream(QUESTION):
        print(piece.text, end="", flush=True)
        pieces += bool(piece.text)
    answer = chain.invoke(QUESTION)
    print(f"\n({pieces} pieces; `invoke` gives an answer of {len(answer.text.split())} words)")
    return answer


def show_report(report: FitReport) -> None:
    """Print what was kept, cut and dropped, and why."""
    headline("3. The report")
    print(report)
    print(f"\nmessages dropped, by reason: {by_reason(report.history.reasons)}")
    states = Counter(row.state for row in report.documents)
    print(f"chunks: {states['kept']} whole, {states['partial']} in part, {states['dropped']} dropped")
    print(f"chunks dropped, by reason: {by_reason(Counter(row.reason or '' for row in report.dropped_documents))}")
    if report.dropped_documents:
        print(
            fill(
                ", ".join(row.id for row in report.dropped_documents),
                width=WIDTH,
                initial_indent="  ",
                subsequent_indent="  ",
            )
        )


def show_promise(model: WindowedChatModel, answer: AIMessage, report: FitReport) -> bool:
    """Compare what the model counted with its input limit, and return whether the promise was kept."""
    headline("4. The promise")
    counted = answer.usage_metadata["input_tokens"] if answer.usage_metadata else None
    kept = counted is not None and counted <= model.input_limit
    print(
        f"The model counted {counted} tokens (the report: {report.tokens_after}); its input limit is "
        f"{model.input_limit}: {'kept' if kept else 'BROKEN'}"
    )
    return kept


def by_reason(counts: Mapping[str, int]) -> str:
    """Return counts by reason as one line."""
    return ", ".join(f"{count} {reason}" for reason, count in counts.items()) or "none"


def headline(text: str) -> None:
    """Print a headline."""
    print(f"\n{text}\n{'-' * len(text)}")


if __name__ == "__main__":
    with tracing_context(enabled=False):
        sys.exit(main())
