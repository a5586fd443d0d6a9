"""`fold-constant`: operators of constants are computed once, by their reference semantics.

::

    %0 = relax.constant <float32, [2], [1.0, 2.0]>
    %1 = relax.add %0, %0 : …

⇒

    %1 = relax.constant <float32, [2], [2.0, 4.0]>

Results that are much larger than what they are computed from, such as a filled tensor, stay: they
would cost memory and time to load. So does what has symbols in its shape, what calls may write, and
what has more than 1 MB, which a built module computes when it is loaded (`hoist-to-load`). TVM's
``FoldConstant``, which has no such limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ...dialects import relax
from ...dialects.relax.constant import storage_dtype
from ...dialects.relax.operators.base import evaluated
from ...dialects.relax.types import tensors_in
from ...dialects.sym import expr_symbols
from ...runtime.dtype import bfloat16_to_float32, to_bfloat16
from ..sizes import are_worth_keeping, known_bytes
from .written import touches, written_values

LARGEST = 1 << 20
"""Bytes of a result that is still folded: what is larger, such as weights in another layout, is
computed when the module is loaded, so that files do not hold it a second time."""

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
    """An operator whose operands are constants becomes its result.

    One of which only others in `foldable` need the result becomes no constant: these take it from
    `arrays`, where it may be a view of other arrays, so that a chain of operators copies once.
    """

    foldable: frozenset[Operation]
    arrays: dict[SSAValue, NDArray[Any]] = field(default_factory=lambda: {})

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, relax.OperatorOp) or op not in self.foldable:
            return
        arrays = [self._array(o) for o in op.operands]
        given = [a for a in arrays if a is not None]
        folded = _evaluate(op, given) if len(given) == len(arrays) else None
        if folded is None:
            self._keep_operands(op, rewriter)
        elif not _is_tuple(op) and all(u.operation in self.foldable for u in op.result.uses):
            self.arrays[op.result] = folded[0]
        else:
            self._fold(op, [_owned(a, given) for a in folded], rewriter)

    def _array(self, value: SSAValue) -> NDArray[Any] | None:
        """The memory of a value that is known."""
        owner = value.owner
        is_constant = isinstance(owner, relax.ConstantOp)
        return owner.value.data.array if is_constant else self.arrays.get(value)

    def _keep_operands(self, op: relax.OperatorOp, rewriter: PatternRewriter) -> None:
        """Make constants of the results that an operator which stays was to take."""
        for value in dict.fromkeys(op.operands):
            if value in self.arrays and isinstance(value.owner, relax.OperatorOp):
                self._fold(value.owner, [_owned(self.arrays[value], ())], rewriter)

    def _fold(
        self, op: relax.OperatorOp, arrays: Sequence[NDArray[Any]], rewriter: PatternRewriter
    ) -> None:
        types = tensors_in(op.result.type)
        pairs = zip(arrays, types, strict=True)
        constants = [relax.ConstantOp(relax.TensorData.of(a, t.dtype)) for a, t in pairs]
        for constant in constants:
            constant.location = op.location
        whole = [relax.TupleOp([c.result for c in constants])] if _is_tuple(op) else []
        operands = [o.owner for o in op.operands]
        rewriter.replace(op, [*constants, *whole])
        self._erase_unused(operands, rewriter)

    def _erase_unused(self, ops: list[Operation | Block], rewriter: PatternRewriter) -> None:
        """Erase operators whose results nothing takes any more."""
        while ops:
            op = ops.pop()
            if not isinstance(op, relax.OperatorOp) or op.parent is None or op.result.uses:
                continue
            self.arrays.pop(op.result, None)
            ops += [o.owner for o in op.operands]
            rewriter.erase(op)


def _foldable(module: ModuleOp) -> frozenset[Operation]:
    """The operators that are computed from constants, unless calls may write what they touch."""
    written, found = written_values(module), set[Operation]()
    for op in module.walk():
        if not isinstance(op, relax.OperatorOp) or not _is_worth_it(op) or touches(op, written):
            continue
        owners = [o.owner for o in op.operands]
        if all(_is_loaded(o) or (o in found and _is_one_tensor(o)) for o in owners):
            found.add(op)
    return frozenset(found)


def _is_loaded(owner: Operation | Block) -> bool:
    return isinstance(owner, relax.ConstantOp) and owner.value.data.array is not None


def _is_one_tensor(owner: Operation | Block) -> bool:
    return isinstance(owner, relax.OperatorOp) and not _is_tuple(owner)


def _is_tuple(op: relax.OperatorOp) -> bool:
    return isinstance(op.result.type, TupleType)


def _is_worth_it(op: relax.OperatorOp) -> bool:
    """Whether results have static shapes and are not much larger than the operands."""
    made = known_bytes([op.result])
    if made is None or made > LARGEST or any(expr_symbols(p) for p in op.properties.values()):
        return False
    return are_worth_keeping([op.result], op.operands)


def _evaluate(op: relax.OperatorOp, arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]] | None:
    """The results by the operator's reference, None where it has none for such values.

    Arrays are as tensors are stored, and may be views of each other.
    """
    attributes = evaluated(op.attribute_values(), lambda e: e.constant)
    operands = [t for o in op.operands for t in tensors_in(o.type)]
    values = [_loaded(a, t.dtype or "") for a, t in zip(arrays, operands, strict=True)]
    try:
        with np.errstate(all="ignore"):
            found: Any = op.reference(values, attributes)
    except IndexError:  # which is for the program to report when it gets there
        return None
    fields = cast("Sequence[Any]", found) if _is_tuple(op) else [found]
    types = tensors_in(op.result.type)
    return [_stored(np.asarray(f), t.dtype or "") for f, t in zip(fields, types, strict=True)]


def _loaded(array: NDArray[Any], dtype: str) -> NDArray[Any]:
    return bfloat16_to_float32(array) if dtype == "bfloat16" else array


def _stored(values: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Values rounded to a dtype."""
    with np.errstate(all="ignore"):
        if dtype == "bfloat16":
            return to_bfloat16(values)
        return np.asarray(values, storage_dtype(dtype))


def _owned(array: NDArray[Any], others: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """An array in memory that no other constant shares, nor one that it was computed from."""
    is_shared = array.base is not None or any(array is other for other in others)
    return np.array(array, order="C") if is_shared else array


@dataclass(frozen=True)
class FoldConstantPass(ModulePass):
    """Replace operators of constants by their results, unless these are large."""

    name = "fold-constant"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for pattern in (FoldTupleField(), FoldOperator(_foldable(op)), FoldTupleField()):
            PatternRewriteWalker(pattern, apply_recursively=False).rewrite_module(op)
