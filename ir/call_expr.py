"""Calls as expressions: ``call.op``, ``call.args``, ``call.attrs``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.ir import Operation

from ..dialects import relax
from ..dialects.int_expr import IntExpr
from .call_parts import Op, arguments_of, called_by, type_arguments
from .calls import call_op
from .expr import Expr
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
    ):
        super().__init__(call_op(op, args, attrs, sinfo_args).results[0])

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
        elif isinstance(operation, relax.CallTIRInplaceOp):
            known = {"inplace_indices": operation.positions}
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
