"""What a graph computes, by PyTorch in float64, and how far a result may be from it.

Each value is rounded to its dtype. The graph is evaluated several times, in each of which numbers
are changed by some units in the last place wherever a program may round (Parker, "Monte Carlo
Arithmetic", 1997). A result may be as far from the first as these are, some times over; what
differs in kind, such as the place of a maximum, is not compared.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .cases import EXACT, case_of, tolerances, torch
from .evaluate import run
from .graph import Graph, Node
from .kernels import from_bits
from .numbers import EPSILON, TINY, Array, Value, rounded, storage
from .syntax import FLOATS, SHORT_FLOATS

ULPS = 4
"""Units in the last place that a number is changed by."""
RUNS = 5
SLACK = 6
"""How many times further than the changed evaluations a result may be."""
OF_BITS = ("relax.bitcast", "relax.nn.pack_words")
"""Operators whose results are the bits of operands, which have their own dtypes there."""
BRANCHES = {
    "add": torch.add,
    "maximum": torch.maximum,
    "multiply": torch.multiply,
    "subtract": torch.subtract,
}
Values = dict[str, Array]


def expected(graph: Graph) -> list[Value]:
    """The outputs, with bounds for those that are not exact."""
    dtypes = dtypes_of(graph)
    first = evaluate_graph(graph, dtypes, None)
    others = [evaluate_graph(graph, dtypes, np.random.default_rng(i)) for i in range(RUNS)]
    return [
        _bounded(dtypes[name], first[name], [o[name] for o in others]) for name in graph.outputs
    ]


def dtypes_of(graph: Graph) -> dict[str, str]:
    """The dtype of each value."""
    found = {i.name: i.dtype for i in graph.inputs}
    for node in graph.nodes:
        found |= {n: dtype for n, (dtype, _) in zip(node.names, node.results, strict=True)}
    return found


def _bounded(dtype: str, first: Array, others: Sequence[Array]) -> Value:
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


def evaluate_graph(
    graph: Graph, dtypes: Mapping[str, str], rng: np.random.Generator | None
) -> Values:
    """All values by name, floats in float64; with `rng` changed where a program may round."""
    values: Values = {}
    for given in graph.inputs:
        array = from_bits(given.array, given.dtype)
        values[given.name] = array.astype(np.float64) if given.dtype in FLOATS else array
    for node in graph.nodes:
        operands = [_changed(values[o], dtypes[o], rng, node, True) for o in node.operands]
        results = results_of(node, operands, [dtypes[o] for o in node.operands])
        for name, (dtype, shape), result in zip(node.names, node.results, results, strict=True):
            assert result.shape == shape, f"{node.name} is {result.shape}, not {shape}"
            values[name] = _changed(as_dtype(result, dtype), dtype, rng, node, False)
    return values


def as_dtype(result: Array, dtype: str) -> Array:
    """A result rounded to its dtype; floats in float64."""
    with np.errstate(all="ignore"):
        found = rounded(result, dtype)
        return found.astype(np.float64) if dtype in FLOATS else found


def _changed(
    array: Array, dtype: str, rng: np.random.Generator | None, node: Node, is_operand: bool
) -> Array:
    """Numbers changed by rounding errors: of operands by those of what is computed with them."""
    if rng is None or dtype not in FLOATS or node.operator in EXACT:
        return array
    unit = EPSILON["float32" if is_operand and dtype in SHORT_FLOATS else dtype]
    relative, absolute = ULPS * unit, 0.0
    if not is_operand and node.operator:
        allowed = tolerances(node.label, dtype)
        relative, absolute = max(relative, allowed[0] / SLACK), allowed[1] / SLACK
    sign = rng.choice((-1.0, 1.0), array.shape)
    with np.errstate(all="ignore"):
        return array * (1 + relative * sign) + absolute * sign


def results_of(node: Node, operands: Sequence[Array], dtypes: Sequence[str]) -> list[Array]:
    """The results of a node on numbers, of which floats are in float64."""
    if node.kernel is not None:
        return _kernel(node, operands, dtypes)
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


def _kernel(node: Node, operands: Sequence[Array], dtypes: Sequence[str]) -> list[Array]:
    kernel = node.kernel
    assert kernel is not None
    arrays = {
        buffer.name: rounded(array, dtype).astype(storage(dtype))
        for buffer, array, dtype in zip(kernel.inputs, operands, dtypes, strict=True)
    }
    return [run(kernel, (), arrays)[b.name].data for b in kernel.outputs]
