"""Messages that are read many at a time, each run of them once."""

from __future__ import annotations

from ctxopt_core.messages.message_views import RUN_MESSAGES, LazyMessages, MessageViews, PlainRange


class PlainRuns:
    """The runs of a conversation in which all messages are known to be as in a `PlainRange`.

    Args:
        views: The conversation. Views that are no `LazyMessages` are not read in runs.
    """

    def __init__(self, views: MessageViews) -> None:
        self._views = views if isinstance(views, LazyMessages) else None
        self._read: dict[int, PlainRange | None] = {}

    def between(self, start: int, stop: int) -> PlainRange | None:
        """Return the messages in [start, stop), all of one run, if they are known to be plain, else None."""
        if self._views is None:
            return None
        first = start // RUN_MESSAGES * RUN_MESSAGES
        end = min(first + RUN_MESSAGES, len(self._views))
        if first not in self._read:
            self._read[first] = self._views.plain_range(first, end)
        return self._read[first] if (start, stop) == (first, end) else self.alone(start, stop)

    def alone(self, start: int, stop: int) -> PlainRange | None:
        """Return the same as `between`, without reading other messages of the run."""
        if self._views is None:
            return None
        first = start // RUN_MESSAGES * RUN_MESSAGES
        run = self._read.get(first)
        if run is None:
            return self._views.plain_range(start, stop)
        part = slice(start - first, stop - first)
        return PlainRange(run.roles[part], None if run.names is None else run.names[part], run.texts[part])

    def named(self, index: int) -> tuple[str, str, str] | None:
        """Return (role, name, text) of a message that has nothing else, where that can be told cheaply, else None."""
        return None if self._views is None else self._views.named(index)

    def last_compaction(self, *, reading: bool) -> int | None:
        """Return the index of the last message with a provider's compaction; see `LazyMessages`.

        To read a run takes longer than to look for a compaction in it, so it is done only where it is read anyway.
        """
        if self._views is None:
            return None
        return self._views.last_compaction(self._without_compaction if reading else None)

    def _without_compaction(self, start: int, stop: int) -> bool:
        """Return whether no message of a run has a compaction, as all of them are plain."""
        return self.between(start, stop) is not None
