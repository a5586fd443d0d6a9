"""Graphs as programs of the fuzzer: how they are parsed, called, compared, and made smaller."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .evaluate_graph import dtypes_of, evaluate_graph, expected
from .graph import Graph, Input, graph_text
from .guard import Guarded
from .kernels import GUARDS, difference, from_bits, tensor, to_bits
from .numbers import rounded
from .outcome import Wrong


@dataclass(frozen=True)
class GraphProgram:
    """A graph."""

    graph: Graph

    def parsed(self) -> dict[str, Any]:
        """The functions by name; those of symbols are static where their shapes do not fit."""
        from xrelax.relax.transform import BindParams
        from xrelax.script import from_source

        module = from_source(graph_text(self.graph))
        printed = from_source(module.script(show_meta=True))
        if self.graph.bound:
            constants = {i.name: tensor(i.array, i.dtype) for i in self.graph.inputs}
            bound = {name: constants[name] for name in self.graph.bound}
            printed = BindParams(self.graph.name, bound)(printed)
        return {v.name_hint: f for v, f in printed.functions.items()}

    def compare(self, executable: Any) -> None:
        """Call the function; raise `Wrong` where it differs from the evaluation."""
        from xrelax.runtime import set_num_threads

        wanted = expected(self.graph)
        for at_end in (True, False):
            set_num_threads(2 if at_end else 1)
            returned = executable[self.graph.name](*self._arguments(at_end))
            returned = returned if isinstance(returned, tuple) else (returned,)
            for name, found, value in zip(self.graph.outputs, returned, wanted, strict=True):
                if found.dtype != value.dtype:
                    raise Wrong(f"{name}: expected {value.dtype}, got {found.dtype}")
                problem = difference(from_bits(found.view(), found.dtype), value)
                if problem:
                    raise Wrong(f"{name}: {problem}")
            for given in self.given:
                if not GUARDS[given.name].is_intact():
                    raise Wrong(f"memory beside {given.name} was written")

    def _arguments(self, at_end: bool) -> list[Any]:
        return [
            tensor(GUARDS.setdefault(i.name, Guarded()).place(i.array, at_end), i.dtype)
            for i in self.given
        ]

    @property
    def given(self) -> list[Input]:
        """The inputs that are no constants."""
        return [i for i in self.graph.inputs if i.name not in self.graph.bound]

    def smaller(self) -> Iterator[GraphProgram]:
        """Graphs of fewer nodes or outputs, static ones, and those without dataflow."""
        graph = self.graph
        if len(graph.outputs) > 1:
            for name in graph.outputs:
                yield GraphProgram(replace(graph, outputs=(name,)).without_unused())
        for node in graph.nodes:
            for name in node.names:
                if (name,) != graph.outputs:
                    yield GraphProgram(replace(graph, outputs=(name,)).without_unused())
        dtypes = dtypes_of(graph)
        values = evaluate_graph(graph, dtypes, None)
        for node in graph.nodes:
            yield GraphProgram(self._cut(node, dtypes, values).without_unused())
        if graph.bound:
            yield GraphProgram(replace(graph, bound=()))
        if graph.is_symbolic:
            yield GraphProgram(replace(graph, is_symbolic=False))
        if graph.is_dataflow:
            yield GraphProgram(replace(graph, is_dataflow=False))

    def _cut(self, node: Any, dtypes: dict[str, str], values: dict[str, Any]) -> Graph:
        """The graph with parameters for the results of a node."""
        new = tuple(
            Input.of(n, dtypes[n], to_bits(rounded(values[n], dtypes[n]), dtypes[n]))
            for n in node.names
        )
        nodes = tuple(n for n in self.graph.nodes if n is not node)
        outputs = tuple(o for o in self.graph.outputs if o not in node.names)
        return replace(self.graph, inputs=(*self.graph.inputs, *new), nodes=nodes,
                       outputs=outputs or self.graph.outputs)  # fmt: skip

    def script(self) -> list[str]:
        """The lines of a script from the module on."""
        graph = self.graph
        lines = ['module = from_source("""', graph_text(graph).rstrip(), '""")']
        build = f'executable = xrelax.build(module)["{graph.name}"]'
        after: list[str] = [build, ""]
        if graph.bound:
            from_inputs = ", ".join(
                f"{i.name!r}: tensor({i.name}, {i.dtype!r})"
                for i in graph.inputs
                if i.name in graph.bound
            )
            bind = f"xrelax.relax.transform.BindParams({graph.name!r}, {{{from_inputs}}})(module)"
            after = [f"module = {bind}", *after]
        for i in graph.inputs:
            values = i.array.reshape(-1).tolist()
            text = repr(values).replace("nan", "np.nan").replace("inf", "np.inf")
            lines.append(f"{i.name} = np.array({text}, {str(i.array.dtype)!r}).reshape({i.shape})")
        lines += after
        args = ", ".join(f"tensor({i.name}, {i.dtype!r})" for i in self.given)
        lines += [f"found = executable({args})"]
        lines += ["found = found if isinstance(found, tuple) else (found,)"]
        for number, value in enumerate(expected(graph)):
            error = np.zeros(value.data.shape) if value.error is None else value.error
            shown = [
                repr(np.asarray(a).tolist()).replace("nan", "np.nan").replace("inf", "np.inf")
                for a in (value.data, error)
            ]
            data = f"np.array({shown[0]}, {str(value.data.dtype)!r})"
            lines.append(f"compare(found[{number}].view(), {data}, np.array({shown[1]}))")
        return lines
