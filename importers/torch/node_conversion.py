"""Convert the nodes of a graph into operations of a block; errors are collected over all nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import torch
from torch import fx
from torch.utils import _pytree as pytree
from xdsl.ir import Operation

from ...dialects import relax
from ...dialects.int_expr import IntExpr
from ..emitter import Emitter, Value
from ..functions import hint
from ..unsupported import Problem, Unsupported
from .complex_numbers import Complex, as_complex, is_complex, pairs_type, part_dtype
from .complex_operators import convert_complex, has_complex
from .context import Context
from .dtypes import COMPLEX_ADVICE
from .nodes import DROPPED, GETITEM, READS, kind_of, submodule
from .parameters import evaluated
from .reals import real, truth
from .registry import IGNORED_KEYWORDS, Converter, advice_for, overload_name
from .source_lines import location, place


class Subgraph:
    """A graph that an operation such as ``torch.cond`` runs."""

    def __init__(self, conversion: NodeConversion, module: fx.GraphModule):
        self.conversion = conversion
        self.graph = module.graph

    def run(self, emitter: Emitter, inputs: Sequence[Any]) -> list[Any]:
        """The values of its outputs, with operations in the emitter's block."""
        return self.conversion.run_subgraph(self.graph, emitter, inputs)

    def sizes(self) -> list[IntExpr]:
        """The sizes of all tensors in it."""
        symbols = self.conversion.context.symbols
        leaves = [pytree.tree_leaves(n.meta.get("val")) for n in self.graph.nodes]
        tensors = [t for found in leaves for t in found if isinstance(t, torch.Tensor)]
        return [d for t in tensors for d in symbols.dims(t)]


@dataclass
class NodeConversion:
    """What nodes are converted with, and what has become of them.

    `values` are the values of nodes, `origins` the nodes that operations are made for.
    """

    context: Context
    constants: Mapping[fx.Node, relax.TensorData]
    results: Sequence[fx.Node]
    converters: Mapping[str, Converter]
    values: dict[fx.Node, Any]
    origins: dict[Operation, fx.Node]
    problems: list[Problem] = field(default_factory=lambda: list[Problem]())
    failed: set[fx.Node] = field(default_factory=lambda: set[fx.Node]())
    opaque: set[fx.Node] = field(default_factory=lambda: set[fx.Node]())
    """Failed nodes without a placeholder value."""

    def run_subgraph(self, graph: fx.Graph, emitter: Emitter, inputs: Sequence[Any]) -> list[Any]:
        """The outputs of a graph inside of this one; its problems are this graph's."""
        context = Context(emitter.block, self.context.symbols, emitter.functions)
        context.reads_sizes = False
        inner = replace(self, context=context, values={}, failed=set(), opaque=set())
        nodes = list(graph.nodes)
        placeholders = [n for n in nodes if n.op == "placeholder"]
        inner.values.update(zip(placeholders, inputs, strict=True))
        for node in nodes:
            if node.op not in ("placeholder", "output"):
                inner.convert(node)
        outputs = inner.resolved(nodes[-1].args[0])
        several = isinstance(outputs, list | tuple)
        return list(cast("Sequence[Any]", outputs if several else [outputs]))

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
        last = self.context.block.last_op
        of_no_value = self.opaque.intersection(node.all_input_nodes) and self._is_known(node)
        if of_no_value or (node.op == "get_attr" and node not in self.constants):
            self._stand_in_for(node)  # the problem is reported for another node
            return
        try:
            self.values[node] = self._value_of(node)
            if node in self.results:
                self._result(node)  # its operations are of this node
        except Unsupported as problem:
            self.fail(node, problem.reason, problem.advice)
        except (TypeError, ValueError) as error:
            self.fail(node, _one_line(error), "", error)
        made = self.context.block.first_op if last is None else last.next_op
        while made is not None:
            self.origins[made] = node
            made = made.next_op

    def fail(self, node: fx.Node, reason: str, advice: str, cause: Exception | None = None) -> None:
        """Record a problem of a node, which gets a placeholder value."""
        name = kind_of(node)
        if not advice and not reason:
            advice = COMPLEX_ADVICE if is_complex(node.meta.get("val")) else advice_for(name)
        self.problems.append(Problem(name, node.name, place(node), reason, advice, cause))
        self._stand_in_for(node)

    def _is_known(self, node: fx.Node) -> bool:
        name = overload_name(node.target)
        return name == GETITEM or name in self.converters

    def _stand_in_for(self, node: fx.Node) -> None:
        self.failed.add(node)
        self.values[node] = value = self._stand_in(node.meta.get("val"))
        if value is None:
            self.opaque.add(node)

    def _stand_in(self, result: Any) -> Any:
        """A placeholder value of PyTorch's type, so that later nodes are converted too."""
        if isinstance(result, list | tuple):
            return tuple(self._stand_in(r) for r in result)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if not isinstance(result, torch.Tensor):
            return None
        try:
            type_ = self.tensor_type(result)
        except Unsupported:
            return None
        op = relax.AllocTensorOp(type_)
        self.context.block.add_op(op)
        return self.tensor(op.result, result)

    def _value_of(self, node: fx.Node) -> Any:
        if node in self.constants:
            value = self.context.constant(self.constants[node])
            value.name_hint = hint(node.name)
            return self.tensor(value, node.meta.get("val"))
        if node.op == "placeholder":
            return self._size_or_constant(node.meta.get("val"))
        if node.op != "call_function":
            raise Unsupported(f"expected a call of a function, got {node.op}")
        if overload_name(node.target) in READS:
            return self._call(node)
        if isinstance(node.meta.get("val"), torch.SymInt):
            return self.context.symbols.expr(node.meta["val"])
        if isinstance(node.meta.get("val"), torch.SymFloat):
            return real(self.context, node.meta["val"])
        if isinstance(node.meta.get("val"), torch.SymBool):
            return truth(self.context, node.meta["val"])
        return self._call(node)

    def _size_or_constant(self, value: Any) -> Any:
        if isinstance(value, torch.SymFloat | torch.SymBool):
            raise Unsupported("a number that changes must be an integer", "pass it as a tensor")
        return self.context.symbols.expr(value) if isinstance(value, torch.SymInt) else value

    def _call(self, node: fx.Node) -> Any:
        name = overload_name(node.target)
        args, kwargs = self.resolved(node.args), self.resolved(node.kwargs)
        if name == GETITEM:
            return self._item(node, *args)
        converter = self.converters.get(name)
        if converter is None:
            value = self.context.constant(evaluated(node))
            return self.tensor(value, node.meta.get("val"))
        given = {k: v for k, v in kwargs.items() if k not in IGNORED_KEYWORDS}
        if has_complex(node.meta.get("val"), args, given):
            converted = convert_complex(self.context, node.target, name, converter, args, given)
            return self._settled(node, converted)
        return self._settled(node, converter(self.context, *args, **given))

    def _item(self, node: fx.Node, container: Any, index: int) -> Any:
        value, source = container[index], node.args[0]
        if value is None and source in self.failed:
            self.opaque.add(node)
        elif value is None:
            raise Unsupported(f"result {index} of '{source}' is not computed")
        return value

    def resolved(self, argument: Any) -> Any:
        """An argument of a node with the values of the nodes in it."""
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

    def _settled(self, node: fx.Node, value: Any) -> Any:
        """The value cast to the types of PyTorch's result, with the name of the node."""
        result = node.meta.get("val")
        if not isinstance(result, list | tuple):
            return self._settled_one(value, result, node.name)
        pairs = zip(value, cast("Sequence[Any]", result), strict=True)
        return tuple(self._settled_one(v, r, f"{node.name}_{i}") for i, (v, r) in enumerate(pairs))

    def _settled_one(self, value: Any, result: Any, name: str) -> Any:
        if value is None or not isinstance(result, torch.Tensor):
            return value
        if result.is_complex():
            return as_complex(self.context, value, part_dtype(result)).matched(result)
        settled = self.context.match(value, self.context.type_like(result))
        if settled.owner is self.context.block.last_op:
            settled.name_hint = hint(name)
        return settled

    def _result(self, node: fx.Node) -> Value:
        value = self.values[node]
        return value.pairs if isinstance(value, Complex) else value

    def tensor_type(self, result: Any) -> relax.TensorType:
        """The type of a value with the elements of PyTorch's tensor; complex ones are pairs."""
        return (pairs_type if is_complex(result) else Context.type_like)(self.context, result)

    def tensor(self, value: Value, result: Any) -> Value | Complex:
        """A parameter or a constant that has the elements of PyTorch's tensor."""
        return Complex(self.context, pairs=value) if is_complex(result) else value


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
