"""`vector` operations that move or combine lanes of a vector; elementwise ones are in `scalars`."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.dialects import vector
from xdsl.ir import Operation, SSAValue

from ..dialects.llvm_ext.vectors import ExtractElementOp, PoisonOp
from ..dialects.loops import LanewiseOp, MultiReductionOp, combiner_of
from .scalars import SCALARS
from .values import EvaluationError, Maker, Precision, ScalarFunction, Value, lanes_of, value_dtype


class _Like:
    """The types of a scalar combination, for the makers of `scalars`."""

    def __init__(self, value: SSAValue) -> None:
        self.operands = self.results = (value,)


def _reduction(op: vector.ReductionOp, precision: Precision) -> ScalarFunction:
    """Lanes are combined in order, after `acc`."""
    combiner = combiner_of(op.kind, op.dest.type)
    if combiner is None:
        raise EvaluationError(
            f"expected a reduction of {op.vector.type}, got '{op.kind.data.value}'"
        )
    combine = SCALARS[combiner.name](_Like(op.dest), precision)

    def reduce(values: Value, acc: Value | None = None) -> Value:
        total, first = (values[..., 0], 1) if acc is None else (acc, 0)
        for lane in range(first, values.shape[-1]):
            total = combine(total, values[..., lane])
        return total

    return reduce


def _multi_reduction(op: MultiReductionOp, precision: Precision) -> ScalarFunction:
    """Lanes are combined in order, those of one vector after the other, after `acc`."""
    combine = SCALARS[op.combiner.name](_Like(op.result), precision)

    def reduce(total: Value, *vectors: Value) -> Value:
        for values in vectors:
            for lane in range(values.shape[-1]):
                total = combine(total, values[..., lane])
        return total

    return reduce


def _position(op: vector.ExtractOp | vector.InsertOp) -> SSAValue | int:
    static = op.static_position.get_values()
    if len(static) != 1:
        raise EvaluationError(f"expected '{op.name}' with one position, got {len(static)}")
    return op.dynamic_position[0] if op.dynamic_position else static[0]


def _lane(values: Value, position: Value, lanes: int) -> Value:
    if np.ndim(position) == 0:
        if not 0 <= position < lanes:
            raise EvaluationError(f"expected a lane in [0, {lanes}), got {position}")
        return values[..., int(position)]
    place = np.clip(position, 0, lanes - 1)
    shape = np.broadcast_shapes(values.shape[:-1], place.shape)
    spread = np.broadcast_to(values, (*shape, lanes))
    return np.take_along_axis(spread, np.broadcast_to(place, shape)[..., None], -1)[..., 0]


def _extract(op: vector.ExtractOp, precision: Precision) -> ScalarFunction:
    position, lanes = _position(op), lanes_of(op.vector.type) or 1

    def extract(values: Value, place: Value = position) -> Value:
        return _lane(values, place, lanes)

    return extract


def _extract_element(op: ExtractElementOp, precision: Precision) -> ScalarFunction:
    lanes = lanes_of(op.vector.type) or 1

    def extract(values: Value, place: Value) -> Value:
        return _lane(values, place, lanes)

    return extract


def _insert(op: vector.InsertOp, precision: Precision) -> ScalarFunction:
    position, lanes = _position(op), lanes_of(op.dest.type) or 1

    def insert(value: Value, values: Value, place: Value = position) -> Value:
        chosen = np.arange(lanes) == np.asarray(place)[..., None]
        return np.where(chosen, np.asarray(value)[..., None], values)

    return insert


def _shuffle(op: vector.ShuffleOp, precision: Precision) -> ScalarFunction:
    order = [int(i) for i in cast(Any, op.mask).get_values()]

    def shuffle(first: Value, second: Value) -> Value:
        shape = np.broadcast_shapes(first.shape[:-1], second.shape[:-1])
        both = [np.broadcast_to(v, (*shape, v.shape[-1])) for v in (first, second)]
        return np.concatenate(both, axis=-1)[..., order]

    return shuffle


def _create_mask(op: vector.CreateMaskOp, precision: Precision) -> ScalarFunction:
    lanes = lanes_of(op.mask_vector.type) or 1

    def mask(active: Value) -> Value:
        return np.arange(lanes) < np.asarray(active)[..., None]

    return mask


def _poison(op: Operation, precision: Precision) -> ScalarFunction:
    lanes = lanes_of(op.results[0].type)
    dtype = value_dtype(op.results[0].type)
    value = precision.load(dtype, precision.fresh(dtype, () if lanes is None else (lanes,)))
    return lambda: value


def _lanewise(op: LanewiseOp, precision: Precision) -> ScalarFunction:
    applied = op.applied(op.inputs, op.result.type)
    function = SCALARS[applied.name](applied, precision)
    applied.drop_all_references()
    return function


VECTORS: dict[str, Maker] = {
    "vector.create_mask": _create_mask,
    "vector.extract": _extract,
    "vector.insert": _insert,
    "vector.reduction": _reduction,
    "vector.shuffle": _shuffle,
    ExtractElementOp.name: _extract_element,
    LanewiseOp.name: _lanewise,
    MultiReductionOp.name: _multi_reduction,
    PoisonOp.name: _poison,
}
"""How each operation across lanes is computed."""
