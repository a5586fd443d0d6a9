"""The choice of layers that are quantized: all but those to skip, and those that lose too much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatchcase

from xdsl.dialects.builtin import FileLineColLoc, ModuleOp
from xdsl.ir import Operation, SSAValue

from ..dialects import get_context
from ..importers.imported import Arguments, Imported
from ..ir.module import IRModule
from ..lowering.graph.layers import Layer
from ..pipeline import make_pass
from .calibration import Runs
from .layers import Range, layers_of, quantize_layer
from .noise import relative_error
from .probes import Results
from .progress import progress
from .report import QuantizedLayer, Report

MAX_NAMES = 8
"""Layers that an error lists."""


class Selection:
    """The layers of a function, the ranges of their data, and which of them are quantized.

    Raises ValueError for a function without layers.
    """

    def __init__(
        self,
        model: Imported,
        function: str,
        inputs: Sequence[Arguments],
        target: str,
        shows_progress: bool,
    ):
        values: dict[SSAValue, SSAValue] = {}
        module = model.module.op.clone(values)
        names = _names_by_weight(model, function, values)
        # Norms scale the weights of convolutions before these are rounded.
        for name in ("decompose-ops-for-inference", "dead-code-elimination"):
            make_pass(name, target).apply(get_context(), module)
        self._runs = Runs(module, function, inputs, target, shows_progress)
        self._layers = layers_of(module, function)
        if not self._layers:
            raise ValueError(
                f"expected '{function}' to have a linear layer, matmul or convolution of float32 "
                "with a constant weight, got none"
            )
        known = [next(names.get(_weight(layer), iter(())), None) for layer in self._layers]
        self._called = [name or f"{number}" for number, name in enumerate(known)]
        self._names = _numbered(self._called)
        self._chosen = frozenset(range(len(self._layers)))
        self._ranges: Sequence[Range | None] = [None] * len(self._layers)
        self._results: Results = []
        self._errors = {frozenset[int](): 0.0}

    def skip(self, patterns: Collection[str]) -> None:
        """Leave out layers by names or operators; raises ValueError for a pattern of no layer."""
        operators = [_operator(op) for op in self._layers]
        rows = [*zip(self._names, self._called, operators, strict=True)]
        for pattern in patterns:
            found = {n for n, row in enumerate(rows) if any(fnmatchcase(k, pattern) for k in row)}
            if not found:
                known = [*dict.fromkeys([*self._called, *operators])]
                more = f" and {len(known) - MAX_NAMES} more" if len(known) > MAX_NAMES else ""
                listed = ", ".join(known[:MAX_NAMES])
                raise ValueError(
                    f"expected skip to have names of layers or operators ({listed}{more}), "
                    f"got '{pattern}'"
                )
            self._chosen -= found

    def calibrate(self, percentile: float | None) -> None:
        """Find the ranges, and the results in float32; without a percentile, ranges are dynamic.

        Layers that no input reaches, in a branch, have no range, and stay in float32.
        """
        if percentile is not None:
            self._ranges, self._results = self._runs.calibrate(percentile)
            self._chosen -= {n for n, range_ in enumerate(self._ranges) if range_ is None}
        elif self._runs.inputs:
            self._results = self._runs.results(self._runs.module, "run in float32")

    def limit(self, max_error: float) -> None:
        """Leave out layers that alone cause most of the error, until it is not larger."""
        if self._error(self._chosen) <= max_error:
            return
        alone = {n: self._error(frozenset({n})) for n in self._shown(sorted(self._chosen))}
        order = sorted(alone, key=alone.__getitem__)
        few, many = 0, len(order)
        while many - few > 1:  # `few` hold, `many` do not
            middle = (few + many) // 2
            if self._error(frozenset(order[:middle])) <= max_error:
                few = middle
            else:
                many = middle
        self._chosen = frozenset(order[:few])

    def _shown(self, layers: Sequence[int]) -> Sequence[int]:
        return [*progress(layers, "choose layers", self._runs.shows_progress)]

    def _error(self, chosen: frozenset[int]) -> float:
        """The error of the results with these layers quantized."""
        if chosen not in self._errors:
            found = self._runs.results(self._quantized(chosen))
            self._errors[chosen] = relative_error(found, self._results)
        return self._errors[chosen]

    def _quantized(self, chosen: Collection[int]) -> ModuleOp:
        """A copy of the module in which these layers are quantized."""
        module = self._runs.module.clone()
        for number, layer in enumerate(layers_of(module, self._runs.function)):
            if number in chosen:
                quantize_layer(layer, self._ranges[number])
        return module

    def module(self) -> IRModule:
        """The module in which the chosen layers are quantized."""
        return IRModule(self._quantized(self._chosen))

    def report(self) -> Report:
        """What became of each layer, and the errors if there are inputs."""
        if not self._runs.inputs:
            return Report(self._lines([None] * len(self._layers)), None)
        return Report(self._lines(self._runs.errors(self._ranges)), self._error(self._chosen))

    def _lines(self, errors: Sequence[float | None]) -> tuple[QuantizedLayer, ...]:
        found: list[QuantizedLayer] = []
        for number, layer in enumerate(self._layers):
            range_ = self._ranges[number]
            dtype = "int8" if range_ is None else "uint8"
            dtype = dtype if number in self._chosen else "float32"
            name, source = self._names[number], _source(layer)
            operator = _operator(layer)
            found.append(QuantizedLayer(name, operator, source, range_, dtype, errors[number]))
        return tuple(found)


def _names_by_weight(
    model: Imported, function: str, values: dict[SSAValue, SSAValue]
) -> dict[SSAValue, Iterator[str | None]]:
    """The model's names of layers by the copies of their weights, in order.

    Passes replace layers, and keep the constants that their weights are computed from.
    """
    known = model.names()
    found: dict[SSAValue, list[str | None]] = {}
    for layer in layers_of(model.module.op, function):
        name = known.get(layer) or layer.result.name_hint
        found.setdefault(values[_weight(layer)], []).append(name)
    return {weight: iter(names) for weight, names in found.items()}


def _weight(layer: Layer) -> SSAValue:
    """The constant that the weight of a layer is computed from."""
    value = layer.operands[1]
    while isinstance(op := value.owner, Operation) and op.operands:
        value = op.operands[0]
    return value


def _numbered(names: Sequence[str]) -> list[str]:
    """The names, where several are the same numbered from 2."""
    counts = Counter[str]()
    found: list[str] = []
    for name in names:
        counts[name] += 1
        found.append(name if counts[name] == 1 else f"{name} ({counts[name]})")
    return found


def _operator(layer: Layer) -> str:
    return layer.name.removeprefix("relax.")


def _source(layer: Layer) -> str:
    where = layer.location
    return f"{where.filename.data}:{where.line.data}" if isinstance(where, FileLineColLoc) else ""
