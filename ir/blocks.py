"""Bodies of graph functions as TVM lists them: blocks of bindings of variables to values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from textwrap import indent
from typing import Any, ClassVar, cast

from xdsl.ir import Block, Operation, SSAValue

from ..dialects import relax
from ..dialects.relax.type_relations import least_supertype
from .assembly import assemble_branch
from .bindings import Binding as Binding
from .bindings import MatchCast as MatchCast
from .bindings import VarBinding as VarBinding
from .bindings import binding as binding
from .bindings import is_binding as is_binding
from .bindings import is_result_only
from .expr import DataflowVar, Expr, expression, owner_of, view
from .operators import to_value
from .parts import Part, Step, steps_of
from .struct_info import AnyStructInfo


class BindingBlock(Part):
    """Bindings in order: those of operations of a function, or given ones, of no function yet."""

    is_dataflow: ClassVar[bool] = False

    def __init__(self, bindings: Sequence[Binding] | Sequence[Operation]):
        given = [b for b in bindings if isinstance(b, Binding)]
        self.operations = [b for b in bindings if isinstance(b, Operation)]
        self._given = tuple(given)
        if given and self.operations:
            raise TypeError("expected bindings, or operations, got both")

    @property
    def bindings(self) -> list[Binding]:
        """The bindings."""
        return [*self._given, *map(binding, self.operations)]

    @property
    def _parts(self) -> tuple[Any, ...]:
        return (*self._given, *self.operations)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._parts == getattr(other, "_parts", None)

    def __hash__(self) -> int:
        return hash(self._parts)

    def _text(self) -> str:
        from .fragments import block_text

        return "\n".join([*map(str, self._given), *block_text(self.operations)])

    def _steps(self) -> Iterator[Step]:
        return steps_of(self.bindings)


class DataflowBlock(BindingBlock):
    """Bindings without effects; only some of their variables are seen outside."""

    is_dataflow = True

    def __init__(self, bindings: relax.DataflowOp | Sequence[Binding]):
        self.op = bindings if isinstance(bindings, relax.DataflowOp) else None
        if isinstance(bindings, relax.DataflowOp):
            super().__init__([o for o in bindings.body.block.ops if is_binding(o)])
        else:
            super().__init__(bindings)

    @property
    def outputs(self) -> list[SSAValue]:
        """The values that are seen outside of the block."""
        if self.op is not None:
            return list(self.op.output.values)
        return [b.var.borrowed for b in self.bindings if not isinstance(b.var, DataflowVar)]

    def _text(self) -> str:
        from .fragments import block_text, value_text

        if self.op is not None:
            return "\n".join(block_text([self.op]))
        outputs = f"R.output({', '.join(map(value_text, self.outputs))})"
        inner = "\n".join([super()._text(), outputs])
        return "\n".join(["with R.dataflow():", indent(inner, "    ")])


class SeqExpr(Part):
    """The body of a function or of a branch: its block, or blocks and a value of no function yet.

    ``SeqExpr([BindingBlock([VarBinding(y, relax.op.nn.relu(x))])], y)``
    """

    def __init__(self, blocks: Block | Sequence[BindingBlock], body: Any = None):
        self.block = blocks if isinstance(blocks, Block) else None
        self._given = () if isinstance(blocks, Block) else tuple(blocks)
        self._value = body if body is None or isinstance(body, Expr) else view(to_value(body))
        if self.block is None and body is None:
            raise TypeError("expected a value at the end of the blocks, got None")

    @property
    def blocks(self) -> list[BindingBlock]:
        """The blocks, in order."""
        return list(self._given if self.block is None else self._blocks(self.block))

    @staticmethod
    def _blocks(block: Block) -> Iterator[BindingBlock]:
        operations = [op for op in block.ops if is_binding(op)]
        for is_dataflow, group in groupby(operations, lambda o: isinstance(o, relax.DataflowOp)):
            if is_dataflow:
                yield from (DataflowBlock(op) for op in group if isinstance(op, relax.DataflowOp))
            else:
                yield BindingBlock(list(group))

    @property
    def body(self) -> Any:
        """The value at the end."""
        if self.block is None:
            return self._value
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

    ty = struct_info

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SeqExpr) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    @property
    def _parts(self) -> tuple[Any, ...]:
        return (id(self.block), self._given, self._value)

    def _text(self) -> str:
        return "\n".join([*map(str, self.blocks), str(self.body)])

    def _steps(self) -> Iterator[Step]:
        return steps_of([*self.blocks, self.body])


class If(Expr, shows=relax.IfOp):
    """The value of one of two branches, which are bodies or values."""

    def __init__(self, cond: Expr, true_branch: Any, false_branch: Any):
        first, second = (assemble_branch(b) for b in (true_branch, false_branch))
        types = [cast(relax.YieldOp, r.block.last_op).value.type for r in (first, second)]
        op = relax.IfOp(to_value(cond), first, second, least_supertype(*types))
        super().__init__(op.result)

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
