"""Operators as objects: ``Op.get("relax.add")`` is what `call.op` of such a call is."""

from __future__ import annotations

from typing import Any

from ..dialects.diagnostics import suggestion
from ..dialects.relax import OPERATORS

CALLS = ("relax.call_tir", "relax.call_dps_packed")
"""Calls whose first argument says what is called."""

SPECIAL = (
    *CALLS,
    "relax.alloc_tensor",
    "relax.assert_op",
    "relax.call_pure_packed",
    "relax.call_tir_inplace",
    "relax.match_cast",
    "relax.print",
    "relax.shape_of",
)
"""Operations of the graph that are no operators of the operator set."""

_INTERNED: dict[str, Op] = {}


class Op:
    """An operator of the graph by its full name; there is one object for each."""

    def __init__(self, name: str):
        self.name = name

    @staticmethod
    def get(name: str) -> Op:
        """The operator of a name; raises ValueError with the nearest names for an unknown one."""
        if name not in OPERATORS and name not in SPECIAL:
            hint = suggestion(name, [*OPERATORS, *SPECIAL])
            raise ValueError(f"expected an operator of the graph, got '{name}'{hint}")
        return _INTERNED.setdefault(name, Op(name))

    @staticmethod
    def list_op_names() -> list[str]:
        """The names of all operators."""
        return sorted({*OPERATORS, *SPECIAL})

    def __call__(self, *args: Any, **attributes: Any) -> Any:
        from .expr import apply_operator

        return apply_operator(self.name, args, attributes)

    def __reduce__(self) -> tuple[Any, ...]:
        return Op.get, (self.name,)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Op({self.name})"
