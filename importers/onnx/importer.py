"""Imports the nodes of an ONNX graph in order; errors are collected over all nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.sym import expr_symbols
from ..emitter import dims_of
from ..functions import hint
from ..unsupported import Problem, Unsupported
from .calls import attribute_value, call
from .context import Context
from .fold import folded
from .functions import function_body
from .graphs import live_nodes, names_used
from .registry import ADVICE, DEFAULT_ADVICE, Converter, find_converter
from .scope import Failed, GraphImporter, Scope
from .tensor import DataDependent, Known, SizeDependent, Tensor
from .weights import DTYPES, NarrowData, tensor_data

MAX_NUMBERS = 64
"""The length of a list that may be a parameter of the compilation."""

OF_ONE_DTYPE = frozenset(
    "Add And Concat Div Equal Greater GreaterOrEqual Less LessOrEqual Max Min Mod Mul Or Range Sub"
    " Sum Xor".split()
)
"""Operators on known values whose inputs have one dtype."""

TAKE_NARROW = ("Cast", "DequantizeLinear", "GatherBlockQuantized", "Identity", "QuantizeLinear")
"""Operators that know constants of less than 8 bits."""


@dataclass
class Importer(GraphImporter):
    """Converts nodes into operations of one block; problems are noted, and their users skipped."""

    def run_graph(self, graph: Any, scope: Scope, wanted: Sequence[str] | None = None) -> None:
        """Import what the outputs of a graph, or the wanted names, depend on."""
        names = [o.name for o in graph.output] if wanted is None else wanted
        scope.used = {*names_used(graph), *names}
        for tensor in graph.initializer:
            self.add_initializer(tensor, scope)
        for tensor in graph.sparse_initializer:
            self.fail("input", tensor.values.name, "a sparse tensor")
            scope.items[tensor.values.name] = Failed()
        live = live_nodes(graph.node, names)
        for index, node in enumerate(graph.node):
            self.count += 1
            if index in live:
                self.run_node(node, scope)

    def add_initializer(self, tensor: Any, scope: Scope) -> None:
        """A constant, unless a parameter has its name."""
        if isinstance(scope.items.get(tensor.name), Tensor):
            return
        try:
            data = tensor_data(tensor, self.model.folder)
            scope.items[tensor.name] = Tensor.of_data(self.emitter, data)
        except (Unsupported, ValueError) as error:
            self.fail("initializer", tensor.name, str(error))
            scope.items[tensor.name] = Failed()

    def run_node(self, node: Any, scope: Scope) -> None:
        """Import a node; where that fails its results are unknown."""
        outputs: list[str] = list(node.output)
        name: str = node.name or next(filter(None, outputs), "")
        place = f"{self.model.name}, node {self.count}"
        file, self.names[self.count] = StringAttr(self.model.name), name
        self.emitter.location = FileLineColLoc(file, IntAttr(self.count), IntAttr(1))
        try:
            results = self.converted(node, scope)
            missing = [] if results is None else [n for n in outputs[len(results) :] if n]
            if missing:
                raise Unsupported(f"result '{missing[0]}'")
        except DataDependent as problem:
            self.demand(problem, node, name, place)
            results = None
        except SizeDependent as problem:
            self.demand_sizes(problem, node, name, place)
            results = None
        except Unsupported as problem:
            advice = problem.advice or ADVICE.get(node.op_type, DEFAULT_ADVICE)
            self.fail(_operator(node), name, problem.reason, place, advice)
            results = None
        except Exception as error:  # what a broken model makes converters raise; it is the cause
            self.fail(_operator(node), name, one_line(error), place, "", error)
            results = None
        for index, output in enumerate(outputs):
            if output:
                found = Failed() if results is None else results[index]
                scope.items[output] = _named(found, output)

    def demand(self, problem: DataDependent, node: Any, name: str, place: str) -> None:
        """Note the parameters that must be known for a node, or that its data cannot be."""
        value = problem.tensor.value
        if self.may_know(value):
            self.needed.update(parameters_of(value))
        else:
            self.fail(_operator(node), name, problem.reason, place, problem.advice)

    def may_know(self, value: SSAValue) -> bool:
        """Whether a value depends on parameters of few numbers alone, which no one draws."""
        is_random = self.random is not None and self.random.reaches(parameters_of(value))
        return may_be_known(value) and not is_random

    def reads(self, value: SSAValue) -> bool:
        """Whether calls read sizes from a value, as they cannot compile for its numbers."""
        return self.reads_sizes and not (self.knows_inputs and self.may_know(value))

    def demand_sizes(self, problem: SizeDependent, node: Any, name: str, place: str) -> None:
        """Note the sizes that must be known for a node."""
        self.needed_sizes.update(problem.symbols)

    def fail(
        self,
        target: str,
        name: str,
        reason: str,
        place: str = "",
        advice: str = "",
        cause: Exception | None = None,
    ) -> None:
        """Note a problem."""
        line = " ".join(reason.split())
        self.problems.append(Problem(target, name, place, line, advice, cause))

    def converted(self, node: Any, scope: Scope) -> list[Any] | None:
        """The results of a node; `None` where an operand has failed before."""
        domain = "" if node.domain == "ai.onnx" else node.domain
        if not domain and domain not in self.model.opsets:
            raise ValueError("expected the opset of ONNX among those of the model, got none")
        opset = self.model.opsets.get(domain, 1)
        converter = find_converter(domain, node.op_type, opset)
        operands = [scope.find(name) if name else None for name in node.input]
        if any(isinstance(operand, Failed) for operand in operands):
            if converter is None and function_body(node, domain, opset, ()) is None:
                raise Unsupported("")
            return None
        if node.op_type not in TAKE_NARROW and any(map(_is_narrow, operands)):
            raise Unsupported("integers of less than 8 bits", "dequantize them first")
        attributes = {
            a.name: attribute_value(a, self.model.folder)
            for a in node.attribute
            if a.name != "consumed_inputs"  # a hint about memory in the first opsets
        }
        known = self.known(node.op_type, operands, attributes, opset) if not domain else None
        if known is not None:
            return list(known)
        if converter is None:
            return self.expanded(node, domain, opset, operands)
        return self.called(converter, node, scope, operands, attributes, opset)

    def called(
        self,
        converter: Converter,
        node: Any,
        scope: Scope,
        operands: Sequence[Any],
        attributes: Mapping[str, Any],
        opset: int,
    ) -> list[Any]:
        """What a converter makes of a node."""
        outputs = [bool(n) and (scope.used is None or n in scope.used) for n in node.output]
        context = Context(self, scope, opset, outputs)
        found = call(converter, context, operands, attributes)
        several = cast("tuple[Any, ...]", found if isinstance(found, tuple) else (found,))
        return [context.item(result) for result in several]

    def known(
        self, operator: str, operands: Sequence[Any], attributes: Mapping[str, Any], opset: int
    ) -> list[Tensor] | None:
        """The results of arithmetic on known values."""
        values = [o.known if isinstance(o, Tensor) else None for o in operands]
        pairs = zip(values, operands, strict=True)
        if not values or values[0] is None or any(v is None and o is not None for v, o in pairs):
            return None
        dtypes = {o.dtype for o in operands if isinstance(o, Tensor)}
        if operator in OF_ONE_DTYPE and len(dtypes) > 1:
            return None  # the operator's converter says what is wrong
        found = folded(operator, values, attributes, opset, self.sizes)
        if found is None:
            return None
        results = [(f, _dtype(operator, f, operands, attributes)) for f in found]
        return [Tensor.of_known(self.emitter, f, dtype) for f, dtype in results]

    def expanded(
        self, node: Any, domain: str, opset: int, operands: Sequence[Any]
    ) -> list[Any] | None:
        """The results of the function that ONNX defines an operator by."""
        body = function_body(node, domain, opset, operands)
        if body is None:
            raise Unsupported("")
        scope = Scope()
        for name, operand in zip(
            body.inputs, [*operands, *[None] * len(body.inputs)], strict=False
        ):
            scope.items[name] = operand
        count, live = len(self.problems), live_nodes(body.nodes, body.outputs)
        for index, inner in enumerate(body.nodes):
            if index in live:
                self.run_node(inner, scope)
        if len(self.problems) > count:
            return None
        return [scope.items.get(name) for name in body.outputs]


def parameters_of(value: SSAValue) -> set[BlockArgument]:
    """The parameters that a value depends on."""
    return {v for v in _sources(value) if isinstance(v, BlockArgument)}


def may_be_known(value: SSAValue) -> bool:
    """Whether a value depends on parameters of few numbers alone."""
    found = parameters_of(value)
    return bool(found) and all(map(_is_small, found))


def symbols_of(value: SSAValue) -> set[str]:
    """The symbols of sizes that the operations use on which a value depends."""
    ops = [v.owner for v in _sources(value) if isinstance(v.owner, Operation)]
    used = [a for op in ops for a in op.properties.values()]
    return {s for attribute in used for s in expr_symbols(attribute)}


def _sources(value: SSAValue) -> set[SSAValue]:
    """The values that a value depends on, and itself."""
    seen, work = set[SSAValue](), [value]
    while work:
        value = work.pop()
        if value not in seen:
            seen.add(value)
            if isinstance(value.owner, Operation):
                work += [o for op in value.owner.walk() for o in op.operands]
    return seen


def _is_small(parameter: BlockArgument) -> bool:
    """Whether a parameter has few numbers, such as axes or a shape."""
    dims = dims_of(parameter)
    if len(dims) <= 1 and not all(d.is_constant for d in dims):
        return True  # a list whose length a call says
    return all(d.is_constant for d in dims) and prod(d.offset for d in dims) <= MAX_NUMBERS


def _dtype(
    operator: str, found: Known, operands: Sequence[Tensor], attributes: Mapping[str, Any]
) -> str:
    if found.dtype != object:
        return str(found.dtype)
    if operator == "Cast":
        return DTYPES[attributes["to"]]
    return operands[1 if operator == "Where" else 0].dtype


def _named(item: Any, name: str) -> Any:
    """An item whose value, if it is new, has the name of the graph."""
    value = item.emitted if isinstance(item, Tensor) else None
    if value is not None and value.name_hint is None:
        value.name_hint = hint(name)
    return item


def _operator(node: Any) -> str:
    return f"{node.domain}.{node.op_type}" if node.domain else node.op_type


def _is_narrow(item: Any) -> bool:
    return isinstance(item, Tensor) and isinstance(item.data, NarrowData)


def one_line(error: Exception) -> str:
    """The message of an error, with its type if it is no usual one for wrong arguments."""
    text = " ".join(str(error).split())
    usual = isinstance(error, TypeError | ValueError | VerifyException)
    return text if usual and text else f"{type(error).__name__}: {text}"
