"""The roles that a message may have."""

from __future__ import annotations

TOOL_ROLES = frozenset({"tool", "function"})
KNOWN_ROLES = frozenset(
    {"system", "developer", "user", "assistant", "critic", "discriminator", "ipython", "control", *TOOL_ROLES}
)
"""The roles that some provider takes.

`critic` and `discriminator` are in the items of OpenAI's Responses API, `ipython` is Llama's name for a tool, `control`
is Granite's for the switches of its modes.
"""


def checked_role(role: object) -> str:
    """Return a role that some provider takes, as it is.

    Raises:
        TypeError: It is no string.
        ValueError: No provider takes it.
    """
    if not isinstance(role, str):
        message = f"`role` must be a string, got {type(role).__name__}; name who speaks"
        raise TypeError(message)
    if role not in KNOWN_ROLES:
        from difflib import get_close_matches  # only an error needs it

        near = get_close_matches(role.strip().lower(), KNOWN_ROLES, n=1)
        remedy = f"did you mean {near[0]!r}?" if near else "use one that your provider takes"
        message = f"`role` must be one of {', '.join(sorted(KNOWN_ROLES))}, got {role!r:.80}; {remedy}"
        raise ValueError(message)
    return role
