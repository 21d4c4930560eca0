"""For the site: an `Example:` of a docstring is shown as code, as `Examples:` is, and not read as Markdown.

Griffe knows only the plural; without this, `[1, 2]` in an example is taken for a link, which `make docs` refuses.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_SINGULAR = re.compile(r"^(\s*)Example:$", re.MULTILINE)


class ExamplesAsCode(griffe.Extension):
    """Read `Example:` as `Examples:`."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object before it is parsed."""
        if obj.docstring is not None:
            obj.docstring.value = _SINGULAR.sub(r"\1Examples:", obj.docstring.value)
