"""Functions and branches from their parts: bindings and values that belong to no function yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ..dialects import relax
from ..dialects.parameters import value_name
from ..lowering.graph.refresh_types import refresh_types
from ..lowering.graph.values import canonical
from .bindings import Binding, MatchCast
from .expr import DataflowVar, Expr, Var
from .operators import to_value


class Lines(Protocol):
    """A block of bindings."""

    @property
    def is_dataflow(self) -> bool:
        """Whether its bindings have no effects, and only some are seen outside."""
        ...

    @property
    def bindings(self) -> list[Binding]:
        """The bindings."""
        ...


class Assembler:
    """Copies bindings into a block; a variable stands for what it is bound to.

    A variable that is bound nowhere is left, so that the function does not verify.
    """

    def __init__(self, block: Block):
        self.block = block
        self.known: dict[SSAValue, SSAValue] = {}

    def body(self, body: Any) -> SSAValue:
        """Copy what a body has, or a value and all it is made of; returns the value."""
        for lines in getattr(body, "blocks", ()):
            if lines.is_dataflow:
                self._dataflow(lines)
            else:
                self._bindings(lines)
        return self._value(to_value(getattr(body, "body", body)))

    def _bindings(self, lines: Lines) -> None:
        for binding in lines.bindings:
            self._bind(binding)

    def _dataflow(self, lines: Lines) -> None:
        outer, self.block = self.block, Block()
        self._bindings(lines)
        inner, self.block = self.block, outer
        seen = [b.var.borrowed for b in lines.bindings if not isinstance(b.var, DataflowVar)]
        values = [self.known[v] for v in seen]
        inner.add_op(relax.OutputOp(values))
        op = relax.DataflowOp(Region(inner), [v.type for v in values])
        self.block.add_op(op)
        for variable, value, result in zip(seen, values, op.outputs, strict=True):
            result.name_hint = value.name_hint
            self.known[variable] = result

    def _bind(self, binding: Binding) -> None:
        variable, found = binding.var, self._bound(binding.value, binding.var)
        if isinstance(binding, MatchCast):
            cast = relax.MatchCastOp(found, binding.struct_info.type)
            self.block.add_op(cast)
            found = cast.result
        if isinstance(found.owner, Operation) and found.name_hint is None:
            found.name_hint = value_name(variable.name_hint)
        self.known[variable.borrowed] = found

    def _bound(self, value: Any, variable: Var) -> SSAValue:
        """What a variable is bound to: an expression, a body, or a function."""
        if hasattr(value, "blocks"):
            return self.body(value)
        func = None if isinstance(value, Expr) else getattr(value, "op", None)
        if isinstance(func, relax.FuncOp):
            region = Region()
            func.body.clone_into(region, value_mapper=dict(self.known))
            result, impure = func.result_type, func.impure is not None
            local = relax.LocalFuncOp(variable.name_hint, func.names, result, region, impure)
            self.block.add_op(local)
            return local.result
        if not isinstance(value, Var):
            self.known.pop(canonical(value.borrowed), None)  # what is bound twice is two values
        return self._value(value.borrowed)

    def _value(self, value: SSAValue) -> SSAValue:
        value = canonical(value)
        if value in self.known:
            return self.known[value]
        owner = value.owner
        if isinstance(owner, Block):
            return value
        operands = {canonical(o): self._value(o) for o in owner.operands}
        new = owner.clone(self.known | operands | dict(zip(owner.operands, operands.values())))
        self.block.add_op(new)
        new.results[0].name_hint = None
        self.known[value] = new.results[0]
        return new.results[0]


def assemble_branch(body: Any) -> Region:
    """The region of a branch, which yields the value of a body."""
    block = Block()
    block.add_op(relax.YieldOp(Assembler(block).body(body)))
    return Region(block)


def assemble_function(
    params: Sequence[Var],
    body: Any,
    result_type: Attribute | None,
    impure: bool,
    name: str = "main",
) -> relax.FuncOp:
    """A function on these parameters; without a type it returns what its body says."""
    names = [p.name_hint for p in params]
    block = Block(arg_types=[p.borrowed.type for p in params])
    assembler = Assembler(block)
    for param, arg, text in zip(params, block.args, names, strict=True):
        arg.name_hint = value_name(text)
        assembler.known[param.borrowed] = arg
    value = assembler.body(body)
    block.add_op(relax.func.ReturnOp(value))
    func = relax.FuncOp(name, names, value.type, Region(block), impure)
    refresh_types(func)
    if result_type is not None:
        func.result_type = result_type
    return func
