"""Operators whose results have as many elements as data says, and the operators that count them.

::

    %v = relax.unique %x : !relax.tensor<[n], f32> -> !relax.tensor<rank 1, f32>

⇒

::

    %u = relax.unique %x {return_counts, size = [n]} : … -> tuple<…>
    %c = …the number of counts that are not 0: those after the last value are
    %s = relax.tensor_to_shape %c at_most [n]
    relax.match_cast %s : !relax.shape<rank 1> -> !relax.shape<[count]>
    %v = relax.strided_slice %u[0] {axes = [0], begin = [0], end = [count]} : …
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import IntExpr
from ...dialects.relax.operators.dynamic_slicing import DynamicStridedSliceOp
from ...dialects.relax.operators.nonzero import NonzeroOp
from ...dialects.relax.operators.reshaping import product
from ...dialects.relax.operators.unique import UniqueOp, length, wanted
from ...dialects.relax.types import python_shape


def is_sized_by_data(op: Operation) -> bool:
    """Whether the result of an operator has as many elements as its data says."""
    return isinstance(op, NonzeroOp | UniqueOp | DynamicStridedSliceOp) and op.size is None


def count_first(op: Operation, fresh: Callable[[str], IntExpr]) -> set[str]:
    """Replace an operator whose result has a size by data; the symbol of the size.

    Raises Diagnostic with one line if the shape of its operand is unknown.
    """
    if not isinstance(op, NonzeroOp | UniqueOp | DynamicStridedSliceOp) or op.size is not None:
        return set()
    x = op.operands[0]
    if not isinstance(x.type, relax.TensorType) or x.type.dims is None:
        raise Diagnostic(f"expected data of '{op.name}' to have a known shape, got {x.type}", op)
    new = _Inserted(op)
    if isinstance(op, DynamicStridedSliceOp):
        sizes = [fresh(f"length_{axis}") for axis in range(len(x.type.dims))]
        found = _dynamic_slice(new, op.operands, x.type.dims, sizes)
    else:
        sizes = [count := fresh("count")]
        if isinstance(op, NonzeroOp):
            found = _nonzero(new, x, x.type.dims, count)
        else:
            found = _unique(new, x, x.type.dims, count, op.attribute_values())
    found.name_hint = op.result.name_hint
    Rewriter.replace_op(op, [], [found])
    return {name for size in sizes for name in size.symbols()}


@dataclass
class _Inserted:
    """Inserts operations before one."""

    before: Operation

    def add(self, op: Operation) -> SSAValue:
        """The result of an operation."""
        op.location = self.before.location
        Rewriter.insert_op(op, InsertPoint.before(self.before))
        return op.results[0]

    def operator(self, name: str, *operands: SSAValue, **attributes: Any) -> SSAValue:
        """The result of an operator of the graph."""
        return self.add(relax.OPERATORS[f"relax.{name}"].of(operands, attributes))

    def declare(self, count: IntExpr, x: SSAValue, limit: IntExpr) -> None:
        """Declare a symbol as the number of elements that are not 0, which is at most a limit."""
        dtype = cast(relax.TensorType, x.type).dtype
        zero = self.add(relax.ConstantOp(relax.TensorData.of(np.array(0, dtype))))
        holds = self.operator("astype", self.operator("not_equal", x, zero), dtype="int64")
        total = self.operator("expand_dims", self.operator("sum", holds), axis=[0])
        self.read([count], total, [limit])

    def read(self, sizes: Sequence[IntExpr], x: SSAValue, limits: Sequence[IntExpr]) -> None:
        """Declare symbols as the numbers of a tensor, which are at most limits."""
        shape = self.add(relax.TensorToShapeOp(x, limits))
        self.add(relax.MatchCastOp(shape, relax.ShapeType.of(sizes), python_shape(sizes)))


def _nonzero(new: _Inserted, x: SSAValue, dims: Sequence[IntExpr], count: IntExpr) -> SSAValue:
    new.declare(count, x, product(dims))
    return new.operator("nonzero", x, size=[count])


def _dynamic_slice(
    new: _Inserted, operands: Sequence[SSAValue], dims: Sequence[IntExpr], sizes: Sequence[IntExpr]
) -> SSAValue:
    new.read(sizes, new.operator("dynamic_strided_slice_lengths", *operands), dims)
    return new.operator("dynamic_strided_slice", *operands, size=sizes)


def _unique(
    new: _Inserted,
    x: SSAValue,
    dims: Sequence[IntExpr],
    count: IntExpr,
    attributes: dict[str, Any],
) -> SSAValue:
    """The first of as many results as there may be: as many as have a number of occurrences."""
    limit = length(dims, attributes["axis"])
    complete = {**attributes, "return_counts": True, "size": [limit]}
    most = new.operator("unique", x, **complete)
    names = ["values", *wanted(complete)]
    fields = {n: new.add(relax.TupleGetItemOp(most, i)) for i, n in enumerate(names)}
    new.declare(count, fields["return_counts"], limit)
    results: list[SSAValue] = []
    for name in ("values", *wanted(attributes)):
        axis = (attributes["axis"] or 0) if name == "values" else 0
        bounds = {"axes": [axis], "begin": [0], "end": [count], "assume_inbound": True}
        is_whole = name == "return_inverse"
        results.append(
            fields[name] if is_whole else new.operator("strided_slice", fields[name], **bounds)
        )
    return new.add(relax.TupleOp(results)) if len(results) > 1 else results[0]
