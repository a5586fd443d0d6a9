"""Operators that `forward` calls, under TVM's names; each call is bound at once.

Operators without a function here are those of `relax.op` and `relax.op.nn`, with their arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

from ...dialects.relax import OPERATORS
from ...ir.expr import Expr
from .. import op as relax_op
from .calls import emitted, results, with_bias
from .calls import extern as extern
from .calls import tensor_expr_op as tensor_expr_op
from .calls import tensor_ir_inplace_op as tensor_ir_inplace_op
from .calls import tensor_ir_op as tensor_ir_op
from .effects import debug_func as debug_func
from .effects import print_ as print_


def __getattr__(name: str) -> Any:
    for full in (f"relax.{name}", f"relax.nn.{name}"):
        if full in OPERATORS:
            space = relax_op.nn if ".nn." in full else relax_op
            return _bound(getattr(space, name), name)
    raise AttributeError(f"expected an operator of models, got '{name}'")


def _bound(function: Callable[..., Any], kind: str) -> Callable[..., Any]:
    def call(*args: Any, name: str = kind, **named: Any) -> Any:
        return results(function(*args, **named), name)

    return call


def reshape(x: Expr, *shape: Any, name: str = "reshape") -> Any:
    """The tensor in another shape, which is one argument or several."""
    dims = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    return emitted(relax_op.reshape(x, dims), name)


def permute_dims(x: Expr, *axes: Any, name: str = "permute_dims") -> Any:
    """The tensor with its dims in another order, by default the reverse."""
    order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
    return emitted(relax_op.permute_dims(x, order), name)


permute = permute_dims


def unsqueeze(x: Expr, dim: int, name: str = "unsqueeze") -> Any:
    """The tensor with a dim of 1 more."""
    return emitted(relax_op.expand_dims(x, dim), name)


def concat(x: Sequence[Any], dim: int, name: str = "concat") -> Any:
    """Tensors one after the other along a dim."""
    return emitted(relax_op.concat(list(x), axis=dim), name)


def split(
    ary: Expr, indices_or_sections: int | Sequence[int], axis: int = 0, name: str = "split"
) -> tuple[Any, ...]:
    """The tensor in equal parts, or at these positions."""
    return results(relax_op.split(ary, indices_or_sections, axis=axis), name)


def chunk(x: Expr, chunks: int, dim: int = 0, name: str = "chunk") -> tuple[Any, ...]:
    """The tensor in equal parts along a dim."""
    return results(relax_op.split(x, chunks, axis=dim), name)


def conv1d(x: Expr, weight: Expr, bias: Expr | None = None, *args: Any, **options: Any) -> Any:
    """The convolution of sequences, with stride, padding, dilation and groups."""
    return _convolution("conv1d", x, weight, bias, args, options)


def conv2d(x: Expr, weight: Expr, bias: Expr | None = None, *args: Any, **options: Any) -> Any:
    """The convolution of images, with stride, padding, dilation and groups."""
    return _convolution("conv2d", x, weight, bias, args, options)


def conv3d(x: Expr, weight: Expr, bias: Expr | None = None, *args: Any, **options: Any) -> Any:
    """The convolution of volumes, with stride, padding, dilation and groups."""
    return _convolution("conv3d", x, weight, bias, args, options)


def _convolution(
    kind: str,
    x: Expr,
    weight: Expr,
    bias: Expr | None,
    args: Sequence[Any],
    options: dict[str, Any],
) -> Any:
    given = dict(zip(("stride", "padding", "dilation", "groups"), args, strict=False)) | options
    name = given.pop("name", kind)
    if "stride" in given:
        given["strides"] = given.pop("stride")
    result = getattr(relax_op.nn, kind)(x, weight, **given)
    return with_bias(result, bias, int(kind[4]), name)


def pad(
    x: Expr, pad: Sequence[int], mode: str = "constant", value: float = 0, name: str = "pad"
) -> Any:
    """The tensor with values before and after each dim."""
    return emitted(relax_op.nn.pad(x, pad, mode, value), name)


def interpolate(
    x: Expr,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool | None = None,
    data_layout: str = "NCHW",
    name: str = "interpolate",
) -> Any:
    """Images of another size, as `torch.nn.functional.interpolate`.

    Raises ValueError for scales of the image's own, and for antialiasing.
    """
    if recompute_scale_factor or antialias:
        raise ValueError("expected recompute_scale_factor and antialias to be False")
    if size is None:
        size = _scaled(x, scale_factor, data_layout)
    methods = {"nearest": "nearest_neighbor", "bilinear": "linear", "bicubic": "cubic"}
    transformation = (
        "align_corners" if align_corners else ("asymmetric" if mode == "nearest" else "half_pixel")
    )
    resized = relax_op.image.resize2d(
        x,
        size,
        layout=data_layout,
        method=methods.get(mode, mode),
        coordinate_transformation_mode=transformation,
    )
    return emitted(resized, name)


def _scaled(x: Expr, factor: Any, layout: str) -> list[Any]:
    shape = cast("tuple[Any, ...]", x.shape)
    factors = cast("Sequence[Any]", factor if isinstance(factor, list | tuple) else [factor] * 2)
    sizes = [(shape[layout.index(axis)], f) for axis, f in zip("HW", factors, strict=True)]
    return [int(d * f) if isinstance(d, int) else d * f for d, f in sizes]


def gelu(x: Expr, approximate: str | None = None, name: str = "gelu") -> Any:
    """The tensor times its normal distribution function, or the approximation "tanh"."""
    function = relax_op.nn.gelu_tanh if approximate == "tanh" else relax_op.nn.gelu
    return emitted(function(x), name)


def prelu(x: Expr, alpha: Expr, name: str = "prelu") -> Any:
    """The tensor, with negative values times those of its channel."""
    return emitted(relax_op.nn.prelu(x, alpha), name)


def layer_norm(
    x: Expr,
    normalized_shape: int | Sequence[int],
    weight: Expr | None = None,
    bias: Expr | None = None,
    eps: float = 1e-5,
    name: str = "layer_norm",
) -> Any:
    """Normalization over the last dims, which have `normalized_shape`."""
    shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    scale = relax_op.ones(shape, x.dtype) if weight is None else weight
    shift = relax_op.zeros(shape, x.dtype) if bias is None else bias
    axes = list(range(-len(shape), 0))
    return emitted(relax_op.nn.layer_norm(x, scale, shift, axes=axes, epsilon=eps), name)


def rms_norm(
    x: Expr, weight: Expr, axes: Any = -1, epsilon: float = 1e-5, name: str = "rms_norm"
) -> Any:
    """Division by the root of the mean square over some dims."""
    over = [axes] if isinstance(axes, int) else list(axes)
    return emitted(relax_op.nn.rms_norm(x, weight, axes=over, epsilon=epsilon), name)


def group_norm(
    x: Expr,
    num_groups: int,
    weight: Expr | None = None,
    bias: Expr | None = None,
    eps: float = 1e-5,
    channel_axis: int = 1,
    axes: Sequence[int] | None = None,
    name: str = "group_norm",
) -> Any:
    """Normalization over groups of channels, and over `axes`: by default all after the channels."""
    channels = cast("tuple[Any, ...]", x.shape)[channel_axis]
    scale = relax_op.ones([channels], x.dtype) if weight is None else weight
    shift = relax_op.zeros([channels], x.dtype) if bias is None else bias
    over = list(range(2, x.ndim)) if axes is None else list(axes)
    options: dict[str, Any] = {"channel_axis": channel_axis, "axes": over, "epsilon": eps}
    return emitted(relax_op.nn.group_norm(x, scale, shift, num_groups, **options), name)


def softmax(x: Expr, axis: int = -1, name: str = "softmax") -> Any:
    """Exponentials along a dim, divided by their sum."""
    return emitted(relax_op.nn.softmax(x, axis=axis), name)


def full(shape: Any, fill_value: Any, dtype: str = "float32", name: str = "full") -> Any:
    """A tensor of one value, which is a number or a tensor of rank 0."""
    value = getattr(fill_value, "value", fill_value)
    if not isinstance(value, Expr):
        value = relax_op.const(value, dtype)
    return emitted(relax_op.full(shape, value, dtype), name)


def zeros(shape: Any, dtype: str = "float32", name: str = "zeros") -> Any:
    """A tensor of zeros."""
    return emitted(relax_op.zeros(shape, dtype), name)


def empty(shape: Any, dtype: str = "float32", name: str = "empty") -> Any:
    """A tensor whose values do not matter, here zeros: memory of before is not seen."""
    return zeros(shape, dtype, name)


def ones(shape: Any, dtype: str = "float32", name: str = "ones") -> Any:
    """A tensor of ones."""
    return emitted(relax_op.ones(shape, dtype), name)


def triu(x: Expr, diagonal: int = 0, name: str = "triu") -> Any:
    """The matrix with zeros below a diagonal."""
    return emitted(relax_op.triu(x, diagonal), name)


def scaled_dot_product_attention(
    query: Expr,
    key: Expr,
    value: Expr,
    attn_mask: Expr | None = None,
    is_causal: bool | None = False,
    scale: float | None = None,
    name: str = "scaled_dot_product_attention",
) -> Any:
    """Attention of queries (batch, length, heads, size) over keys and values of this layout."""
    mask = "TopLeft" if is_causal else None
    given = (query, key, value) if attn_mask is None else (query, key, value, attn_mask)
    return emitted(relax_op.nn.attention(*given, scale=scale, causal_mask=mask), name)


def get_timestep_embedding(
    x: Expr,
    embedding_dim: int,
    flip_sin_to_cos: bool = False,
    downscale_freq_shift: float = 1,
    scale: float = 1,
    max_period: int = 10000,
    name: str = "get_timestep_embedding",
) -> Any:
    """Sines and cosines of steps of time (n,) at `embedding_dim` frequencies, of diffusion models.

    Raises ValueError unless `embedding_dim` is even.
    """
    if embedding_dim % 2:
        raise ValueError(f"expected an even embedding_dim, got {embedding_dim}")
    half = embedding_dim // 2
    steps = relax_op.expand_dims(relax_op.astype(x, "float32"), axis=[1])
    numbers = relax_op.arange(0, half, 1, dtype="float32")
    exponents = relax_op.const(-math.log(max_period), "float32") * numbers
    frequencies = relax_op.exp(exponents / relax_op.const(half - downscale_freq_shift, "float32"))
    angles = steps * relax_op.expand_dims(frequencies, axis=[0])
    if scale != 1:
        angles = relax_op.const(scale, "float32") * angles
    parts = [relax_op.sin(angles), relax_op.cos(angles)]
    joined = relax_op.concat(parts[::-1] if flip_sin_to_cos else parts, axis=-1)
    return emitted(relax_op.astype(joined, x.dtype), name)
