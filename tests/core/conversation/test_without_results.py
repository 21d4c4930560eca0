"""Results that answer no call are left out in a new conversation; the one that was given stays as it is."""

from __future__ import annotations

from ctxopt_core import Message, ToolResult, counter_for
from ctxopt_core.conversation.conversation import CountedConversation
from ctxopt_core.conversation.turns import units_of

WORDS = counter_for(lambda text: len(text.split()))
BESIDE = Message(
    role="user",
    content=("seen " * 20, "why is it lit?"),
    tool_results=(ToolResult(call_id="gone", texts=range(1)),),
)


def test_the_units_are_counted_in_a_new_conversation_and_the_given_one_stays():
    conversation = CountedConversation([BESIDE, Message(role="assistant", content="It is dark.")], WORDS)
    before = conversation.cost(0)
    units = units_of(conversation, 0, 2)

    assert [(unit.kind, unit.speaks, unit.indices) for unit in units.kept] == [
        ("user", True, (0,)),
        ("assistant", False, (1,)),
    ]
    assert conversation.cost(0) == before == units.kept[0].tokens + 20
    assert conversation.message(0).texts == BESIDE.texts
    assert conversation.results_omitted == frozenset()
    assert units.conversation.results_omitted == {0}
    assert units.conversation.message(0).texts == ("why is it lit?",)


def test_without_anything_to_leave_out_it_is_the_same_conversation():
    conversation = CountedConversation([BESIDE, Message(role="assistant", content="It is dark.")], WORDS)

    assert conversation.without_results([1]) is conversation
    assert conversation.without_results([0]).without_results([0]).cost(0) == conversation.cost(0) - 20
