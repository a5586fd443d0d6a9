"""`from_exported_program`: programs of `torch.export` as modules."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, cast

import torch
from torch import fx
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind
from torch.utils import _pytree as pytree
from torch.utils._pytree import TreeSpec
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i64
from xdsl.ir import Attribute

from ...dialects import relax
from ...ir.module import IRModule
from ..unsupported import Problem, UnsupportedError
from .error_checks import move_checks
from .export import decompositions
from .graph import DROPPED, GETITEM, GraphImport, Input, submodule
from .guards import Guards
from .mutations import verify_mutations
from .node_converters import by_overload
from .nodes import live_nodes
from .parameters import parameter_data
from .registry import Converter, load_converters, load_converters_as_tvm, overload_name
from .shapes import Symbols, dim_names, shape_env_of
from .source_lines import place

_WEIGHTS = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
_RECURRENT = {f"aten.{name}.input" for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")}
_EVAL = "call model.eval() before the export"


def from_exported_program(
    exported_program: ExportedProgram,
    *,
    keep_params_as_input: bool = False,
    unwrap_unit_return_tuple: bool = False,
    no_bind_return_tuple: bool = False,
    custom_convert_map: Mapping[str, Converter] | None = None,
    run_ep_decomposition: bool | None = None,
) -> IRModule:
    """Import an exported program as the function "main" of a module.

    TVM's ``tvm.relax.frontend.torch.from_exported_program``. Parameters of "main" are the tensors
    among the program's inputs, in the order of ``pytree.tree_flatten((args, kwargs))``; its result
    is the tuple of all output tensors. Weights are constants under their names in the model, which
    share PyTorch's memory; with `keep_params_as_input` they are parameters after the inputs, and
    their values the attribute "params", see `detach_params`. With `unwrap_unit_return_tuple` a
    single output is no tuple; with `no_bind_return_tuple` the tuple is created after the dataflow
    block. Symbols have the names of their `torch.export.Dim`, and their ranges are the attributes
    ``tir_var_lower_bound`` and ``tir_var_upper_bound``. `custom_convert_map` has converters for
    more operators, by names such as "aten.sin.default"; those by names such as "sin.default" have
    TVM's form, ``converter(node, importer)`` with ``importer.env[node.args[0]]`` and
    ``importer.block_builder.emit``. Operators without a converter are decomposed. With TVM's option
    `run_ep_decomposition`, the module has the operators that TVM imports: if it is true, those of
    PyTorch's default decompositions, which make slower kernels. Symbols have PyTorch's own names
    then.

    A program that changes an input, as in-place operators do, must return the new value: the
    function then returns it without changing its argument, and an XRelaxWarning says so. Raises
    UnsupportedError, a ValueError, with a line for each operation that cannot be imported.
    """
    as_tvm = run_ep_decomposition is not None
    table = load_converters_as_tvm() if as_tvm else load_converters()
    converters = {**table, **by_overload(custom_convert_map)}
    imported = Program(exported_program, converters, core=bool(run_ep_decomposition))
    if as_tvm:
        imported.symbols = Symbols(None, imported.constraints, least_values=True)
    given = imported.graph_import(keep_params_as_input, returned_inputs=True)
    given.unwrap = unwrap_unit_return_tuple
    given.tuple_outside = no_bind_return_tuple
    return IRModule(given.module())


class Output(NamedTuple):
    """One leaf of the program's output: a node of the graph, or a constant."""

    node: fx.Node | None
    value: Any = None


class Program:
    """An exported program, decomposed to operators with converters as far as PyTorch can.

    Operators with a converter are kept, unless `core` asks for PyTorch's default decompositions
    first; all others are decomposed, and in-place operators are functionalized.
    """

    def __init__(
        self,
        given: ExportedProgram,
        converters: Mapping[str, Converter] | None = None,
        *,
        core: bool = False,
    ):
        _verify_dense(given.graph)
        self.converters = load_converters() if converters is None else converters
        self.program = self._decomposed(given, None) if core else given
        if any(overload_name(n.target) not in self.converters for n in _operators(self.graph)):
            self.program = self._decomposed(self.program, decompositions(self.converters))

    def _decomposed(self, given: ExportedProgram, table: Any) -> ExportedProgram:
        """The program with operators decomposed by a table, `None` for PyTorch's default."""
        problems = [
            Problem(overload_name(n.target), n.name, place(n), "dropout in training mode", _EVAL)
            for n in _operators(given.graph)
            if _drops(n)
        ]
        if problems:  # PyTorch's decomposition would drop these operations
            raise UnsupportedError(problems)
        with warnings.catch_warnings():  # PyTorch calls deprecated functions
            warnings.simplefilter("ignore", FutureWarning)
            anything: Any = given  # its types are partly unknown
            try:
                decomposed = anything.run_decompositions(table)
            except RuntimeError:  # a decomposition that PyTorch cannot trace
                return given  # the import then reports the operators without converters
        move_checks(decomposed.graph)
        return decomposed

    @property
    def graph(self) -> fx.Graph:
        """The graph of ATen operators."""
        return self.program.graph

    @cached_property
    def symbols(self) -> Symbols:
        """The names of the symbols, and their ranges."""
        env = shape_env_of(self.graph)
        return Symbols({} if env is None else dim_names(env), self.constraints)

    @property
    def constraints(self) -> dict[Any, Any]:
        """PyTorch's ranges of its symbols."""
        return getattr(self.program, "range_constraints")

    @cached_property
    def inputs(self) -> list[fx.Node]:
        """The placeholders of the user's inputs, in the order of the flattened arguments."""
        nodes = self._placeholders()
        specs = self.program.graph_signature.input_specs
        return [n for n, s in zip(nodes, specs, strict=True) if s.kind is InputKind.USER_INPUT]

    def parameters(self) -> list[Input]:
        """The inputs that are tensors or symbolic integers."""
        kinds = torch.Tensor | torch.SymInt
        return [Input(n, n.name) for n in self.inputs if isinstance(n.meta.get("val"), kinds)]

    @cached_property
    def outputs(self) -> list[Output]:
        """The leaves of the program's output, in the order of the flattened result."""
        nodes = {n.name: n for n in self.graph.nodes}
        found: list[Output] = []
        for spec in self.program.graph_signature.output_specs:
            if spec.kind not in (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT):
                continue
            if isinstance(spec.arg, ConstantArgument):
                found.append(Output(None, spec.arg.value))
            else:
                found.append(Output(nodes[spec.arg.name]))
        return found

    @property
    def results(self) -> list[fx.Node]:
        """The output tensors."""
        nodes = [o.node for o in self.outputs if o.node is not None]
        return [n for n in nodes if isinstance(n.meta.get("val"), torch.Tensor)]

    def weights(self) -> dict[fx.Node, relax.TensorData]:
        """The data of parameters, buffers and tensor constants that the results depend on."""
        live = live_nodes(self.results)
        found: dict[fx.Node, relax.TensorData] = {}
        specs = self.program.graph_signature.input_specs
        for node, spec in zip(self._placeholders(), specs, strict=True):
            if spec.kind in _WEIGHTS and node in live:
                found[node] = parameter_data(self._tensor(spec.target or ""), spec.target or "")
        return found

    def graph_import(
        self, keep_params_as_input: bool = False, *, returned_inputs: bool = False
    ) -> GraphImport:
        """The graph to import; raises as `verify_mutations`, which has the last option."""
        verify_mutations(self.program, self.results, returned_inputs=returned_inputs)
        inputs, weights = self.parameters(), self.weights()
        attrs: dict[str, Attribute] = {}
        if keep_params_as_input:
            attrs["num_input"] = IntegerAttr(len(inputs), i64)
            if weights:
                data = [relax.DataAttr(values) for values in weights.values()]
                attrs["params"] = ArrayAttr(data)
            inputs = [*inputs, *(Input(n, _identifier(d.key)) for n, d in weights.items())]
            weights = {}
        return GraphImport(
            self.graph, inputs, weights, self.results, self.symbols, attrs=attrs,
            converters=self.converters, takes_key=True, guards=self.guards(),
        )  # fmt: skip

    def guards(self) -> Guards:
        """What the program assumes of the sizes of its inputs."""
        args, kwargs = pytree.tree_unflatten(self.inputs, structures(self.program)[0])
        names = argument_names(self.program) or ()
        given: list[Any] = [*args, *kwargs.values()]
        texts: Sequence[str] = getattr(self.program, "_guards_code", ())
        return Guards(texts, dict(zip(names, given, strict=False)))

    def _placeholders(self) -> list[fx.Node]:
        return [n for n in self.graph.nodes if n.op == "placeholder"]

    def _tensor(self, name: str) -> Any:
        return _tensor_of(self.program, name)


def input_values(program: ExportedProgram, inputs: Sequence[Any]) -> list[Any]:
    """The values of all placeholders: weights, and the leaves of the user's arguments."""
    given = iter(inputs)
    return [
        next(given) if s.kind is InputKind.USER_INPUT else _tensor_of(program, s.target or "")
        for s in program.graph_signature.input_specs
    ]


def _tensor_of(program: ExportedProgram, name: str) -> Any:
    state: Mapping[str, Any] = program.state_dict
    constants: Mapping[str, Any] = program.constants
    return state[name] if name in state else constants[name]


def structures(program: ExportedProgram) -> tuple[TreeSpec, TreeSpec]:
    """The structure of a program's arguments, ``(args, kwargs)``, and of its result."""
    given, result = program.call_spec.in_spec, program.call_spec.out_spec
    assert given is not None and result is not None
    return given, result


def argument_names(program: ExportedProgram) -> list[str] | None:
    """The names of the model's arguments, `None` unless the export has one for each."""
    signature = program.module_call_graph[0].signature
    names = getattr(signature, "forward_arg_names", None)
    positional, named = structures(program)[0].children()
    if names is None or len(names) != positional.num_children + named.num_children:
        return None
    return [*names[: positional.num_children], *named.context]


def _verify_dense(graph: fx.Graph) -> None:
    """Raise UnsupportedError for sparse inputs and weights, on which decompositions may abort."""
    values = {n: n.meta.get("val") for n in graph.nodes if n.op == "placeholder"}
    problems = [
        Problem("input", node.name, place(node), "a sparse tensor", "use to_dense() before")
        for node, value in values.items()
        if isinstance(value, torch.Tensor) and value.layout is not torch.strided
    ]
    if problems:
        raise UnsupportedError(problems)


def _drops(node: fx.Node) -> bool:
    """Whether a node is a recurrent layer with dropout between its layers, in training mode."""
    if overload_name(node.target) not in _RECURRENT:
        return False
    layers, dropout, train = cast("tuple[int, float, bool]", node.args[4:7])
    return layers > 1 and dropout > 0 and train


def _operators(graph: fx.Graph) -> Iterator[fx.Node]:
    """The nodes that need a converter."""
    for node in graph.nodes:
        if (module := submodule(node)) is not None:
            yield from _operators(module.graph)
        symbolic = isinstance(node.meta.get("val"), torch.SymInt | torch.SymBool | torch.SymFloat)
        name = overload_name(node.target)
        if node.op == "call_function" and not symbolic and name not in DROPPED:
            if name != GETITEM:
                yield node


def _identifier(name: str) -> str:
    """The parameter name of a weight: ``p_layer_weight`` becomes ``layer_weight``."""
    return "".join(c if c.isalnum() else "_" for c in name)
