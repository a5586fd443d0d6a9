"""Constants of a printed program: the `metadata` dictionary that `script(show_meta=True)` writes."""

from __future__ import annotations

import ast
import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...dialects.relax import TensorData
from ...dialects.relax.constant import storage_dtype
from ..errors import Source

KEY = "relax.expr.Constant"


def metadata_constants(source: Source, tree: ast.Module) -> Sequence[TensorData]:
    """The constants that a program text defines, in order; none where it has no metadata."""
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="metadata")], value=value):
                try:
                    return read_constants(ast.literal_eval(value))
                except (ValueError, KeyError, TypeError) as error:
                    raise source.error(
                        node, f"expected the metadata of a printed program: {error}"
                    ) from None
            case _:
                continue
    return ()


def read_constants(metadata: Mapping[str, Any]) -> list[TensorData]:
    """The constants of a metadata dictionary; raises ValueError, KeyError or TypeError where it is not one."""
    return [_read(entry) for entry in metadata[KEY]]


def _read(entry: Mapping[str, Any]) -> TensorData:
    dtype, shape = str(entry["dtype"]), tuple(int(d) for d in entry["shape"])
    storage = storage_dtype(dtype)
    content = base64.b64decode(entry["base64"], validate=True)
    expected = int(np.prod(shape)) * storage.itemsize
    if len(content) != expected:
        raise ValueError(
            f"expected {expected} bytes for a constant of shape {shape}, got {len(content)}"
        )
    array = np.frombuffer(content, storage.newbyteorder("<")).astype(storage).reshape(shape)
    return TensorData.of(array, dtype, str(entry.get("key", "")))
