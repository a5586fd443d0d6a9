"""Complex tensors of an imported graph, whose operators are of real numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ...dialects import relax
from ...dialects.dtypes import element_type
from ...dialects.int_expr import IntExpr
from ..emitter import Value, dims_of, dtype_of
from .context import Context
from .dtypes import dtype_name
from .formulas import Formula

PARTS = IntExpr.of(2)
"""The last dim of a complex tensor among inputs, results and weights: its two parts."""


class Complex:
    """A complex tensor: its real and imaginary part, or one tensor whose last dim has both.

    Each form is made of the other when a converter needs it. A tensor of real numbers has no
    imaginary part until then.
    """

    def __init__(
        self,
        ctx: Context,
        real: Value | None = None,
        imag: Value | None = None,
        pairs: Value | None = None,
    ):
        self.ctx = ctx
        self._real = real
        self._imag = imag
        self._pairs = pairs
        self.is_real = imag is None and pairs is None
        """Whether all imaginary parts are known to be 0."""

    @property
    def real(self) -> Value:
        """The real part."""
        if self._real is None:
            self._real = self._part(0)
        return self._real

    @property
    def imag(self) -> Value:
        """The imaginary part."""
        if self._imag is None:
            self._imag = zeros(self.ctx, self.real) if self._pairs is None else self._part(1)
        return self._imag

    @property
    def pairs(self) -> Value:
        """The tensor whose last dim has the real and the imaginary part."""
        if self._pairs is None:
            self._pairs = self.ctx.op("stack", self.real, self.imag, axis=-1)
        return self._pairs

    @property
    def formulas(self) -> tuple[Formula, Formula]:
        """Both parts, for formulas."""
        return Formula(self.ctx, self.real), Formula(self.ctx, self.imag)

    @property
    def dtype(self) -> str:
        """The dtype of the parts."""
        return dtype_of(self.real if self._pairs is None else self._pairs)

    @property
    def dims(self) -> list[IntExpr]:
        """The dims without that of the parts."""
        return dims_of(self.real) if self._pairs is None else dims_of(self._pairs)[:-1]

    def _part(self, index: int) -> Value:
        assert self._pairs is not None
        rank = len(dims_of(self._pairs))
        chosen = self.ctx.op(
            "strided_slice", self._pairs, axes=[rank - 1], begin=[index], end=[index + 1],
            assume_inbound=True,
        )  # fmt: skip
        return self.ctx.op("squeeze", chosen, axis=[rank - 1])

    def mapped(self, function: Callable[[Value], Value]) -> Complex:
        """A linear function of numbers, of each part."""
        if self.is_real:
            return Complex(self.ctx, function(self.real))
        return Complex(self.ctx, function(self.real), function(self.imag))

    def matched(self, result: torch.Tensor) -> Complex:
        """The tensor cast to the type of PyTorch's result, as `Emitter.match`."""
        if self._pairs is not None and self._real is None:
            return Complex(
                self.ctx, pairs=self.ctx.match(self._pairs, pairs_type(self.ctx, result))
            )
        type_ = part_type(self.ctx, result)
        return self.mapped(lambda part: self.ctx.match(part, type_))


def zeros(ctx: Context, like: Value) -> Value:
    """Zeros of the type of a tensor."""
    return ctx.broadcast(ctx.number(0, dtype_of(like)), dims_of(like))


def part_dtype(tensor: torch.Tensor) -> str:
    """The dtype of the parts of a fake tensor's numbers."""
    return dtype_name(tensor.dtype.to_real())


def part_type(ctx: Context, tensor: torch.Tensor) -> relax.TensorType:
    """The type of the real part of a fake tensor."""
    return relax.TensorType.of(ctx.symbols.dims(tensor), element_type(part_dtype(tensor)))


def pairs_type(ctx: Context, tensor: torch.Tensor) -> relax.TensorType:
    """The type of a fake complex tensor whose last dim has both parts."""
    dims = [*ctx.symbols.dims(tensor), PARTS]
    return relax.TensorType.of(dims, element_type(part_dtype(tensor)))


def is_complex(value: Any) -> bool:
    """Whether a value of a node, or PyTorch's fake value of it, has complex numbers."""
    if isinstance(value, torch.Tensor):
        return value.is_complex()
    return isinstance(value, Complex | complex)


def as_complex(ctx: Context, value: Any, dtype: str) -> Complex:
    """A tensor or a number as a complex tensor with parts of a dtype."""
    if isinstance(value, Complex):
        return value if value.dtype == dtype else value.mapped(lambda p: ctx.astype(p, dtype))
    if isinstance(value, complex):
        return Complex(ctx, ctx.number(value.real, dtype), ctx.number(value.imag, dtype))
    return Complex(ctx, ctx.as_tensor(value, dtype))


def plus(x: Complex, y: Complex) -> Complex:
    """``x + y``."""
    real = x.ctx.op("add", x.real, y.real)
    if x.is_real and y.is_real:
        return Complex(x.ctx, real)
    return Complex(x.ctx, real, x.ctx.op("add", x.imag, y.imag))
