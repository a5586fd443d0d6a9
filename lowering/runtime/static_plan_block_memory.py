"""`static-plan-block-memory`: tensors that are not used at the same time share storage.

::

    %a = relax.alloc_tensor : [8], f32            %storage = relax.memory.alloc_storage 32
    relax.call_kernel @exp(%x, %a)                %a = relax.memory.alloc_tensor %storage[0] : …
    …                                      ⇒      relax.call_kernel @exp(%x, %a)
    %c = relax.alloc_tensor : [4], f32            …
    relax.call_kernel @exp(%b, %c)                %c = relax.memory.alloc_tensor %storage[0] : …
                                                  relax.call_kernel @exp(%b, %c)

A tensor has storage until the last kernel or registered function gets it, also as part of a tuple
or through a view. Tensors of one dtype share storage, of the size of the largest one. Symbols with
an upper bound in ``tir_var_upper_bound`` count as their bound. Not planned are tensors that are
returned, that other functions and operators get, or that branches use; with the attribute
``relax.memory_plan_dynamic_func_output``, those of symbolic shapes that are returned get storage of
their own. TVM's ``StaticPlanBlockMemory``, on `plan-memory`'s choice of places; a build plans all
memory in `plan-memory`, and takes a storage as one piece.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects import relax
from ...dialects.bounds import Interval, Ranges, interval_of
from ...dialects.int_expr import IntExpr, Sym
from ...dialects.relax.operators.reshaping import ReshapingOp
from ...dialects.relax.tuple import Leaf, leaves
from ..functions import graph_functions
from .lower_alloc_tensor import add_storage, place_in
from .memory_plan import Request, assign_slots

PLAN_OUTPUT = "relax.memory_plan_dynamic_func_output"
"""The attribute of functions whose results of symbolic shape get planned storage."""

_READERS = (relax.CallKernelOp, relax.CallPackedOp)
_ALIASES = (relax.TupleOp, relax.TupleGetItemOp, relax.MatchCastOp)


def is_same_memory(op: Operation) -> bool:
    """Whether the result of an operation may be a view of its operand."""
    is_view = isinstance(op, relax.OperatorOp) and op.is_view
    return is_view or isinstance(op, ReshapingOp)


def owners(leaf: Leaf) -> Iterator[SSAValue]:
    """A tensor, and those that it may be a view of."""
    yield leaf[0]
    while isinstance(op := leaf[0].owner, Operation) and is_same_memory(op):
        (leaf,) = leaves(op.operands[0])
        yield leaf[0]


@dataclass
class _Tensor:
    """An allocation, with the steps that use it."""

    op: relax.AllocTensorOp
    first: int
    last: int
    escapes: bool = False
    is_returned: bool = False


@dataclass
class _Planner:
    func: relax.FuncOp
    tensors: dict[SSAValue, _Tensor] = field(default_factory=lambda: {})

    def plan(self, block: Block) -> list[_Tensor]:
        """The tensors of a block that may share storage."""
        for step, op in enumerate(block.ops):
            if isinstance(op, relax.AllocTensorOp):
                self.tensors[op.result] = _Tensor(op, step, step)
            self._use(op, step)
        return [t for t in self.tensors.values() if self._is_planned(t)]

    def _use(self, op: Operation, step: int) -> None:
        if isinstance(op, _ALIASES) or is_same_memory(op):
            return
        for tensor in self._used_by(op):
            if isinstance(op, _READERS):
                tensor.last = step
                # What a registered function returns may be its argument.
                tensor.escapes |= op.result.first_use is not None
            else:
                tensor.escapes |= not isinstance(op, relax.ReturnOp | relax.KillTensorOp)
                tensor.is_returned |= isinstance(op, relax.ReturnOp)

    def _used_by(self, op: Operation) -> Iterator[_Tensor]:
        for inner in op.walk():
            for operand in inner.operands:
                for leaf in leaves(operand):
                    for value in owners(leaf):
                        if (tensor := self.tensors.get(value)) is not None:
                            tensor.escapes |= inner is not op
                            yield tensor

    def _is_planned(self, tensor: _Tensor) -> bool:
        if tensor.escapes or not tensor.is_returned:
            return not tensor.escapes
        plans_output = self.func.attrs is not None and PLAN_OUTPUT in self.func.attrs.data
        is_dynamic = tensor.op.result.type.size_in_bytes().constant is None
        return plans_output and is_dynamic


def plan_block(func: relax.FuncOp, block: Block) -> None:
    """Replace the allocations of a block by tensors in storage, in place."""
    tensors = _Planner(func).plan(block)
    end = sum(1 for _ in block.ops)
    ranges = _ranges(func)
    storage: dict[tuple[str | None, int], SSAValue] = {}
    slot_of: dict[Operation, tuple[str | None, int, IntExpr]] = {}
    for dtype in dict.fromkeys(t.op.result.type.dtype for t in tensors):
        same = [t for t in tensors if t.op.result.type.dtype == dtype]
        requests = [
            Request(_bytes(t, ranges), t.first, end if t.is_returned else t.last) for t in same
        ]
        placed, sizes = assign_slots(requests, is_padded=False)
        for tensor, slot in zip(same, placed, strict=True):
            slot_of[tensor.op] = dtype, slot, sizes[slot]
    for tensor in tensors:
        dtype, slot, size = slot_of[tensor.op]
        if (dtype, slot) not in storage:
            storage[dtype, slot] = add_storage(tensor.op, size)
        place_in(tensor.op, storage[dtype, slot])


def _ranges(func: relax.FuncOp) -> Ranges:
    return {
        Sym(name): Interval(IntExpr.of(lower), IntExpr.of(upper))
        for name, (lower, upper) in func.symbol_ranges().items()
        if upper is not None
    }


def _bytes(tensor: _Tensor, ranges: Ranges) -> IntExpr:
    """The most bytes that a tensor has."""
    size = tensor.op.result.type.size_in_bytes()
    span = interval_of(size, ranges) if ranges else None
    return size if span is None else span.upper


@dataclass(frozen=True)
class StaticPlanBlockMemoryPass(ModulePass):
    """Let tensors that are not used at the same time share storage."""

    name = "static-plan-block-memory"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in graph_functions(op):
            plan_block(func, func.body.block)
            if func.attrs is not None and PLAN_OUTPUT in func.attrs.data:
                kept = {k: v for k, v in func.attrs.data.items() if k != PLAN_OUTPUT}
                func.attrs = DictionaryAttr(kept)
