"""The arrays of values that are computed from constants, by the reference of operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import TupleType
from xdsl.ir import Operation, SSAValue

from ...dialects import relax
from ...dialects.relax.constant import storage_dtype
from ...dialects.relax.operators.base import evaluated
from ...dialects.relax.types import tensors_in
from ...dialects.sym import expr_symbols
from ...runtime.dtype import bfloat16_to_float32, to_bfloat16
from ..sizes import LARGEST_FOLDED, known_bytes
from .written import Written

_PURE = (relax.ConstantOp, relax.OperatorOp, relax.CallTIROp, relax.TupleGetItemOp)


def is_computed_from_constants(value: SSAValue, written: Written = frozenset()) -> bool:
    """Whether a value is a constant, or computed from constants by pure operators and kernels.

    Values that calls may write are not constants.
    """
    waiting, seen = [value], set[SSAValue]()
    while waiting:
        current = waiting.pop()
        owner = current.owner
        if not isinstance(owner, _PURE) or current in written:
            return False
        seen.add(current)
        waiting += [o for o in owner.operands if o not in seen]
    return True


def known_array(value: SSAValue, largest: int | None = LARGEST_FOLDED) -> NDArray[Any] | None:
    """What a value that is computed from constants by operators holds; `None` for other values.

    So it is if it, or a value that it is computed from, has more than `largest` bytes. An array of
    bfloat16 is one of its bits: see `known_numbers`.
    """
    if not is_computed_from_constants(value):
        return None
    known: dict[SSAValue, NDArray[Any]] = {}  # values may have many uses
    waiting = [value]
    while waiting:
        op = waiting[-1].owner
        missing = [o for o in op.operands if o not in known] if isinstance(op, Operation) else []
        if missing:
            waiting += missing
            continue
        current = waiting.pop()
        if current not in known:
            array = _evaluated(current, known, largest)
            if array is None:
                return None
            known[current] = array
    return known[value]


def known_numbers(value: SSAValue, largest: int | None = LARGEST_FOLDED) -> NDArray[Any] | None:
    """The array of `known_array`, of bfloat16 in float32."""
    found = known_array(value, largest)
    assert isinstance(value.type, relax.TensorType)
    return None if found is None else _loaded(found, value.type.dtype or "")


def _evaluated(
    value: SSAValue, known: Mapping[SSAValue, NDArray[Any]], largest: int | None
) -> NDArray[Any] | None:
    """The numbers of a constant, or of the result of an operator of known operands."""
    op = value.owner
    if isinstance(op, relax.ConstantOp):
        return op.value.data.array
    size = known_bytes([value])
    if not isinstance(op, relax.OperatorOp) or isinstance(op.result.type, TupleType):
        return None
    if size is None or (largest is not None and size > largest):
        return None
    found = evaluate_operator(op, [known[o] for o in op.operands])
    return None if found is None else found[0]


def evaluate_operator(
    op: relax.OperatorOp, arrays: Sequence[NDArray[Any]]
) -> list[NDArray[Any]] | None:
    """The results by the operator's reference; None if it does not support these values.

    Arrays are as tensors are stored, and may be views of the operands. Attributes of symbolic
    sizes have no value yet.
    """
    if any(expr_symbols(p) for p in op.properties.values()):
        return None
    attributes = evaluated(op.attribute_values(), lambda e: e.constant)
    operands = [t for o in op.operands for t in tensors_in(o.type)]
    values = [_loaded(a, t.dtype or "") for a, t in zip(arrays, operands, strict=True)]
    try:
        with np.errstate(all="ignore"):
            found: Any = op.reference(values, attributes)
    # The program reports these when it gets there.
    except (IndexError, np.linalg.LinAlgError):
        return None
    fields = cast("Sequence[Any]", found) if isinstance(op.result.type, TupleType) else [found]
    types = tensors_in(op.result.type)
    return [_stored(np.asarray(f), t.dtype or "") for f, t in zip(fields, types, strict=True)]


def _loaded(array: NDArray[Any], dtype: str) -> NDArray[Any]:
    return bfloat16_to_float32(array) if dtype == "bfloat16" else array


def _stored(values: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Values rounded to a dtype."""
    with np.errstate(all="ignore"):
        if dtype == "bfloat16":
            return to_bfloat16(values)
        return np.asarray(values, storage_dtype(dtype))
