"""`lower-alloc-tensor`: tensors that have no storage get one of their own.

::

    %y = relax.alloc_tensor : !relax.tensor<[n, 4], f32>

⇒

::

    %storage = relax.memory.alloc_storage n * 16
    %y = relax.memory.alloc_tensor %storage[0] : !relax.tensor<[n, 4], f32>

TVM's ``LowerAllocTensor``.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax
from ...dialects.int_expr import ZERO, IntExpr
from ..functions import graph_functions


def add_storage(op: relax.AllocTensorOp, size: IntExpr) -> SSAValue:
    """New storage of a size in bytes before an allocation."""
    storage = relax.AllocStorageOp(size)
    storage.location, storage.result.name_hint = op.location, "storage"
    Rewriter.insert_op(storage, InsertPoint.before(op))
    return storage.result


def place_in(op: relax.AllocTensorOp, storage: SSAValue) -> None:
    """Replace an allocation by a tensor at the beginning of storage."""
    tensor = relax.StorageTensorOp(storage, ZERO, op.result.type)
    tensor.location, tensor.result.name_hint = op.location, op.result.name_hint
    Rewriter.replace_op(op, tensor)


@dataclass(frozen=True)
class LowerAllocTensorPass(ModulePass):
    """Replace allocations of tensors by storage and a tensor in it."""

    name = "lower-alloc-tensor"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in graph_functions(op):
            for alloc in [o for o in func.walk() if isinstance(o, relax.AllocTensorOp)]:
                place_in(alloc, add_storage(alloc, alloc.result.type.size_in_bytes()))
