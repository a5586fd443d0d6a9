"""Statements of kernels as TVM shows them, views of their operations: loops and other nests.

`PrimFunc.body` is the outermost one. What a view does not have is an attribute of its operation:
``sch.get(block).block_name``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from functools import cached_property
from typing import Any, ClassVar, cast

from xdsl.dialects import scf
from xdsl.ir import Attribute, Block, Operation

from ..dialects import tir
from ..dialects.attributes import from_attribute
from ..dialects.nesting import enclosing
from ..dialects.tir.scalar_ops import is_expression
from ..display.show import show_code
from ..script.printer.calls import is_address
from ..te.arithmetic import PrimExpr
from ..te.axes import IterVar
from .scalars import Scalars

NAMED: type[Operation] = tir.LoadOp
"""The entry of `Statement.views` for operations whose result has a name."""
NOTHING: type[Operation] = tir.CallOp
"""The entry of `Statement.views` for blocks without statements."""


class ForKind(IntEnum):
    """How a loop runs; TVM's ``tir.ForKind``."""

    SERIAL, PARALLEL, VECTORIZED, UNROLLED, THREAD_BINDING = range(5)


class StatementClass(type):
    """A class of statements: of an operation a view, of anything else a statement of its own."""

    def __call__(cls, *args: Any, **named: Any) -> Any:
        if args and isinstance(args[0], Operation):
            return super().__call__(*args, **named)
        kind = cast("type[Statement]", cls)
        if kind not in kind.makers:
            raise TypeError(f"expected a statement that is made of parts, got {cls.__name__}")
        return kind.makers[kind](*args, **named)


class Statement(metaclass=StatementClass):
    """A view of an operation, equal to other views of it.

    Those of one `PrimFunc.body` share the names of variables, of which no two are the same. What is
    made of parts, ``tir.For(i, 0, 8, tir.ForKind.SERIAL, body)``, belongs to no kernel until it is
    in the body of a `PrimFunc`: see `made_statements`.
    """

    views: ClassVar[dict[type[Operation], type[Statement]]] = {}
    makers: ClassVar[dict[type[Statement], Callable[..., Statement]]] = {}
    """What makes statements of parts, of each class of which there are such."""
    shown: ClassVar[type[Statement]]
    """The class that users know, of which this one may be an implementation."""

    def __init_subclass__(cls, shows: Sequence[type[Operation]] = ()):
        Statement.views |= dict.fromkeys(shows, cls)
        cls.shown = cls.__dict__.get("shown", cls)

    def __init__(self, op: Operation, scalars: Scalars | None = None):
        self.op: Any = op
        self._scalars = scalars

    @property
    def scalars(self) -> Scalars:
        """The expressions of the kernel: of now for a view that a schedule gave.

        Raises ValueError for an operation that was erased.
        """
        return Scalars(_kernel_of(self.op)) if self._scalars is None else self._scalars

    def same_as(self, other: object) -> bool:
        """Whether another one is a view of the same operation, or that operation."""
        if isinstance(other, Statement):
            return self.op is other.op and type(self) is type(other)
        return self.op is other

    def __eq__(self, other: object) -> bool:
        return self.same_as(other)

    def __hash__(self) -> int:
        return hash(self.op)

    def __getattr__(self, name: str) -> Any:
        if name == "op" or name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.op, name)

    def script(self) -> str:
        """The statement as TVMScript, with the names that it has in its kernel."""
        return self.scalars.printer.text(self._operations())

    def outside(self) -> dict[str, Attribute]:
        """The names and types of the values in the statement that come from outside of it."""
        return self.scalars.printer.outside(self._operations())

    def show(self, style: str | None = None, black_format: bool | None = None) -> None:
        """Show the statement as TVMScript, as `IRModule.show`."""
        show_code(self.script(), style, black_format)

    def _operations(self) -> list[Operation]:
        return [self.op]

    def children(self) -> Iterator[Any]:
        """The statements and expressions in it, in order."""
        return iter(())

    def __str__(self) -> str:
        return self.script()

    def __repr__(self) -> str:
        return self.script()


def _kernel_of(op: Operation) -> tir.PrimFuncOp:
    found = op if isinstance(op, tir.PrimFuncOp) else enclosing(op, tir.PrimFuncOp)
    if found is None:
        raise ValueError(f"expected a statement of the program, got '{op.name}', which was erased")
    return found


def body_of(block: Block, scalars: Scalars, without: tuple[type[Operation], ...] = ()) -> Statement:
    """What a block does, as one statement; `without` operations of these classes."""
    ops = [op for op in scalars.lists.of(block) if not isinstance(op, without)]
    ops = [op for op in ops if not (isinstance(op, tir.MatchBufferOp) and is_address(op.result))]
    if len(ops) == 1:
        return statement(ops[0], scalars)
    owner = block.parent_op()
    assert owner is not None
    return SeqStmt(owner, ops, scalars) if ops else Statement.views[NOTHING](owner, scalars)


def statement(op: Operation, scalars: Scalars) -> Statement:
    """The view of an operation that is a statement; raises ValueError for any other one."""
    is_call = isinstance(op, tir.OpaqueCallOp)
    if is_expression(op) or (is_call and scalars.lists.is_inlined(op)):
        return Statement.views[NAMED](op, scalars)
    if type(op) not in Statement.views:
        raise ValueError(f"expected a statement of TensorIR, got '{op.name}'")
    return Statement.views[type(op)](op, scalars)


def annotations_of(op: Any) -> dict[str, Any]:
    """The annotations of a loop or block as Python values."""
    given = op.annotations
    return {} if given is None else {k: from_attribute(v) for k, v in given.data.items()}


class SeqStmt(Statement):
    """Statements one after the other; TVM's ``tir.SeqStmt``."""

    def __init__(self, owner: Operation, ops: Sequence[Operation], scalars: Scalars):
        super().__init__(owner, scalars)
        self._ops = list(ops)

    @cached_property
    def seq(self) -> list[Statement]:
        """The statements."""
        return [statement(op, self.scalars) for op in self._ops]

    def same_as(self, other: object) -> bool:
        return isinstance(other, SeqStmt) and self._ops == other._ops

    __hash__ = Statement.__hash__

    def __len__(self) -> int:
        return len(self.seq)

    def __getitem__(self, index: int) -> Statement:
        return self.seq[index]

    def __iter__(self) -> Iterator[Statement]:
        return iter(self.seq)

    def _operations(self) -> list[Operation]:
        return self._ops

    def children(self) -> Iterator[Any]:
        return iter(self.seq)


class For(Statement, shows=[tir.ForOp]):
    """A loop; TVM's ``tir.For``."""

    @property
    def loop_var(self) -> PrimExpr:
        """The variable of the loop."""
        return self.scalars.variable(self.op.loop_var)

    @property
    def min(self) -> PrimExpr:
        """The first value of the variable."""
        return self.scalars.index(self.op.min.data, self.op.operands_)

    @property
    def extent(self) -> PrimExpr:
        """The number of iterations."""
        return self.scalars.index(self.op.extent.data, self.op.operands_)

    @property
    def kind(self) -> ForKind:
        """How the loop runs."""
        return ForKind[self.op.kind.data.upper()]

    @property
    def step(self) -> PrimExpr | None:
        """What the variable grows by in each iteration; `None` is 1, as in all kernels."""
        return None

    @property
    def thread_binding(self) -> IterVar | None:
        """The thread that the loop is bound to, if it is: its `thread_tag` is "threadIdx.x"."""
        tag = self.op.thread_tag
        if tag is None:
            return None
        name = self.scalars.name(self.op.loop_var)
        return IterVar(name, self.min, self.extent, "thread", "int64", tag.data)

    @property
    def annotations(self) -> dict[str, Any]:
        """The annotations as Python values."""
        return annotations_of(self.op)

    @property
    def body(self) -> Statement:
        """What is done in each iteration."""
        return body_of(self.op.body.block, self.scalars)

    def children(self) -> Iterator[Any]:
        yield from (self.min, self.extent, self.body)


class IfThenElse(Statement, shows=[scf.IfOp]):
    """A choice of statements; TVM's ``tir.IfThenElse``."""

    @property
    def condition(self) -> PrimExpr:
        """The condition."""
        return self.scalars.value(self.op.cond)

    @property
    def then_case(self) -> Statement:
        """What is done where it holds."""
        return body_of(self.op.true_region.block, self.scalars)

    @property
    def else_case(self) -> Statement | None:
        """What is done elsewhere."""
        region = self.op.false_region
        if not region.blocks or not self.scalars.lists.of(region.block):
            return None
        return body_of(region.block, self.scalars)

    def children(self) -> Iterator[Any]:
        yield from (self.condition, self.then_case)
        yield from () if self.else_case is None else (self.else_case,)


class While(Statement, shows=[scf.WhileOp]):
    """A loop with a condition; TVM's ``tir.While``."""

    @property
    def condition(self) -> PrimExpr:
        """The condition."""
        return self.scalars.value(self.op.before_region.block.last_op.operands[0])

    @property
    def body(self) -> Statement:
        """What is done while it holds."""
        return body_of(self.op.after_region.block, self.scalars)

    def children(self) -> Iterator[Any]:
        yield from (self.condition, self.body)


class AttrStmt(Statement, shows=[tir.AttrOp]):
    """An attribute of statements; TVM's ``tir.AttrStmt``."""

    @property
    def node(self) -> Any:
        """What has the attribute: memory, or anything else as the script says it."""
        named = self.op.node
        return self.scalars.argument(self.op.args[0]) if named is None else named.data

    @property
    def attr_key(self) -> str:
        """The name of the attribute."""
        return self.op.key.data

    @property
    def value(self) -> Any:
        """The value."""
        return self.scalars.argument(self.op.args[-1])

    @property
    def body(self) -> Statement:
        """The statements."""
        return body_of(self.op.body.block, self.scalars)

    def children(self) -> Iterator[Any]:
        yield from (self.value, self.body)
