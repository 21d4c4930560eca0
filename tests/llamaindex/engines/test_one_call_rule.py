"""The condition under which LlamaIndex answers in one call, told to the token, against LlamaIndex's own engines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from llama_index.core.indices.prompt_helper import PromptHelper
from llama_index.core.llms import LLM, ChatMessage
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.prompts import ChatPromptTemplate, PromptTemplate, SelectorPromptTemplate
from llama_index.core.prompts.utils import is_chat_model
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import NodeWithScore, TextNode

from chat_engine_runs import ScriptedRetriever, preset_history
from ctxopt_core import ContextBudgetError
from engine_parts import attached_with_own_memory
from llamaindex_ctxopt import EngineOptimizer
from scripted_llms import ModelCall, ScriptedCompletionLLM, ScriptedLLM, calling

QUESTION = "Lit?"
SYSTEM = "Be brief and kind."
WINDOW, OUTPUT, PADDING = 4_000, 256, 500
SIX, TWELVE = preset_history(6), preset_history(12)

MakeLLM = Callable[[int], LLM]
MakeEngine = Callable[[LLM, NodeWithScore, Sequence[ChatMessage]], Any]


class Count(BaseModel):
    """How many lanterns there are."""

    lanterns: int


def node_of(tokens: int) -> NodeWithScore:
    """Return a node of exactly so many tokens."""
    return NodeWithScore(node=TextNode(text="lit" + " lit" * (tokens - 1)), score=1.0)


def chat_llm(window: int = WINDOW, **options: Any) -> ScriptedLLM:
    return ScriptedLLM(context_window=window, num_output=OUTPUT, real_window=100_000, **options)


def completion_llm(window: int = WINDOW) -> ScriptedCompletionLLM:
    return ScriptedCompletionLLM(context_window=window, num_output=OUTPUT, real_window=100_000)


def structured_llm(window: int = WINDOW) -> LLM:
    counting = calling(("Count", {"lanterns": 40}))
    return chat_llm(window, answers=[counting] * 9, system_prompt=SYSTEM).as_structured_llm(Count)


def chat_engine(kind: Any, llm: LLM, node: NodeWithScore, history: Sequence[ChatMessage], **options: Any) -> Any:
    memory = ChatMemoryBuffer.from_defaults(chat_history=list(history), token_limit=100_000)
    return kind.from_defaults(ScriptedRetriever([node]), llm=llm, memory=memory, **options)


def query_engine(mode: Any, llm: LLM, node: NodeWithScore, history: Sequence[ChatMessage], **options: Any) -> Any:
    assert not history
    return RetrieverQueryEngine(
        ScriptedRetriever([node]), get_response_synthesizer(llm=llm, response_mode=mode, **options)
    )


context: MakeEngine = partial(chat_engine, ContextChatEngine)
condensing: MakeEngine = partial(chat_engine, CondensePlusContextChatEngine)
compact: MakeEngine = partial(query_engine, "compact")
summarizing: MakeEngine = partial(query_engine, "tree_summarize")


def answer(engine: Any) -> str:
    return str(engine.chat(QUESTION) if hasattr(engine, "chat") else engine.query(QUESTION))


def requests(make_llm: MakeLLM, engine_of: MakeEngine, tokens: int, history: Sequence[ChatMessage]) -> list[ModelCall]:
    """Return what LlamaIndex sends to answer from a document of so many tokens, without the condensing of the question.

    What it repacks by is `WINDOW`; nothing is refused.
    """
    llm = make_llm(WINDOW)
    answer(engine_of(llm, node_of(tokens), history))
    calls: list[ModelCall] = getattr(llm, "llm", llm).calls  # type: ignore[attr-defined]
    return [call for call in calls if "standalone question" not in call.text]


def largest(fits: Callable[[int], bool], most: int = WINDOW) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def told(make_llm: MakeLLM, engine_of: MakeEngine, history: Sequence[ChatMessage]) -> int:
    """Return the largest document that is told to be answered in one call, in tokens."""
    llm = make_llm(WINDOW)
    optimizer = EngineOptimizer(llm=llm)
    attached_with_own_memory(optimizer, engine_of(llm, node_of(1), history))
    return largest(lambda tokens: optimizer.fits_one_call([node_of(tokens)], QUESTION, history))


@pytest.mark.parametrize("history", [[], SIX, TWELVE], ids=["0", "6", "12"])
@pytest.mark.parametrize(
    ("make_llm", "engine_of"),
    [
        pytest.param(chat_llm, context, id="context"),
        pytest.param(chat_llm, partial(context, system_prompt=SYSTEM), id="context, system prompt"),
        pytest.param(partial(chat_llm, system_prompt=SYSTEM), context, id="context, system prompt of the model"),
        pytest.param(partial(chat_llm, system_role="user"), partial(context, system_prompt=SYSTEM), id="context, role"),
        pytest.param(chat_llm, condensing, id="condense plus context"),
        pytest.param(chat_llm, partial(condensing, system_prompt=SYSTEM), id="condense plus context, system prompt"),
        pytest.param(chat_llm, partial(condensing, skip_condense=True), id="not condensing"),
    ],
)
def test_i7_one_token_more_than_told_is_two_calls(
    make_llm: MakeLLM, engine_of: MakeEngine, history: list[ChatMessage]
) -> None:
    limit = told(make_llm, engine_of, history)
    assert len(requests(make_llm, engine_of, limit, history)) == 1
    assert len(requests(make_llm, engine_of, limit + 1, history)) == 2


PLAIN = PromptTemplate("Documents: {context_str}\nQuestion: {query_str}")
CHAT = ChatPromptTemplate.from_messages([("system", SYSTEM * 30), ("user", "{context_str}\n{query_str}")])
SELECTED = SelectorPromptTemplate(default_template=PLAIN, conditionals=[(is_chat_model, CHAT)])


# Of what is sent the padding is kept free, too, though LlamaIndex keeps it free beside the prompt alone by which it
# repacks: the one that is longest as a text. Where another one has more tokens, or a schema goes with it, that decides,
# so that some tokens less are told than would be one call: 23 with the default templates, 4 when it summarizes.
@pytest.mark.parametrize(
    ("make_llm", "engine_of", "history", "padding", "less"),
    [
        pytest.param(chat_llm, compact, [], PADDING, 23, id="compact"),
        pytest.param(partial(chat_llm, system_prompt=SYSTEM), compact, [], PADDING, 27, id="compact, system prompt"),
        pytest.param(chat_llm, summarizing, [], 5, 4, id="tree summarize"),
        pytest.param(chat_llm, partial(compact, text_qa_template=SELECTED), [], PADDING, 45, id="selector, chat"),
        pytest.param(
            completion_llm, partial(compact, text_qa_template=SELECTED), [], PADDING, 3, id="selector, completion"
        ),
        pytest.param(completion_llm, compact, [], PADDING, 3, id="compact, completion"),
        pytest.param(completion_llm, summarizing, [], 5, 4, id="tree summarize, completion"),
        pytest.param(completion_llm, context, SIX, PADDING, 0, id="context, completion"),
        pytest.param(completion_llm, condensing, SIX, PADDING, 0, id="condense plus context, completion"),
        # A provider's own rule may count a schema lower than its JSON, by which it is recounted here.
        pytest.param(structured_llm, compact, [], 5, 10, id="compact, structured"),
        pytest.param(structured_llm, summarizing, [], 5, 0, id="tree summarize, structured"),
        pytest.param(structured_llm, context, SIX, PADDING, 0, id="context, structured"),
    ],
)
def test_i7_what_is_told_is_one_call_and_within_the_window(
    make_llm: MakeLLM, engine_of: MakeEngine, history: list[ChatMessage], padding: int, less: int
) -> None:
    limit = told(make_llm, engine_of, history)
    real = largest(lambda tokens: len(requests(make_llm, engine_of, max(tokens, 1), history)) == 1)
    (call,) = requests(make_llm, engine_of, limit, history)
    assert real - less <= limit <= real
    assert call.tokens <= WINDOW - OUTPUT - padding


@pytest.mark.parametrize("engine_of", [context, condensing, compact])
@pytest.mark.parametrize(
    "helper",
    [
        pytest.param(PromptHelper(context_window=2_000, num_output=100), id="smaller"),
        pytest.param(PromptHelper(context_window=2_000, num_output=100, tokenizer=str.split), id="other tokenizer"),
        pytest.param(PromptHelper(context_window=2_000, num_output=100, chunk_size_limit=512), id="limit to a chunk"),
        pytest.param(PromptHelper(context_window=9_000, num_output=100), id="larger"),
    ],
)
def test_i7_a_prompt_helper_that_the_user_has_set_decides(
    helper: PromptHelper, engine_of: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Settings, "_prompt_helper", helper)
    limit = told(chat_llm, engine_of, [])
    (call,) = requests(chat_llm, engine_of, limit, [])
    assert call.tokens <= WINDOW - OUTPUT - PADDING
    if helper.context_window < WINDOW:
        assert len(requests(chat_llm, engine_of, limit + 1, [])) == 2
    else:
        # The model's own window decides, of which LlamaIndex knows nothing now.
        assert call.tokens > WINDOW - OUTPUT - PADDING - 60


@pytest.mark.parametrize(
    ("engine_of", "history", "tokens"),
    [
        (context, [], 3_190),
        (partial(context, system_prompt="\n".join([SYSTEM] * 13)), [], 3_108),
        (partial(context, system_prompt="\n".join([SYSTEM] * 13)), SIX, 2_484),
        (partial(context, system_prompt="\n".join([SYSTEM] * 13)), TWELVE, 1_860),
    ],
)
def test_i7_the_measured_figures_are_told(engine_of: MakeEngine, history: list[ChatMessage], tokens: int) -> None:
    # Made-up messages of 100 tokens may count one less.
    assert told(chat_llm, engine_of, history) == pytest.approx(tokens, abs=20)


@pytest.mark.parametrize(
    ("engine_of", "smallest", "more"), [(context, 811, 0), (compact, 847, 23)], ids=["context", "query"]
)
def test_i7_the_smallest_window_is_told(engine_of: MakeEngine, smallest: int, more: int) -> None:
    def runs(window: int) -> bool:
        llm = chat_llm(window)
        try:
            optimizer = EngineOptimizer(llm=llm)
            attached_with_own_memory(optimizer, engine_of(llm, node_of(1), []))
            return optimizer.fits_one_call([node_of(1)], QUESTION)
        except ContextBudgetError:
            return False

    assert next(window for window in range(700, 1_000) if runs(window)) == smallest + more
    assert answer(engine_of(chat_llm(smallest), node_of(1), []))
    with pytest.raises(ValueError, match="is not positive"):
        answer(engine_of(chat_llm(smallest - 1), node_of(1), []))
