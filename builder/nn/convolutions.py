"""Convolutions as layers of models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ...ir.expr import Expr
from .. import op as relax_op
from .calls import with_bias
from .core import Module, Parameter


class _Convolution(Module):
    rank: ClassVar[int]
    kind: ClassVar[str]

    def __init__(
        self,
        in_channels: Any,
        out_channels: Any,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        bias: bool = True,
        dtype: str | None = None,
    ):
        self.out_channels = out_channels
        channels = in_channels if groups == 1 else in_channels // groups
        self.weight = Parameter((out_channels, channels, *self._each(kernel_size)), dtype)
        self.bias = Parameter((out_channels,), dtype) if bias else None
        self.options: dict[str, Any] = {
            "strides": self._each(stride),
            "padding": self._each(padding),
            "dilation": self._each(dilation),
            "groups": groups,
        }

    def _each(self, value: int | Sequence[int]) -> tuple[int, ...]:
        return (value,) * self.rank if isinstance(value, int) else tuple(value)

    def forward(self, x: Expr) -> Expr:
        """The windows' weighted sums, with as many channels as `out_channels`."""
        convolution = getattr(relax_op.nn, self.kind)(x, self.weight, **self.options)
        return with_bias(convolution, self.bias, self.rank, self.kind)


class Conv1D(_Convolution):
    """A convolution of sequences (n, channels, length); `torch.nn.Conv1d`."""

    rank, kind = 1, "conv1d"


class Conv2D(_Convolution):
    """A convolution of images (n, channels, height, width); `torch.nn.Conv2d`."""

    rank, kind = 2, "conv2d"


class Conv3D(_Convolution):
    """A convolution of volumes (n, channels, depth, height, width); `torch.nn.Conv3d`."""

    rank, kind = 3, "conv3d"


class ConvTranspose1D(Module):
    """The transpose of a convolution of sequences; `torch.nn.ConvTranspose1d`."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        padding: int = 0,
        output_padding: int = 0,
        dilation: int = 1,
        groups: int = 1,
        bias: bool = True,
        dtype: str | None = None,
    ):
        self.weight = Parameter((in_channels, out_channels // groups, kernel_size), dtype)
        self.bias = Parameter((out_channels,), dtype) if bias else None
        self.options: dict[str, Any] = {
            "strides": stride,
            "padding": padding,
            "output_padding": output_padding,
            "dilation": dilation,
            "groups": groups,
        }

    def forward(self, x: Expr) -> Expr:
        """The sequences, with as many channels as `out_channels`."""
        convolution = relax_op.nn.conv1d_transpose(x, self.weight, **self.options)
        return with_bias(convolution, self.bias, 1, "conv1d_transpose")
