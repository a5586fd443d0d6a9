"""The positions of elements that are not 0: nonzero."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import i64
from xdsl.irdl import irdl_op_definition, opt_prop_def

from ...int_expr import IntExpr
from ..types import TensorType
from .attributes import Exprs
from .base import UnaryOp
from .creation import require_sizes
from .language import TensorLanguage


@irdl_op_definition
class NonzeroOp(UnaryOp):
    """The positions of elements that are not 0, a column for each; `numpy.nonzero`, ONNX.

    The result is int64 of shape ``(rank, count)``, in row-major order of the elements. The count
    depends on data: the dim is unknown until a pass computes it. With `size`, a shape of one dim,
    there are as many columns: the first positions, then zeros, as in `jax.numpy.nonzero`.
    """

    name = "relax.nonzero"
    size = opt_prop_def(Exprs(default=None))

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (x,), size = operands, attributes["size"]
        if size is not None:
            if len(size) != 1:
                raise ValueError(f"expected size of '{cls.name}' to be one dim, got {len(size)}")
            require_sizes(cls.name, size)
        if size is None or x.rank is None:
            return TensorType.of(None, i64, 2)
        return TensorType.of([IntExpr.of(x.rank), *size], i64)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (x,), rank = tensors, len(tensors[0].shape)
        if attributes["size"] is None:
            raise ValueError(f"expected size of '{cls.name}', got none")
        (size,) = attributes["size"]

        def find(ib: Any, inputs: Any, outputs: Sequence[Any]) -> None:
            count = ib.allocate("int64", (1,), "count")
            ib.store(count, (0,), te.const(0, "int64"))
            with ExitStack() as loops:
                at = [
                    loops.enter_context(ib.for_range(0, d, f"i{n}")) for n, d in enumerate(x.shape)
                ]
                holds = te.NE(inputs[0](*at), te.const(0, x.dtype)) & (count(0) < size)
                with ib.if_scope(holds):
                    place = ib.let(count(0))
                    for n, index in enumerate(at):
                        ib.store(outputs[0], (n, place), te.cast("int64", index))
                    ib.store(count, (0,), place + 1)
            with ib.for_range(count(0), size, "rest") as rest, ib.for_range(0, rank, "n") as n:
                ib.store(outputs[0], (n, rest), te.const(0, "int64"))

        return te.statements([(rank, size)], [x], find, ["int64"], (), "T_nonzero")[0]

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        found = np.array(np.nonzero(np.atleast_1d(arrays[0])), np.int64)[: arrays[0].ndim]
        if attributes["size"] is None:
            return found
        (size,) = attributes["size"]
        result = np.zeros((arrays[0].ndim, size), np.int64)
        columns = min(size, found.shape[1])
        result[:, :columns] = found[:, :columns]
        return result
