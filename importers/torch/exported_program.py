"""`from_exported_program`: programs of `torch.export` as modules."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
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
from .graph import GraphImport, Input
from .guards import Guards
from .mutations import verify_mutations
from .node_converters import by_overload
from .nodes import drops_out, live_nodes, operators, verify_dense
from .parameters import parameter_data
from .registry import (
    Converter,
    applicable,
    load_converters,
    load_converters_as_tvm,
    overload_name,
)
from .returned import with_sizes
from .shapes import Symbols, depends_on_data, dim_names, shape_env_of
from .source_lines import place
from .sparse_weights import with_dense_weights

_WEIGHTS = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
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
    is the tuple of all outputs: a number is a tensor of rank 0, a `torch.Size` a shape, and `None`
    TVM's ``R.null_value()``. Weights are constants under their names in the model, which
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
    function then returns it without changing its argument, and an XRelaxWarning says so. A buffer
    may change if no result reads it: batch normalizations in training use the statistics of the
    batch, and running statistics among the weights stay. Raises UnsupportedError, a ValueError,
    with a line for each operation that cannot be imported.
    """
    as_tvm = run_ep_decomposition is not None
    table = load_converters_as_tvm() if as_tvm else load_converters()
    converters = {**table, **by_overload(custom_convert_map)}
    imported = Program(exported_program, converters, core=bool(run_ep_decomposition))
    if as_tvm:
        imported.symbols = Symbols(None, imported.constraints, all_ranges=True)
    given = imported.graph_import(keep_params_as_input, whole_output=True)
    given.unwrap = unwrap_unit_return_tuple
    given.tuple_outside = no_bind_return_tuple
    return IRModule(given.module())


def is_computed(value: Any) -> bool:
    """Whether an output is a tensor in the module: all but sizes that follow from shapes."""
    if isinstance(value, torch.SymInt):
        symbols: set[Any] = cast(Any, value).node.expr.free_symbols
        return any(depends_on_data(str(s)) for s in symbols)
    return isinstance(value, torch.Tensor | torch.SymFloat | torch.SymBool)


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
        given = with_dense_weights(given)
        verify_dense(given.graph)
        self.program = self._decomposed(given, None) if core else given
        known = load_converters() if converters is None else converters
        self.converters = applicable(known, operators(self.graph))
        if any(overload_name(n.target) not in self.converters for n in operators(self.graph)):
            self.program = self._decomposed(self.program, decompositions(self.converters))

    def _decomposed(self, given: ExportedProgram, table: Any) -> ExportedProgram:
        """The program with operators decomposed by a table, `None` for PyTorch's default."""
        problems = [
            Problem(overload_name(n.target), n.name, place(n), "dropout in training mode", _EVAL)
            for n in operators(given.graph)
            if drops_out(n)
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
        """The outputs that the graph computes: tensors, and numbers and conditions from them."""
        nodes = [o.node for o in self.outputs if o.node is not None]
        return [n for n in nodes if is_computed(n.meta.get("val"))]

    def weights(self, results: Sequence[fx.Node]) -> dict[fx.Node, relax.TensorData]:
        """The data of parameters, buffers and tensor constants that results depend on."""
        live = live_nodes(results)
        found: dict[fx.Node, relax.TensorData] = {}
        specs = self.program.graph_signature.input_specs
        for node, spec in zip(self._placeholders(), specs, strict=True):
            if spec.kind in _WEIGHTS and node in live:
                found[node] = parameter_data(self._tensor(spec.target or ""), spec.target or "")
        return found

    def graph_import(
        self,
        keep_params_as_input: bool = False,
        *,
        whole_output: bool = False,
        by_name: bool = False,
    ) -> GraphImport:
        """The graph to import, which returns tensors, or the `whole_output` with other leaves.

        With `by_name`, weights that are inputs are in the order of their names. Raises as
        `verify_mutations`; an input may change if the output is whole.
        """
        results = [o.node for o in self.outputs if o.node is not None]
        results = results if whole_output else self.results
        verify_mutations(self.program, results, returned_inputs=whole_output)
        inputs, weights = self.parameters(), self.weights(results)
        attrs: dict[str, Attribute] = {}
        if by_name:
            weights = dict(sorted(weights.items(), key=lambda item: item[1].key))
        if keep_params_as_input:
            attrs["num_input"] = IntegerAttr(len(inputs), i64)
            if weights:
                data = [relax.DataAttr(values) for values in weights.values()]
                attrs["params"] = ArrayAttr(data)
            inputs = [*inputs, *(Input(n, _identifier(d.key)) for n, d in weights.items())]
            weights = {}
        leaves = [o.value if o.node is None else o.node for o in self.outputs]
        return GraphImport(
            self.graph, inputs, weights, results, self.symbols, attrs=attrs,
            converters=self.converters, takes_key=True, guards=self.guards(),
            returned=with_sizes(leaves, structures(self.program)[1]) if whole_output else None,
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


def _identifier(name: str) -> str:
    """The parameter name of a weight: ``p_layer_weight`` becomes ``layer_weight``."""
    return "".join(c if c.isalnum() else "_" for c in name)
