"""Names of scripts where Python runs them: ``T.max(n, 4)``, ``T.int64()`` and ``R.add(x, y)``."""

from __future__ import annotations

from itertools import count
from typing import Any

from ..dialects.dtypes import DTYPES
from ..dialects.relax import OPERATORS
from ..ir.expr import Constant, apply_operator
from ..ir.op import SPECIAL
from ..ir.struct_info import AnyStructInfo, struct_info, to_type
from ..name_lookup import resolve
from ..te import var
from ..te.arithmetic import cast
from ..te.intrinsics import FUNCTIONS
from .namespace import ScriptName

_NUMBERS = count()


def meta_var(value: Any) -> Any:
    """The value itself, which a script names without a variable: ``n = I.meta_var(x.shape[0])``."""
    return value


meta_var.__script_path__ = "T.meta_var"  # pyright: ignore[reportFunctionMemberAccess]


class ScalarName(ScriptName):
    """A function on scalars, or a dtype; a call of it is an expression.

    A dtype without a value is a new variable: ``n = T.int64()`` may be a dim of annotations.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = self.path.removeprefix("T.")
        if name == "Var":
            return var(*args, **kwargs)
        if name not in DTYPES:
            return FUNCTIONS[name](*args, **kwargs)
        return cast(name, *args) if args else var(f"v{next(_NUMBERS)}", name)


def scalar_name(name: str) -> ScriptName:
    """``T.name``, which may be called outside of scripts if it is a function on scalars."""
    is_callable = name in DTYPES or name in FUNCTIONS or name == "Var"
    kind = ScalarName if is_callable else ScriptName
    return kind(f"T.{name}")


class TypeProxy(ScriptName):
    """An annotation such as ``R.Tensor((4,), "float32")``, which stands for a type."""

    def __call__(self, *args: Any, **kwargs: Any) -> TypeProxy:
        return TypeProxy(self.path, args, kwargs)

    def as_struct_info(self) -> AnyStructInfo:
        """The type; raises TypeError or ValueError with one line for wrong arguments."""
        return struct_info(to_type(self))

    as_ty = as_struct_info


TYPES = ("Any", "Callable", "Object", "Prim", "Shape", "Tensor", "Tuple")


def graph_name(name: str) -> ScriptName:
    """``R.name``: an annotation, or an operator that may be called outside of scripts."""
    return TypeProxy(f"R.{name}") if name in TYPES else OperatorName(f"R.{name}")


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
        if self.path in CALLS:
            return getattr(resolve("relax.", "op"), self.path.removeprefix("R."))(*args, **kwargs)
        return super().__call__(*args, **kwargs)


CALLS = frozenset(
    (
        *(name.replace("relax.", "R.", 1) for name in SPECIAL),
        *("R.call_packed", "R.call_py_func", "R.null_value", "R.prim_value"),
    )
)
"""Calls that `relax.op` has besides the operators."""
