"""Names in files: identifiers for them, and names of dims that are expressions of others."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ...dialects.dims import dim_of
from ...dialects.int_expr import IntExpr


def composed_dim(text: str, names: Collection[str]) -> IntExpr | None:
    """A dim such as ``A + B`` or ``n / 2`` of dims with these names; `None` for any other name."""
    # A fraction such as 1/2 is no integer.
    if text.isidentifier() or re.search(r"(?<!\w)\d+\s*/", text):
        return None
    try:
        found = dim_of(text.replace("//", "/").replace("/", "//"))
    except ValueError:
        return None
    symbols = found.symbols()
    return found if symbols and symbols <= set(names) else None


def identifiers(names: Sequence[str] | Mapping[str, Any], taken: Any = ()) -> dict[str, str]:
    """An identifier for each name, all different."""
    used, found = set(taken), dict[str, str]()
    for name in names:
        found[name] = unique(identifier(name, "input"), used)
        used.add(found[name])
    return found


def identifier(name: str, prefix: str) -> str:
    """A name as an identifier, which begins with a prefix if it has to."""
    text = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name)
    return text if text.isidentifier() else f"{prefix}_{text}".rstrip("_")


def unique(name: str, taken: Any) -> str:
    """A name, with a number if it is taken."""
    found, number = name, 1
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    return found
