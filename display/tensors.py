"""Tensors as notebooks show them: values, and of a matrix a picture of where they are large."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .elements import code, document, paragraph

_ROWS, _COLUMNS, _CELL = 16, 64, 8


def tensor_html(tensor: Any) -> str:
    """A run-time tensor; long ones are shortened as NumPy prints them."""
    values = repr(tensor).rpartition("\nTensor(")[0]
    title = f"Tensor {tensor.shape} {tensor.dtype}"
    picture = heat_map(np.asarray(tensor)) if tensor.ndim == 2 and tensor.size else ""
    return document(title, f"{tensor.nbytes:,} bytes, {tensor.device}", code(values, ""), picture)


def heat_map(matrix: NDArray[Any]) -> str:
    """A matrix as cells, of at most 16 rows and 64 columns that are equally far apart."""
    rows, columns = _picked(matrix.shape[0], _ROWS), _picked(matrix.shape[1], _COLUMNS)
    picked = matrix[np.ix_(rows, columns)].astype(np.float64)
    finite = picked[np.isfinite(picked)]
    if not finite.size:
        return ""
    least, most = float(finite.min()), float(finite.max())
    shares = (picked - least) / ((most - least) or 1.0)
    cells = "".join(
        f'<rect x="{j * _CELL}" y="{i * _CELL}" width="{_CELL}" height="{_CELL}" '
        f'fill-opacity="{share:.2f}"/>'
        for (i, j), share in np.ndenumerate(shares)
        if np.isfinite(share)
    )
    width, height = len(columns) * _CELL, len(rows) * _CELL
    svg = (
        f'<svg class="heat" role="img" aria-label="values" width="{width}" height="{height}">'
        f"{cells}</svg>"
    )
    sample = "" if shares.size == matrix.size else f", of {shares.size:,} elements"
    return svg + paragraph(f"{least:g} to {most:g}{sample}")


def _picked(size: int, most: int) -> NDArray[np.int64]:
    return np.linspace(0, size - 1, min(size, most)).astype(np.int64)
