"""Runs of a graph on example inputs: the ranges of its layers' data, and the errors of layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from ..driver import build
from ..importers.imported import Arguments
from ..reference.arguments import flatten
from .layers import Range, layers_of, quantize_layer
from .noise import Noise
from .probes import Probes, Results
from .progress import progress


@dataclass
class Observer:
    """The range of what it has seen: all values, or those inside of percentiles of each input."""

    percentile: float
    low: float = 0.0
    high: float = 0.0
    has_seen: bool = False

    def see(self, values: NDArray[np.float32]) -> None:
        """Extend the range; raises ValueError for infinities and NaN."""
        if not np.isfinite(values).all():
            raise ValueError("expected finite activations to calibrate with, got inf or nan")
        if values.size:
            self.has_seen = True
            ends = np.percentile(values, [100 - self.percentile, self.percentile])
            self.low, self.high = min(self.low, float(ends[0])), max(self.high, float(ends[1]))

    @property
    def range(self) -> Range | None:
        """The range, with 0; `None` if there were no values."""
        return Range(self.low, self.high) if self.has_seen else None


@dataclass(frozen=True)
class Runs:
    """A function of a module and example inputs of it."""

    module: ModuleOp
    function: str
    inputs: Sequence[Arguments]
    target: str
    shows_progress: bool = False

    def calibrate(self, percentile: float) -> tuple[list[Range | None], Results]:
        """The ranges of the data of layers, `None` for those without data, and the results."""
        module = self.module.clone()
        observers = [Observer(percentile) for _ in layers_of(module, self.function)]
        with Probes() as probes:
            for observer, layer in zip(observers, layers_of(module, self.function), strict=True):
                data = [layer.operands[0]]
                layer.operands[0] = probes.insert(data, layer, observer.see).results[0]
            results = self.results(module, "calibrate")
        return [observer.range for observer in observers], results

    def errors(self, ranges: Sequence[Range | None]) -> list[float | None]:
        """For each layer the error that its quantization alone causes, at its own result.

        `None` for layers that no input reaches.
        """
        module = self.module.clone()
        noises = [Noise() for _ in ranges]
        layers = layers_of(module, self.function)
        with Probes() as probes:
            for noise, range_, layer in zip(noises, ranges, layers, strict=True):
                copy = layer.clone()
                assert layer.parent is not None
                layer.parent.insert_op_after(copy, layer)
                after = copy.next_op
                assert after is not None
                values = [layer.result, quantize_layer(copy, range_)]
                probe = probes.insert(values, after, noise.see)
                layer.result.replace_uses_with_if(
                    probe.results[0], lambda u, p=probe: u.operation is not p
                )
            self.results(module, "measure layers")
        return [noise.relative if noise.has_seen else None for noise in noises]

    def results(self, module: ModuleOp, step: str = "") -> Results:
        """The results of another form of the module for each input."""
        main = build(module, self.target)[self.function]
        inputs = progress(self.inputs, step, self.shows_progress and bool(step))
        return [
            [t.numpy().copy() for t in flatten(main(*args, **kwargs))] for args, kwargs in inputs
        ]
