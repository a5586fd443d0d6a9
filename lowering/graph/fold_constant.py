"""`fold-constant`: operators of constants are computed once, by their reference semantics.

::

    %0 = relax.constant <float32, [2], [1.0, 2.0]>
    %1 = relax.add %0, %0 : …

⇒

    %1 = relax.constant <float32, [2], [2.0, 4.0]>

Results that are much larger than what they are computed from, such as a filled tensor, stay: they
would cost memory and time to load. So does what has symbols in its shape, and what calls may write.
TVM's ``FoldConstant``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ...dialects import relax
from ...dialects.dtypes import byte_width
from ...dialects.int_expr import IntExpr
from ...dialects.relax.constant import storage_dtype
from ...dialects.relax.operators.base import evaluated
from ...dialects.relax.types import tensors_in
from ...dialects.sym import expr_symbols
from ...runtime.dtype import bfloat16_to_float32, float32_to_bfloat16
from .written import Written, touches, written_values

LARGEST = 1 << 20
"""Bytes of a result that is still folded: what is larger, such as weights in another layout, is
computed when the module is loaded, so that files do not hold it a second time."""
ALWAYS = 64 << 10
"""Bytes of a result that may be much larger than its operands."""
GROWTH = 2
"""How many times the bytes of its operands any other result may have."""


_PURE = (relax.ConstantOp, relax.OperatorOp, relax.CallTIROp, relax.TupleGetItemOp)


def is_computed_from_constants(value: SSAValue) -> bool:
    """Whether a value is a constant, or pure operators and kernels make it of constants."""
    waiting, seen = [value], set[SSAValue]()
    while waiting:
        current = waiting.pop()
        owner = current.owner
        if not isinstance(owner, _PURE):
            return False
        seen.add(current)
        waiting += [o for o in owner.operands if o not in seen]
    return True


class FoldTupleField(RewritePattern):
    """A field of a tuple that is made here is the value that it was made of."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relax.TupleGetItemOp, rewriter: PatternRewriter) -> None:
        made = op.tuple_value.owner
        if isinstance(made, relax.TupleOp):
            rewriter.replace(op, [], [made.fields[op.index.data]])


@dataclass
class FoldOperator(RewritePattern):
    """An operator whose operands are constants becomes its result, unless calls may write it."""

    written: Written

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, relax.OperatorOp) or not _is_worth_it(op):
            return
        if touches(op, self.written):
            return
        operands = [o.owner for o in op.operands]
        data = [o.value.data for o in operands if isinstance(o, relax.ConstantOp)]
        if len(data) < len(operands) or any(d.array is None for d in data):
            return
        folded = _evaluate(op, data)
        if folded is None:
            return
        constants = [relax.ConstantOp(d) for d in folded]
        for constant in constants:
            constant.location = op.location
        whole = [relax.TupleOp([c.result for c in constants])] if _is_tuple(op) else []
        rewriter.replace(op, [*constants, *whole])


def _is_tuple(op: relax.OperatorOp) -> bool:
    return isinstance(op.result.type, TupleType)


def _is_worth_it(op: relax.OperatorOp) -> bool:
    """Whether results have static shapes and are not much larger than the operands."""
    made = bytes_of(tensors_in(op.result.type))
    given = bytes_of([t for o in op.operands for t in tensors_in(o.type)])
    if made is None or given is None or any(expr_symbols(p) for p in op.properties.values()):
        return False
    return made <= LARGEST and is_worth_keeping(made, given)


def is_worth_keeping(made: int, given: int) -> bool:
    """Whether so many bytes are worth their memory beside those that they are computed from."""
    return made <= max(ALWAYS, GROWTH * given)


def bytes_of(types: Sequence[relax.TensorType]) -> int | None:
    """The bytes of tensors, `None` where some are not known."""
    total = 0
    for type_ in types:
        if type_.dims is None or type_.known_element is None:
            return None
        size = IntExpr.of(byte_width(type_.known_element))
        for dim in type_.dims:
            size = size * dim
        if size.constant is None:
            return None
        total += size.constant
    return total


def _evaluate(
    op: relax.OperatorOp, data: Sequence[relax.TensorData]
) -> list[relax.TensorData] | None:
    """The results by the operator's reference, None where it has none for such values."""
    attributes = evaluated(op.attribute_values(), lambda e: e.constant)
    arrays = [_loaded(d) for d in data]
    try:
        with np.errstate(all="ignore"):
            found: Any = op.reference(arrays, attributes)
    except IndexError:  # which is for the program to report when it gets there
        return None
    fields = cast("Sequence[Any]", found) if _is_tuple(op) else [found]
    types = tensors_in(op.result.type)
    return [
        relax.TensorData.of(_stored(np.asarray(f), t.dtype or ""), t.dtype)
        for f, t in zip(fields, types, strict=True)
    ]


def _loaded(data: relax.TensorData) -> NDArray[Any]:
    return bfloat16_to_float32(data.values) if data.dtype == "bfloat16" else data.values


def _stored(values: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Values rounded to a dtype, in memory that no other constant shares."""
    with np.errstate(all="ignore"):
        if dtype == "bfloat16":
            return float32_to_bfloat16(values.astype(np.float32))
        return np.array(values, storage_dtype(dtype), order="C")  # which is how they are kept


@dataclass(frozen=True)
class FoldConstantPass(ModulePass):
    """Replace operators of constants by their results."""

    name = "fold-constant"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for pattern in (FoldTupleField(), FoldOperator(written_values(op)), FoldTupleField()):
            PatternRewriteWalker(pattern, apply_recursively=False).rewrite_module(op)
