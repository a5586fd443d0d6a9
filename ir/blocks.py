"""Bodies of graph functions as TVM lists them: blocks of bindings of variables to values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from xdsl.ir import Block, Operation

from ..dialects import relax
from ..dialects.attributes import from_attribute
from .expr import Expr, Var, expression, owner_of, view
from .struct_info import AnyStructInfo, to_type
from .struct_info import struct_info as info_of


class Binding:
    """One line of a block: a variable and what it is bound to."""

    def __init__(self, var: Var, value: Expr):
        self.var = var
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Binding) and (self.var, self.value) == (other.var, other.value)

    def __hash__(self) -> int:
        return hash(self.var)

    def __str__(self) -> str:
        owner = self.value.borrowed.owner
        is_statement = isinstance(owner, Operation) and bool(owner.regions)
        return str(self.value) if is_statement else f"{self.var} = {self.value}"

    def __repr__(self) -> str:
        return str(self)


class VarBinding(Binding):
    """``var = value``."""


class MatchCast(Binding):
    """``var = R.match_cast(value, struct_info)``."""

    def __init__(self, var: Var, value: Expr, struct_info: Any):
        super().__init__(var, value)
        self.struct_info = info_of(to_type(struct_info))

    def __str__(self) -> str:
        return f"{self.var} = R.match_cast({self.value}, {self.struct_info})"


def binding(op: Operation) -> Binding:
    """An operation as a binding."""
    var = view(op.results[0])
    if isinstance(op, relax.MatchCastOp):
        return MatchCast(var, view(op.value), op.result.type)
    return VarBinding(var, expression(op))


def is_binding(op: Operation) -> bool:
    """Whether an operation is a line of its own: constants and ends of blocks are not."""
    if isinstance(op, relax.TupleOp):
        return not is_result_only(op)
    return not isinstance(
        op, relax.ConstantOp | relax.OutputOp | relax.func.ReturnOp | relax.YieldOp
    )


def is_result_only(op: relax.TupleOp) -> bool:
    """Whether a tuple is written where the function or branch ends, and nowhere else."""
    last = None if op.parent is None else op.parent.last_op
    users = [use.operation for use in op.result.uses]
    return op.result.name_hint is None and users == [last] and not isinstance(last, relax.OutputOp)


class BindingBlock:
    """Bindings in order."""

    def __init__(self, operations: list[Operation]):
        self.operations = operations

    @property
    def bindings(self) -> list[Binding]:
        """The bindings."""
        return [binding(op) for op in self.operations]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.operations == getattr(other, "operations", None)

    def __hash__(self) -> int:
        return hash(tuple(self.operations))

    def __str__(self) -> str:
        from .fragments import block_text

        return "\n".join(block_text(self.operations))

    def __repr__(self) -> str:
        return str(self)


class DataflowBlock(BindingBlock):
    """Bindings without effects; only some of their variables are seen outside."""

    def __init__(self, op: relax.DataflowOp):
        super().__init__([o for o in op.body.block.ops if is_binding(o)])
        self.op = op

    def __str__(self) -> str:
        from .fragments import block_text

        return "\n".join(block_text([self.op]))


class SeqExpr:
    """The body of a function or of a branch."""

    def __init__(self, block: Block):
        self.block = block

    @property
    def blocks(self) -> list[BindingBlock]:
        """The blocks, in order."""
        return list(self._blocks())

    def _blocks(self) -> Iterator[BindingBlock]:
        operations = [op for op in self.block.ops if is_binding(op)]
        for is_dataflow, group in groupby(operations, lambda o: isinstance(o, relax.DataflowOp)):
            if is_dataflow:
                yield from (DataflowBlock(op) for op in group if isinstance(op, relax.DataflowOp))
            else:
                yield BindingBlock(list(group))

    @property
    def body(self) -> Any:
        """The value at the end."""
        last = self.block.last_op
        assert isinstance(last, relax.func.ReturnOp | relax.YieldOp)
        owner = last.value.owner
        if isinstance(owner, relax.TupleOp) and is_result_only(owner):
            return expression(owner)
        return view(last.value)

    @property
    def struct_info(self) -> AnyStructInfo:
        """What is known of the value."""
        return self.body.struct_info

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SeqExpr) and self.block is other.block

    def __hash__(self) -> int:
        return hash(self.block)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.blocks), str(self.body)])

    def __repr__(self) -> str:
        return str(self)


class If(Expr, shows=relax.IfOp):
    """The value of one of two branches."""

    @property
    def cond(self) -> Expr:
        """The condition."""
        return view(owner_of(self, relax.IfOp).condition)

    @property
    def true_branch(self) -> SeqExpr:
        """The branch where the condition holds."""
        return SeqExpr(owner_of(self, relax.IfOp).branches[0])

    @property
    def false_branch(self) -> SeqExpr:
        """The other branch."""
        return SeqExpr(owner_of(self, relax.IfOp).branches[1])


class LocalFunction(Expr, shows=relax.LocalFuncOp):
    """A function inside of another one, as a value."""

    @property
    def params(self) -> list[Expr]:
        """The parameters."""
        return [view(p) for p in owner_of(self, relax.LocalFuncOp).params]

    @property
    def attrs(self) -> Mapping[str, Any] | None:
        """The attributes as Python values, `None` where it has none."""
        attrs = owner_of(self, relax.LocalFuncOp).attrs
        return None if attrs is None else {k: from_attribute(v) for k, v in attrs.data.items()}

    @property
    def body(self) -> SeqExpr:
        """The blocks of bindings and the result."""
        return SeqExpr(owner_of(self, relax.LocalFuncOp).body.block)
