"""The playground: one request, its settings, and the live results of every strategy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ctxopt_core.budget.shares import Shares
from ctxopt_core.documents.policy import Selection
from ctxopt_core.models.prices import Prices
from ctxopt_core.request import ContextRequest
from ctxopt_core.runtime.optional_packages import needs
from ctxopt_core.summaries.summarizer import Summarizer
from ctxopt_playground.comparison import Comparison
from ctxopt_playground.inputs import Given, as_pasted
from ctxopt_playground.outcome_cards import still_page
from ctxopt_playground.settings import ComparedStrategy, PlaygroundSettings

if TYPE_CHECKING:
    from ctxopt_playground.live_page import LivePage

_NO_WIDGETS = "`Playground` needs ipywidgets; install it with: pip install 'ctxopt-core[playground]'"


class Playground:
    """A page that shows what is kept of a request: paste a chat history and documents, and change the settings.

    In a notebook the last line of a cell shows it. At each change every strategy is fitted again in the kernel, without
    the network and without a model, unless a summarizer is given. All that the page does can be done in code, too:
    assigning to `history`, `documents` and `settings` sets the widgets, and `comparison` holds the results.

    Example:
        >>> from ctxopt_playground import Playground
        >>> rows = [{"role": "user", "content": "A lantern burns for nine hours. " * 40}] * 5
        >>> page = Playground(rows, ["The old lantern burns for ten hours."], model=None, target_tokens=600)
        >>> page
        <Playground: 5 messages, 1 documents>
        >>> {outcome.strategy: outcome.within_budget for outcome in page.comparison.outcomes}["turns"]
        True

    Args:
        history: The chat history: a string as it would be pasted (JSON of OpenAI, Anthropic, LangChain or LlamaIndex,
            or a transcript); a list of mappings or of objects with `model_dump`, such as LangChain messages; or a
            ContextRequest. Without it the page starts with an example.
        documents: The documents: a string, or a list of strings, mappings, Documents or objects with `model_dump`.
        model: A model id; None for no model, with `target_tokens`.
        target_tokens: The most tokens that a request may have; None for what the model's window leaves.
        output_reserve: Tokens kept free for the answer; None for the usual number.
        shares: The components' guarantees, as Shares or a mapping of them.
        strategies: The history strategies to compare, in this order; by default all that need no model.
        selection: How documents are chosen.
        summarizer: Writes the summaries of the strategies `summarize` and `hybrid`, which need one; see `summarizer`.
        prices: Custom prices, by model id; see ContextBudget.

    Raises:
        ImportError: ipywidgets is not installed; the extra `playground` brings it.
        TypeError: `history` or `documents` is of a type that cannot be read.
        ValueError: A string cannot be read, or a setting is out of its range.
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
        """The results of every strategy; those from before where something cannot be read."""
        return self._page.comparison

    @property
    def problem(self) -> str:
        """Why `comparison` is from before the last change; empty where it is current."""
        return self._page.problem

    @property
    def settings(self) -> PlaygroundSettings:
        """The settings. Assigning others, made by `dataclasses.replace`, sets the widgets.

        Raises:
            ValueError: No strategy is ticked.
            TypeError: Something else is assigned.
        """
        return self._page.settings

    @settings.setter
    def settings(self, settings: PlaygroundSettings) -> None:
        if not isinstance(settings, PlaygroundSettings):
            message = (
                f"`settings` must be PlaygroundSettings, got {type(settings).__name__}; "
                "change the present ones with dataclasses.replace"
            )
            raise TypeError(message)
        self._page.show_settings(settings)

    @property
    def history(self) -> str:
        """The content of the box for the history. Assigning is like pasting: what cannot be read is a `problem`."""
        return self._page.history.text

    @history.setter
    def history(self, history: Given) -> None:
        self._page.history.text = as_pasted("history", history)

    @property
    def documents(self) -> str:
        """The content of the box for documents. Assigning is like pasting: what cannot be read is a `problem`."""
        return self._page.documents.text

    @documents.setter
    def documents(self, documents: Given) -> None:
        self._page.documents.text = as_pasted("documents", documents)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """Return what a notebook shows: the widgets, or the present results where widgets cannot be shown."""
        bundle: Any = self._page.widget._repr_mimebundle_(include=include, exclude=exclude)
        if self.comparison is not None:
            bundle["text/html"] = still_page(self.comparison)
        return {**bundle, "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"<Playground: {len(self.request.history):,} messages, {len(self.request.documents):,} documents>"


def _live_page() -> type[LivePage]:
    with needs("ipywidgets", _NO_WIDGETS):
        from ctxopt_playground.live_page import LivePage
    return LivePage
