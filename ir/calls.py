"""Calls as TVM sees them: what is called, with which arguments and attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.ir import Operation

from ..dialects import relax
from ..dialects.int_expr import IntExpr
from ..te.attributes import literal
from .call_ops import call_op
from .call_parts import arguments_of, called_by, type_arguments
from .expr import Expr
from .op import Op
from .struct_info import AnyStructInfo, shape_of, struct_info


class Call(Expr, shows=Operation):
    """A call of an operator, of a function of the module, or of a registered function.

    Raises ValueError, TypeError or Diagnostic with one line where it is ill-typed.
    """

    def __init__(
        self,
        op: Op | Any,
        args: Sequence[Any],
        attrs: Mapping[str, Any] | None = None,
        sinfo_args: Any = None,
        *,
        ty_args: Any = None,
    ):
        types = sinfo_args if ty_args is None else ty_args
        if types == []:  # no types are given
            types = None
        super().__init__(call_op(op, args, attrs, types).results[0])

    @property
    def operation(self) -> Operation:
        """The operation."""
        owner = self.borrowed.owner
        assert isinstance(owner, Operation)
        return owner

    @property
    def op(self) -> Any:
        """What is called: an `Op`, a `GlobalVar` or an `ExternFunc`."""
        return called_by(self.operation)

    @property
    def args(self) -> list[Any]:
        """The arguments."""
        return arguments_of(self.operation)

    @property
    def attrs(self) -> Attrs:
        """The attributes of an operator, with defaults; none for other calls."""
        operation = self.operation
        known: dict[str, Any] = {}
        if isinstance(operation, relax.OperatorOp):
            known = operation.attribute_values()
        elif isinstance(operation, relax.PrintOp | relax.AssertOp):
            known = {"format": operation.format.data}
        elif (
            isinstance(operation, relax.CallTIRInplaceOp | relax.CallPurePackedOp)
            and operation.positions
        ):
            known = {"inplace_indices": operation.positions}
        elif isinstance(operation, relax.CallTIROp) and operation.te_grad_name is not None:
            keywords = operation.te_grad_kwargs
            known = {
                "te_grad_name": operation.te_grad_name.data,
                "te_grad_kwargs": {} if keywords is None else literal(keywords),
            }
        elif isinstance(operation, relax.LoopOp):
            trips = None if operation.trips is None else shape_of([operation.trips.data])[0]
            known = {"trips": trips, "is_while": operation.is_while is not None}
        return Attrs({k: _attribute(v) for k, v in known.items()})

    @property
    def sinfo_args(self) -> list[AnyStructInfo]:
        """The types that the call states."""
        return [struct_info(t) for t in type_arguments(self.operation)]

    ty_args = sinfo_args


class Attrs(dict[str, Any]):
    """The attributes of a call: ``attrs.axis`` or ``attrs["axis"]``."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            known = ", ".join(self) or "none"
            raise AttributeError(f"expected an attribute ({known}), got '{name}'") from None


def _attribute(value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    items = cast("tuple[Any, ...]", value)
    return shape_of(items) if any(isinstance(v, IntExpr) for v in items) else items
