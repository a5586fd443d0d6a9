"""Import a graph of ATen operators as a graph function; errors are collected over all nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import torch
from torch import fx
from torch.utils import _pytree as pytree
from xdsl.dialects.builtin import ModuleOp, i64
from xdsl.ir import Attribute, Block, Operation

from ...dialects import relax
from ...dialects.diagnostics import verify
from ...dialects.int_expr import IntExpr
from ...dialects.relax.symbols import determined_symbols
from ...lowering.graph.dead_code import remove_all_unused
from ..emitter import Emitter, Value
from ..functions import graph_function, hint
from ..key_parameter import KeyParameter
from ..unsupported import Problem, Unsupported, UnsupportedError
from .complex_numbers import Complex, as_complex, is_complex, pairs_type, part_dtype
from .complex_operators import convert_complex, has_complex
from .composed_dims import read_composed_dims
from .context import Context
from .dtypes import COMPLEX_ADVICE
from .equal_sizes import equal_sizes
from .guards import Guards
from .known_reads import known_reads
from .nodes import DROPPED, GETITEM, READS, live_nodes, submodule
from .parameters import evaluated
from .reals import real, truth
from .registry import IGNORED_KEYWORDS, Converter, advice_for, load_converters, overload_name
from .returned import Sizes, returned_value
from .shapes import Symbols
from .source_lines import location, place


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


class Subgraph:
    """A graph that an operation such as ``torch.cond`` runs."""

    def __init__(self, importer: _Importer, module: fx.GraphModule):
        self.importer = importer
        self.graph = module.graph

    def run(self, emitter: Emitter, inputs: Sequence[Any]) -> list[Any]:
        """The values of its outputs, with operations in the emitter's block."""
        return self.importer.run_subgraph(self.graph, emitter, inputs)

    def sizes(self) -> list[IntExpr]:
        """The sizes of all tensors in it."""
        symbols = self.importer.given.symbols
        leaves = [pytree.tree_leaves(n.meta.get("val")) for n in self.graph.nodes]
        tensors = [t for found in leaves for t in found if isinstance(t, torch.Tensor)]
        return [d for t in tensors for d in symbols.dims(t)]


class _Importer:
    def __init__(self, given: GraphImport, emitter: Emitter | None = None):
        self.given = given
        self.body = Block() if emitter is None else emitter.block
        self.entry = Block()
        functions = None if emitter is None else emitter.functions
        self.context = Context(self.body, given.symbols, functions)
        self.context.reads_sizes = emitter is None
        if given.takes_key and emitter is None:
            self.context.random = KeyParameter(self.entry)
        self.values = given.values
        self.problems: list[Problem] = []
        self.failed: set[fx.Node] = set()
        self.opaque: set[fx.Node] = set()
        """Failed nodes without a placeholder value."""

    def run(self) -> ModuleOp:
        self.given.symbols.equal |= equal_sizes(self.given.graph)
        for node, number in known_reads(self.given.graph).items():
            self.values[node] = self.given.symbols.set_number(node.meta["val"], number)
        self.add_params()
        live = live_nodes(self.given.results)
        for node in self.given.graph.nodes:
            if node in live:
                self.convert(node)
        returned = self.returned()
        if self.problems:
            raise UnsupportedError(self.problems, failed=[n.name for n in self.failed])
        function = self.function(returned)
        remove_all_unused(function)
        module = ModuleOp([*self.context.functions.made.values(), function])
        verify(module)
        return module

    def run_subgraph(self, graph: fx.Graph, emitter: Emitter, inputs: Sequence[Any]) -> list[Any]:
        """The outputs of a graph inside of this one; its problems are this graph's."""
        inner = _Importer(replace(self.given, graph=graph, values={}), emitter)
        inner.problems = self.problems
        nodes = list(graph.nodes)
        placeholders = [n for n in nodes if n.op == "placeholder"]
        inner.values.update(zip(placeholders, inputs, strict=True))
        for node in nodes:
            if node.op not in ("placeholder", "output"):
                inner.convert(node)
        outputs = inner.resolved(nodes[-1].args[0])
        several = isinstance(outputs, list | tuple)
        return list(cast("Sequence[Any]", outputs if several else [outputs]))

    def add_params(self) -> None:
        for index, given in enumerate(self.given.inputs):
            try:
                type_ = self.param_type(given.node)
            except Unsupported as problem:
                self.fail(given.node, problem.reason, problem.advice)
                continue
            arg = self.entry.insert_arg(type_, index - len(self.problems))
            arg.name_hint = hint(given.name)
            value = given.node.meta["val"]
            is_size = isinstance(value, torch.SymInt)
            tensor = self.tensor(arg, value)
            self.values[given.node] = self.given.symbols.expr(value) if is_size else tensor
        if not self.problems:
            self.read_composed_dims()
            self.check_guards()

    def read_composed_dims(self) -> None:
        """Declare symbols that only a composed dim of a tensor determines."""
        names = [given.name for given in self.given.inputs]
        for index, value in read_composed_dims(self.context, self.entry, names).items():
            node = self.given.inputs[index].node
            self.values[node] = self.tensor(value, node.meta["val"])

    def check_guards(self) -> None:
        try:
            self.given.guards.check(self.context)
        except Unsupported as error:
            node = self.given.inputs[0].node
            problem = Problem("guard", node.name, place(node), error.reason, error.advice)
            self.problems.append(problem)

    def param_type(self, node: fx.Node) -> Attribute:
        """The type of a parameter; raises Unsupported for values that cannot be parameters."""
        value = node.meta["val"]
        if isinstance(value, torch.SymInt):
            return relax.PrimType.of(i64, self.given.symbols.expr(value))
        return (pairs_type if is_complex(value) else Context.type_like)(self.context, value)

    def tensor(self, value: Value, result: Any) -> Value | Complex:
        """A parameter or a constant that has the elements of PyTorch's tensor."""
        return Complex(self.context, pairs=value) if is_complex(result) else value

    def convert(self, node: fx.Node) -> None:
        """Convert a node; a failed one is recorded, and gets a placeholder value."""
        if node in self.values or overload_name(node.target) in DROPPED:
            return
        self.context.node, self.context.result = node, node.meta.get("val")
        self.context.location = location(node)
        module = submodule(node)
        if module is not None:
            self.values[node] = Subgraph(self, module)
            return
        last = self.body.last_op
        of_no_value = self.opaque.intersection(node.all_input_nodes) and self.is_known(node)
        if of_no_value or (node.op == "get_attr" and node not in self.given.constants):
            self.stand_in_for(node)  # the problem is reported for another node
            return
        try:
            self.values[node] = self.value_of(node)
            if node in self.given.results:
                self.result(node)  # its operations are of this node
        except Unsupported as problem:
            self.fail(node, problem.reason, problem.advice)
        except (TypeError, ValueError) as error:
            self.fail(node, _one_line(error), "", error)
        made = self.body.first_op if last is None else last.next_op
        while made is not None:
            self.given.origins[made] = node
            made = made.next_op

    def fail(self, node: fx.Node, reason: str, advice: str, cause: Exception | None = None) -> None:
        name = "input" if node.op == "placeholder" else overload_name(node.target)
        if not advice and not reason:
            advice = COMPLEX_ADVICE if is_complex(node.meta.get("val")) else advice_for(name)
        self.problems.append(Problem(name, node.name, place(node), reason, advice, cause))
        self.stand_in_for(node)

    def is_known(self, node: fx.Node) -> bool:
        name = overload_name(node.target)
        return name == GETITEM or name in self.given.converters

    def stand_in_for(self, node: fx.Node) -> None:
        self.failed.add(node)
        self.values[node] = value = self.stand_in(node.meta.get("val"))
        if value is None:
            self.opaque.add(node)

    def stand_in(self, result: Any) -> Any:
        """A placeholder value of PyTorch's type, so that later nodes are converted too."""
        if isinstance(result, list | tuple):
            return tuple(self.stand_in(r) for r in result)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if not isinstance(result, torch.Tensor):
            return None
        try:
            type_ = (pairs_type if is_complex(result) else Context.type_like)(self.context, result)
        except Unsupported:
            return None
        op = relax.AllocTensorOp(type_)
        self.body.add_op(op)
        return self.tensor(op.result, result)

    def value_of(self, node: fx.Node) -> Any:
        if node in self.given.constants:
            value = self.context.constant(self.given.constants[node])
            value.name_hint = hint(node.name)
            return self.tensor(value, node.meta.get("val"))
        if node.op == "placeholder":
            return self.size_or_constant(node.meta.get("val"))
        if node.op != "call_function":
            raise Unsupported(f"expected a call of a function, got {node.op}")
        if overload_name(node.target) in READS:
            return self.call(node)
        if isinstance(node.meta.get("val"), torch.SymInt):
            return self.given.symbols.expr(node.meta["val"])
        if isinstance(node.meta.get("val"), torch.SymFloat):
            return real(self.context, node.meta["val"])
        if isinstance(node.meta.get("val"), torch.SymBool):
            return truth(self.context, node.meta["val"])
        return self.call(node)

    def size_or_constant(self, value: Any) -> Any:
        if isinstance(value, torch.SymFloat | torch.SymBool):
            raise Unsupported("a number that changes must be an integer", "pass it as a tensor")
        return self.given.symbols.expr(value) if isinstance(value, torch.SymInt) else value

    def call(self, node: fx.Node) -> Any:
        name = overload_name(node.target)
        args, kwargs = self.resolved(node.args), self.resolved(node.kwargs)
        if name == GETITEM:
            return self.item(node, *args)
        converter = self.given.converters.get(name)
        if converter is None:
            value = self.context.constant(evaluated(node))
            return self.tensor(value, node.meta.get("val"))
        given = {k: v for k, v in kwargs.items() if k not in IGNORED_KEYWORDS}
        if has_complex(node.meta.get("val"), args, given):
            converted = convert_complex(self.context, node.target, name, converter, args, given)
            return self.settled(node, converted)
        return self.settled(node, converter(self.context, *args, **given))

    def item(self, node: fx.Node, container: Any, index: int) -> Any:
        value, source = container[index], node.args[0]
        if value is None and source in self.failed:
            self.opaque.add(node)
        elif value is None:
            raise Unsupported(f"result {index} of '{source}' is not computed")
        return value

    def resolved(self, argument: Any) -> Any:
        match argument:
            case fx.Node():
                if argument not in self.values:
                    raise Unsupported(f"expected the value of '{argument.name}', got none")
                return self.values[argument]
            case list():
                return [self.resolved(a) for a in argument]  # pyright: ignore[reportUnknownVariableType]
            case tuple():
                return tuple(self.resolved(a) for a in argument)  # pyright: ignore[reportUnknownVariableType]
            case dict():
                return {k: self.resolved(v) for k, v in argument.items()}  # pyright: ignore[reportUnknownVariableType]
            case _:
                return argument

    def settled(self, node: fx.Node, value: Any) -> Any:
        """The value cast to the types of PyTorch's result, with the name of the node."""
        result = node.meta.get("val")
        if not isinstance(result, list | tuple):
            return self.settled_one(value, result, node.name)
        pairs = zip(value, cast("Sequence[Any]", result), strict=True)
        return tuple(self.settled_one(v, r, f"{node.name}_{i}") for i, (v, r) in enumerate(pairs))

    def settled_one(self, value: Any, result: Any, name: str) -> Any:
        if value is None or not isinstance(result, torch.Tensor):
            return value
        if result.is_complex():
            return as_complex(self.context, value, part_dtype(result)).matched(result)
        settled = self.context.match(value, self.context.type_like(result))
        if settled.owner is self.body.last_op:
            settled.name_hint = hint(name)
        return settled

    def result(self, node: fx.Node) -> Value:
        value = self.values[node]
        return value.pairs if isinstance(value, Complex) else value

    def returned(self) -> list[Value]:
        """What the function returns; a leaf of the output that it cannot return is a problem."""
        leaves = self.given.results if self.given.returned is None else self.given.returned
        self.context.location, found = None, list[Value]()
        for leaf in leaves:
            is_shape = isinstance(leaf, Sizes)
            try:
                value = Sizes(map(self.resolved, leaf)) if is_shape else self.resolved(leaf)
                found.append(returned_value(self.context, value))
            except Unsupported as error:
                self.problems.append(Problem("output", "output", "", error.reason, error.advice))
        return found

    def function(self, returned: Sequence[Value]) -> relax.FuncOp:
        """The function with the converted dataflow block."""
        names, random = [i.name for i in self.given.inputs], self.context.random
        known = determined_symbols(a.type for a in self.entry.args)
        return graph_function(
            self.given.name,
            names if random is None else random.names(names),
            self.entry,
            self.body,
            returned,
            unwrap=self.given.unwrap,
            tuple_outside=self.given.tuple_outside,
            whole_tuples=self.given.whole_tuples,
            attrs={**self.given.attrs, **self.given.symbols.range_attributes(known)},
            has_dataflow=not self.context.functions.branches,
        )


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
