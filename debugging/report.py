"""What a comparison says: a line for each operation, as a table and as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from ..display.rich import displayed
from ..profiling.report import figure_class, plain_table
from ..reference.values import Array
from ..runtime.signature import shape_text
from ..user_frames import with_cells
from .captured import MACHINE_CODE
from .comparison import Error

_NAMED = 60
"""The most results whose names the picture has."""


@dataclass(frozen=True)
class OperationReport:
    """One operation of a graph, and the error of its result where compiled code stores that."""

    name: str
    """The name of the result: in a model, that of the node of the exported graph."""
    operator: str
    """What it computes, such as "nn.gelu"."""
    source: str
    """The line of the user's program, ``file:line``; empty if it is not known."""
    module: str
    """The path of the module in the model, such as "layers.0.linear"; empty in other graphs."""
    shapes: tuple[tuple[int, ...], ...]
    """The shape of each tensor; none if the operation is in a branch that was not taken."""
    dtypes: tuple[str, ...]
    kernel: str
    """The kernel that it is computed in; empty for what the compiler has removed."""
    operations: tuple[str, ...]
    """The operations of the kernel whose result this is; empty for one inside of a kernel."""
    error: Error | None
    """The error of the result; `None` where there is nothing to compare."""
    values: Mapping[int, Array] = field(repr=False)
    """The tensors of the result that are stored, by number; floats as float64."""
    expected: Mapping[int, Array] = field(repr=False)
    """Those of the reference."""

    @property
    def is_bad(self) -> bool:
        """Whether the error is larger than the tolerance, or NaN appears here first."""
        return self.error is not None and bool(self.error.problem)

    @property
    def verdict(self) -> str:
        """ "ok" or "BAD"; nothing without an error."""
        return "" if self.error is None else "BAD" if self.is_bad else "ok"

    @property
    def place(self) -> str:
        """The module of the model and the source line, as far as they are known."""
        return ", ".join(filter(None, (self.module, self.source)))


@displayed("executables:debug_html")
@dataclass(frozen=True)
class DebugReport:
    """The error after each operation: `print(report)`, `report["relu"]`, `report.plot(path)`."""

    function: str
    reference: str
    """What was compared with."""
    operations: tuple[OperationReport, ...]
    result: Any
    """What the call returned; at a stage before machine code, as NumPy arrays."""
    target: str
    stage: str
    columns: ClassVar[Sequence[str]] = (
        "operation",
        "computes",
        "source",
        "kernel",
        "shape",
        "dtype",
        "max error",
        "relative",
        "verdict",
    )
    """The head of the table."""

    def __getitem__(self, name: str) -> OperationReport:
        for operation in self.operations:
            if operation.name == name:
                return operation
        known = ", ".join(o.name for o in self.operations) or "none"
        raise ValueError(f"expected an operation of '{self.function}' ({known}), got '{name}'")

    def __iter__(self) -> Iterator[OperationReport]:
        return iter(self.operations)

    def __len__(self) -> int:
        return len(self.operations)

    @property
    def first_bad(self) -> OperationReport | None:
        """The first operation with a wrong result, `None` if there is none.

        If it is the result of a fused kernel, any of its `operations` may be wrong.
        """
        return next((o for o in self.operations if o.is_bad), None)

    @property
    def title(self) -> str:
        """The function, and the stage unless that is machine code."""
        is_compiled = self.stage == MACHINE_CODE
        return self.function if is_compiled else f"{self.function} at stage {self.stage}"

    def summary(self) -> str:
        """One line on the first bad operation, with a line for each other one of its kernel."""
        compared = sum(o.error is not None for o in self.operations)
        bad = self.first_bad
        if bad is None:
            return f"no bad operation: {compared} of {len(self)} results compared"
        assert bad.error is not None
        lines = [f"first bad: '{bad.name}' ({bad.operator}) {_at(bad)}: {bad.error.problem}"]
        inside = [self[name] for name in bad.operations if name != bad.name]
        if inside:
            lines.append(f"kernel '{bad.kernel}' also computes")
            lines += [f"  '{o.name}' ({o.operator}) {_at(o)}" for o in inside]
        return "\n".join(lines)

    def rows(self) -> list[list[str]]:
        """The cells of the table; errors are those of the result of a kernel."""
        return [_row(o) for o in self.operations]

    def table(self) -> str:
        """The table as text."""
        return plain_table(self.columns, self.rows())

    def __str__(self) -> str:
        head = f"{self.title} compared with {self.reference}"
        return "\n".join([head, self.table(), self.summary()])

    def __repr__(self) -> str:
        return str(self)

    def plot(self, path: str | Path) -> None:
        """Write the relative error after each operation, by matplotlib, by the path's suffix.

        Raises ValueError where matplotlib is not installed.
        """
        plot_errors(self, path)


def _at(operation: OperationReport) -> str:
    return f"at {with_cells(operation.place) or 'an unknown line'}"


def _row(operation: OperationReport) -> list[str]:
    error = operation.error
    return [
        operation.name,
        operation.operator,
        " ".join(filter(None, (operation.module, _file(operation.source)))),
        operation.kernel,
        " ".join(map(shape_text, operation.shapes)),
        " ".join(dict.fromkeys(operation.dtypes)),
        "" if error is None else f"{error.largest:.2e}",
        "" if error is None else f"{error.relative:.2e}",
        operation.verdict,
    ]


def _file(source: str) -> str:
    """A source line without folders."""
    return Path(with_cells(source)).name


def plot_errors(report: DebugReport, path: str | Path) -> None:
    """Write the picture: a point for each result that was compared, the first bad one labelled."""
    figure = figure_class()(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    points = [(i, o, o.error.relative) for i, o in enumerate(report) if o.error is not None]
    # A result without an error is a decade below the smallest one.
    lowest = min((error for _, _, error in points if error), default=1.0) / 10
    heights = [max(error, lowest) for _, _, error in points]
    axes.plot([i for i, _, _ in points], heights, "o-", markersize=3, linewidth=1, color="k")
    bad = report.first_bad
    for (number, operation, _), height in zip(points, heights, strict=True):
        if bad is not None and operation is bad:
            axes.plot(number, height, "o", markersize=9, color="C3")
            text = f"{bad.name}\n{bad.module or _file(bad.source)}"
            axes.annotate(text, (number, height), (8, -24), textcoords="offset points", color="C3")
    axes.set(
        yscale="log",
        xlabel="operation",
        ylabel="largest error / largest magnitude",
        title=f"{report.title} compared with {report.reference}",
    )
    if len(points) <= _NAMED:
        names = [o.name for _, o, _ in points]
        axes.set_xticks([i for i, _, _ in points], names, rotation=90, fontsize=7)
    axes.grid(alpha=0.3)
    figure.savefig(path)
