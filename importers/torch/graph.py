"""Import a graph of ATen operators as a graph function; raises an error with all problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx
from xdsl.dialects.builtin import ModuleOp, i64
from xdsl.ir import Attribute, Block, Operation

from ...dialects import relax
from ...dialects.diagnostics import verify
from ...dialects.relax.symbols import determined_symbols
from ...lowering.graph.dead_code import remove_all_unused
from ..emitter import Value
from ..functions import graph_function, hint
from ..key_parameter import KeyParameter
from ..unsupported import Problem, Unsupported, UnsupportedError
from .composed_dims import read_composed_dims
from .context import Context
from .equal_sizes import equal_sizes
from .guards import Guards
from .known_reads import known_reads
from .node_conversion import NodeConversion
from .nodes import live_nodes
from .registry import Converter, load_converters
from .returned import Sizes, returned_value
from .shapes import Symbols
from .source_lines import place


@dataclass
class Input:
    """A placeholder for a tensor or an integer, and the name of its parameter."""

    node: fx.Node
    name: str


@dataclass
class GraphImport:
    """A graph to import, with its placeholders as parameters or constants.

    `results` are the nodes of the function's result, `attrs` its attributes.
    """

    graph: fx.Graph
    inputs: Sequence[Input]
    constants: Mapping[fx.Node, relax.TensorData]
    results: Sequence[fx.Node]
    symbols: Symbols
    name: str = "main"
    unwrap: bool = False
    tuple_outside: bool = False
    whole_tuples: bool = False
    """Whether to return a tuple that an operator gives, not a new one of its fields."""
    returned: Sequence[Any] | None = None
    """What the function returns, see `returned_value`; by default `results`."""
    attrs: dict[str, Attribute] = field(default_factory=lambda: dict[str, Attribute]())
    converters: Mapping[str, Converter] = field(default_factory=load_converters)
    takes_key: bool = False
    """Whether the function gets a parameter for the key of random numbers, if it has some."""
    guards: Guards = field(default_factory=Guards)
    """What the graph assumes of the sizes of its inputs."""
    values: dict[fx.Node, Any] = field(default_factory=lambda: dict[fx.Node, Any]())
    """The values of nodes in the module, when it is made."""
    origins: dict[Operation, fx.Node] = field(default_factory=lambda: dict[Operation, fx.Node]())
    """The nodes that operations of the module are made for."""

    def module(self) -> ModuleOp:
        """The module with the function; raises UnsupportedError with all nodes that fail."""
        return _Importer(self).run()


class _Importer:
    def __init__(self, given: GraphImport):
        self.given = given
        self.entry = Block()
        self.context = Context(Block(), given.symbols)
        if given.takes_key:
            self.context.random = KeyParameter(self.entry)
        self.nodes = NodeConversion(
            self.context,
            given.constants,
            given.results,
            given.converters,
            given.values,
            given.origins,
        )

    def run(self) -> ModuleOp:
        self.given.symbols.equal |= equal_sizes(self.given.graph)
        for node, number in known_reads(self.given.graph).items():
            self.nodes.values[node] = self.given.symbols.set_number(node.meta["val"], number)
        self.add_params()
        live = live_nodes(self.given.results)
        for node in self.given.graph.nodes:
            if node in live:
                self.nodes.convert(node)
        returned = self.returned()
        if self.nodes.problems:
            raise UnsupportedError(self.nodes.problems, failed=[n.name for n in self.nodes.failed])
        function = self.function(returned)
        remove_all_unused(function)
        module = ModuleOp([*self.context.functions.made.values(), function])
        verify(module)
        return module

    def add_params(self) -> None:
        for index, given in enumerate(self.given.inputs):
            try:
                type_ = self.param_type(given.node)
            except Unsupported as problem:
                self.nodes.fail(given.node, problem.reason, problem.advice)
                continue
            arg = self.entry.insert_arg(type_, index - len(self.nodes.problems))
            arg.name_hint = hint(given.name)
            value = given.node.meta["val"]
            is_size = isinstance(value, torch.SymInt)
            tensor = self.nodes.tensor(arg, value)
            self.nodes.values[given.node] = self.given.symbols.expr(value) if is_size else tensor
        if not self.nodes.problems:
            self.read_composed_dims()
            self.check_guards()

    def read_composed_dims(self) -> None:
        """Declare symbols that only a composed dim of a tensor determines."""
        names = [given.name for given in self.given.inputs]
        for index, value in read_composed_dims(self.context, self.entry, names).items():
            node = self.given.inputs[index].node
            self.nodes.values[node] = self.nodes.tensor(value, node.meta["val"])

    def check_guards(self) -> None:
        try:
            self.given.guards.check(self.context)
        except Unsupported as error:
            node = self.given.inputs[0].node
            problem = Problem("guard", node.name, place(node), error.reason, error.advice)
            self.nodes.problems.append(problem)

    def param_type(self, node: fx.Node) -> Attribute:
        """The type of a parameter; raises Unsupported for values that cannot be parameters."""
        value = node.meta["val"]
        if isinstance(value, torch.SymInt):
            return relax.PrimType.of(i64, self.given.symbols.expr(value))
        return self.nodes.tensor_type(value)

    def returned(self) -> list[Value]:
        """What the function returns; a leaf of the output that it cannot return is a problem."""
        leaves = self.given.results if self.given.returned is None else self.given.returned
        self.context.location, found = None, list[Value]()
        for leaf in leaves:
            try:
                value = self.nodes.resolved(leaf)
                value = Sizes(value) if isinstance(leaf, Sizes) else value
                found.append(returned_value(self.context, value))
            except Unsupported as error:
                problem = Problem("output", "output", "", error.reason, error.advice)
                self.nodes.problems.append(problem)
        return found

    def function(self, returned: Sequence[Value]) -> relax.FuncOp:
        """The function with the converted dataflow block."""
        names, random = [i.name for i in self.given.inputs], self.context.random
        known = determined_symbols(a.type for a in self.entry.args)
        return graph_function(
            self.given.name,
            names if random is None else random.names(names),
            self.entry,
            self.context.block,
            returned,
            unwrap=self.given.unwrap,
            tuple_outside=self.given.tuple_outside,
            whole_tuples=self.given.whole_tuples,
            attrs={**self.given.attrs, **self.given.symbols.range_attributes(known)},
            has_dataflow=not self.context.functions.branches,
        )
