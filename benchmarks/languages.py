"""The operators that workloads are written with, in NumPy, JAX, PyTorch and as a graph of ours.

A workload is one function of a language and tensors, so that every peer runs the same program.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

EPSILON = 1e-5


class ArrayLanguage:
    """Operators of NumPy, and of what has its names."""

    def __init__(self, xp: Any = np) -> None:
        self.xp = xp

    def add(self, a: Any, b: Any) -> Any:
        return a + b

    def multiply(self, a: Any, b: Any) -> Any:
        return a * b

    def matmul(self, a: Any, b: Any) -> Any:
        return a @ b

    def linear(self, x: Any, weight: Any, bias: Any = None) -> Any:
        product = x @ weight.T
        return product if bias is None else product + bias

    def relu(self, x: Any) -> Any:
        return self.xp.maximum(x, 0)

    def gelu(self, x: Any) -> Any:
        return x * 0.5 * (1 + self.erf(x * (0.5**0.5)))

    def erf(self, x: Any) -> Any:
        return np.vectorize(math.erf, [x.dtype])(x)

    def softmax(self, x: Any) -> Any:
        e = self.xp.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def attention(self, q: Any, k: Any, v: Any, is_causal: bool) -> Any:
        """Of (batch, tokens, heads, size), with the heads' softmax by the root of the size."""
        scores = self.xp.einsum("bihd,bjhd->bhij", q, k) * q.shape[-1] ** -0.5
        if is_causal:
            visible = self.xp.tri(*scores.shape[-2:], dtype=bool)
            scores = self.xp.where(visible, scores, -self.xp.inf)
        return self.xp.einsum("bhij,bjhd->bihd", self.softmax(scores), v)

    def layer_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        variance = (centred * centred).mean(-1, keepdims=True)
        return centred / self.xp.sqrt(variance + EPSILON) * scale + shift

    def row_sums(self, x: Any) -> Any:
        return x.sum(-1)

    def sort(self, x: Any) -> Any:
        return self.xp.sort(x, -1)

    def argsort(self, x: Any) -> Any:
        return self.xp.argsort(x, -1)

    def topk_indices(self, x: Any, k: int) -> Any:
        largest = np.argpartition(x, -k, -1)[..., -k:]
        order = np.argsort(-np.take_along_axis(x, largest, -1), -1)
        return np.take_along_axis(largest, order, -1)

    def permute(self, x: Any, axes: Sequence[int]) -> Any:
        return self.xp.transpose(x, axes)

    def reshape(self, x: Any, shape: Sequence[int]) -> Any:
        return self.xp.reshape(x, shape)

    def conv2d(
        self, x: Any, weight: Any, bias: Any = None, stride: int = 1, padding: int = 0
    ) -> Any:
        windows = self._windows(x, weight.shape[2], stride, padding, 0)
        result = np.tensordot(windows, weight, ((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)
        return result if bias is None else result + bias[:, None, None]

    def depthwise(self, x: Any, weight: Any, stride: int, padding: int) -> Any:
        windows = self._windows(x, weight.shape[2], stride, padding, 0)
        return np.einsum("nchwrs,crs->nchw", windows, weight[:, 0])

    def average_pool(self, x: Any, size: int, stride: int) -> Any:
        return self._windows(x, size, stride, 0, 0).mean((4, 5))

    def max_pool(self, x: Any, size: int, stride: int, padding: int = 0) -> Any:
        return self._windows(x, size, stride, padding, -np.inf).max((4, 5))

    def batch_norm(self, x: Any, scale: Any, shift: Any, mean: Any, variance: Any) -> Any:
        s, t, m, v = (a[:, None, None] for a in (scale, shift, mean, variance))
        return (x - m) / self.xp.sqrt(v + EPSILON) * s + t

    def mean_of_pixels(self, x: Any) -> Any:
        return x.mean((2, 3))

    def _windows(self, x: Any, size: int, stride: int, padding: int, value: float) -> Any:
        edges = ((0, 0), (0, 0), (padding, padding), (padding, padding))
        padded = np.pad(x, edges, constant_values=value)
        windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (2, 3))
        return windows[:, :, ::stride, ::stride]


class JaxLanguage(ArrayLanguage):
    """Operators of JAX where NumPy's are not the ones to use."""

    def __init__(self) -> None:
        import jax

        super().__init__(jax.numpy)
        self.jax = jax

    def gelu(self, x: Any) -> Any:
        return self.jax.nn.gelu(x, approximate=False)

    def softmax(self, x: Any) -> Any:
        return self.jax.nn.softmax(x)

    def attention(self, q: Any, k: Any, v: Any, is_causal: bool) -> Any:
        return self.jax.nn.dot_product_attention(q, k, v, is_causal=is_causal)

    def topk_indices(self, x: Any, k: int) -> Any:
        return self.jax.lax.top_k(x, k)[1]

    def conv2d(
        self, x: Any, weight: Any, bias: Any = None, stride: int = 1, padding: int = 0
    ) -> Any:
        result = self.jax.lax.conv_general_dilated(
            x, weight, (stride, stride), [(padding, padding)] * 2
        )
        return result if bias is None else result + bias[:, None, None]

    def depthwise(self, x: Any, weight: Any, stride: int, padding: int) -> Any:
        return self.jax.lax.conv_general_dilated(
            x, weight, (stride, stride), [(padding, padding)] * 2, feature_group_count=x.shape[1]
        )

    def average_pool(self, x: Any, size: int, stride: int) -> Any:
        sums = self.jax.lax.reduce_window(
            x, 0.0, self.jax.lax.add, (1, 1, size, size), (1, 1, stride, stride), "VALID"
        )
        return sums / size**2

    def max_pool(self, x: Any, size: int, stride: int, padding: int = 0) -> Any:
        edges = ((0, 0), (0, 0), (padding, padding), (padding, padding))
        return self.jax.lax.reduce_window(
            x, -np.inf, self.jax.lax.max, (1, 1, size, size), (1, 1, stride, stride), edges
        )


class TorchLanguage:
    """Operators of PyTorch."""

    def __init__(self) -> None:
        import torch

        self.torch, self.f = torch, torch.nn.functional

    def __getattr__(self, name: str) -> Any:
        return getattr(self.f, name) if hasattr(self.f, name) else getattr(self.torch, name)

    def multiply(self, a: Any, b: Any) -> Any:
        return a * b

    def softmax(self, x: Any) -> Any:
        return self.f.softmax(x, -1)

    def attention(self, q: Any, k: Any, v: Any, is_causal: bool) -> Any:
        heads = [x.transpose(1, 2) for x in (q, k, v)]
        return self.f.scaled_dot_product_attention(*heads, is_causal=is_causal).transpose(1, 2)

    def layer_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        return self.f.layer_norm(x, scale.shape, scale, shift, EPSILON)

    def row_sums(self, x: Any) -> Any:
        return x.sum(-1)

    def sort(self, x: Any) -> Any:
        return x.sort(-1).values

    def topk_indices(self, x: Any, k: int) -> Any:
        return x.topk(k, -1).indices

    def permute(self, x: Any, axes: Sequence[int]) -> Any:
        return x.permute(*axes)

    def depthwise(self, x: Any, weight: Any, stride: int, padding: int) -> Any:
        return self.f.conv2d(x, weight, None, stride, padding, 1, x.shape[1])

    def average_pool(self, x: Any, size: int, stride: int) -> Any:
        return self.f.avg_pool2d(x, size, stride)

    def max_pool(self, x: Any, size: int, stride: int, padding: int = 0) -> Any:
        return self.f.max_pool2d(x, size, stride, padding)

    def batch_norm(self, x: Any, scale: Any, shift: Any, mean: Any, variance: Any) -> Any:
        return self.f.batch_norm(x, mean, variance, scale, shift, False, 0.0, EPSILON)

    def mean_of_pixels(self, x: Any) -> Any:
        return x.mean((2, 3))


class GraphLanguage:
    """Operators of `relax`: each call is a binding of the function that a block builder builds."""

    def __init__(self, relax: Any, builder: Any) -> None:
        self.builder, self.relax, self.op = builder, relax, relax.op

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.op.nn, name, None) or getattr(self.op, name)
        return lambda *args: self.builder.emit(found(*args))

    def row_sums(self, x: Any) -> Any:
        return self.builder.emit(self.op.sum(x, axis=[-1]))

    def attention(self, q: Any, k: Any, v: Any, is_causal: bool) -> Any:
        mask = "TopLeft" if is_causal else None
        return self.builder.emit(self.op.nn.attention(q, k, v, causal_mask=mask))

    def topk_indices(self, x: Any, k: int) -> Any:
        return self.builder.emit(self.op.topk(x, k, ret_type="indices"))

    def permute(self, x: Any, axes: Sequence[int]) -> Any:
        return self.builder.emit(self.op.permute_dims(x, list(axes)))

    def reshape(self, x: Any, shape: Sequence[int]) -> Any:
        return self.builder.emit(self.op.reshape(x, tuple(shape)))

    def multiply(self, a: Any, b: Any) -> Any:
        b = self.relax.const(b, a.struct_info.dtype) if isinstance(b, float) else b
        return self.builder.emit(self.op.multiply(a, b))

    def linear(self, x: Any, weight: Any, bias: Any = None) -> Any:
        product = self.builder.emit(self.op.matmul(x, self.permute(weight, (1, 0))))
        return product if bias is None else self.builder.emit(self.op.add(product, bias))

    def layer_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        normal = self.op.nn.layer_norm(x, scale, shift, axes=[-1], epsilon=EPSILON)
        return self.builder.emit(normal)

    def conv2d(
        self, x: Any, weight: Any, bias: Any = None, stride: int = 1, padding: int = 0
    ) -> Any:
        sizes = {"strides": [stride] * 2, "padding": [padding] * 4}
        result = self.builder.emit(self.op.nn.conv2d(x, weight, **sizes))
        if bias is None:
            return result
        return self.builder.emit(self.op.add(result, self.reshape(bias, (1, -1, 1, 1))))

    def depthwise(self, x: Any, weight: Any, stride: int, padding: int) -> Any:
        channels = x.struct_info.shape[1]
        sizes = {"strides": [stride] * 2, "padding": [padding] * 4, "groups": int(channels)}
        return self.builder.emit(self.op.nn.conv2d(x, weight, **sizes))

    def average_pool(self, x: Any, size: int, stride: int) -> Any:
        sizes = {"pool_size": [size] * 2, "strides": [stride] * 2}
        return self.builder.emit(self.op.nn.avg_pool2d(x, **sizes))

    def max_pool(self, x: Any, size: int, stride: int, padding: int = 0) -> Any:
        sizes = {"pool_size": [size] * 2, "strides": [stride] * 2, "padding": [padding] * 4}
        return self.builder.emit(self.op.nn.max_pool2d(x, **sizes))

    def batch_norm(self, x: Any, scale: Any, shift: Any, mean: Any, variance: Any) -> Any:
        normal = self.op.nn.batch_norm(x, scale, shift, mean, variance, axis=1, epsilon=EPSILON)
        return self.builder.emit(self.builder.emit(normal)[0])

    def mean_of_pixels(self, x: Any) -> Any:
        return self.builder.emit(self.op.mean(x, axis=[2, 3]))
