"""Short previews of foreign text: on one line, without invisible characters or ones that change its direction."""

from __future__ import annotations

import re

from ctxopt_core.text.surrogates import has_surrogates, joined_surrogates

# Controls, marks that change the direction of what follows, separators and joiners without a width of their own, but
# not the two that emoji and several scripts need.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_READ_FOR_EACH = 4  # characters that are read for each that is shown; the rest may be white space


def preview(text: str, limit: int) -> str:
    r"""Return the beginning of `text` on one line, at most `limit` characters of it, with `…` if more follows.

    Runs of white space become one blank, and invisible characters are written out as `\u202e`. Only the beginning is
    read.
    """
    read = text[: limit * _READ_FOR_EACH]
    if has_surrogates(read):
        read = joined_surrogates(read)
    line = " ".join(read.split())
    more = len(line) > limit or len(text) > limit * _READ_FOR_EACH
    return _UNSEEN.sub(_written_out, line[: limit - 1] + "…" if more else line)


def _written_out(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
