"""What `LanguageModel.profile` and `LanguageModel.debug` say, by layers of the model."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..debugging.report import DebugReport, OperationReport
from ..profiling.report import ProfileReport, plain_table

LAYER = re.compile(r"layer_([0-9]+)_result")
"""Names of the results of layers, see `Step.named`."""


@dataclass(frozen=True)
class ModelProfile:
    """The time of a step by kernel, in all layers and in each; `report` has the rest."""

    report: ProfileReport
    layers: int

    @property
    def bandwidth(self) -> float:
        """Bytes per second that this machine reads from memory."""
        return self.report.kernels[0].machine.levels[-1].bytes_per_second

    @property
    def share(self) -> float:
        """The part of this bandwidth that the step reaches, with all that kernels read."""
        return sum(k.bytes for k in self.report) / self.report.median / self.bandwidth

    def rows(self) -> list[list[str]]:
        """The cells of the table, the slowest kernel first."""
        found: list[list[str]] = []
        for kernel in sorted(self.report, key=lambda k: -k.median):
            rate = kernel.bytes / kernel.median if kernel.median else 0.0
            found.append(
                [
                    kernel.name,
                    f"{kernel.calls / self.layers:.1f}".removesuffix(".0"),
                    f"{1e6 * kernel.median / self.layers:.2f}",
                    f"{1e6 * kernel.median:.2f}",
                    f"{100 * self.report.share(kernel):.1f}",
                    f"{rate / 1e9:.1f}",
                    f"{100 * rate / self.bandwidth:.0f}",
                ]
            )
        return found

    def __str__(self) -> str:
        head = (
            "kernel", "calls a layer", "µs a layer", "µs", "time %", "GB/s", "bandwidth %"
        )  # fmt: skip
        first = (
            f"{self.report.function}: {1e3 * self.report.median:.2f} ms, {self.layers} layers, "
            f"{100 * self.share:.0f} % of {self.bandwidth / 1e9:.1f} GB/s"
        )
        return f"{first}\n{plain_table(head, self.rows())}"


@dataclass(frozen=True)
class ModelDebug:
    """The error after each layer and of the logits; `report` has all operations."""

    report: DebugReport

    @property
    def first_bad(self) -> OperationReport | None:
        """The first operation with a wrong result, `None` if there is none."""
        return self.report.first_bad

    @property
    def first_bad_layer(self) -> int | None:
        """The layer of this operation; that after the last one for the logits."""
        bad, layer = self.first_bad, 0
        if bad is None:
            return None
        for operation in self.report:
            if operation is bad:
                return layer
            if name := LAYER.fullmatch(operation.name):
                layer = int(name[1]) + 1
        return layer

    def layers(self) -> list[OperationReport]:
        """The results of layers, and last the logits."""
        *found, last = self.report.operations
        return [*(o for o in found if LAYER.fullmatch(o.name)), last]

    def rows(self) -> list[list[str]]:
        """The cells of the table."""
        found: list[list[str]] = []
        *layers, logits = self.layers()
        for operation, name in zip(
            (*layers, logits),
            (*(o.name.removesuffix("_result") for o in layers), "logits"),
            strict=True,
        ):
            error = operation.error
            cells = ["", ""] if error is None else [f"{error.largest:.2e}", f"{error.relative:.2e}"]
            found.append([name, *cells, operation.verdict])
        return found

    def __str__(self) -> str:
        head = f"{self.report.function} compared with {self.report.reference}"
        table = plain_table(("layer", "max error", "relative", "verdict"), self.rows())
        bad = self.first_bad
        if bad is None:
            return f"{head}\n{table}\nno bad layer"
        return f"{head}\n{table}\nfirst bad layer: {self.first_bad_layer}, {self.report.summary()}"
