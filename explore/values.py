"""Tensors of any stage for given inputs, and the error of each against the graph in float64."""

from __future__ import annotations

import base64
import binascii
import io
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, prod
from typing import Any
from zipfile import BadZipFile

import numpy as np
from xdsl.ir import Operation

from ..debugging.report import DebugReport, OperationReport
from ..dialects import relax, tir
from ..display.elements import code, paragraph
from ..display.tensors import heat_map
from ..reference.arguments import Expected, bind_symbols
from ..reference.evaluate import parameters
from ..reference.inputs import draw_arguments
from ..reference.values import Array
from ..runtime.signature import shape_text

DEFAULT_SIZE = 64
"""The value of a symbol for which none is given."""

_SHOWN = 8
"""Rows and columns of a matrix that are printed."""


def draw_inputs(
    op: Operation, sizes: Mapping[str, int], seed: int = 0, given: Mapping[str, Array] | None = None
) -> list[Any]:
    """Arguments of a function: those given by name, and random ones for the other parameters.

    Symbols that given arrays determine have their sizes, others those of `sizes`. Raises ValueError
    for a name that is no parameter.
    """
    known, arrays = dict(parameters(op)), dict(given or {})
    if unknown := ", ".join(name for name in arrays if name not in known):
        raise ValueError(f"expected arrays named as parameters ({', '.join(known)}), got {unknown}")
    symbols = dict.fromkeys(_symbols(op), DEFAULT_SIZE) | dict(sizes)
    bound: dict[str, int] = {}
    for name, array in arrays.items():
        if isinstance(type_ := known[name], tir.BufferType | relax.TensorType):
            bind_symbols([Expected(name, type_.dims, type_.dtype)], [array], bound)
    drawn = draw_arguments(op, np.random.default_rng(seed), symbols | bound, (0, 2))
    return [arrays.get(name, value) for name, value in zip(known, drawn, strict=True)]


def _symbols(op: Operation) -> set[str]:
    dims = [d for _, type_ in parameters(op) for d in getattr(type_, "dims", None) or ()]
    return {symbol for dim in dims for symbol in dim.symbols()}


def read_arrays(file: str) -> dict[str, Array]:
    """The arrays of a file of `numpy.savez`, in base64; raises ValueError for anything else."""
    try:
        with np.load(io.BytesIO(base64.b64decode(file, validate=True))) as found:
            return {name: found[name] for name in found.files}
    except (binascii.Error, BadZipFile, AttributeError, OSError, TypeError, ValueError) as error:
        raise ValueError("expected a file of numpy.savez, without objects") from error


def report_data(report: DebugReport) -> dict[str, Any]:
    """A report as data of JSON."""
    bad = report.first_bad
    return {
        "function": report.function,
        "stage": report.stage,
        "summary": report.summary(),
        "first_bad": None if bad is None else bad.name,
        "operations": [_operation_data(o) for o in report],
    }


def _operation_data(operation: OperationReport) -> dict[str, Any]:
    error = operation.error
    return {
        "name": operation.name,
        "operator": operation.operator,
        "module": operation.module,
        "source": operation.source,
        "kernel": operation.kernel,
        "tensors": [
            f"{dtype} {shape_text(shape)}"
            for dtype, shape in zip(operation.dtypes, operation.shapes, strict=True)
        ],
        "stored": sorted(operation.values),
        "verdict": operation.verdict,
        "largest": None if error is None else _finite(error.largest),
        "relative": None if error is None else _finite(error.relative),
    }


def _finite(value: float) -> float | None:
    """A number that JSON has."""
    return value if isfinite(value) else None


@dataclass(frozen=True)
class Panel:
    """One picture of a tensor: its title, and HTML."""

    title: str
    html: str


def tensor_data(operation: OperationReport, item: int, number: int) -> dict[str, Any]:
    """A matrix of a result, beside that of the reference: the last two axes at one index.

    Raises ValueError for a tensor that is not stored at this stage.
    """
    if item not in operation.values:
        raise ValueError(f"expected a result that is stored, got that of '{operation.name}'")
    found, wanted = operation.values[item], operation.expected.get(item)
    count = prod(found.shape[:-2])
    if number not in range(count):
        raise ValueError(f"expected a matrix from 0 to {count - 1}, got {number}")
    panels = [Panel("Result", _matrix_html(found, number))]
    if wanted is not None and found.dtype != np.bool_:
        with np.errstate(all="ignore"):
            difference = found.astype(np.float64) - wanted.astype(np.float64)
        panels.append(Panel("float64", _matrix_html(wanted, number)))
        panels.append(Panel("Difference", _matrix_html(difference, number)))
    return {"matrices": count, "panels": [vars(panel) for panel in panels]}


def _matrix_html(tensor: Array, number: int) -> str:
    """A matrix as a picture, with statistics of the whole tensor and its first values."""
    if not tensor.size:
        return paragraph("no elements")
    rows = tensor.shape[-2] if tensor.ndim > 1 else 1
    matrix = tensor.reshape(-1, rows, tensor.shape[-1] if tensor.ndim else 1)[number]
    with np.printoptions(precision=4, linewidth=120, suppress=False):
        text = str(matrix[:_SHOWN, :_SHOWN])
    return heat_map(matrix) + paragraph(_statistics(tensor)) + code(text, "")


def _statistics(tensor: Array) -> str:
    values = tensor.astype(np.float64)
    finite = values[np.isfinite(values)]
    with np.errstate(over="ignore"):
        mean, largest = (finite.mean(), np.abs(finite).max()) if finite.size else (0.0, 0.0)
    parts = [f"mean {mean:.4g}, largest {largest:.4g}"]
    for name, count in (("NaN", np.isnan(values).sum()), ("infinite", np.isinf(values).sum())):
        parts += [f"{count:,} {name}"] if count else []
    return ", ".join(parts)
