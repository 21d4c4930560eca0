"""The playground: one request, its settings, and what every strategy makes of it, live."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ctxopt_core.budget.shares import Shares
from ctxopt_core.documents.policy import Selection
from ctxopt_core.models.prices import Prices
from ctxopt_core.request import ContextRequest
from ctxopt_core.summaries.summarizer import Summarizer
from ctxopt_playground.comparison import Comparison
from ctxopt_playground.inputs import Given, as_pasted
from ctxopt_playground.outcome_cards import still_page
from ctxopt_playground.settings import ComparedStrategy, PlaygroundSettings

if TYPE_CHECKING:
    from ctxopt_playground.live_page import LivePage

_MISSING = "`Playground` needs ipywidgets; install it with: pip install 'ctxopt-core[playground]'"


class Playground:
    """A page to try what is kept of a request: paste a chat history and documents, move the settings, look.

    In a notebook the last line of a cell shows it. Every strategy is fitted again at each change, in the kernel: no
    network and no model is asked, unless a summarizer is given. All that the page does can be done in code, too:
    assigning to `history`, `documents` and `settings` moves the widgets, and `comparison` holds the results.

    Args:
        history: The chat history: text as it would be pasted (JSON of OpenAI, Anthropic or LangChain, or a transcript);
            a list of mappings or of objects with `model_dump`, such as LangChain messages; or a ContextRequest. Without
            it the page starts with an example.
        documents: The documents: text, or a list of texts, mappings, Documents or objects with `model_dump`.
        model: A model id; None for none, with `target_tokens`.
        target_tokens: The most that a request may count, in tokens; None for what the model's window leaves.
        output_reserve: Tokens kept free for the answer; None for the usual ones.
        shares: The components' guarantees, as Shares or a mapping of them.
        strategies: The history strategies to compare, in this order; all that need no model by default.
        selection: How documents are chosen.
        summarizer: Writes the summaries of the strategies `summarize` and `hybrid`, which need one; see `summarizer`.
        prices: Prices of one's own, by model id; see ContextBudget.

    Raises:
        ImportError: ipywidgets is not installed; the extra `playground` brings it.
        TypeError: `history` or `documents` is of a type that cannot be read.
        ValueError: A text cannot be read, or a setting is out of its range.
    """

    def __init__(
        self,
        history: Given | ContextRequest | None = None,
        documents: Given | None = None,
        *,
        model: str | None = "gpt-4o",
        target_tokens: int | None = None,
        output_reserve: int | None = None,
        shares: Shares | Mapping[str, Any] | None = None,
        strategies: tuple[ComparedStrategy, ...] = (),
        selection: Selection = "auto",
        summarizer: Summarizer | None = None,
        prices: Prices | None = None,
    ) -> None:
        settings = PlaygroundSettings(
            model=model,
            target_tokens=target_tokens,
            output_reserve=output_reserve,
            shares=shares or Shares(),  # type: ignore[arg-type]  # the settings read a mapping
            strategies=strategies,
            selection=selection,
            summarizer=summarizer,
            prices=prices or {},
        )
        self._page = _live_page()(settings)
        if history is None and documents is None:
            self._page.show_example(narrow=target_tokens is None and output_reserve is None)
        else:
            given = history if isinstance(history, ContextRequest) else None
            text = as_pasted("history", None if isinstance(history, ContextRequest) else history)
            self._page.start(given, text, as_pasted("documents", documents))

    @property
    def request(self) -> ContextRequest:
        """The request that is compared."""
        return self._page.combined.request

    @property
    def comparison(self) -> Comparison | None:
        """What every strategy makes of the request; the last one that there was where something cannot be read."""
        return self._page.comparison

    @property
    def problem(self) -> str:
        """Why `comparison` is not of what the page says now; empty where it is."""
        return self._page.problem

    @property
    def settings(self) -> PlaygroundSettings:
        """The settings. Assigning others moves the widgets; `dataclasses.replace` makes them.

        Raises:
            ValueError: No strategy is ticked.
            TypeError: What is assigned is something else.
        """
        return self._page.settings

    @settings.setter
    def settings(self, settings: PlaygroundSettings) -> None:
        if not isinstance(settings, PlaygroundSettings):
            message = (
                f"`settings` must be PlaygroundSettings, got {type(settings).__name__}; "
                "change those that there are with dataclasses.replace"
            )
            raise TypeError(message)
        self._page.show_settings(settings)

    @property
    def history(self) -> str:
        """The text of the box for the history. Assigning is pasting: what cannot be read is a `problem`."""
        return self._page.history.text

    @history.setter
    def history(self, history: Given) -> None:
        self._page.history.text = as_pasted("history", history)

    @property
    def documents(self) -> str:
        """The text of the box for documents. Assigning is pasting: what cannot be read is a `problem`."""
        return self._page.documents.text

    @documents.setter
    def documents(self, documents: Given) -> None:
        self._page.documents.text = as_pasted("documents", documents)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """Return what a notebook shows: the widgets, and the outcomes as they are now where there are none."""
        bundle: dict[str, Any] = self._page.widget._repr_mimebundle_(include=include, exclude=exclude)
        if self.comparison is not None:
            bundle["text/html"] = still_page(self.comparison)
        return {**bundle, "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"<Playground: {len(self.request.history):,} messages, {len(self.request.documents):,} documents>"


def _live_page() -> type[LivePage]:
    try:
        from ctxopt_playground.live_page import LivePage
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "ipywidgets":
            raise
        raise ImportError(_MISSING) from error
    return LivePage
