"""What converters of ONNX operators build with: operators on tensors, shapes, broadcasts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dialects import relax
from ...dialects.dtypes import element_type
from ...dialects.int_expr import ONE, IntExpr
from ...dialects.relax.types import python_shape
from ..emitter import Value, is_tensor
from .scope import GraphImporter, Scope
from .tensor import Known, Tensor


class Context:
    """Builds the operations of one node.

    `opset` is the opset of the node's domain, `outputs` says which results are used. A node with
    graphs among its attributes runs them by `importer`, in a scope inside of `scope`.
    """

    def __init__(
        self, importer: GraphImporter, scope: Scope, opset: int, outputs: Sequence[bool] = (True,)
    ):
        self.importer = importer
        self.emitter = importer.emitter
        self.scope = scope
        self.opset = opset
        self.outputs = list(outputs)

    def emit(self, operator: str, *operands: Tensor, **attributes: Any) -> Tensor:
        """The result of an operator by its name after "relax."; `None` attributes are omitted."""
        return self.tensor(self.emitter.op(operator, *(t.value for t in operands), **attributes))

    def emit_fields(self, operator: str, *operands: Tensor, **attributes: Any) -> list[Tensor]:
        """The results of an operator that has several."""
        value = self.emitter.op(operator, *(t.value for t in operands), **attributes)
        return [self.tensor(field) for field in self.emitter.fields(value)]

    def tensor(self, value: Value) -> Tensor:
        """A tensor of an SSA value."""
        return Tensor.of_value(self.emitter, value)

    def item(self, result: Any) -> Any:
        """What a converter returns: an SSA value as a tensor, other results as they are."""
        return self.tensor(result) if is_tensor(result) else result

    def known(self, values: Known, dtype: str) -> Tensor:
        """A tensor of known values."""
        return Tensor.of_known(self.emitter, values, dtype)

    def array(self, values: Any, dtype: str) -> Tensor:
        """A constant tensor."""
        stored = "float32" if dtype == "bfloat16" else dtype
        return Tensor.of_known(self.emitter, np.asarray(values, stored), dtype)

    def number(self, value: int | float | bool | IntExpr, dtype: str) -> Tensor:
        """A number as a tensor of rank 0."""
        return self.tensor(self.emitter.number(value, dtype))

    def astype(self, tensor: Tensor, dtype: str) -> Tensor:
        """The values in another dtype."""
        if tensor.dtype == dtype:
            return tensor
        return self.tensor(self.emitter.astype(tensor.value, dtype))

    def reshape(self, tensor: Tensor, dims: Sequence[IntExpr | int]) -> Tensor:
        """The elements in another shape."""
        wanted = [IntExpr.of(d) for d in dims]
        if tensor.dims == wanted:
            return tensor
        if tensor.known is not None and all(d.is_constant for d in wanted):
            shape = [d.offset for d in wanted]
            return self.known(tensor.known.reshape(shape), tensor.dtype)
        return self.tensor(self.emitter.reshape(tensor.value, wanted))

    def permute(self, tensor: Tensor, axes: Sequence[int]) -> Tensor:
        """The dims in another order."""
        return self.tensor(self.emitter.permute(tensor.value, axes))

    def broadcast(self, tensor: Tensor, dims: Sequence[IntExpr]) -> Tensor:
        """The tensor expanded to a shape."""
        if tensor.dims == list(dims):
            return tensor
        fitted = self.emitter.fitted(tensor.value, dims)
        return self.tensor(self.emitter.broadcast(fitted, dims))

    def fitted(self, tensor: Tensor, dims: Sequence[IntExpr]) -> Tensor:
        """The tensor with these dims; those that are not provably equal are checked on calls."""
        if tensor.dims == list(dims):
            return tensor
        type_ = relax.TensorType.of(dims, element_type(tensor.dtype))
        return self.tensor(self.emitter.match(tensor.value, type_))

    def fitting(self, *tensors: Tensor) -> list[Tensor]:
        """Tensors for a common broadcast: dims other than 1 are equal, or checked on calls."""
        dims = broadcast_dims(*(t.dims for t in tensors))
        found: list[Tensor] = []
        for tensor in tensors:
            own = dims[len(dims) - tensor.rank :]
            wanted = [a if a == ONE else b for a, b in zip(tensor.dims, own, strict=True)]
            found.append(self.fitted(tensor, wanted))
        return found

    def elementwise(self, operator: str, *operands: Tensor) -> Tensor:
        """An operator on operands that are broadcast."""
        return self.emit(operator, *self.fitting(*operands))


def broadcast_dims(*shapes: Sequence[IntExpr]) -> list[IntExpr]:
    """The common shape of a broadcast: of unequal dims the constant one, else the first.

    Raises ValueError for different constants.
    """
    rank = max(map(len, shapes), default=0)
    padded = [[*[ONE] * (rank - len(shape)), *shape] for shape in shapes]
    for dims in zip(*padded, strict=True):
        if len({d for d in dims if d.is_constant and d != ONE}) > 1:
            given = " and ".join(map(python_shape, shapes))
            raise ValueError(f"expected shapes that broadcast, got {given}")
    return [_common(dims) for dims in zip(*padded, strict=True)]


def _common(dims: Sequence[IntExpr]) -> IntExpr:
    found = [d for d in dims if d != ONE]
    constant = [d for d in found if d.is_constant]
    return (constant or found or [ONE])[0]
