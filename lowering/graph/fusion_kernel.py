"""Concatenate the PrimFuncs that a graph function calls into one PrimFunc.

Values that one call passes to another become scratch buffers of the new function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects.builtin import (
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    StringAttr,
    TupleType,
    UnitAttr,
    i1,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ...dialects import relax, tir
from ...dialects.int_expr import IntExpr, Sym
from ...dialects.nesting import operations_in
from ...dialects.relax.types import tensors_in
from ...dialects.tir.func import symbols_of
from ..analysis.independence import may_share_memory
from ..functions import PRIVATE, unique_name
from ..schedule.blocks import IS_SCHEDULED, statements
from ..substitute import substitute_symbols
from ..verify_calls import unify_kernel_call

Value: TypeAlias = "SSAValue | list[Value]"
"""The buffer of a tensor, or those of a tuple's fields."""


class NotAKernel(Exception):
    """The graph function has operations other than calls of PrimFuncs on dense buffers."""


@dataclass(frozen=True)
class FusedKernel:
    """A PrimFunc that implements a graph function, and the arguments of its calls.

    In this order: the function's tensors, of tuples the fields that it uses, and `constants`.
    `unused` are positions of other fields among these tensors, as they would be. `indices` are
    the symbols that callers pass as index values, before the outputs. For each result, `inplace`
    has the position of the tensor that the function changes to it, or -1 for a new output.
    """

    func: tir.PrimFuncOp
    constants: list[relax.ConstantOp]
    indices: list[str]
    unused: frozenset[int]
    inplace: list[int]

    @property
    def changed(self) -> list[int]:
        """The positions of the tensors that calls change."""
        return [position for position in self.inplace if position != -1]


def fused_kernel(func: relax.FuncOp, functions: Mapping[str, Operation]) -> FusedKernel:
    """The kernel for a graph function; raises NotAKernel if there is none."""
    return _Builder(func, functions).build()


@dataclass
class _Builder:
    graph: relax.FuncOp
    functions: Mapping[str, Operation]
    block: Block = field(default_factory=Block)
    names: list[str] = field(default_factory=lambda: [])
    values: dict[SSAValue, Value] = field(default_factory=lambda: {})
    constants: list[relax.ConstantOp] = field(default_factory=lambda: [])
    block_names: set[str] = field(default_factory=lambda: set())
    fields: list[BlockArgument] = field(default_factory=lambda: [])
    changed: set[SSAValue] = field(default_factory=lambda: set())
    """The buffers that calls in place write to."""
    is_scheduled: bool = False

    def build(self) -> FusedKernel:
        for param, name in zip(self.graph.params, self.graph.names, strict=True):
            if not isinstance(param.type, relax.ShapeType):
                self.values[param] = self._parameter(param.type, name)
        ops = self._operations()
        for op in ops:
            if isinstance(op, relax.ConstantOp):
                self.constants.append(op)
                name = op.result.name_hint or "constant"
                self.values[op.result] = self._parameter(op.result.type, name)
        for op in ops:
            self._convert(op)
        unused = self._remove_unused_fields()
        inputs = len(self.names)
        inplace = self._return(self.values[self.graph.returned])
        self._allocate_first()
        indices = self._undetermined()
        for position, name in enumerate(self.names):
            if name in indices:
                self.names[position] = unique_name(name, [*self.names, *indices])
        for position, symbol in enumerate(indices, inputs):
            self.block.insert_arg(IndexType(), position).name_hint = symbol
        attrs = {PRIVATE: UnitAttr(), "tir.noalias": IntegerAttr(1, i1)}
        if self.is_scheduled:
            attrs[IS_SCHEDULED] = IntegerAttr(1, i1)
        func = tir.PrimFuncOp(
            self.graph.sym_name.data,
            [*self.names[:inputs], *indices, *self.names[inputs:]],
            Region(self.block),
            DictionaryAttr(attrs),
        )
        func.location = self.graph.location
        return FusedKernel(func, self.constants, indices, unused, inplace)

    def _operations(self) -> list[Operation]:
        """The function's operations in order, with dataflow blocks flattened."""
        found: list[Operation] = []
        for op in self.graph.body.block.ops:
            found += [*op.body.block.ops, op] if isinstance(op, relax.DataflowOp) else [op]
        return found

    def _parameter(self, type_: Attribute, name: str) -> Value:
        if isinstance(type_, relax.TensorType):
            return self._argument(_buffer_type(type_), name)
        if isinstance(type_, TupleType):
            first = len(self.block.args)
            fields = [self._parameter(t, f"{name}_{i}") for i, t in enumerate(type_.types.data)]
            self.fields += [a for a in self.block.args[first:] if a not in self.fields]
            return fields
        raise NotAKernel

    def _remove_unused_fields(self) -> frozenset[int]:
        """Remove parameters for fields of tuples that nothing reads; returns their positions."""
        unused = [a for a in self.fields if a.first_use is None]
        positions = frozenset(a.index for a in unused)
        self.names = [n for i, n in enumerate(self.names) if i not in positions]
        for argument in unused:
            self.block.erase_arg(argument)
        return positions

    def _argument(self, type_: tir.BufferType, name: str) -> BlockArgument:
        argument = self.block.insert_arg(type_, len(self.block.args))
        self.names.append(unique_name(name, self.names))
        argument.name_hint = self.names[-1]
        return argument

    def _convert(self, op: Operation) -> None:
        match op:
            case relax.CallTIROp() | relax.CallTIRInplaceOp():
                self._call(op)
            case relax.TupleOp():
                self.values[op.result] = [self.values[f] for f in op.fields]
            case relax.TupleGetItemOp():
                fields = self.values[op.tuple_value]
                assert isinstance(fields, list)
                self.values[op.result] = fields[op.index.data]
            case relax.DataflowOp():
                for result, value in zip(op.outputs, op.output.values, strict=True):
                    self.values[result] = self.values[value]
            case relax.ConstantOp() | relax.OutputOp() | relax.ReturnOp():
                pass
            case _:
                raise NotAKernel

    def _call(self, op: relax.CallTIROp | relax.CallTIRInplaceOp) -> None:
        callee = self.functions.get(op.callee_name)
        if not isinstance(callee, tir.PrimFuncOp) or not _is_fusable(callee):
            raise NotAKernel
        unified = unify_kernel_call(op, callee)
        if unified.undecided:
            raise NotAKernel
        self.is_scheduled |= callee.attr(IS_SCHEDULED) is not None
        types, hint = tensors_in(op.result.type), op.result.name_hint
        places = op.positions if isinstance(op, relax.CallTIRInplaceOp) else (-1,) * len(types)
        outputs = [p for p in callee.params if isinstance(p.type, tir.BufferType)][len(op.args) :]
        hints = [hint if len(types) == 1 and hint else p.name_hint or "T" for p in outputs]
        made = [t for t, place in zip(types, places, strict=True) if place == -1]
        new = [self._scratch(t, h) for t, h in zip(made, hints, strict=True)]
        given, following = [self._buffer(a) for a in op.args], iter(new)
        results = [next(following) if place == -1 else given[place] for place in places]
        self.changed.update(given[place] for place in places if place != -1)
        whole = isinstance(op.result.type, relax.TensorType)
        self.values[op.result] = results[0] if whole else list[Value](results)
        self._append(callee.clone(), [*given, *new], unified.symbols)

    def _scratch(self, type_: relax.TensorType, hint: str) -> SSAValue:
        alloc = tir.AllocBufferOp(_buffer_type(type_))
        alloc.result.name_hint = hint
        self.block.add_op(alloc)
        return alloc.result

    def _buffer(self, value: SSAValue) -> SSAValue:
        buffer = self.values[value]
        assert isinstance(buffer, SSAValue)
        return buffer

    def _append(
        self, callee: tir.PrimFuncOp, buffers: Sequence[SSAValue], symbols: Mapping[str, IntExpr]
    ) -> None:
        """Append the body of a callee, with the call's values for its symbols."""
        substitute_symbols(callee, symbols)
        remaining = iter(buffers)
        for name, param in zip(callee.names, callee.params, strict=True):
            if isinstance(param.type, tir.BufferType):
                buffer = next(remaining)
                if param.type != buffer.type:
                    raise NotAKernel
                param.replace_all_uses_with(buffer)
            elif param.first_use is not None:
                value = tir.ApplyOp(symbols[name])
                self.block.add_op(value)
                param.replace_all_uses_with(value.result)
        parent = statements(callee)
        around = [op for op in callee.body.block.ops if parent.parent_op() is not op]
        for op in [*around, *parent.ops] if parent is not callee.body.block else list(parent.ops):
            op.detach()
            self.block.add_op(op)
            self._rename_blocks(op)
        callee.erase()

    def _rename_blocks(self, op: Operation) -> None:
        for block in operations_in(op):
            if isinstance(block, tir.BlockOp):
                name = unique_name(block.block_name.data, self.block_names)
                block.block_name = StringAttr(name)
                self.block_names.add(name)

    def _return(self, value: Value) -> list[int]:
        """Replace the scratch buffers that are returned by parameters; returns `inplace`.

        A parameter is returned only if it is changed, and changed only if it is returned.
        """
        results = value if isinstance(value, list) else [value]
        inplace: list[int] = []
        for position, result in enumerate(results):
            if isinstance(result, list) or result in results[:position]:
                raise NotAKernel
            alloc = result.owner
            if isinstance(result, BlockArgument) and result in self.changed:
                inplace.append(result.index)
                continue
            if not isinstance(alloc, tir.AllocBufferOp):
                raise NotAKernel
            inplace.append(-1)
            argument = self._argument(alloc.result.type, alloc.result.name_hint or "out")
            alloc.result.replace_all_uses_with(argument)
            alloc.detach()
            alloc.erase()
        if any(isinstance(b, BlockArgument) and b not in results for b in self.changed):
            raise NotAKernel
        return inplace

    def _allocate_first(self) -> None:
        """Move the allocations of scratch buffers to the beginning, in their order."""
        allocs = [op for op in self.block.ops if isinstance(op, tir.AllocBufferOp)]
        for op in allocs:
            op.detach()
        if self.block.first_op is not None:
            self.block.insert_ops_before(allocs, self.block.first_op)

    def _undetermined(self) -> list[str]:
        """Symbols of the body that are not a dim of any parameter."""
        used: dict[str, None] = {}
        for op in self.block.walk():
            used |= dict.fromkeys(sorted(symbols_of(op)))
        determined: set[str] = set()
        for argument in self.block.args:
            assert isinstance(argument.type, tir.BufferType)
            used |= dict.fromkeys(sorted(argument.type.symbols()))
            for dim in argument.type.dims:
                determined |= {dim.as_atom.name} if isinstance(dim.as_atom, Sym) else set()
        return [s for s in used if s not in determined]


def _buffer_type(type_: relax.TensorType) -> tir.BufferType:
    if type_.dims is None or type_.dtype is None:
        raise NotAKernel
    return tir.BufferType.of(type_.dims, type_.element_type)


def _is_fusable(callee: tir.PrimFuncOp) -> bool:
    """Whether the parameters are buffers and indices, and outputs may not alias inputs."""
    if len(callee.params) > 1 and may_share_memory(callee.params[0], callee.params[-1]):
        return False
    return all(isinstance(p.type, tir.BufferType | IndexType) for p in callee.params)
