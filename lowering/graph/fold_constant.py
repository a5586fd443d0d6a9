"""`fold-constant`: evaluate operators on constants, by their reference semantics.

::

    %0 = relax.constant <float32, [2], [1.0, 2.0]>
    %1 = relax.add %0, %0 : …

⇒

    %1 = relax.constant <float32, [2], [2.0, 4.0]>

A conversion to the dtype that its operand has already is replaced by the operand.

Results that are much larger than their operands, such as a filled tensor, are not folded: they
would cost memory and time to load. Neither are results of symbolic shape, results that calls may
write, and results of more than 1 MB, which a built module computes when it is loaded
(`hoist-to-load`). With `kernels`, as with TVM's ``FoldConstant``, calls of PrimFuncs on constants
are evaluated too, and tensors of more than 1024 elements that no operand is needed for are not
folded. What dataflow blocks then output of constants is read where it is used.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import Rewriter

from ...dialects import relax
from ...dialects.relax.constant import storage_dtype
from ...dialects.relax.operators.conversion import AstypeOp
from ...dialects.relax.types import tensors_in
from ..functions import functions_by_name, graph_functions
from ..sizes import LARGEST_FOLDED, are_worth_keeping, known_bytes
from .dead_code import trim_outputs
from .known_values import evaluate_operator
from .written import Written, touches, written_values

LARGEST_CREATED = 1024
"""The most elements of a tensor without operands that is folded with kernels."""


class FoldTupleField(RewritePattern):
    """Replace a field of a tuple that is created here by its value."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relax.TupleGetItemOp, rewriter: PatternRewriter) -> None:
        made = op.tuple_value.owner
        if isinstance(made, relax.TupleOp):
            rewriter.replace(op, [], [made.fields[op.index.data]])


@dataclass
class FoldSameDtype(RewritePattern):
    """Replace a conversion to the operand's own dtype by the operand, unless calls may write it."""

    written: Written

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AstypeOp, rewriter: PatternRewriter) -> None:
        if op.x.type == op.result.type and not touches(op, self.written):
            rewriter.replace(op, [], [op.x])


@dataclass
class FoldOperator(RewritePattern):
    """Replace an operator on constants by its result, unless calls may write it."""

    written: Written
    module: ModuleOp | None = None
    """The module whose kernels are evaluated; `None` for operators alone."""
    kernels: Collection[str] = ()
    """The names of its functions."""

    made: set[Operation] = field(default_factory=lambda: set())

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        kinds = (relax.OperatorOp, *([relax.CallTIROp] if self.module is not None else []))
        if not isinstance(op, kinds) or touches(op, self.written):
            return
        owners = [o.owner for o in op.operands]
        arrays = [o.value.data.array for o in owners if isinstance(o, relax.ConstantOp)]
        given = [a for a in arrays if a is not None]
        if len(given) < len(owners) or not _is_worth_it(op) or self._is_large(op):
            return
        is_operator = isinstance(op, relax.OperatorOp)
        folded = evaluate_operator(op, given) if is_operator else self._run(op, given)
        if folded is None:
            return
        pairs = zip(folded, tensors_in(op.result.type), strict=True)
        constants = [
            relax.ConstantOp(relax.TensorData.of(_owned(a, given), t.dtype)) for a, t in pairs
        ]
        for constant in constants:
            constant.location = op.location
        is_tuple = isinstance(op.result.type, TupleType)
        whole = [relax.TupleOp([c.result for c in constants])] if is_tuple else []
        rewriter.replace(op, [*constants, *whole])
        self.made.update(constants)
        for owner in self.made.intersection(owners):
            if not any(r.uses for r in owner.results):
                self.made.remove(owner)
                rewriter.erase(owner)

    def _is_large(self, op: relax.OperatorOp | relax.CallTIROp) -> bool:
        """Whether an operation without operands stays, as in TVM."""
        sizes = [prod(d.constant or 0 for d in t.dims or ()) for t in tensors_in(op.result.type)]
        is_created = self.module is not None and not op.operands
        return is_created and max(sizes, default=0) > LARGEST_CREATED

    def _run(
        self, op: relax.CallTIROp, arrays: Sequence[NDArray[Any]]
    ) -> list[NDArray[Any]] | None:
        """The results of a kernel; None if it needs symbols or has no defined result."""
        from ...reference import EvaluationError, evaluate  # which builds do not need

        types = tensors_in(op.result.type)
        assert self.module is not None
        if op.tir_vars is not None or op.callee_name not in self.kernels:
            return None
        shapes = [[d.constant or 0 for d in t.dims or ()] for t in types]
        outputs = [
            np.zeros(s, storage_dtype(t.dtype or "")) for s, t in zip(shapes, types, strict=True)
        ]
        copies = [np.array(a) for a in arrays]
        try:
            found = evaluate(self.module, op.callee_name, [*copies, *outputs])
        except EvaluationError:
            return None
        return found[len(arrays) :]


def _is_worth_it(op: relax.OperatorOp | relax.CallTIROp) -> bool:
    """Whether results have static shapes and are not much larger than the operands."""
    made = known_bytes([op.result])
    if made is None or made > LARGEST_FOLDED:
        return False
    return are_worth_keeping([op.result], op.operands)


def _owned(array: NDArray[Any], others: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """An array whose memory is shared with no other constant and no operand."""
    is_shared = array.base is not None or any(array is other for other in others)
    return np.array(array, order="C") if is_shared else array


def read_constants_directly(module: ModuleOp) -> None:
    """Let the users of a dataflow block's output that is a constant read a constant of their own.

    Blocks without other operations are erased.
    """
    blocks = [op for f in graph_functions(module) for op in f.walk()]
    for block in [op for op in blocks if isinstance(op, relax.DataflowOp)]:
        for value, result in zip(block.output.values, block.outputs, strict=True):
            if isinstance(value.owner, relax.ConstantOp) and value.owner.parent is block.body.block:
                constant = value.owner.clone()
                constant.location = value.owner.location
                assert block.parent is not None
                block.parent.insert_op_before(constant, block)
                result.replace_all_uses_with(constant.result)
        kept = trim_outputs(block)
        for op in list(kept.body.block.ops):
            if isinstance(op, relax.ConstantOp) and op.result.first_use is None:
                Rewriter.erase_op(op)
        if len(kept.body.block.ops) == 1:
            for value, result in zip(kept.output.values, kept.outputs, strict=True):
                result.replace_all_uses_with(value)
            Rewriter.erase_op(kept)


@dataclass(frozen=True)
class FoldConstantPass(ModulePass):
    """Replace operators of constants by their results, unless these are large.

    With `kernels` the results of `relax.call_tir` are evaluated too.
    """

    name = "fold-constant"
    kernels: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        written = written_values(op)
        operators = FoldOperator(written)
        if self.kernels:
            operators = FoldOperator(written, op, functions_by_name(op))
        folds = (FoldTupleField(), FoldSameDtype(written), operators, FoldTupleField())
        for pattern in folds:
            PatternRewriteWalker(pattern, apply_recursively=False).rewrite_module(op)
        if self.kernels:
            read_constants_directly(op)
