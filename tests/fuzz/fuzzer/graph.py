"""Graph programs as data: operators of tests/operators/, branches and drawn kernels, in order."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import numpy as np

from .numbers import Array
from .syntax import Kernel
from .texts import kernel_text

LISTED = {
    "relax.concat": 0,
    "relax.stack": 0,
    "relax.einsum": 0,
    "relax.index_tensor": 1,
    "relax.meshgrid": 0,
}
"""Operators whose operands from a position on are a tuple."""


@dataclass(frozen=True)
class Input:
    """A parameter and its contents; an array of bfloat16 is one of its bits."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    data: bytes

    @staticmethod
    def of(name: str, dtype: str, array: Array) -> Input:
        """The parameter of an array."""
        return Input(name, dtype, array.shape, array.tobytes())

    @property
    def array(self) -> Array:
        """The contents."""
        dtype = "uint16" if self.dtype == "bfloat16" else self.dtype
        return np.frombuffer(self.data, dtype).reshape(self.shape).copy()


@dataclass(frozen=True)
class Node:
    """An operation on values by name: `label` is that of a case, "if", or "kernel".

    `results` are the dtype and shape of each result; one of several is called ``v3_0``. Attributes
    are the text of a dict. A branch has the names of its two operators as `attributes`.
    """

    name: str
    label: str
    operands: tuple[str, ...]
    results: tuple[tuple[str, tuple[int, ...]], ...]
    operator: str = ""
    attributes: str = "{}"
    is_tuple: bool = False
    kernel: Kernel | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the results."""
        if not self.is_tuple:
            return (self.name,)
        return tuple(f"{self.name}_{i}" for i in range(len(self.results)))

    @property
    def keywords(self) -> dict[str, Any]:
        """The attributes."""
        return ast.literal_eval(self.attributes)


@dataclass(frozen=True)
class Graph:
    """A graph function; with `is_symbolic` dims of its parameters are symbols called by their
    size. The inputs that are `bound` are constants, by `BindParams`.
    """

    name: str
    inputs: tuple[Input, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    is_dataflow: bool = True
    is_symbolic: bool = False
    bound: tuple[str, ...] = ()

    def without_unused(self) -> Graph:
        """The graph without nodes and parameters that no output needs."""
        needed = set(self.outputs)
        kept: list[Node] = []
        for node in reversed(self.nodes):
            if needed & set(node.names):
                kept.append(node)
                needed |= set(node.operands)
        inputs = tuple(i for i in self.inputs if i.name in needed)
        return Graph(
            self.name,
            inputs,
            tuple(reversed(kept)),
            self.outputs,
            self.is_dataflow and not any(n.label == "if" for n in kept),
            self.is_symbolic,
            tuple(n for n in self.bound if n in needed),
        )


def graph_text(graph: Graph) -> str:
    """The module of the function and its kernels."""
    lines = ["@I.ir_module", "class Module:"]
    for node in graph.nodes:
        if node.kernel is not None:
            lines += [f"    {line}" for line in kernel_text(node.kernel).splitlines()] + [""]
    params = ", ".join(f"{i.name}: {_type(i, graph.is_symbolic)}" for i in graph.inputs)
    lines += ["    @R.function", f"    def {graph.name}({params}):"]
    symbols = sorted({d for i in graph.inputs for d in i.shape if d > 1})
    if graph.is_symbolic and symbols:
        names = ", ".join(f"n{d}" for d in symbols)
        lines.append(f"        {names} = {', '.join(['T.int64()'] * len(symbols))}")
    body = [line for node in graph.nodes for line in _node(node)]
    if graph.is_dataflow and body:
        inner = [n for n in graph.outputs if n not in {i.name for i in graph.inputs}]
        outputs = f"R.output({', '.join(dict.fromkeys(inner))})"
        body = ["with R.dataflow():", *("    " + line for line in [*body, outputs])]
    returned = graph.outputs[0] if len(graph.outputs) == 1 else f"({', '.join(graph.outputs)})"
    return (
        "\n".join([*lines, *("        " + line for line in [*body, f"return {returned}"])]) + "\n"
    )


def _type(value: Input, is_symbolic: bool) -> str:
    dims = [f'"n{d}"' if is_symbolic and d > 1 else str(d) for d in value.shape]
    return f'R.Tensor(({"".join(d + ", " for d in dims)}), "{value.dtype}")'


def _node(node: Node) -> list[str]:
    match node.label:
        case "if":
            test, *operands = node.operands
            first, second = node.attributes.split()
            args = ", ".join(operands)
            return [
                f"if {test}:",
                f"    {node.name} = R.{first}({args})",
                "else:",
                f"    {node.name} = R.{second}({args})",
            ]
        case "kernel":
            assert node.kernel is not None
            args = "".join(f"{o}, " for o in node.operands)
            ((dtype, shape),) = node.results
            out = f'R.Tensor({shape}, "{dtype}")'
            return [
                f"{node.name} = R.call_tir(Module.{node.kernel.name}, ({args}), out_sinfo={out})"
            ]
        case _:
            lines = [f"{node.name} = {_call(node)}"]
            if node.is_tuple:
                lines += [f"{name} = {node.name}[{i}]" for i, name in enumerate(node.names)]
            return lines


def _call(node: Node) -> str:
    operator, operands = node.operator, list(node.operands)
    keywords = {k: v for k, v in node.keywords.items() if v is not None}
    args = list(operands)
    if operator in LISTED:
        at = LISTED[operator]
        args = [*operands[:at], f"({''.join(o + ', ' for o in operands[at:])})"]
    elif operator == "relax.index_put":
        args = [operands[0], f"({''.join(o + ', ' for o in operands[1:-1])})", operands[-1]]
    elif operator == "relax.full":
        args = [_value(keywords.pop("shape")), *operands]
    args += [f"{k}={_value(v)}" for k, v in keywords.items()]
    return f"R.{operator.removeprefix('relax.')}({', '.join(args)})"


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return f"R.shape([{', '.join(map(str, value))}])"
    return repr(value).replace("inf", "float('inf')") if isinstance(value, float) else repr(value)
