"""Samples of distributions that are given by probabilities: multinomial_from_uniform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...dtypes import element_type
from ...int_expr import ONE
from ..types import TensorType, shape_text
from .attributes import DType
from .base import OperatorOp
from .conversion import wide
from .elementwise import INTEGERS
from .inference import require_dtype, require_floats, require_rank
from .language import TensorLanguage
from .scanning import CumsumOp


@irdl_op_definition
class MultinomialFromUniformOp(OperatorOp):
    """A class for each uniform number; TVM's ``R.multinomial_from_uniform``.

    `prob` ``(B, V)`` has the probabilities of V classes in each row, `uniform_sample` ``(N, 1)``
    numbers in [0, 1), and `sample_indices` ``(N, 1)`` the row for each. The result ``(N, 1)`` is
    the first class whose cumulative probability is greater than the number, or the last class.
    """

    name = "relax.multinomial_from_uniform"
    prob = operand_def(TensorType)
    uniform_sample = operand_def(TensorType)
    sample_indices = operand_def(TensorType)
    dtype = opt_prop_def(DType(default="int64"))
    assembly_format = (
        "$prob `,` $uniform_sample `,` $sample_indices attr-dict `:` type($prob) `,` "
        "type($uniform_sample) `,` type($sample_indices) `->` type($result)"
    )

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        _, uniform, indices = operands
        require_floats(cls.name, operands[:2])
        require_dtype(cls.name, [indices], *INTEGERS)
        for subject, type_ in zip(cls.operand_names(), operands, strict=True):
            require_rank(cls.name, subject, type_, 2)
        for subject, type_ in zip(cls.operand_names()[1:], (uniform, indices), strict=True):
            if type_.dims is not None and type_.dims[1] != ONE:
                raise ValueError(
                    f"expected {subject} of '{cls.name}' to have shape (n, 1), "
                    f"got {shape_text(type_)}"
                )
        if uniform.dims is not None and indices.dims is not None and uniform.dims != indices.dims:
            raise ValueError(
                f"expected a row of '{cls.name}' for each of uniform numbers "
                f"{shape_text(uniform)}, got {shape_text(indices)}"
            )
        dims = uniform.dims if uniform.dims is not None and operands[0].dims is not None else None
        return TensorType.of(dims, element_type(attributes["dtype"]), uniform.rank)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (prob, uniform, indices), dtype = tensors, attributes["dtype"]
        classes = prob.shape[1]
        options = {"axis": 1, "dtype": None, "exclusive": False}
        sums = CumsumOp.compute(te, [prob], options)
        v = te.reduce_axis((0, classes), name="v")

        def count(n: Any, _: Any) -> Any:
            is_before = te.LE(sums(te.cast("int64", indices(n, 0)), v), uniform(n, 0))
            return te.sum(te.cast("int64", is_before), axis=v)

        counts = te.compute(uniform.shape, count, name="T_count")

        def chosen(*i: Any) -> Any:
            return te.cast(dtype, te.min(counts(*i), te.cast("int64", classes - 1)))

        return te.compute(uniform.shape, chosen, name="T_multinomial")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        prob, uniform = (wide(a) for a in arrays[:2])
        rows = np.cumsum(prob, axis=1)[arrays[2][:, 0]]
        counts = (rows <= uniform).sum(axis=1, keepdims=True)
        return np.minimum(counts, prob.shape[1] - 1).astype(attributes["dtype"])
