"""Tensors that statements compute: scans, scattered updates, and code such as sorting."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region

from ..dialects import tir
from ..dialects.dtypes import check_dtype, element_type
from ..dialects.parameters import value_hint
from .arithmetic import const, convert, dim_expr, index_value
from .axes import IterVar, axis_names
from .emit import Emitter
from .expr import ExprLike, ExternCall, Load, PrimExpr, Value, Var
from .intrinsics import boolean
from .tensor import Compute, ShapeLike, Tensor, compute, shape_of


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

    def evaluate(self, call: ExternCall) -> None:
        """Call a C function for its effects."""
        self._emitter.extern_call(call)

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
    input_placeholders: tuple[Any, ...] = ()
    """The buffers that stand for the sources in the function that was given, as in TVM."""
    output_placeholders: tuple[Any, ...] = ()

    def inputs(self) -> list[Tensor]:
        return list(self.sources)

    def emit(self, emitter: Emitter) -> None:
        """Append the statements."""
        assert self.statements is not None
        self.statements(IRBuilder(emitter))


def statements(
    shape: Sequence[ShapeLike],
    inputs: Sequence[Tensor],
    fcompute: Callable[..., None],
    dtype: Sequence[str],
    axes: Sequence[Any] = (),
    name: str = "extern",
) -> tuple[Tensor, ...]:
    """Tensors of these shapes and dtypes that statements write.

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


@dataclass(eq=False)
class KernelCall(Extern):
    """The definition of tensors by the body of a PrimFunc, which may also write its sources."""

    kernel: tir.PrimFuncOp | None = None
    buffers: tuple[Tensor, ...] = ()
    """What the parameters of the kernel are."""

    def emit(self, emitter: Emitter) -> None:
        """Append a copy of the body of the kernel."""
        assert self.kernel is not None
        copy = self.kernel.clone()
        for param, tensor in zip(copy.params, self.buffers, strict=True):
            param.replace_all_uses_with(emitter.buffers[tensor])
        for op in list(copy.body.block.ops):
            op.detach()
            emitter.add(op)


@dataclass(eq=False)
class Scatter(Compute):
    """The definition of a tensor that starts as `base`, then is updated along the axes in order."""

    base: Tensor | None = None
    place: tuple[PrimExpr, ...] = ()
    condition: PrimExpr = field(default_factory=lambda: const(True))

    def expressions(self) -> tuple[PrimExpr, ...]:
        return (*self.start().bodies, *self.place, self.condition, *self.bodies)

    def start(self) -> Compute:
        """The definition of what the tensor starts as."""
        base = self.base
        assert base is not None

        def element(*i: ExprLike) -> Load:
            return base(*i)

        return compute(base.shape, element, name=f"{self.name}_init").op


def scatter(
    base: Tensor,
    shape: ShapeLike,
    fupdate: Callable[..., tuple[Sequence[Any], Callable[[PrimExpr], Any], Any]],
    name: str = "scatter",
) -> Tensor:
    """`base` after one update for each index into `shape`, in row-major order.

    ``fupdate(i, j, …)`` gives the place of an element, a function of that element to its new value,
    and the condition under which it is updated, which must imply that the place is inside.
    """
    dims = [dim_expr(d) for d in shape]
    axes = tuple(
        IterVar(n, 0, index_value(d), "opaque", "int64")
        for n, d in zip(axis_names(fupdate, len(dims)), dims, strict=True)
    )
    place, value, condition = fupdate(*axes)
    definition = Scatter(name, axes, (), base=base)
    output = Tensor(name, base.shape, base.dtype, definition)
    definition.outputs = (output,)
    definition.place = tuple(convert(p) for p in place)
    definition.condition = boolean(condition)
    definition.bodies = (convert(value(Load(output, definition.place, base.dtype))),)
    return output
