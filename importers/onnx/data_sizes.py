"""Sizes that calls read from tensors: symbols for numbers that an import does not know."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul

from ...dialects import relax
from ...dialects.bounds import is_non_negative
from ...dialects.int_expr import ONE, ZERO, IntExpr
from ..emitter import Value, dims_of, dtype_of
from .context import Context
from .fold_values import objects
from .formula import Formula
from .tensor import Tensor


def is_read(ctx: Context, tensor: Tensor) -> bool:
    """Whether calls read the values of a tensor: integers of a known number, that depend on data.

    See `GraphImporter.reads`.
    """
    if tensor.known is not None or not _is_integer(tensor.dtype):
        return False
    is_list = tensor.rank <= 1 and all(d.is_constant for d in tensor.dims)
    return is_list and ctx.importer.reads(tensor.value)


def sizes_of(ctx: Context, tensor: Tensor, what: str) -> list[IntExpr]:
    """The values as sizes; those that depend on data are symbols, whose values calls read.

    A negative one is an error of the call. Raises as `Tensor.sizes` where calls do not read them.
    """
    if not is_read(ctx, tensor):
        return tensor.sizes(what)
    if tensor.value not in ctx.importer.read:
        ctx.importer.read[tensor.value] = read_sizes(ctx, tensor)
    return ctx.importer.read[tensor.value]


def size_of(ctx: Context, tensor: Tensor, what: str) -> IntExpr:
    """The only value as a size; raises as `sizes_of`."""
    found = sizes_of(ctx, tensor, what)
    return found[0] if len(found) == 1 else tensor.size(what)


def read_sizes(ctx: Context, tensor: Tensor) -> list[IntExpr]:
    """Symbols for the values of a list, or expressions where they are known."""
    known = _expressions(tensor.value)
    vector = ctx.astype(ctx.reshape(tensor, [len(known)]), "int64")
    sizes = [ctx.emitter.functions.new_size("size") for _ in known]
    ctx.emitter.read_sizes(vector.value, sizes)
    return [size if k is None else k for size, k in zip(sizes, known, strict=True)]


def _expressions(value: Value) -> list[IntExpr | None]:
    """The elements of a list in order; `None` for those that depend on data."""
    op = value.owner
    if isinstance(op, relax.ConstantOp):
        return [IntExpr.of(int(v)) for v in op.value.data.values.flat]
    if isinstance(op, relax.OperatorOp):
        name = op.name.removeprefix("relax.")
        if name == "concat":
            return [e for operand in op.operands for e in _expressions(operand)]
        if name == "arange":
            given = op.attribute_values()
            if given["end"] - given["start"] == ONE:
                return [given["start"]]
        is_same = name in ("reshape", "expand_dims", "squeeze", "astype")
        if is_same and _is_integer(dtype_of(op.operands[0])):
            return _expressions(op.operands[0])
    return [None] * reduce(mul, dims_of(value), ONE).offset


def _is_integer(dtype: str) -> bool:
    return dtype.startswith(("int", "uint"))


def reshaped_dims(
    ctx: Context, dims: Sequence[IntExpr], shape: Tensor, allowzero: bool
) -> list[IntExpr]:
    """The dims that a shape by data means for a tensor, in which 0 keeps a dim and -1 is inferred.

    With `allowzero`, 0 is a dim of 0.
    """
    given, count = _expressions(shape.value), shape.dims[0].offset
    sizes = Formula(ctx, ctx.astype(shape, "int64"))
    if not allowzero:
        own = [*dims[:count], *[ZERO] * (count - len(dims))]
        sizes = sizes.where(sizes.differs(0), ctx.known(objects(own, [count]), "int64"))
    free = sizes.equals(-1)
    known = Formula(ctx, ctx.number(1, "int64")).where(free, sizes).apply("prod").at_least(1)
    rest = Formula(ctx, ctx.number(reduce(mul, dims, ONE), "int64")).with_("floor_divide", known)
    read = read_sizes(ctx, rest.where(free, sizes).tensor)
    sure = [g if g is not None and g != ZERO and is_non_negative(g) else None for g in given]
    return [r if g is None else g for r, g in zip(read, sure, strict=True)]
