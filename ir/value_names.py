"""Names of values in the IR, close to those that users give."""

from __future__ import annotations

import re


def value_name(text: str) -> str:
    """The nearest name that the IR takes for a value."""
    name = re.sub(r"[^A-Za-z0-9_$.-]", "_", text)
    return f"v{name}" if not name or name[0].isdigit() else name
