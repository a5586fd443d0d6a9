"""Refuse programs that change a buffer or an input, where that is more than a new result."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from torch import fx
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind

from ...runtime.warning import XRelaxWarning
from ..unsupported import Problem, UnsupportedError
from .nodes import GETITEM, live_nodes
from .registry import overload_name
from .source_lines import place

_MUTATIONS = (
    OutputKind.BUFFER_MUTATION,
    OutputKind.PARAMETER_MUTATION,
    OutputKind.USER_INPUT_MUTATION,
)

_MOVING = "aten._native_batch_norm_legit_functional.default"
_STATISTICS = (3, 4)
"""The arguments of a batch norm that are running statistics, and the results that are new ones.

In training, which is argument 5, no other result reads them.
"""


def verify_mutations(
    program: ExportedProgram, results: Sequence[fx.Node], *, returned_inputs: bool = False
) -> None:
    """Raise UnsupportedError if the program mutates a buffer that it reads, or an input.

    Writing back the same value, such as ``self.b = self.b.to(x.device)``, is no mutation. With
    `returned_inputs`, an input may change if its new value is a result: the function returns the
    value, and an XRelaxWarning says that it does not change its argument.
    """
    nodes = {n.name: n for n in program.graph.nodes}
    read = _read(program, results)
    problems: list[Problem] = []
    for spec in program.graph_signature.output_specs:
        if spec.kind not in _MUTATIONS or (source := read.get(spec.target or "")) is None:
            continue
        if (value := nodes[spec.arg.name]) is source:
            continue
        is_input = spec.kind is OutputKind.USER_INPUT_MUTATION
        if is_input and returned_inputs and value in results:
            _warn(spec.target or "", value)
        else:
            problems.append(_mutation("input" if is_input else "buffer", spec.target or "", value))
    if problems:
        raise UnsupportedError(
            problems,
            "expected a program without side effects, got one that changes "
            + "; ".join(f"{p.target} '{p.name}' at {p.place}: {p.advice}" for p in problems),
        )


def _read(program: ExportedProgram, results: Sequence[fx.Node]) -> dict[str, fx.Node]:
    """The placeholders of weights that results depend on, and of all inputs, by name."""
    nodes = [n for n in program.graph.nodes if n.op == "placeholder"]
    placeholders: dict[fx.Node, Any] = dict(
        zip(nodes, program.graph_signature.input_specs, strict=True)
    )
    live = live_nodes(results, _inputs)
    read = {s.target or n.name: n for n, s in placeholders.items() if n in live}
    return read | {n.name: n for n, s in placeholders.items() if s.kind is InputKind.USER_INPUT}


def _inputs(node: fx.Node) -> Iterable[fx.Node]:
    """The nodes whose values decide a node's, through the parts of a batch norm in training."""
    source: Any = node.args[0] if overload_name(node.target) == GETITEM else None
    if source is None or overload_name(source.target) != _MOVING or source.args[5:6] != (True,):
        return node.all_input_nodes
    given = (a for i, a in enumerate(source.args) if i not in _STATISTICS or i == node.args[1])
    return [a for a in given if isinstance(a, fx.Node)]


def _mutation(kind: str, name: str, value: fx.Node) -> Problem:
    advice = "return the new value" if kind == "input" else "return the new value, or call eval()"
    return Problem(kind, name, place(value), f"a program that changes this {kind}", advice)


def _warn(name: str, value: fx.Node) -> None:
    warnings.warn(
        f"the program changes input '{name}' at {place(value)}: the function returns the new "
        "value, and its argument keeps the old one",
        XRelaxWarning,
        stacklevel=5,
    )
