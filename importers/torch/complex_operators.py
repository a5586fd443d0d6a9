"""The conversion of operators with complex operands or results.

A converter of real numbers also converts complex ones where that is possible with its results: a
linear operator, such as a permutation or a sum, applies to both parts of a tensor, and a bilinear
one, such as a matmul, to pairs of parts. `of_complex` registers formulas for other operators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch.utils import _pytree as pytree

from ..emitter import Value, dtype_of, is_tensor
from ..unsupported import Unsupported
from .complex_numbers import Complex, as_complex, is_complex, part_dtype, plus, zeros
from .context import Context
from .dtypes import COMPLEX_ADVICE
from .registry import CONVERTERS, Converter

_MOVEMENT = ("indexing", "manipulation", "slicing")
"""Files of converters that are linear: their results are elements of their operands."""

LINEAR = frozenset(
    f"aten.{name}"
    for name in (
        "alias.default", "clone.default", "contiguous.default",
        "copy.default", "cumsum.default", "detach.default", "empty.memory_format",
        "empty_like.default", "fill.Scalar", "fill.Tensor", "full.default", "full_like.default",
        "index_put.default", "lift_fresh_copy.default", "masked_fill.Scalar",
        "masked_fill.Tensor", "mean.default", "mean.dim", "neg.default", "new_empty.default",
        "new_full.default", "new_zeros.default", "positive.default", "scalar_tensor.default",
        "scatter.src", "scatter.value", "scatter_add.default", "sum.default", "sum.dim_IntList",
        "tril.default", "triu.default", "where.Scalar", "where.ScalarOther", "where.ScalarSelf",
        "where.self", "zero.default", "zeros.default", "zeros_like.default",
    )
)  # fmt: skip
BILINEAR = frozenset(
    f"aten.{name}"
    for name in (
        "bmm.default", "dot.default", "ger.default", "linear.default", "matmul.default",
        "mm.default", "mul.Scalar", "mul.Tensor", "mv.default", "outer.default",
    )
)  # fmt: skip
_NONLINEAR = frozenset(
    f"aten.{name}"
    for name in ("bucketize.Tensor", "scatter.reduce", "scatter.value_reduce", "scatter_reduce.two")
)
_DATA = ("self", "other", "tensors", "src", "source", "values", "value", "fill_value", "s")
"""The operands of ATen's linear operators whose elements are in the result."""

_FORMULAS: dict[str, Converter] = {}


def of_complex(*overloads: str) -> Callable[[Converter], Converter]:
    """Register a converter for complex operands or results; those of the table are for real ones.

    Complex tensors among its arguments are `Complex`.
    """

    def register(converter: Converter) -> Converter:
        _FORMULAS.update(dict.fromkeys(overloads, converter))
        for name in overloads:
            CONVERTERS.setdefault(name, converter)
        return converter

    return register


def has_complex(*arguments: Any) -> bool:
    """Whether there are complex numbers in the arguments or results of a node."""
    return any(map(is_complex, pytree.tree_leaves(arguments)))


def convert_complex(
    ctx: Context, target: Any, name: str, converter: Converter, args: Any, kwargs: dict[str, Any]
) -> Any:
    """Convert a node with complex operands or a complex result.

    Raises Unsupported for an operator that is neither linear nor bilinear, and has no formula, and
    for a product of real and complex numbers that PyTorch exports, but refuses to compute.
    """
    expected = ctx.result
    found = _converted(ctx, target, name, converter, args, kwargs)
    if has_complex(found) and not has_complex(expected):
        given = [_described(t) for t in (*args, *kwargs.values()) if is_complex(t) or is_tensor(t)]
        raise Unsupported(
            f"expected operands of one dtype, got {' and '.join(given)}",
            "convert the real ones, as in x.to(torch.complex64)",
        )
    return found


def _converted(
    ctx: Context, target: Any, name: str, converter: Converter, args: Any, kwargs: dict[str, Any]
) -> Any:
    if name in _FORMULAS:
        return _FORMULAS[name](ctx, *args, **kwargs)
    result, ctx.result = ctx.result, _mapped(ctx.result, _real)
    if name in BILINEAR:
        return _bilinear(ctx, converter, args)
    if is_linear(name, converter):
        slots = [a.name for a in getattr(target, "_schema").arguments]
        named = dict(zip(slots, args, strict=False)) | kwargs
        return _linear(ctx, converter, args, kwargs, [n in _DATA for n in named])
    if not has_complex(args, kwargs):
        return converter(ctx, *args, **kwargs)  # real numbers in a complex tensor
    found = next(t for t in pytree.tree_leaves((result, args, kwargs)) if is_complex(t))
    raise Unsupported(f"expected real numbers, got {_described(found)}", COMPLEX_ADVICE)


def is_linear(name: str, converter: Converter) -> bool:
    """Whether a converter is linear in all operands whose elements are in its result."""
    file = converter.__module__.rpartition(".")[2]
    return name in LINEAR or (file in _MOVEMENT and name not in _NONLINEAR)


def _described(value: Any) -> str:
    if isinstance(value, Complex):
        return "complex128" if value.dtype == "float64" else "complex64"
    if is_tensor(value):
        return dtype_of(value)
    return f"'{value}'" if isinstance(value, complex) else str(value.dtype).removeprefix("torch.")


def _real(value: Any) -> Any:
    return value.real if isinstance(value, torch.Tensor) and value.is_complex() else value


def _linear(
    ctx: Context,
    converter: Converter,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    data: list[bool],
) -> Any:
    """A linear operator of the real parts, and of the imaginary parts, which numbers may lack."""

    def run(part: Callable[[Any, bool], Any]) -> Any:
        given = [
            _mapped(argument, lambda leaf, d=is_data: part(leaf, d))
            for argument, is_data in zip([*args, *kwargs.values()], data, strict=True)
        ]
        named = dict(zip(kwargs, given[len(args) :], strict=True))
        return converter(ctx, *given[: len(args)], **named)

    reals = run(lambda leaf, _: leaf.real if isinstance(leaf, Complex | complex) else leaf)
    complexes = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if is_complex(leaf)]
    if all(isinstance(leaf, Complex) and leaf.is_real for leaf in complexes):
        return _mapped(reals, lambda real: Complex(ctx, real))
    imags = iter(pytree.tree_leaves(run(lambda leaf, is_data: _imaginary(ctx, leaf, is_data))))
    return _mapped(reals, lambda real: Complex(ctx, real, next(imags)))


def _mapped(tree: Any, function: Callable[[Any], Any]) -> Any:
    return pytree.tree_map(function, tree)


def _imaginary(ctx: Context, leaf: Any, is_data: bool) -> Any:
    """The imaginary part of an operand; others, such as indices, are as they are."""
    if isinstance(leaf, Complex | complex):
        return leaf.imag
    if is_data and is_tensor(leaf):
        return zeros(ctx, cast(Value, leaf))
    is_number = isinstance(leaf, int | float) and not isinstance(leaf, bool)
    return 0 if is_data and is_number else leaf


def _bilinear(ctx: Context, converter: Converter, operands: Sequence[Any]) -> Complex:
    """A bilinear operator, with a bias if there is a third operand."""
    given = [as_complex(ctx, o, part_dtype(ctx.result)) for o in operands if o is not None]
    product = bilinear(lambda a, b: converter(ctx, a, b), given[0], given[1])
    return plus(product, given[2]) if len(given) > 2 else product


def bilinear(product: Callable[[Value, Value], Value], x: Complex, y: Complex) -> Complex:
    """A bilinear function of numbers: the sum of its results for all pairs of parts."""
    ctx = x.ctx
    if y.is_real:
        return x.mapped(lambda part: product(part, y.real))
    if x.is_real:
        return y.mapped(lambda part: product(x.real, part))
    real = ctx.op("subtract", product(x.real, y.real), product(x.imag, y.imag))
    imag = ctx.op("add", product(x.real, y.imag), product(x.imag, y.real))
    return Complex(ctx, real, imag)
