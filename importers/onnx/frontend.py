"""`from_onnx`: ONNX models as modules."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import index
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, i64
from xdsl.ir import Attribute, Block

from ...dialects import relax
from ...dialects.diagnostics import verify
from ...dialects.dtypes import element_type
from ...dialects.int_expr import IntExpr, Sym, sym
from ...dialects.relax import TensorData
from ...dialects.relax.types import python_shape
from ...dialects.sym import RESERVED
from ...ir.module import IRModule
from ..emitter import Emitter, Value
from ..functions import graph_function, hint, take_tuple
from ..key_parameter import KeyParameter
from ..unsupported import Problem, Unsupported, UnsupportedError
from .checks import verify_texts
from .importer import Importer
from .model import Model, read_model
from .names import composed_dim, identifier, identifiers, unique
from .scope import Failed, Scope
from .tensor import Tensor
from .weights import NarrowData, dtype_of_element, tensor_data


def from_onnx(
    model: Any,
    shape_dict: Mapping[str, Sequence[Any]] | None = None,
    dtype_dict: str | Mapping[str, str] | None = None,
    opset: int | None = None,
    keep_params_in_input: bool = False,
    sanitize_input_names: bool = True,
) -> IRModule:
    """Import an ONNX model as the function "main" of a module.

    TVM's ``tvm.relax.frontend.onnx.from_onnx``. `model` is a path, the bytes of a file, or a
    ``ModelProto``. Parameters of "main" are the graph's inputs that are no initializers; its result
    is the tuple of the outputs, or the only output. An output that is a sequence is a tuple, and
    the result of ``Shape`` a shape. Dims have the symbols of the file; `shape_dict` and
    `dtype_dict` replace shapes and dtypes of inputs. Initializers are constants that share the
    file's memory; with `keep_params_in_input` they are parameters after the inputs, and their
    values the attribute "params", see `detach_params`. Numbers that operators need, such as a shape
    or a single factor, are those of the file then.
    `opset` replaces the file's. Names that are no identifiers change with `sanitize_input_names`,
    and are an error without.

    Raises UnsupportedError, a ValueError, with a line for each node that cannot be imported, and
    ValueError or OSError for a file that is no model. An input whose values operators need as
    numbers, such as a shape, is an error too; `xrelax.compile` compiles for the values of a call.
    """
    read = read_model(model, opset)
    imported = OnnxImport(
        read, shape_dict or {}, dtype_dict or {}, keep_params_in_input, as_tvm=True
    )
    if not sanitize_input_names:
        for name in imported.inputs:
            if not name.isidentifier():
                raise ValueError(f"expected names of inputs that are identifiers, got '{name}'")
    return imported.one_module()


class NeedsValues(Exception):
    """The values of inputs, or sizes, determine shapes: they must be known for an import."""

    def __init__(self, names: Sequence[str], symbols: Iterable[str]):
        super().__init__(", ".join([*names, *symbols]))
        self.names = tuple(names)
        self.symbols = tuple(sorted(symbols))


@dataclass
class OnnxImport:
    """One import: the model's inputs and outputs, and the module."""

    model: Model
    shapes: Mapping[str, Sequence[Any]] = field(default_factory=lambda: {})
    dtypes: str | Mapping[str, str] = field(default_factory=lambda: {})
    keeps_params: bool = False
    as_tvm: bool = False
    """Whether the results are those of TVM: a sequence is a tuple, that of ``Shape`` a shape."""
    values: Mapping[str, TensorData] = field(default_factory=lambda: {})
    """Values of inputs, which are then no parameters."""
    sizes: Mapping[str, int] = field(default_factory=lambda: {})
    """Numbers for symbols of the file's shapes."""

    def __post_init__(self) -> None:
        graph = self.model.graph
        constants = {t.name for t in graph.initializer}
        self.given = {i.name: i for i in graph.input if i.name not in constants}
        self.inputs = list(self.given)
        self.outputs = [o.name for o in graph.output]
        self.names = identifiers(self.inputs)
        """The names of parameters, by those of inputs."""
        self.entry, self.body = Block(), Block()
        self.emitter = Emitter(self.body)
        self.importer = Importer(
            self.model,
            self.emitter,
            random=KeyParameter(self.entry),
            knows_inputs=not self.as_tvm,
        )
        self._symbols: dict[str, str] = {}
        dtypes = () if isinstance(self.dtypes, str) else self.dtypes
        for what, names in (("shapes", self.shapes), ("dtypes", dtypes)):
            for name in names:
                if name not in self.given:
                    known = ", ".join(self.inputs)
                    raise ValueError(f"expected {what} of inputs ({known}), got one of '{name}'")

    def module(self) -> ModuleOp:
        """The module; raises UnsupportedError with all problems, NeedsValues without any."""
        scope = Scope()
        for name in self.inputs:
            if name in self.values:
                self._verify_value(name, self.values[name])
                scope.items[name] = Tensor.of_data(self.emitter, self.values[name])
            else:
                self._add_input(name, scope)
        params = self._add_params(scope) if self.keeps_params else {}
        self.importer.run_graph(self.model.graph, scope)
        results = self._results(scope)
        if self.importer.problems:
            raise UnsupportedError(self.importer.problems)
        parameters = [name for name in self.inputs if name not in self.values]
        needed, symbols = self.importer.needed, self.importer.needed_sizes
        if needed or symbols:
            raise NeedsValues([parameters[arg.index] for arg in needed], symbols)
        attrs: dict[str, Attribute] = {}
        if self.keeps_params or self.as_tvm:
            count = len(self.inputs if params else self.entry.args)  # with a key of random numbers
            attrs["num_input"] = IntegerAttr(count, i64)
        if params:
            attrs["params"] = ArrayAttr([relax.DataAttr(data) for data in params.values()])
        names = [self.names[name] for name in parameters]
        names += identifiers(params, self.names.values()).values()
        if self.importer.random is not None:
            names = self.importer.random.names(names)
        main = graph_function(
            "main", names, self.entry, self.body, results, unwrap=True, attrs=attrs
        )
        module = ModuleOp([*self.emitter.functions.made.values(), main])
        verify(module)
        return module

    def one_module(self) -> IRModule:
        """The module for all values of inputs; raises UnsupportedError, also if there is none."""
        try:
            return IRModule(self.module())
        except NeedsValues as needs:
            problems = [
                Problem("input", name, "", "its values must be known", "make it an initializer")
                for name in needs.names
            ]
            problems += [
                Problem("size", symbol, "", "it must be known", "give it by shape_dict")
                for symbol in needs.symbols
            ]
            raise UnsupportedError(problems) from None

    def _results(self, scope: Scope) -> list[Value]:
        found: list[Value] = []
        nodes = self.model.graph.node if self.as_tvm else ()
        shapes = {name for node in nodes if node.op_type == "Shape" for name in node.output}
        for name in self.outputs:
            try:
                item = scope.find(name)
                if isinstance(item, Tensor) and name in shapes:
                    found.append(self._inserted(relax.ShapeOp(item.sizes("a shape"))))
                elif isinstance(item, Tensor):
                    found.append(item.value)
                elif isinstance(item, list | tuple) and self.as_tvm:
                    values = [tensor.value for tensor in item]
                    whole = take_tuple(values)
                    found.append(self._inserted(relax.TupleOp(values)) if whole is None else whole)
                elif not isinstance(item, Failed):
                    raise ValueError("expected a tensor, got a sequence or nothing")
            except ValueError as error:
                self.importer.fail("output", name, str(error))
        return found

    def _inserted(self, op: relax.ShapeOp | relax.TupleOp) -> Value:
        self.emitter.insert(op)
        return op.result

    def _verify_value(self, name: str, data: TensorData) -> None:
        """Raise ValueError for a value that has not the dtype or the shape of an input."""
        type_ = self._type(name, self.given[name].type)
        dims, parameter = type_.dims or (), self.names[name]
        if data.dtype != type_.dtype:
            raise ValueError(
                f"expected argument '{parameter}' to have dtype {type_.dtype}, got {data.dtype}"
            )
        pairs = zip(dims, data.shape, strict=False)
        if len(dims) != len(data.shape) or any(d.is_constant and d.offset != s for d, s in pairs):
            raise ValueError(
                f"expected argument '{parameter}' to have shape {python_shape(dims)}, "
                f"got {data.shape}"
            )

    def _add_input(self, name: str, scope: Scope) -> None:
        try:
            type_ = self._type(name, self.given[name].type)
        except (Unsupported, ValueError) as error:
            advice = getattr(error, "advice", "")
            self.importer.fail("input", name, str(error), advice=advice)
            scope.items[name] = Failed()
            return
        arg = self.entry.insert_arg(type_, len(self.entry.args))
        arg.name_hint = hint(self.names[name])
        scope.items[name] = Tensor.of_value(self.emitter, arg)

    def _add_params(self, scope: Scope) -> dict[str, TensorData]:
        found: dict[str, TensorData] = {}
        for tensor in self.model.graph.initializer:
            try:
                data = tensor_data(tensor, self.model.folder)
            except (Unsupported, ValueError):
                continue  # the graph reports it
            if isinstance(data, NarrowData):
                continue  # a parameter has no such type
            arg = self.entry.insert_arg(data.tensor_type(), len(self.entry.args))
            found[tensor.name] = data
            scope.items[tensor.name] = Tensor.of_param(self.emitter, arg, data)
        return found

    def sizes_of(self, symbols: Collection[str], shapes: Mapping[str, Sequence[int]]) -> Any:
        """The numbers for symbols by the shapes of inputs, as far as these have the right rank."""
        found: dict[str, int] = {}
        for name, shape in shapes.items():
            dims = self._type(name, self.given[name].type).dims or ()
            for dim, size in zip(dims, shape, strict=False):
                if isinstance(atom := dim.as_atom, Sym) and atom.name in symbols:
                    found.setdefault(atom.name, size)
        return found

    def _type(self, name: str, given: Any) -> relax.TensorType:
        """The type of an input; raises Unsupported for what is no tensor of known rank."""
        kind = given.WhichOneof("value")
        if kind != "tensor_type":
            raise Unsupported(f"expected a tensor, got a {(kind or 'value').removesuffix('_type')}")
        found = given.tensor_type
        dtypes = self.dtypes
        wanted = dtypes if isinstance(dtypes, str) else dtypes.get(name)
        dtype = wanted or dtype_of_element(found.elem_type)
        if name in self.shapes:
            dims = [self._given_dim(name, d) for d in self.shapes[name]]
        elif found.HasField("shape"):
            dims = [self._dim(name, i, d) for i, d in enumerate(found.shape.dim)]
        else:
            raise Unsupported("an input of unknown rank", "give its shape by shape_dict")
        return relax.TensorType.of(dims, element_type(dtype))

    def _dim(self, name: str, axis: int, dim: Any) -> IntExpr:
        if dim.HasField("dim_value") and dim.dim_value >= 0:
            return IntExpr.of(dim.dim_value)
        is_named = any(c.isalnum() for c in dim.dim_param)  # some files call all open dims "?"
        return self._size(dim.dim_param if is_named else f"{self.names[name]}_{axis}")

    def _given_dim(self, name: str, dim: Any) -> IntExpr:
        if hasattr(dim, "__index__") and index(dim) >= 0:
            return IntExpr.of(index(dim))
        text = getattr(dim, "name", dim)
        if not isinstance(text, str):
            raise ValueError(f"expected dims of '{name}' that are sizes or names, got {dim!r}")
        return self._size(text)

    @cached_property
    def _named_dims(self) -> set[str]:
        """The names of whole dims of parameters."""
        found: set[Any] = set()
        for name in self.given.keys() - self.values.keys():
            dims = self.given[name].type.tensor_type.shape.dim
            found |= set(self.shapes.get(name) or [d.dim_param for d in dims])
        return {n for n in found if isinstance(n, str) and n.isidentifier()}

    def _size(self, name: str) -> IntExpr:
        composed = composed_dim(name, self._named_dims)
        if composed is not None:
            return composed.substitute({Sym(n): self._size(n) for n in composed.symbols()})
        symbol = self._symbol(name)
        return IntExpr.of(self.sizes[symbol]) if symbol in self.sizes else sym(symbol)

    def _symbol(self, name: str) -> str:
        verify_texts([name])
        if name not in self._symbols:
            taken = {*self._symbols.values(), *RESERVED}
            self._symbols[name] = unique(identifier(name, "d"), taken)
        return self._symbols[name]
