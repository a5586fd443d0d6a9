"""Scalar expressions that people write in scripts and lambdas: trees with dtypes, emitted later.

They follow TVM's ``PrimExpr``; a node holds its parts and its dtype, nothing is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..dialects.python_text import Text
from .nodes import Binary as Binary
from .nodes import Call as Call
from .nodes import Cast as Cast
from .nodes import ExprLike as ExprLike
from .nodes import Imm as Imm
from .nodes import Index as Index
from .nodes import PrimExpr as PrimExpr

if TYPE_CHECKING:
    from xdsl.ir import SSAValue


class Var(PrimExpr):
    """A variable, identified by the object: a loop variable, an axis or a let binding."""

    def __init__(self, name: str = "v", dtype: str = "int32"):
        self.name = name
        self.dtype = dtype

    @property
    def text(self) -> Text:
        return Text(self.name)

    def declared(self) -> Iterator[tuple[str, str]]:
        yield self.name, f"T.{self.dtype}()"


class ValueVar(Var):
    """A variable of a kernel, which stands for an SSA value: others of that value are the same."""

    def __init__(self, ssa: SSAValue, name: str, dtype: str):
        super().__init__(name, dtype)
        self.ssa = ssa

    def __hash__(self) -> int:
        return hash(self.ssa)

    def same_as(self, other: object) -> bool:
        return isinstance(other, ValueVar) and self.ssa is other.ssa


class Let(PrimExpr):
    """A value that is computed once, and an expression that uses it by a variable."""

    def __init__(self, var: Var, value: PrimExpr, body: PrimExpr):
        self.var = var
        self.value = value
        self.body = body
        self.dtype = body.dtype

    def children(self) -> list[PrimExpr]:
        return [self.value, self.body]

    @property
    def text(self) -> Text:
        return Text(f"T.Let({self.body}, where={{{self.var}: {self.value}}})")

    def declared(self) -> Iterator[tuple[str, str]]:
        yield from self.var.declared()
        yield from super().declared()


class ExternCall(PrimExpr):
    """A call of a C function; `args` are expressions and buffers, which are passed as pointers."""

    def __init__(self, callee: str, args: tuple[Any, ...], dtype: str):
        self.callee = callee
        self.args = args
        self.dtype = dtype

    def children(self) -> list[PrimExpr]:
        return [a for a in self.args if isinstance(a, PrimExpr)]

    def has_calls(self) -> bool:
        return True

    @property
    def text(self) -> Text:
        return Text(f'T.call_extern("{self.dtype}", "{self.callee}"{self._arguments(", ")})')

    def _arguments(self, before: str = "") -> str:
        """The arguments in print, each after a comma; `before` is there if there are any."""
        return before + ", ".join(map(_argument_text, self.args)) if self.args else ""


class KernelCall(ExternCall):
    """A call of another kernel of the module."""

    @property
    def text(self) -> Text:
        return Text(f"{self.callee}({self._arguments()})")


class IntrinCall(ExternCall):
    """A call of an intrinsic of TensorIR; among `args` are strings too.

    `pointer` is the type of a result of dtype "handle".
    """

    def __init__(self, callee: str, args: tuple[Any, ...], dtype: str, pointer: Any = None):
        super().__init__(callee, args, dtype)
        self.pointer = pointer

    @property
    def text(self) -> Text:
        return Text(f"T.{self.callee}({self._arguments()})")


def _argument_text(arg: Any) -> str:
    """An argument of a call in print: an expression, a string, or the memory of a buffer."""
    match arg:
        case PrimExpr():
            return arg.text.text
        case str():
            return f'"{arg}"'
        case Address():
            return f"T.address_of({arg.source.name}[{', '.join(map(str, arg.indices)) or '()'}])"
        case _:
            return f"{arg.name}.data"


class Address:
    """The address of an element of a buffer, an argument of calls; TVM's ``T.address_of``."""

    def __init__(self, source: Any, indices: tuple[PrimExpr, ...]):
        self.source = source
        self.indices = indices


class Load(PrimExpr):
    """One element of a buffer or of a tensor that is being defined; `source` says which."""

    def __init__(self, source: Any, indices: tuple[PrimExpr, ...], dtype: str):
        self.source = source
        self.indices = indices
        self.dtype = dtype

    @property
    def buffer(self) -> Any:
        """What is read."""
        return self.source

    def children(self) -> list[PrimExpr]:
        return list(self.indices)

    def reads_memory(self) -> bool:
        return True

    @property
    def text(self) -> Text:
        return Text(f"{self.source.name}[{', '.join(map(str, self.indices)) or '()'}]")

    def declared(self) -> Iterator[tuple[str, str]]:
        if hasattr(self.source, "declared"):
            yield from self.source.declared()
        yield from super().declared()


class Value(PrimExpr):
    """A value that has been emitted already."""

    def __init__(self, ssa: SSAValue, dtype: str):
        self.ssa = ssa
        self.dtype = dtype


class Reduce(PrimExpr):
    """A reduction over axes: `combine` folds `source` into what starts at `identity`."""

    def __init__(
        self,
        combine: Any,
        source: tuple[PrimExpr, ...],
        axes: Sequence[Any],
        identity: tuple[PrimExpr, ...],
        index: int = 0,
        condition: PrimExpr | None = None,
    ):
        self.combine = combine
        self.source = source
        self.axes = tuple(axes)
        self.identity = identity
        self.index = index
        self.condition = condition
        self.dtype = source[index].dtype

    def children(self) -> list[PrimExpr]:
        return [*self.source, *(() if self.condition is None else (self.condition,))]
