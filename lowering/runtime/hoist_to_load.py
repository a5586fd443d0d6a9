"""`hoist-to-load`: run kernels that depend on constants only once, on load.

::

    rt.func @main(%x: …, %y: …) results 1 {
      %w = rt.constant <float32, [768, 784], "w", "9f…"> : …
      rt.dataflow {
        %p = rt.alloc : !tir.buffer<[6, 784, 128], f32>
        rt.call_dps @permute_dims(%w) outs(%p) : …
        rt.call_dps @matmul(%x, %p) outs(%y) : …

⇒

::

    rt.func on_load @load(%p: …) results tuple 1 {
      %w = rt.constant <float32, [768, 784], "w", "9f…"> : …
      rt.call_dps @permute_dims(%w) outs(%p) : …
    }
    rt.func @main(%x: …, %y: …) results 1 {
      rt.dataflow {
        %p = rt.loaded @load[0] : !tir.buffer<[6, 784, 128], f32>
        rt.call_dps @matmul(%x, %p) outs(%y) : …

Files hold the original constants. A call is not hoisted if its results are much larger than its
constants, since they stay allocated, if a later call may write them, or if it may fail. TVM's
``LiftTransformParams`` lifts such calls to a function that users run.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import rt, tir
from ...dialects.relax.constant import TensorData
from ...dialects.tir.types import BufferType
from ..functions import functions_by_name, unique_name
from ..sizes import are_worth_keeping

LOAD = "load"
"""The name of the function, unless it is taken."""


@dataclass
class _Load:
    """Builds the function that runs on load; until `finish`, its results are allocations."""

    functions: Mapping[str, Operation]
    block: Block = field(default_factory=Block)
    values: dict[SSAValue, SSAValue] = field(default_factory=lambda: {})
    """The value in the block for a value of another function."""
    made: dict[object, SSAValue] = field(default_factory=lambda: {})
    """Constants by their memory, views by source and type."""
    calls: dict[tuple[str, tuple[SSAValue, ...]], list[SSAValue]] = field(
        default_factory=lambda: {}
    )
    hoisted: list[rt.CallDPSOp] = field(default_factory=lambda: [])

    def counterpart(self, value: SSAValue) -> SSAValue | None:
        """The value in the block for a constant, a view of one, or a hoisted result."""
        if value not in self.values:
            made = self._make(value)
            if made is None:
                return None
            self.values[value] = made
        return self.values[value]

    def _make(self, value: SSAValue) -> SSAValue | None:
        match value.owner:
            case rt.ConstantOp(value=data):
                key: object = _identity(data.data)
                if key not in self.made:
                    self.made[key] = self._add(rt.ConstantOp(data.data), value)
                return self.made[key]
            case rt.ReinterpretOp(source=source, result=result):
                own = self.counterpart(source)
                if own is None:
                    return None
                key = own, result.type
                if key not in self.made:
                    self.made[key] = self._add(rt.ReinterpretOp(own, result.type), value)
                return self.made[key]
            case _:
                return None

    def _add(self, op: rt.ConstantOp | rt.ReinterpretOp | rt.AllocOp, like: SSAValue) -> SSAValue:
        self.block.add_op(op)
        op.result.name_hint = like.name_hint
        return op.result

    def hoist(self, call: rt.CallDPSOp) -> bool:
        """Add a call to the block if possible; return whether it was."""
        kernel = self.functions.get(call.callee_name)
        if not isinstance(kernel, tir.PrimFuncOp) or not _cannot_fail(kernel) or call.vars.data:
            return False
        if (
            not call.inputs
            or not all(map(_stays_as_made, call.outputs))
            or not are_worth_keeping(call.outputs, call.inputs)
        ):
            return False
        inputs = [self.counterpart(v) for v in call.inputs]
        known = tuple(v for v in inputs if v is not None)
        if len(known) < len(inputs):
            return False
        key = (call.callee_name, known)
        if key not in self.calls:
            self.calls[key] = [
                self._add(rt.AllocOp(cast(BufferType, v.type)), v) for v in call.outputs
            ]
            self.block.add_op(rt.CallDPSOp(call.callee_name, known, self.calls[key]))
        self.values.update(zip(call.outputs, self.calls[key], strict=True))
        self.hoisted.append(call)
        return True

    def finish(self, name: str) -> rt.FuncOp:
        """The function; its results are the values with other uses, whose allocations it erases."""
        places: dict[SSAValue, int] = {}
        outputs = [v for call in self.hoisted for v in call.outputs]
        for value in [v for v in outputs if not _is_used_by(v, set(self.hoisted))]:
            made = self.values[value]
            place = places.setdefault(made, len(places))
            alloc = cast(rt.AllocOp, value.owner)
            Rewriter.replace_op(alloc, rt.LoadedOp(name, place, alloc.result.type))
        for made, place in places.items():
            arg = self.block.insert_arg(made.type, place)
            arg.name_hint = made.name_hint
            Rewriter.replace_op(cast(rt.AllocOp, made.owner), [], [arg])
        return rt.FuncOp(
            name, [], len(places), Region(self.block), returns_tuple=True, on_load=True
        )


def _identity(data: TensorData) -> object:
    """A key that is equal for constants of one array."""
    if data.array is None:
        return id(data)
    return data.dtype, data.shape, data.array.__array_interface__["data"][0]


def _cannot_fail(kernel: tir.PrimFuncOp) -> bool:
    return not any(isinstance(op, tir.AssertOp | tir.OpaqueCallOp) for op in kernel.walk())


def _stays_as_made(output: SSAValue) -> bool:
    """Whether memory is allocated by the function, of known size, and written by one call only."""
    type_ = cast(BufferType, output.type)
    if not isinstance(output.owner, rt.AllocOp) or type_.known_bytes is None:
        return False
    writers = [op for op, index in _uses(output) if not _reads(op, index)]
    return len(writers) == 1


def _reads(op: Operation, index: int) -> bool:
    if isinstance(op, rt.CallDPSOp):
        return index < len(op.inputs)
    return isinstance(op, rt.CopyOp) and index == 0


def _uses(memory: SSAValue) -> Iterator[tuple[Operation, int]]:
    """The operations that use memory, also through views, and the index of the operand."""
    for use in memory.uses:
        if isinstance(use.operation, rt.ReinterpretOp | rt.SliceOp):
            yield from _uses(use.operation.result)
        else:
            yield use.operation, use.index


def _is_used_by(value: SSAValue, calls: Container[Operation]) -> bool:
    """Whether memory has no uses but these calls."""
    return all(op in calls for op, _ in _uses(value))


def _erase_unused(values: Iterable[SSAValue]) -> None:
    """Erase unused constants, views and allocations."""
    for value in values:
        op = value.owner
        if isinstance(op, rt.ConstantOp | rt.ReinterpretOp | rt.AllocOp | rt.LoadedOp):
            if op.parent is not None and value.first_use is None:
                sources = list(op.operands)
                Rewriter.erase_op(op)
                _erase_unused(sources)


def hoist_to_load(module: ModuleOp) -> None:
    """Move calls of kernels on constants to a function that runs on load."""
    functions = functions_by_name(module)
    callers = [f for f in functions.values() if isinstance(f, rt.FuncOp) and f.on_load is None]
    load = _Load(functions)
    for func in callers:
        for op in list(func.walk()):
            if isinstance(op, rt.CallDPSOp):
                load.hoist(op)
    if not load.hoisted:
        return
    made = load.finish(unique_name(LOAD, functions))
    for call in load.hoisted:
        operands = list(call.operands)
        Rewriter.erase_op(call)
        _erase_unused(operands)
    if made.results_:
        Rewriter.insert_op(made, InsertPoint.before(callers[0]))


@dataclass(frozen=True)
class HoistToLoadPass(ModulePass):
    """Compute values that depend on constants only once, when the module is loaded."""

    name = "hoist-to-load"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        hoist_to_load(op)
