"""What is shown of a value in a notebook, in a terminal and as a page.

This is the one module that imports a higher layer: a value knows that it can be shown, `display` knows how.
"""

from __future__ import annotations

TYPE_CHECKING = False  # this is loaded with every value of the core
if TYPE_CHECKING:
    from collections.abc import Container
    from typing import Any

    from matplotlib.figure import Figure
    from rich.console import Group

    from ctxopt_core.display.sheet import Sheet


NO_MATPLOTLIB = "`plot` needs matplotlib; install it with: pip install 'ctxopt-core[notebook]'"


class Displayed:
    """A value that shows itself: counts, ids and reasons, and no content.

    A notebook shows it as HTML, `rich.print` and IPython with rich as tables, everything else as text.
    """

    __slots__ = ()

    def to_html(self, *, standalone: bool = False) -> str:
        """Return the value as HTML: text, bars and tables, without scripts and without anything to be loaded.

        Args:
            standalone: Whether it is a whole page, which follows the reader's choice of light or dark, or a part of
                another page, which takes the colors of that page.
        """
        from ctxopt_core.display.html import as_html

        return as_html(self._sheet(), standalone=standalone)

    def plot(self) -> Figure:
        """Return the value as a matplotlib figure.

        Raises:
            ImportError: matplotlib is not installed; the extra `notebook` brings it.
        """
        from ctxopt_core.runtime.optional_packages import needs

        with needs("matplotlib", NO_MATPLOTLIB):
            from ctxopt_core.display.figure import figure_of
        return figure_of(self._sheet())

    def _repr_html_(self) -> str:
        return self.to_html()

    def _repr_mimebundle_(
        self, include: Container[str] | None = None, exclude: Container[str] | None = None
    ) -> dict[str, str]:
        """Return what a notebook may choose from; `include` and `exclude` name kinds that are wanted or not."""
        makers = {"text/plain": self._plain_text, "text/html": self._repr_html_}
        return {
            kind: make()
            for kind, make in makers.items()
            if (include is None or kind in include) and (exclude is None or kind not in exclude)
        }

    def __rich__(self) -> Group:
        from ctxopt_core.display.terminal import as_renderable

        return as_renderable(self._sheet())

    def _plain_text(self) -> str:
        from ctxopt_core.display.text import as_text

        return as_text(self._sheet())

    def _sheet(self) -> Sheet:
        from ctxopt_core.display.sheets import sheet_of

        return sheet_of(self)


def html_with_content(fitted: Any, *, standalone: bool) -> str:
    """Return a FittedContext as HTML with the beginnings of its texts, for those who ask to see content.

    Args:
        fitted: The FittedContext.
        standalone: Whether the HTML is a whole page or a part of another page.
    """
    from ctxopt_core.display.html import as_html
    from ctxopt_core.display.previews import with_previews
    from ctxopt_core.display.sheets import sheet_of

    return as_html(with_previews(sheet_of(fitted), fitted), standalone=standalone)
