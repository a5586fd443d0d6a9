"""Operators of the graph by their names; TVM's ``Op``."""

from __future__ import annotations

from typing import Any

from ..dialects.diagnostics import suggestion
from ..dialects.relax import OPERATORS
from .expr import apply_operator

SPECIAL = (
    "relax.call_tir",
    "relax.call_dps_packed",
    "relax.assert_op",
    "relax.builtin.alloc_tensor",
    "relax.call_inplace_packed",
    "relax.call_pure_packed",
    "relax.call_tir_inplace",
    "relax.loop",
    "relax.match_cast",
    "relax.memory.alloc_storage",
    "relax.memory.alloc_tensor",
    "relax.memory.kill_storage",
    "relax.memory.kill_tensor",
    "relax.prim_to_tensor",
    "relax.print",
    "relax.shape_of",
    "relax.tensor_to_prim",
    "relax.tensor_to_shape",
    "relax.vm.call_tir_dyn",
)
"""Operations of the graph that are no operators of the operator set."""

OTHER_NAMES = {
    "relax.alloc_tensor": "relax.builtin.alloc_tensor",
    "relax.call_kernel": "relax.vm.call_tir_dyn",
    "relax.vm.alloc_storage": "relax.memory.alloc_storage",
    "relax.vm.alloc_tensor": "relax.memory.alloc_tensor",
    "relax.vm.kill_object": "relax.memory.kill_tensor",
}
"""Other names of operations, those of our dialect and of TVM's virtual machine."""

_INTERNED: dict[str, Op] = {}


class Op:
    """An operator of the graph by its full name; there is one object for each."""

    def __init__(self, name: str):
        self.name = name

    @staticmethod
    def get(name: str) -> Op:
        """The operator of a name; raises ValueError with the nearest names for an unknown one."""
        name = OTHER_NAMES.get(name, name)
        if name not in OPERATORS and name not in SPECIAL:
            hint = suggestion(name, [*OPERATORS, *SPECIAL])
            raise ValueError(f"expected an operator of the graph, got '{name}'{hint}")
        return _INTERNED.setdefault(name, Op(name))

    @staticmethod
    def list_op_names() -> list[str]:
        """The names of all operators."""
        return sorted({*OPERATORS, *SPECIAL})

    def get_attr(self, attr_name: str) -> Any:
        """The gradient as a function on expressions for "FPrimalGradient"; else `None`."""
        from .gradients import primal_gradient

        return primal_gradient(self.name) if attr_name == "FPrimalGradient" else None

    def same_as(self, other: Any) -> bool:
        """Whether both are the same operator."""
        return self is other

    def __call__(self, *args: Any, **attributes: Any) -> Any:
        return apply_operator(self.name, args, attributes)

    def __reduce__(self) -> tuple[Any, ...]:
        return Op.get, (self.name,)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Op({self.name})"
