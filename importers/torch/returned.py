"""What an imported function returns for an output: tensors, numbers, shapes, and nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.utils._pytree import TreeSpec

from ...dialects import relax
from ...dialects.int_expr import IntExpr
from ..emitter import Value, is_tensor
from ..unsupported import Unsupported
from .complex_numbers import Complex
from .context import Context

_END_OF_INT32 = 1 << 31


class Sizes(tuple[Any, ...]):
    """The dims of a `torch.Size` among the outputs."""


def with_sizes(leaves: Sequence[Any], spec: TreeSpec) -> list[Any]:
    """The leaves of an output, in which `Sizes` stand for those of a `torch.Size`."""
    return list(_with_sizes(iter(leaves), spec))


def _with_sizes(leaves: Iterator[Any], spec: TreeSpec) -> Iterator[Any]:
    if spec.is_leaf():
        yield next(leaves)
    elif spec.type is torch.Size:
        yield Sizes(next(leaves) for _ in range(spec.num_leaves))
    else:
        for field in spec.children():
            yield from _with_sizes(leaves, field)


def returned_value(ctx: Context, leaf: Any) -> Value:
    """The value of a leaf of the output; raises Unsupported for one without a counterpart.

    A number is a tensor of rank 0: an int32, or an int64 if it may be larger; a float32; a bool.
    `None` is TVM's ``R.null_value()``.
    """
    if isinstance(leaf, Complex):
        return leaf.pairs
    if is_tensor(leaf):
        return leaf
    if leaf is None:
        op = relax.CallPurePackedOp("vm.builtin.null_value", [], relax.ObjectType())
        ctx.insert(op)
        return op.result
    if isinstance(leaf, Sizes):
        shape = relax.ShapeOp(leaf)
        ctx.insert(shape)
        return shape.result
    if isinstance(leaf, bool | float):
        return ctx.number(leaf, "bool" if isinstance(leaf, bool) else "float32")
    if isinstance(leaf, int | IntExpr):
        number = IntExpr.of(leaf).constant
        is_short = number is not None and -_END_OF_INT32 <= number < _END_OF_INT32
        return ctx.number(leaf, "int32" if is_short else "int64")
    raise Unsupported(f"expected results that are tensors, numbers or None, got {leaf!r}")
