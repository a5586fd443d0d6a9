"""Batch normalization: by given statistics, or in training by those of the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import TupleType
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ..types import TensorType
from .attributes import Bool, Int, Number
from .base import OperatorOp
from .conversion import accumulator, wide
from .inference import common_element_type, normalize_axis, require_floats, tuple_type
from .language import TensorLanguage
from .moments import mean_and_squares
from .normalization import along, require_shape
from .reduction import number_of_elements


@irdl_op_definition
class BatchNormOp(OperatorOp):
    """``(data - moving_mean) / sqrt(moving_var + epsilon) * gamma + beta`` along the channels.

    In `training`, mean and variance are those of the data over all axes but `axis`. The result is a
    tuple of the normalized data, the mean and the variance, as in TVM: the given ones, in training
    ``(1 - momentum) * moving_mean + momentum * mean`` and the same of the variances, whose divisor
    is the number of elements; `torch.nn.functional.batch_norm`, whose moving variance has one less.
    The default of TVM's `training` is True.
    """

    name = "relax.nn.batch_norm"
    data = operand_def(TensorType)
    gamma = operand_def(TensorType)
    beta = operand_def(TensorType)
    moving_mean = operand_def(TensorType)
    moving_var = operand_def(TensorType)
    axis = opt_prop_def(Int(default=1))
    epsilon = opt_prop_def(Number(default=1e-5))
    center = opt_prop_def(Bool(default=True))
    scale = opt_prop_def(Bool(default=True))
    momentum = opt_prop_def(Number(default=0.1))
    training = opt_prop_def(Bool(default=False))
    assembly_format = (
        "$data `,` $gamma `,` $beta `,` $moving_mean `,` $moving_var attr-dict `:` type($data) `,` "
        "type($gamma) `,` type($beta) `,` type($moving_mean) `,` type($moving_var) "
        "`->` type($result)"
    )

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TupleType:
        data, *vectors = operands
        require_floats(cls.name, operands)
        common_element_type(cls.name, operands)
        momentum = attributes["momentum"]
        if attributes["training"] and not 0 <= momentum <= 1:
            raise ValueError(f"expected momentum of '{cls.name}' in [0, 1], got {momentum}")
        if data.rank is not None:
            axis = normalize_axis(cls.name, attributes["axis"], data.rank)
            dims = None if data.dims is None else [data.dims[axis]]
            for label, vector in zip(cls.operand_names()[1:], vectors, strict=True):
                require_shape(cls.name, label, vector, dims)
        return tuple_type([data, *vectors[2:]])

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        if attributes["training"]:
            return _in_training(te, tensors, attributes)
        data, gamma, beta, mean, var = tensors
        dtype, axis = accumulator(data.dtype), attributes["axis"]
        epsilon = te.const(attributes["epsilon"], dtype)

        def factor(c: Any) -> Any:
            inverse = te.call_intrinsic("rsqrt", var(c).astype(dtype) + epsilon)
            return inverse * gamma(c).astype(dtype) if attributes["scale"] else inverse

        def offset(c: Any) -> Any:
            shifted = mean(c).astype(dtype) * factors(c)
            return beta(c).astype(dtype) - shifted if attributes["center"] else -shifted

        def element(*i: Any) -> Any:
            value = data(*i).astype(dtype) * factors(i[axis]) + offsets(i[axis])
            return value.astype(data.dtype)

        factors = te.compute(gamma.shape, factor, name="T_scale")
        offsets = te.compute(gamma.shape, offset, name="T_shift")
        result = te.compute(data.shape, element, name="T_batch_norm")
        statistics = (te.compute(s.shape, s, name="T_copy") for s in (mean, var))
        return (result, *statistics)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> Any:
        data, rank, moving = wide(arrays[0]), arrays[0].ndim, arrays[3:]
        axis = (normalize_axis(cls.name, attributes["axis"], rank),)
        gamma, beta, mean, var = (along(wide(a), axis, rank) for a in arrays[1:])
        if attributes["training"]:
            count = data.dtype.type(data.size / max(1, mean.size))
            others = tuple(a for a in range(rank) if a not in axis)
            mean = np.sum(data, axis=others, keepdims=True) / count
            var = np.sum(np.square(data - mean), axis=others, keepdims=True) / count
            momentum = attributes["momentum"]
            moving = [
                wide(old) * (1 - momentum) + momentum * new.ravel()
                for old, new in zip(moving, (mean, var), strict=True)
            ]
        result = (data - mean) / np.sqrt(var + attributes["epsilon"])
        result = result * gamma if attributes["scale"] else result
        return (result + beta if attributes["center"] else result, *moving)


def _in_training(te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
    """The result by the statistics of the data, and the moving ones of the next step."""
    data, gamma, beta, *moving = tensors
    dtype, axis = accumulator(data.dtype), attributes["axis"] % data.ndim
    others = [a for a in range(data.ndim) if a != axis]
    mean, squares = mean_and_squares(te, data, others)
    count = te.cast(dtype, number_of_elements(te, data, others))

    def mean_square(c: Any) -> Any:
        return squares(c) / count

    def factor(c: Any) -> Any:
        shifted = variance(c) + te.const(attributes["epsilon"], dtype)
        inverse = te.call_intrinsic("rsqrt", shifted)
        return inverse * gamma(c).astype(dtype) if attributes["scale"] else inverse

    def element(*i: Any) -> Any:
        value = (data(*i).astype(dtype) - mean(i[axis])) * factors(i[axis])
        value = value + beta(i[axis]).astype(dtype) if attributes["center"] else value
        return value.astype(data.dtype)

    def moved(old: Any, new: Any) -> Any:
        momentum = attributes["momentum"]
        kept, part = (te.const(p, dtype) for p in (1 - momentum, momentum))
        return (kept * old.astype(dtype) + part * new).astype(data.dtype)

    variance = te.compute(gamma.shape, mean_square, name="T_variance")
    factors = te.compute(gamma.shape, factor, name="T_scale")
    result = te.compute(data.shape, element, name="T_batch_norm")
    pairs = zip(moving, (mean, variance), strict=True)
    return (result, *(te.elementwise(moved, *pair, name="T_moved") for pair in pairs))
