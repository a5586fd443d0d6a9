"""A matmul whose rows choose the matrix: grouped_matmul."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ..types import TensorType, shape_text
from .attributes import Bool
from .base import OperatorOp
from .conversion import accumulator, product_element, rounded, wide
from .indexing import require_indices
from .language import TensorLanguage


@irdl_op_definition
class GroupedMatmulOp(OperatorOp):
    """``data[i] @ weight[g]`` for each row, where g counts the offsets that are at most i.

    The group of matrix g is the rows of data (m, k) from ``offsets[g - 1]`` to ``offsets[g]``, as
    in a layer of experts; rows after the last offset are 0. Offsets (g,) do not decrease. Weight is
    (g, k, n), with `transpose_rhs` (g, n, k); `torch.nn.functional.grouped_mm`.
    """

    name = "relax.grouped_matmul"
    data = operand_def(TensorType)
    weight = operand_def(TensorType)
    offsets = operand_def(TensorType)
    transpose_rhs = opt_prop_def(Bool(default=False))
    assembly_format = (
        "$data `,` $weight `,` $offsets attr-dict "
        "`:` type($data) `,` type($weight) `,` type($offsets) `->` type($result)"
    )

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        data, weight, offsets = operands
        element = product_element(cls.name, [data, weight], None)
        require_indices(cls.name, [offsets])
        if data.dims is None or weight.dims is None or offsets.dims is None:
            return TensorType.of(None, element, 2)
        inner, outer = (-1, -2) if attributes["transpose_rhs"] else (-2, -1)
        fits = (len(data.dims), len(weight.dims), len(offsets.dims)) == (2, 3, 1)
        if (
            not fits
            or data.dims[1] != weight.dims[inner]
            or weight.dims[0] != offsets.dims[0]
            or weight.dims[0] == 0
        ):
            shape = "(g, n, k)" if attributes["transpose_rhs"] else "(g, k, n)"
            raise ValueError(
                f"expected data (m, k), weight {shape} and offsets (g,) of '{cls.name}', "
                f"got {', '.join(map(shape_text, operands))}"
            )
        return TensorType.of([data.dims[0], weight.dims[outer]], element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        data, weight, offsets = tensors
        (rows, length), count = data.shape, weight.shape[0]
        transposed, dtype = attributes["transpose_rhs"], accumulator(data.dtype)
        g, k = te.reduce_axis((0, count), name="g"), te.reduce_axis((0, length), name="k")

        def passed(i: Any) -> Any:
            is_passed = te.cast("int64", offsets(g)) <= te.cast("int64", i)
            return te.sum(te.cast("int64", is_passed), axis=g)

        group = te.compute((rows,), passed, name="group")

        def element(i: Any, j: Any) -> Any:
            matrix = te.min(group(i), te.cast("int64", count - 1))
            chosen = weight(matrix, j, k) if transposed else weight(matrix, k, j)
            return te.sum(data(i, k).astype(dtype) * chosen.astype(dtype), axis=k)

        shape = (rows, weight.shape[1 if transposed else 2])
        product = te.compute(shape, element, name="grouped_matmul")

        def covered(i: Any, j: Any) -> Any:
            value = product(i, j)
            return te.if_then_else(group(i) < te.cast("int64", count), value, te.const(0, dtype))

        return rounded(te, te.compute(shape, covered, name="T_covered"), data.dtype)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        data, weight = map(wide, arrays[:2])
        weight = np.swapaxes(weight, -1, -2) if attributes["transpose_rhs"] else weight
        result = np.zeros((len(data), weight.shape[2]), data.dtype)
        start = 0
        for matrix, end in zip(weight, arrays[2].astype(np.int64), strict=True):
            result[start:end] = data[start:end] @ matrix
            start = end
        return result
