"""Draws graphs: cases of operators whose operands are results of others, where they fit."""

from __future__ import annotations

import random
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .cases import Draw, case_of, labels, native
from .draw_kernel import draw_kernel
from .evaluate_graph import BRANCHES, as_dtype, results_of
from .graph import Graph, Input, Node
from .kernels import from_bits, inputs_of, to_bits
from .numbers import Array
from .syntax import FLOATS

MAX_ELEMENTS = 3000
LARGEST = 1e4


class GraphDraw(Draw):
    """Choices for one operator of a graph; shapes and arrays are often those of known values."""

    def __init__(self, seed: str, dtype: str, known: dict[str, tuple[str, Array]]):
        super().__init__(seed, dtype)
        self.known = known

    def shape(self, low: int = 0, high: int = 3, least: int = 0) -> tuple[int, ...]:
        """Mostly the shape of a value that fits."""
        fits = [
            a.shape
            for d, a in self.known.values()
            if low <= a.ndim <= high and min(a.shape, default=least) >= least and d == self.dtype
        ]
        return self.pick(fits) if fits and self.chance(80) else super().shape(low, high, least)

    def array(
        self,
        shape: Sequence[int],
        low: float = -3,
        high: float = 3,
        dtype: str | None = None,
        special: bool = False,
    ) -> Array:
        """Mostly a value of the shape and dtype that is in the range."""
        wanted = self.dtype if dtype is None else dtype
        limits = (-LARGEST, LARGEST) if wanted in FLOATS and (low, high) == (-3, 3) else (low, high)
        fits = [
            a
            for d, a in self.known.values()
            if d == wanted and a.shape == tuple(shape) and _within(from_bits(a, d), *limits)
        ]
        if fits and self.chance(85):
            return self.pick(fits[-4:])
        return super().array(shape, low, high, dtype, special)


def _within(array: Array, low: float, high: float) -> bool:
    return array.dtype == bool or bool(((array >= low) & (array <= high)).all())


class _Builder:
    """A graph that is being drawn: its values, as arrays in memory, by name."""

    def __init__(self, rng: random.Random, name: str):
        self.rng, self.name = rng, name
        self.inputs: list[Input] = []
        self.nodes: list[Node] = []
        self.known: dict[str, tuple[str, Array]] = {}

    def operand(self, dtype: str, array: Array) -> str:
        """The name of a known value, or of a new parameter."""
        for name, (_, known) in self.known.items():
            if known is array:
                return name
        name = f"x{len(self.inputs)}"
        self.inputs.append(Input.of(name, dtype, array))
        self.known[name] = (dtype, np.asarray(array))
        return name

    def add(self, node: Node, arrays: Sequence[Array]) -> None:
        """A node and its results."""
        self.nodes.append(node)
        for name, (dtype, _), array in zip(node.names, node.results, arrays, strict=True):
            self.known[name] = (dtype, array)

    def operator(self, label: str) -> None:
        """A node of a case; none where PyTorch cannot do it, or it is large."""
        case = case_of(label)
        dtypes = [d for d, _ in self.known.values() if d in case.dtypes]
        use = dtypes and self.rng.randrange(100) < 75
        dtype = self.rng.choice(dtypes if use else case.dtypes)
        draw = GraphDraw(f"{self.rng.random()}", dtype, self.known)
        arrays, attributes = case.draw(draw)
        arrays = [np.asarray(a) for a in arrays]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = native(case, dtype, arrays, attributes)
        except (RuntimeError, IndexError, ValueError, NotImplementedError):
            return
        if not found or sum(a.size for a, _ in found) > MAX_ELEMENTS:
            return
        operands = [
            self.operand("bfloat16" if a.dtype == np.uint16 else str(a.dtype), a) for a in arrays
        ]
        node = Node(
            f"v{len(self.nodes)}",
            label,
            tuple(operands),
            tuple((d, a.shape) for a, d in found),
            case.operator,
            repr(attributes),
            len(found) > 1
            or case.operator == "relax.split"
            or _is_tuple(case.operator, attributes),
        )
        self.add(node, [a for a, _ in found])

    def branch(self) -> None:
        """Two operators on a value, by a condition."""
        wide = ("float32", "float64", "int32", "int64")
        names = [n for n, (d, _) in self.known.items() if d in wide]
        if not names:
            return
        name = self.rng.choice(names)
        dtype, array = self.known[name]
        test = self.operand("bool", np.array(self.rng.random() < 0.5))
        chosen = " ".join(self.rng.sample(list(BRANCHES), 2))
        node = Node(f"v{len(self.nodes)}", "if", (test, name, name), ((dtype, array.shape),),
                    "", chosen)  # fmt: skip
        self._evaluated(node)

    def kernel(self) -> None:
        """A call of a drawn kernel, whose inputs are values where they fit."""
        kernel, _ = draw_kernel(self.rng, f"{self.name}_k{len(self.nodes)}", plain=True)
        if kernel.symbols or len(kernel.outputs) > 1 or not kernel.inputs:
            return
        operands: list[str] = []
        for buffer, array in zip(kernel.inputs, inputs_of(kernel, ()).values(), strict=True):
            bits = to_bits(array, buffer.dtype)
            fits = [
                n
                for n, (d, a) in self.known.items()
                if d == buffer.dtype and a.shape == bits.shape and buffer.content != "place"
            ]
            use = fits and self.rng.randrange(100) < 85
            operands.append(self.rng.choice(fits) if use else self.operand(buffer.dtype, bits))
        (output,) = kernel.outputs
        shape = tuple(d.value if d.op == "const" else -1 for d in output.dims)
        if -1 in shape:
            return
        node = Node(f"v{len(self.nodes)}", "kernel", tuple(operands), ((output.dtype, shape),),
                    kernel=kernel)  # fmt: skip
        self._evaluated(node)

    def _evaluated(self, node: Node) -> None:
        """Add a node that PyTorch has no function for."""
        dtypes = [self.known[o][0] for o in node.operands]
        values = [
            from_bits(self.known[o][1], d) for o, d in zip(node.operands, dtypes, strict=True)
        ]
        values = [
            v.astype(np.float64) if d in FLOATS else v for v, d in zip(values, dtypes, strict=True)
        ]
        ((dtype, _),) = node.results
        (result,) = results_of(node, values, dtypes)
        found = as_dtype(result, dtype)
        narrow = found.astype(np.float32 if dtype == "bfloat16" else dtype)
        self.add(node, [to_bits(narrow, dtype)])


def _is_tuple(operator: str, attributes: dict[str, Any]) -> bool:
    return operator == "relax.topk" and attributes.get("ret_type", "both") == "both"


def draw_graph(rng: random.Random, name: str, first: str) -> Graph:
    """A graph of one to eight nodes, of which one is a case of the label `first`."""
    builder = _Builder(rng, name)
    names = labels()
    size = rng.choice((1, 1, 1, 2, 2, 2, 3, 3, 4, 8))
    place = rng.randrange(size)
    for position in range(size):
        kind = rng.randrange(100)
        if position == place:
            builder.operator(first)
        elif kind < 5:
            builder.branch()
        elif kind < 12:
            builder.kernel()
        else:
            builder.operator(rng.choice(names))
    return _finished(builder)


def _finished(builder: _Builder) -> Graph:
    """The graph with outputs: all that nobody uses, and sometimes more."""
    used = {o for node in builder.nodes for o in node.operands}
    results = [n for node in builder.nodes for n in node.names]
    outputs = [n for n in results if n not in used or builder.rng.randrange(100) < 15]
    is_dataflow = builder.rng.randrange(100) < 70
    is_symbolic = builder.rng.randrange(100) < 30
    nodes = tuple(builder.nodes)
    part = builder.rng.choice((0, 0, 50))
    bound = tuple(i.name for i in builder.inputs if builder.rng.randrange(100) < part)
    graph = Graph(
        builder.name, tuple(builder.inputs), nodes, tuple(outputs), is_dataflow, is_symbolic, bound
    )
    return graph.without_unused() if outputs else graph
