"""Constants of a printed module: numbered references in the text, their data in one Python dict."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...dialects.dtypes import element_type
from ...dialects.relax import ConstantOp, DataAttr, TensorData
from ...dialects.relax.constant import storage_dtype
from .literals import quote, shortest
from .writer import Writer

KEY = "relax.expr.Constant"
OMITTED = "# Metadata omitted. Use show_meta=True in script() method to show it."


def read_constants(metadata: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[TensorData]:
    """The constants of a printed ``metadata`` dict, in order.

    Raises KeyError or ValueError for a dict that was not printed so.
    """
    return [_read(entry) for entry in metadata.get(KEY, ())]


def _read(entry: Mapping[str, Any]) -> TensorData:
    dtype, shape = str(entry["dtype"]), tuple(int(d) for d in entry["shape"])
    element_type(dtype)
    storage = storage_dtype(dtype)
    content = base64.b64decode(entry["base64"], validate=True)
    array = np.frombuffer(content, storage.newbyteorder("<")).reshape(shape)
    return TensorData.of(array.astype(storage), dtype, str(entry["key"]))


class Metadata:
    """Numbers the constants that are not written in place, by first appearance.

    They are constants of a function, or tensors among its attributes.
    """

    def __init__(self) -> None:
        self._numbers: dict[ConstantOp | DataAttr, int] = {}

    @property
    def is_empty(self) -> bool:
        """Whether no constant was numbered."""
        return not self._numbers

    @property
    def constants(self) -> list[TensorData]:
        """The numbered constants, in order."""
        return [_data(given) for given in self._numbers]

    def constant(self, op: ConstantOp) -> str:
        """``R.const(1.0, "float32")`` for a scalar, else ``metadata["relax.…"][0]``."""
        data = op.value.data
        if data.shape == () and data.array is not None:
            return f"R.const({scalar_text(data)}, {quote(data.dtype)})"
        return self.reference(op)

    def reference(self, given: ConstantOp | DataAttr) -> str:
        """``metadata["relax.…"][0]``."""
        return f"metadata[{quote(KEY)}][{self._numbers.setdefault(given, len(self._numbers))}]"

    def write(self, writer: Writer) -> None:
        """Write ``metadata = {…}``; raises ValueError for a constant whose data was not given."""
        with writer.indented("metadata = {"):
            with writer.indented(f"{quote(KEY)}: ["):
                for data in self.constants:
                    writer.line(f"{_entry(data)},")
            writer.line("],")
        writer.line("}")


def _data(given: ConstantOp | DataAttr) -> TensorData:
    return given.value.data if isinstance(given, ConstantOp) else given.data


def _entry(data: TensorData) -> str:
    array = data.values
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    text = base64.b64encode(little.tobytes()).decode()
    return (
        f'{{"dtype": {quote(data.dtype)}, "shape": {list(data.shape)}, '
        f'"key": {quote(data.key)}, "base64": {quote(text)}}}'
    )


def scalar_text(data: TensorData) -> str:
    """The number of a constant of rank 0; in quotes where it is not finite."""
    array: NDArray[Any] = data.values.reshape(())
    if data.dtype == "bfloat16":
        array = (array.astype(np.uint32) << np.uint32(16)).view(np.float32)
    value = array.item()
    if not isinstance(value, float):
        return str(value)
    return shortest(value, data.dtype) if np.isfinite(value) else quote(str(value))
