"""The order of rows after the exchanges of an LU decomposition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, opt_prop_def

from ..types import TensorType, shape_text
from .attributes import Exprs
from .base import UnaryOp
from .creation import require_sizes
from .inference import require_dtype
from .language import TensorLanguage


@irdl_op_definition
class LUPermutationOp(UnaryOp):
    """The numbers of rows in the order that pivots exchange them; `torch.lu_unpack`.

    Row k is exchanged with that of the number ``data[…, k] - 1``, for one k after the other, as in
    `lu_factor`. `size` is a shape of one dim, the number of rows. Pivots out of range are those of
    the nearest row.
    """

    name = "relax.linalg.lu_permutation"
    size = opt_prop_def(Exprs())

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (pivots,), size = operands, attributes["size"]
        require_dtype(cls.name, operands, lambda d: d in ("int32", "int64"), "int32 or int64")
        if len(size) != 1:
            raise ValueError(f"expected size of '{cls.name}' to be one dim, got {len(size)}")
        require_sizes(cls.name, size)
        if pivots.rank == 0:
            raise ValueError(
                f"expected data of '{cls.name}' to have at least one dim, got {shape_text(pivots)}"
            )
        dims = None if pivots.dims is None else [*pivots.dims[:-1], *size]
        return TensorType.of(dims, pivots.known_element, pivots.rank)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (pivots,), (size,) = tensors, attributes["size"]
        *batch, steps = pivots.shape

        def exchange(ib: Any, inputs: Any, outputs: Sequence[Any], *at: Any) -> None:
            (order,) = outputs
            with ib.for_range(0, size, "row") as row:
                ib.store(order, (*at, row), te.cast(order.dtype, row))
            with ib.for_range(0, te.min(steps, size), "k") as k:
                wanted = te.cast("int64", pivots(*at, k)) - 1
                other = ib.let(te.max(te.min(wanted, size - 1), 0))
                first, second = (ib.let(order(*at, n)) for n in (k, other))
                ib.store(order, (*at, k), second)
                ib.store(order, (*at, other), first)

        shape = (*batch, size)
        return te.statements([shape], [pivots], exchange, [pivots.dtype], batch, "T_permutation")[0]

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        (pivots,) = arrays
        size: int = int(attributes["size"][0])
        order = np.empty((*pivots.shape[:-1], size), pivots.dtype)
        order[...] = np.arange(size)
        for at in np.ndindex(*pivots.shape[:-1]):
            for k in range(min(pivots.shape[-1], size)):
                other = int(np.clip(pivots[*at, k] - 1, 0, size - 1))
                order[*at, [k, other]] = order[*at, [other, k]]
        return order
