"""The report of a quantization: a line for each layer, and the error of the results."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log10

from ..profiling.report import plain_table
from .layers import Range

COLUMNS = ("layer", "operator", "low", "high", "scale", "zero point", "error", "SQNR dB", "data")


@dataclass(frozen=True)
class QuantizedLayer:
    """A layer, the range of its data, and the error that its quantization causes or would cause."""

    name: str
    """The path of the module, or the name of the node or the value, in the model."""
    operator: str
    source: str
    """The line of the model's program, ``file:line``, or nothing."""
    range: Range | None
    """`None` for ranges that are found at run time, for each row, and where there was no data."""
    dtype: str
    """The integers of the data, "uint8" or with dynamic ranges "int8"; else "float32"."""
    error: float | None
    """The error of its own result where nothing else is quantized; `None` without data."""

    @property
    def is_quantized(self) -> bool:
        """Whether it computes on integers."""
        return self.dtype != "float32"

    @property
    def sqnr(self) -> float | None:
        """The ratio of the result's signal to its quantization noise in decibels."""
        if self.error is None:
            return None
        return -20 * log10(self.error) if self.error else inf

    def row(self) -> list[str]:
        """The cells of a table with `COLUMNS`."""
        known = self.range
        numbers = ["-"] * 4
        if known is not None:
            numbers = [f"{x:.4g}" for x in (known.low, known.high, known.scale)]
            numbers.append(str(known.zero_point))
        errors = ["-"] * 2 if self.error is None else [f"{self.error:.2e}", f"{self.sqnr:.1f}"]
        return [self.name, self.operator, *numbers, *errors, self.dtype]


@dataclass(frozen=True)
class Report:
    """The layers of a quantized function, and the error of its results on the example inputs.

    Errors are root mean squares of differences from float32, over those of the values; `None`
    where there were no inputs.
    """

    layers: tuple[QuantizedLayer, ...]
    error: float | None

    def __str__(self) -> str:
        table = plain_table(COLUMNS, [layer.row() for layer in self.layers])
        if self.error is None:
            return table
        return f"{table}\nrelative error of the results: {self.error:.2e}"
