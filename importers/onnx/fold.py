"""Operators on values that are known during the import: the arithmetic of shapes.

Exporters compute shapes by chains of Shape, Gather, Concat and arithmetic. They are evaluated here
over integers and integer expressions, so that operators get their shapes as attributes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from .fold_arithmetic import ARITHMETIC
from .fold_movement import MOVEMENT
from .fold_reduction import REDUCTIONS
from .fold_values import MAX_ELEMENTS, Fold, Given
from .tensor import Known

FOLDS: Mapping[str, Fold] = {**ARITHMETIC, **MOVEMENT, **REDUCTIONS}
"""How to evaluate operators on known values, by name."""


def folded(
    operator: str,
    inputs: Sequence[Known | None],
    attributes: Mapping[str, Any],
    opset: int,
    sizes: Collection[Any] = (),
) -> list[Known] | None:
    """The results of an operator on known values, `None` where they are not known.

    `sizes` are expressions that are dims of tensors, and so not negative.
    """
    fold = FOLDS.get(operator)
    if fold is None or any(i is not None and i.size > MAX_ELEMENTS for i in inputs):
        return None
    try:
        with np.errstate(all="ignore"):
            found = fold(list(inputs), Given(attributes, opset, sizes))
    except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None  # for wrong inputs or attributes: the operator's converter says what is wrong
    if found is None:
        return None
    # NumPy makes scalars of results without dims.
    return [np.asarray(f) for f in (found if isinstance(found, list | tuple) else [found])]
