"""The buffers of a graph function's tensors during its conversion to destination-passing style."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import FunctionType, TupleType
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import relax, rt, tir
from ...dialects.bounds import is_non_negative
from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import ZERO, IntExpr, Sym
from ...dialects.relax.symbols import dims_in
from ...dialects.relax.tuple import Leaf, in_memory, leaves, tensor_type
from ...dialects.relax.types import tensors_in
from ..equations import Equation
from .destinations import destinations, stored

ModuleCall: TypeAlias = (
    "relax.CallTIROp | relax.CallTIRInplaceOp | relax.CallKernelOp | relax.CallOp | relax.LoopOp"
)
"""A call of a function of the module."""

_TAKE_NUMBERS = (
    relax.CallDPSPackedOp,
    relax.CallOp,
    relax.CallPackedOp,
    relax.CallPurePackedOp,
    relax.LoopOp,
)


@dataclass(frozen=True)
class CallFacts:
    """The facts of one call: the function that runs, values, and conditions.

    `values` are those of the callee's symbols that the shapes of its buffers do not determine.
    """

    callee: str
    values: tuple[IntExpr, ...] = ()
    conditions: tuple[Equation, ...] = ()
    written: tuple[int, ...] = ()
    """The arguments that a kernel called on its outputs writes."""


class FunctionMemory:
    """The memory of tensors at the insertion point, and the code inserted so far."""

    def __init__(
        self,
        func: relax.FuncOp,
        name: str,
        private: bool,
        calls: Mapping[Operation, CallFacts],
        objects: Mapping[Operation, FunctionType],
    ):
        self.func, self.name, self.private, self.calls = func, name, private, calls
        self.objects = objects
        """The types of functions and calls with objects, before numbers have replaced these."""
        self.label = f"'{func.sym_name.data}'"
        self.memory: dict[Leaf, SSAValue] = {}
        self.storage: dict[SSAValue, SSAValue] = {}
        """The bytes of storage that the function plans itself."""
        self.destinations: dict[Leaf, SSAValue] = {}
        self.entry = Block()
        self.current = self.entry
        self.outer: Block | None = None
        """The block around the current dataflow block."""
        self.escaping: set[Leaf] = set()
        """Outputs of the current dataflow block, whose memory is allocated before it."""
        self.known: list[set[IntExpr]] = [set()]
        """Dims that are known to be non-negative, for each enclosing branch."""
        self.written: set[Leaf] = set() if private else written_parameters(func, calls)
        """Parameters that calls change in place; the parameters of callees are copies."""
        self.prologue: list[Operation] = []
        """Checks of dims at entry."""
        self.sizes = read_sizes(func)
        """The symbols whose values the function reads from tensors."""
        self.reads: list[rt.ReadSizesOp] = []
        """The operations that read them."""
        self.reported: list[rt.ReadSizesOp] = []
        """Those that results depend on."""
        self.declared = set(func.declared_symbols())
        """The symbols that have values so far."""
        self.kept: dict[Leaf, list[int]] = {}
        """What registered functions return: the numbers of the results of unknown shape."""
        self.sized: dict[SSAValue, tir.BufferType] = {}
        """The memory of results whose dims have such symbols, in bytes, and their types."""

    def place_results(
        self, block: Block, value: SSAValue, places: Sequence[SSAValue]
    ) -> dict[Leaf, SSAValue]:
        """The memory of tensors that are computed in `places`; sources of views keep their type."""
        found = destinations(block, value, places)
        found = {leaf: place for leaf, place in found.items() if place not in self.sized}
        direct = set(zip(stored(value), places, strict=True))
        views: dict[tuple[SSAValue, tir.BufferType], SSAValue] = {}
        for leaf, place in found.items():
            if (leaf, place) not in direct:
                own = buffer_type(tensor_type(leaf), f"a tensor of {self.label}")
                if (place, own) not in views:
                    views[place, own] = self.reinterpret(place, own, self.current)
                found[leaf] = views[place, own]
        return found

    def reinterpret(self, memory: SSAValue, type_: tir.BufferType, block: Block) -> SSAValue:
        """The memory as another buffer type; adds an `rt.reinterpret` to `block` if needed."""
        whole = rt.memory_of(memory)
        if whole.type == type_:
            return whole
        op = rt.ReinterpretOp(whole, type_)
        block.add_op(op)
        return op.result

    def is_written(self, memory: SSAValue) -> bool:
        """Whether the memory is that of a parameter that calls change in place."""
        return rt.memory_of(memory) in {self.memory[leaf] for leaf in self.written}

    def condition(self, value: SSAValue) -> SSAValue | IntExpr:
        known = value.type.expr if isinstance(value.type, relax.PrimType) else None
        return self.memory[leaves(value)[0]] if known is None else known

    def require(self, conditions: Sequence[rt.AssertOp]) -> None:
        """Check conditions here, or before the enclosing dataflow block."""
        (self.current if self.outer is None else self.outer).add_ops(conditions)

    def copy_missing(self, value: SSAValue, places: Sequence[SSAValue]) -> None:
        """Copy the tensors of a value that were not computed directly in `places`."""
        for leaf, place in zip(stored(value), places, strict=True):
            if (type_ := self.sized.get(place)) is not None:
                view = rt.ViewOp(place, ZERO, type_)
                self.current.add_ops([view, rt.CopyOp(self.memory[leaf], view.result)])
            elif rt.memory_of(self.memory[leaf]) is not rt.memory_of(place):
                self.current.add_op(rt.CopyOp(self.memory[leaf], place))

    def inputs_of(self, op: Operation, args: Sequence[SSAValue]) -> list[SSAValue]:
        found: list[SSAValue] = []
        for arg in args:
            known = isinstance(arg.type, TupleType) or (
                isinstance(op, _TAKE_NUMBERS)
                and isinstance(arg.type, relax.ShapeType | relax.PrimType)
            )
            if not tensors_in(arg.type) and not known:
                raise Diagnostic(
                    f"expected arguments of '{op.name}' in {self.label} to be tensors, "
                    f"got {arg.type}"
                )
            for leaf in leaves(arg):
                if leaf not in self.memory:  # what a registered function returns
                    buffer_type(tensor_type(leaf), f"argument of '{op.name}' in {self.label}")
                found.append(self.memory[leaf])
        return found

    def outputs_of(self, op: Operation, result: SSAValue) -> list[SSAValue]:
        """Memory for each result tensor of `op`: that of a function result, or a new buffer."""
        return [self.allocate(leaf, f"result of '{op.name}'") for leaf in leaves(result)]

    def allocate(self, leaf: Leaf, subject: str) -> SSAValue:
        if (memory := self.destinations.get(leaf)) is not None:
            self.memory[leaf] = memory
            return memory
        type_ = buffer_type(tensor_type(leaf), f"{subject} in {self.label}")
        self.guard(type_.dims, subject if leaf[0].name_hint is None else f"'{leaf[0].name_hint}'")
        alloc = rt.AllocOp(type_)
        return self.define(leaf, alloc, alloc.result)

    def guard(self, dims: Sequence[IntExpr], subject: str) -> None:
        """Check dims that may be negative, at entry or in the tensor's branch."""
        for dim in dims:
            if is_non_negative(dim) or dim in self.known[-1]:
                continue
            self.known[-1].add(dim)
            message = f"expected dim {dim} of {subject} in {self.label} to be at least 0, got {{0}}"
            check = rt.AssertOp(dim, "ge", 0, message)
            if len(self.known) == 1 and not dim.symbols() & self.sizes.keys():
                self.prologue.append(check)
            else:
                self.require([check])

    def define(self, leaf: Leaf, op: Operation, memory: SSAValue) -> SSAValue:
        memory.name_hint = leaf[0].name_hint
        outer = self.outer if leaf in self.escaping else None
        (outer or self.current).add_op(op)
        self.memory[leaf] = memory
        return memory


def read_sizes(func: relax.FuncOp) -> dict[str, IntExpr]:
    """The symbols that casts of tensors' numbers declare, each with its limit."""
    known = set(func.declared_symbols())
    found: dict[str, IntExpr] = {}
    for op in func.walk():
        if isinstance(op, relax.MatchCastOp) and isinstance(op.value.owner, relax.TensorToShapeOp):
            for dim, limit in zip(dims_in(op.result.type), op.value.owner.limits, strict=True):
                if isinstance(atom := dim.as_atom, Sym) and atom.name not in known:
                    found.setdefault(atom.name, limit)
    return found


def written_parameters(func: relax.FuncOp, calls: Mapping[Operation, CallFacts]) -> set[Leaf]:
    """The tensors of parameters that calls change in place."""
    changed = {
        leaf
        for op in func.walk()
        if isinstance(op, relax.CallTIRInplaceOp | relax.CallPurePackedOp)
        for position in op.positions
        if position != -1
        for leaf in leaves(op.args[position])
    }
    for op, facts in calls.items():
        if isinstance(op, relax.CallKernelOp):
            changed |= {in_memory(leaves(op.args[position])[0])[-1] for position in facts.written}
    return {leaf for param in func.params for leaf in leaves(param)} & changed


def buffer_type(type_: relax.TensorType, subject: str) -> tir.BufferType:
    """The dense buffer of a tensor; raises Diagnostic for an unknown shape or dtype."""
    if type_.dims is None or type_.dtype is None:
        raise Diagnostic(f"expected {subject} to have a known shape and dtype, got {type_}")
    return tir.BufferType.of(type_.dims, type_.element_type)


def buffer_dims(memory: SSAValue) -> tuple[IntExpr, ...]:
    """The dims of a buffer."""
    assert isinstance(memory.type, tir.BufferType)
    return memory.type.dims
