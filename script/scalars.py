"""Scalar functions of scripts where Python runs them: ``T.max(n, 4)`` and ``T.int64()`` outside."""

from __future__ import annotations

from itertools import count
from typing import Any

from ..dialects.dtypes import DTYPES
from ..te import var
from ..te.arithmetic import cast
from ..te.intrinsics import FUNCTIONS
from .namespace import ScriptName

_NUMBERS = count()


class ScalarName(ScriptName):
    """A function on scalars, or a dtype; a call of it is an expression.

    A dtype without a value is a new variable: ``n = T.int64()`` may be a dim of annotations.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = self.path.removeprefix("T.")
        if name not in DTYPES:
            return FUNCTIONS[name](*args, **kwargs)
        return cast(name, *args) if args else var(f"v{next(_NUMBERS)}", name)


def scalar_name(name: str) -> ScriptName:
    """``T.name``, which may be called outside of scripts if it is a function on scalars."""
    kind = ScalarName if name in DTYPES or name in FUNCTIONS else ScriptName
    return kind(f"T.{name}")
