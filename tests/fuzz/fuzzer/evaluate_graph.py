"""What a graph computes, by PyTorch in float64, and how far a result may be from it.

Each value is rounded to its dtype. The graph is evaluated several times, in each of which numbers
are changed by some units in the last place wherever a program may round (Parker, "Monte Carlo
Arithmetic", 1997). A result may be as far from the first as these are, some times over; what
differs in kind, such as the place of a maximum, is not compared. Every evaluation has a twin with
the opposite changes, so that one of the two leaves a number at which results jump.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from .bounds import EPSILON, TINY
from .cases import EITHER_ZERO, EXACT, SEEDED, case_of, tolerances, torch
from .evaluate import run
from .graph import Graph, Node
from .kernels import from_bits
from .numbers import Array, Value, rounded, storage
from .syntax import FLOATS, SHORT_FLOATS

ULPS = 4
"""Units in the last place that a number is changed by."""
RUNS = 6
SLACK = 6
"""How many times further than the changed evaluations a result may be."""
OF_BITS = ("relax.bitcast", "relax.memory.view", "relax.nn.pack_words")
"""Operators whose results are the bits of operands, which have their own dtypes there."""
BRANCHES = {
    "add": torch.add,
    "maximum": torch.maximum,
    "multiply": torch.multiply,
    "subtract": torch.subtract,
}
Values = dict[str, Array]


@dataclass
class Changes:
    """The changes of one evaluation, which its twin has with the other `direction`."""

    rng: np.random.Generator
    direction: float
    unknown: float
    """What a float is that may be anything."""

    @staticmethod
    def of_run(run: int) -> Changes:
        """Those of an evaluation by its number."""
        direction = -1.0 if run % 2 else 1.0
        unknown = np.nan if run >= RUNS - 2 else direction * np.inf
        return Changes(np.random.default_rng(run // 2), direction, unknown)

    def sizes(self, shape: tuple[int, ...]) -> Array:
        """Numbers from -1 to 1 that are not near 0; no two of them cancel."""
        sign = self.direction * self.rng.choice((-1.0, 1.0), shape)
        return sign * self.rng.uniform(0.5, 1.0, shape)

    def of_operand(self, array: Array, dtype: str, node: Node) -> Array:
        """A number that is computed with: those of short floats are float32 there."""
        if dtype not in FLOATS or node.operator in EXACT:
            return array
        unit = EPSILON["float32" if dtype in SHORT_FLOATS else dtype]
        return array * (1 + ULPS * unit * self.sizes(array.shape))

    def of_result(self, array: Array, dtype: str, node: Node, terms: float) -> Array:
        """A result as another order of operations may give it; `terms` is the largest operand.

        Scattered numbers are added in the dtype of the result, each sum rounded.
        """
        if dtype not in FLOATS:
            return array
        sizes = self.sizes(array.shape)
        if node.operator not in EXACT:
            relative, absolute = ULPS * EPSILON[dtype], 0.0
            if node.operator:
                allowed = tolerances(node.label, dtype)
                relative, absolute = max(relative, allowed[0] / SLACK), allowed[1] / SLACK
            if node.operator.removeprefix("relax.") in SEEDED:
                absolute = max(absolute, ULPS * EPSILON[dtype] * terms)
            array = array * (1 + relative * sizes) + absolute * sizes
        elif node.operator not in EITHER_ZERO:
            return array
        return np.where(array == 0, np.copysign(0.0, sizes), array)

    def within(self, value: Value) -> Array:
        """The result of a kernel at its bounds."""
        if value.error is None:
            return value.data
        data, is_unknown = value.data, np.isinf(value.error)
        sign = np.sign(self.sizes(data.shape))
        if value.dtype in FLOATS:
            moved = data + sign * np.where(is_unknown, 0, value.error) / SLACK
            return np.where(is_unknown, self.unknown, moved)
        if value.dtype == "bool":
            return np.where(is_unknown, sign > 0, data)
        step = np.full(data.shape, 2, data.dtype) ** self.rng.integers(0, 7)
        return np.where(is_unknown, np.where(sign > 0, data + step, data - step), data)


def expected(graph: Graph) -> list[Value]:
    """The outputs, with bounds for those that are not exact."""
    dtypes = dtypes_of(graph)
    first = evaluate_graph(graph, dtypes, None)
    others = [evaluate_graph(graph, dtypes, Changes.of_run(i)) for i in range(RUNS)]
    return [
        _bounded(dtypes[name], first[name], [o.get(name) for o in others]) for name in graph.outputs
    ]


def dtypes_of(graph: Graph) -> dict[str, str]:
    """The dtype of each value."""
    found = {i.name: i.dtype for i in graph.inputs}
    for node in graph.nodes:
        found |= {n: dtype for n, (dtype, _) in zip(node.names, node.results, strict=True)}
    return found


def _bounded(dtype: str, first: Array, changed: Sequence[Array | None]) -> Value:
    others = [o for o in changed if o is not None]
    if len(others) < len(changed):
        return Value(dtype, rounded(first, dtype), np.full(first.shape, np.inf))
    if dtype not in FLOATS:
        differs = np.any([o != first for o in others], axis=0)
        return Value(dtype, first, np.where(differs, np.inf, 0.0))
    with np.errstate(all="ignore"):
        spread = np.max([np.abs(o - first) for o in others], axis=0)
        error = SLACK * spread + _usual(spread, first) * np.abs(first)
        same = np.all([(o == first) | (np.isnan(o) & np.isnan(first)) for o in others], axis=0)
        # An infinity or NaN that not all evaluations have is no reason to compare.
        finite = np.isfinite(first) & np.all([np.isfinite(o) for o in others], axis=0)
        error = np.where(finite, error + TINY[dtype] * SLACK, np.where(same, 0.0, np.inf))
    return Value(dtype, rounded(first, dtype), error)


def _usual(spread: Array, first: Array) -> float:
    """What numbers of a result usually differ by: some of them happen to hardly differ."""
    parts = (spread / np.abs(first))[(spread > 0) & np.isfinite(spread) & (first != 0)]
    return SLACK * float(np.median(parts)) if parts.size else 0.0


def evaluate_graph(graph: Graph, dtypes: Mapping[str, str], changes: Changes | None) -> Values:
    """All values by name, floats in float64; with `changes` where a program may round.

    Changed values may be no operands of an operator, such as indices: then it has no results.
    """
    values: Values = {}
    for given in graph.inputs:
        array = from_bits(given.array, given.dtype)
        values[given.name] = array.astype(np.float64) if given.dtype in FLOATS else array
    for node in graph.nodes:
        if changes is None:
            values |= _results(node, values, dtypes, None)
            continue
        if all(o in values for o in node.operands):
            with suppress(IndexError, RuntimeError, ValueError):
                values |= _results(node, values, dtypes, changes)
    return values


def _results(
    node: Node, values: Values, dtypes: Mapping[str, str], changes: Changes | None
) -> Values:
    operands, given = [values[o] for o in node.operands], [dtypes[o] for o in node.operands]
    with np.errstate(all="ignore"):
        if changes is not None:
            operands = [
                changes.of_operand(o, d, node) for o, d in zip(operands, given, strict=True)
            ]
        found: Values = {}
        results = results_of(node, operands, given, changes)
        for name, (dtype, shape), result in zip(node.names, node.results, results, strict=True):
            assert result.shape == shape, f"{node.name} is {result.shape}, not {shape}"
            value = as_dtype(result, dtype)
            if changes is not None:
                terms = max((_largest(o) for o in operands), default=0.0)
                value = changes.of_result(value, dtype, node, terms)
            found[name] = value
    return found


def _largest(array: Array) -> float:
    """The largest magnitude of finite floats; 0 of other numbers."""
    finite = array[np.isfinite(array)] if array.dtype.kind == "f" else array[:0]
    return float(np.abs(finite).max(initial=0.0))


def as_dtype(result: Array, dtype: str) -> Array:
    """A result rounded to its dtype; floats in float64."""
    with np.errstate(all="ignore"):
        found = rounded(result, dtype)
        return found.astype(np.float64) if dtype in FLOATS else found


def results_of(
    node: Node,
    operands: Sequence[Array],
    dtypes: Sequence[str],
    changes: Changes | None = None,
) -> list[Array]:
    """The results of a node on numbers, of which floats are in float64."""
    if node.kernel is not None:
        found = _kernel(node, operands, dtypes)
        return [v.data if changes is None else changes.within(v) for v in found]
    tensors = [torch.from_numpy(np.ascontiguousarray(o)).reshape(o.shape) for o in operands]
    if node.operator in OF_BITS:
        tensors = [t.to(getattr(torch, d)) for t, d in zip(tensors, dtypes, strict=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if node.label == "if":
            first, second = node.attributes.split()
            found = BRANCHES[first if bool(tensors[0]) else second](*tensors[1:])
        else:
            found = case_of(node.label).torch(*tensors, **node.keywords)
    found = found if isinstance(found, tuple | list) else (found,)
    return [_numpy(f) for f in found]


def _numpy(tensor: Any) -> Array:
    tensor = tensor.detach().contiguous()
    if tensor.dtype in (torch.bfloat16, torch.float16):
        tensor = tensor.to(torch.float64)
    return tensor.numpy()


def _kernel(node: Node, operands: Sequence[Array], dtypes: Sequence[str]) -> list[Value]:
    kernel = node.kernel
    assert kernel is not None
    arrays = {
        buffer.name: rounded(array, dtype).astype(storage(dtype))
        for buffer, array, dtype in zip(kernel.inputs, operands, dtypes, strict=True)
    }
    memory = run(kernel, (), arrays)
    return [memory[b.name] for b in kernel.outputs]
