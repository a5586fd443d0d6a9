"""Layers of models, with the parameters and the computation of those of PyTorch."""

from __future__ import annotations

from typing import Any

from ...ir.expr import Expr
from . import op
from .core import Module, Parameter


class Identity(Module):
    """The tensor itself."""

    def forward(self, x: Expr) -> Expr:
        """The tensor."""
        return x


class ReLU(Module):
    """``max(x, 0)``."""

    def forward(self, x: Expr) -> Expr:
        """The tensor, elementwise."""
        return op.relu(x)


class GELU(Module):
    """``x`` times the normal distribution function of ``x``; `torch.nn.GELU`."""

    def forward(self, x: Expr) -> Expr:
        """The tensor, elementwise."""
        return op.gelu(x)


class SiLU(Module):
    """``x * sigmoid(x)``; `torch.nn.SiLU`."""

    def forward(self, x: Expr) -> Expr:
        """The tensor, elementwise."""
        return op.silu(x)


class Linear(Module):
    """``x @ weight.T + bias`` with weight (out, in); `torch.nn.Linear`.

    The result has `out_dtype` if it is given.
    """

    def __init__(
        self,
        in_features: Any,
        out_features: Any,
        bias: bool = True,
        dtype: str | None = None,
        out_dtype: str | None = None,
    ):
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter((out_features, in_features), dtype)
        self.bias = Parameter((out_features,), out_dtype or dtype) if bias else None
        self.out_dtype = out_dtype

    def forward(self, x: Expr) -> Expr:
        """The product, of shape (…, out)."""
        result = op.matmul(x, op.permute_dims(self.weight), out_dtype=self.out_dtype)
        return result if self.bias is None else op.add(result, self.bias)


class LayerNorm(Module):
    """Normalization over the last dim; `torch.nn.LayerNorm`."""

    def __init__(
        self,
        normalized_shape: int,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        dtype: str | None = None,
    ):
        self.normalized_shape, self.eps = normalized_shape, eps
        self.weight = Parameter((normalized_shape,), dtype) if elementwise_affine else None
        self.bias = Parameter((normalized_shape,), dtype) if elementwise_affine else None

    def forward(self, x: Expr) -> Expr:
        """The normalised tensor, of the shape of `x`."""
        return op.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    """Division by the root of the mean square over dims, by default the last; `torch.nn.RMSNorm`.

    With `bias` there is one to add.
    """

    def __init__(
        self,
        hidden_size: int,
        axes: Any = -1,
        epsilon: float = 1e-5,
        bias: bool = False,
        dtype: str | None = None,
    ):
        self.weight = Parameter((hidden_size,), dtype)
        self.bias = Parameter((hidden_size,), dtype) if bias else None
        self.axes, self.epsilon = axes, epsilon

    def forward(self, x: Expr) -> Expr:
        """The normalised tensor, of the shape of `x`."""
        result = op.rms_norm(x, self.weight, self.axes, self.epsilon)
        return result if self.bias is None else op.add(result, self.bias)


class GroupNorm(Module):
    """Normalization over groups of channels; `torch.nn.GroupNorm`."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        dtype: str | None = None,
    ):
        self.num_groups, self.eps = num_groups, eps
        self.weight = Parameter((num_channels,), dtype) if affine else None
        self.bias = Parameter((num_channels,), dtype) if affine else None

    def forward(self, x: Expr, channel_axis: int = 1, axes: Any = None) -> Expr:
        """The normalised tensor, of the shape of `x`."""
        options: dict[str, Any] = {"channel_axis": channel_axis, "axes": axes}
        return op.group_norm(x, self.num_groups, self.weight, self.bias, self.eps, **options)


class Embedding(Module):
    """Rows of a table by their numbers; `torch.nn.Embedding`."""

    def __init__(self, num: Any, dim: Any, dtype: str | None = None):
        self.num, self.dim = num, dim
        self.weight = Parameter((num, dim), dtype)

    def forward(self, x: Expr) -> Expr:
        """The rows, of shape (…, dim)."""
        if x.ndim == 1 or x.shape is None:
            return op.take(self.weight, x, axis=0)
        flat = op.take(self.weight, op.reshape(x, [-1]), axis=0)
        return op.reshape(flat, [*x.shape, self.dim])
