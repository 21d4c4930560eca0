"""Messages of a conversation that is also printed into a prompt, which shows more of them than is sent otherwise."""

from __future__ import annotations

from dataclasses import replace

from ctxopt_core.messages import Message
from llamaindex_ctxopt.message_views import MessageViews


class PrintedMessages(MessageViews):
    """Views that count the additional arguments of a message, too.

    A prompt that condenses the history holds them as Python prints a mapping.
    """

    __slots__ = ()

    def _view(self, index: int) -> Message:
        view, extra = super()._view(index), self._messages[index].additional_kwargs
        return replace(view, verbatim=(*view.verbatim, str(extra))) if extra else view
