"""Names of scripts where Python runs them: ``T.max(n, 4)``, ``T.int64()`` and ``R.add(x, y)``."""

from __future__ import annotations

from itertools import count
from typing import Any

from ..dialects.dtypes import DTYPES
from ..dialects.relax import OPERATORS
from ..ir.expr import Constant, apply_operator
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


class OperatorName(ScriptName):
    """An operator of the graph, or a namespace of them; a call is as one of `relax.op`."""

    def __getattr__(self, name: str) -> ScriptName:
        if name.startswith("__"):
            raise AttributeError(name)
        return OperatorName(f"{self.path}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = self.path.replace("R.", "relax.", 1)
        if name == "relax.const":
            return Constant(*args, **kwargs)
        if name in OPERATORS:
            return apply_operator(name, args, kwargs)
        return super().__call__(*args, **kwargs)
