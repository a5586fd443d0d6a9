"""`call-tir-rewrite`: calls whose outputs they allocate become allocations and calls on them.

::

    %y = relax.call_tir @relu(%x) : …           %y = relax.alloc_tensor : !relax.tensor<[n], f32>
                                          ⇒     relax.call_kernel @relu(%x, %y) : …
    %z = relax.call_dps_packed "f"(%y) : …      %z = relax.alloc_tensor : !relax.tensor<[n], f32>
                                                relax.call_packed "f"(%y, %z) : …

A call in place is one on its arguments. TVM's ``CallTIRRewrite``, after ``ToNonDataflow`` and
``RemovePurityChecking``: calls in dataflow blocks are refused, and the function is impure or has
``relax.force_pure``. A build does this in `convert-relax-to-rt`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ...dialects.relax.types import tensors_in
from ..functions import graph_functions
from .normalize import resolve_names

Call: TypeAlias = "relax.CallTIROp | relax.CallTIRInplaceOp | relax.CallDPSPackedOp"


def rewrite_call(op: Call) -> None:
    """Replace a call by allocations of its outputs and a call on them."""
    if isinstance(op.parent_op(), relax.DataflowOp):
        raise Diagnostic(f"expected '{op.name}' outside of dataflow blocks: use ToNonDataflow", op)
    types = tensors_in(op.result.type)
    positions = op.positions if isinstance(op, relax.CallTIRInplaceOp) else [-1] * len(types)
    allocs = [relax.AllocTensorOp(t) for t, i in zip(types, positions, strict=True) if i == -1]
    remaining = iter(allocs)
    outputs = [next(remaining).result if i == -1 else op.args[i] for i in positions]
    for alloc in allocs:
        alloc.result.name_hint = op.result.name_hint
    call = _call(op, [a.result for a in allocs])
    made: list[Operation] = [*allocs, call]
    result = _packed(op.result.type, iter(outputs), made)
    for new in made:
        new.location = op.location
    Rewriter.replace_op(op, made, [result])
    call.results[0].name_hint = None


def _call(op: Call, outputs: Sequence[SSAValue]) -> Operation:
    if not isinstance(op, relax.CallDPSPackedOp):
        return relax.CallKernelOp(op.callee_name, [*op.args, *outputs], op.tir_vars)
    return relax.CallPackedOp(op.callee_name, [*op.args, *outputs], TupleType(()))


def _packed(type_: Attribute, tensors: Iterator[SSAValue], made: list[Operation]) -> SSAValue:
    """The tensors as a value of a call's type; adds the operations that make tuples."""
    if not isinstance(type_, TupleType):
        return next(tensors)
    fields = cast(Sequence[Attribute], type_.types.data)
    made.append(op := relax.TupleOp([_packed(t, tensors, made) for t in fields]))
    return op.result


@dataclass(frozen=True)
class CallTIRRewritePass(ModulePass):
    """Allocate the outputs of calls by operations of their own."""

    name = "call-tir-rewrite"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        resolve_names(op)
        for func in graph_functions(op):
            for call in list(func.walk()):
                if isinstance(
                    call, relax.CallTIROp | relax.CallTIRInplaceOp | relax.CallDPSPackedOp
                ):
                    rewrite_call(call)
