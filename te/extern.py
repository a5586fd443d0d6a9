"""Tensors that statements compute, for what no expression of an element says, such as sorting."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region

from ..dialects import tir
from ..dialects.dtypes import check_dtype, element_type
from ..dialects.parameters import value_hint
from .arithmetic import convert, dim_expr, index_value
from .emit import Emitter
from .expr import ExprLike, PrimExpr, Value, Var
from .intrinsics import boolean
from .tensor import Compute, IterVar, ShapeLike, Tensor, shape_of


class IRBuilder:
    """Appends statements to the body of a block; TVM's ``tir.ir_builder``.

    An expression is computed where a statement uses it, and each time; `let` computes it once.
    """

    def __init__(self, emitter: Emitter):
        self._emitter = emitter

    def allocate(self, dtype: str, shape: ShapeLike, name: str = "scratch") -> Tensor:
        """Scratch memory of each iteration of the block; TVM's ``ib.allocate``."""
        tensor = Tensor(name, shape_of([dim_expr(d) for d in shape]), check_dtype(dtype))
        type_ = tir.BufferType.of([dim_expr(d) for d in tensor.shape], element_type(dtype))
        alloc = tir.AllocBufferOp(type_, name)
        alloc.result.name_hint = value_hint(name)
        self._emitter.buffers[tensor] = self._emitter.result(alloc)
        return tensor

    def let(self, value: ExprLike) -> PrimExpr:
        """The value of an expression at this point."""
        expr = convert(value)
        return Value(self._emitter.value(expr), expr.dtype)

    def store(self, tensor: Tensor, indices: Sequence[ExprLike], value: ExprLike) -> None:
        """Write one element, converted to the dtype of the tensor."""
        buffer = self._emitter.buffers[tensor]
        self._emitter.store(buffer, [convert(i) for i in indices], convert(value))

    @contextmanager
    def for_range(
        self, begin: ExprLike, end: ExprLike, name: str = "i", kind: str = "serial"
    ) -> Generator[Var]:
        """A loop over ``[begin, end)``, whose bounds are computed before it."""
        emitter, body = self._emitter, Block(arg_types=[IndexType()])
        first, stop = (emitter.index(convert(e)) for e in (begin, end))
        loop = tir.ForOp(first, stop - first, emitter.values.list, Region(body), kind)
        body.args[0].name_hint = value_hint(name)
        emitter.add(loop)
        var = Var(name, "int64")
        emitter.define(var, body.args[0])
        with emitter.inside(body):
            yield var

    @contextmanager
    def if_scope(self, condition: ExprLike) -> Generator[None]:
        """What runs where a condition holds."""
        test, body = self._emitter.value(boolean(condition)), Block()
        with self._emitter.inside(body):
            yield
            self._emitter.add(scf.YieldOp())
        self._emitter.add(scf.IfOp(test, [], Region(body), Region()))

    @contextmanager
    def while_loop(self, condition: ExprLike) -> Generator[None]:
        """What runs again as long as a condition, which is computed each time, holds."""
        before, after = Block(), Block()
        with self._emitter.inside(before):
            self._emitter.add(scf.ConditionOp(self._emitter.value(boolean(condition))))
        with self._emitter.inside(after):
            yield
            self._emitter.add(scf.YieldOp())
        self._emitter.add(scf.WhileOp([], [], Region(before), Region(after)))


@dataclass(eq=False)
class Extern(Compute):
    """The definition of tensors by statements."""

    sources: tuple[Tensor, ...] = ()
    statements: Callable[[IRBuilder], None] | None = None

    def inputs(self) -> list[Tensor]:
        return list(self.sources)

    def emit(self, emitter: Emitter) -> None:
        """Append the statements."""
        assert self.statements is not None
        self.statements(IRBuilder(emitter))


def extern(
    shape: Sequence[ShapeLike],
    inputs: Sequence[Tensor],
    fcompute: Callable[..., None],
    dtype: Sequence[str],
    axes: Sequence[Any] = (),
    name: str = "extern",
) -> tuple[Tensor, ...]:
    """Tensors of these shapes and dtypes that statements write; TVM's ``te.extern``.

    ``fcompute(ib, inputs, outputs, i, j, …)`` appends them to an `IRBuilder`, for each index into
    the extents `axes`, whose iterations must not depend on each other.
    """
    dims = [dim_expr(a) for a in axes]
    variables = tuple(
        IterVar(f"i{n}", 0, index_value(d), "spatial", "int64") for n, d in enumerate(dims)
    )
    definition = Extern(name, variables, (), sources=tuple(inputs))
    definition.outputs = tuple(
        Tensor(f"{name}.v{n}", shape_of([dim_expr(d) for d in s]), check_dtype(t), definition, n)
        for n, (s, t) in enumerate(zip(shape, dtype, strict=True))
    )
    definition.statements = lambda ib: fcompute(ib, inputs, definition.outputs, *variables)
    return definition.outputs
