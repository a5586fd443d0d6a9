"""Values of a compiled graph on example inputs: functions of the registry that see them.

::

    %y = relax.linear %x, %w : …

⇒

    %1 = relax.call_dps_packed "xrelax.calibrate.0.3"(%x) : …       copies %x
    %y = relax.linear %1, %w : …
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from ..dialects import relax
from ..driver import build
from ..reference.arguments import flatten
from ..runtime.registry import register_func, remove_global_func
from ..runtime.tensor import Tensor
from .layers import Range, layers_of

_numbers = count()


@dataclass
class Observer:
    """The range of what it has seen: all values, or those inside of percentiles of each input."""

    percentile: float
    low: float = 0.0
    high: float = 0.0

    def see(self, values: NDArray[np.float32]) -> None:
        """Extend the range; raises ValueError for infinities and NaN."""
        if not np.isfinite(values).all():
            raise ValueError("expected finite activations to calibrate with, got inf or nan")
        if values.size:
            ends = np.percentile(values, [100 - self.percentile, self.percentile])
            self.low, self.high = min(self.low, float(ends[0])), max(self.high, float(ends[1]))

    @property
    def range(self) -> Range:
        """The range, with 0."""
        return Range(self.low, self.high)


@dataclass
class Calibration:
    """The ranges of the data of layers, and the results, on example inputs."""

    ranges: list[Range]
    results: list[list[NDArray[Any]]] = field(default_factory=lambda: [])


def calibrate(
    module: ModuleOp,
    function: str,
    inputs: Sequence[Sequence[Any]],
    percentile: float,
    target: str,
) -> Calibration:
    """Run the compiled function on all inputs, and observe the data of its layers."""
    observed, prefix = module.clone(), f"xrelax.calibrate.{next(_numbers)}"
    layers = layers_of(observed, function)
    observers = [Observer(percentile) for _ in layers]
    names = [f"{prefix}.{number}" for number in range(len(layers))]
    for name, layer in zip(names, layers, strict=True):
        call = relax.CallDPSPackedOp(name, [layer.operands[0]], layer.operands[0].type)
        call.location = layer.location
        assert layer.parent is not None
        layer.parent.insert_op_before(call, layer)
        layer.operands[0] = call.result
    try:
        for name, observer in zip(names, observers, strict=True):
            register_func(name, partial(_observe, observer))
        results = results_of(observed, function, inputs, target)
    finally:
        for name in names:
            remove_global_func(name)
    return Calibration([o.range for o in observers], results)


def _observe(observer: Observer, data: Tensor, out: Tensor) -> None:
    observer.see(data.view())
    out.view()[...] = data.view()


def results_of(
    module: ModuleOp, function: str, inputs: Iterable[Sequence[Any]], target: str
) -> list[list[NDArray[Any]]]:
    """The results of the compiled function for each input, as a list of arrays."""
    main = build(module, target)[function]
    return [[t.numpy().copy() for t in flatten(main(*args))] for args in inputs]


def relative_error(
    found: Sequence[Sequence[NDArray[Any]]], wanted: Sequence[Sequence[NDArray[Any]]]
) -> float:
    """The root of the mean square of all errors, over that of all values."""
    pairs = [p for f, w in zip(found, wanted, strict=True) for p in zip(f, w, strict=True)]
    error = sum(float(np.square(a.astype(np.float64) - b).sum()) for a, b in pairs)
    size = sum(float(np.square(b.astype(np.float64)).sum()) for _, b in pairs)
    return (error / size) ** 0.5 if size else error**0.5
