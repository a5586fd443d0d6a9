"""`CompiledModel`: an exported program as native code, with the signature of the model."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from ...debugging.debugger import Debugger
from ...dialects.int_expr import IntExpr, Sym
from ...display.picture import GraphPicture
from ...display.rich import displayed
from ...driver import build
from ...ir.module import IRModule
from ...runtime.arguments import bind_names
from ...runtime.executable import signature_text
from ...runtime.native_call import NativeFunction
from ..random_keys import RandomKeys
from .debugging import labels, node_values
from .export import exported_program
from .exported_program import Program, structures
from .tensors import TorchCall, as_argument, complex_tensor, is_torch, to_torch


class Leaf(NamedTuple):
    """One leaf of the flattened arguments: a parameter, or a value that the export specialized."""

    name: str
    is_parameter: bool
    value: Any = None
    dtype: torch.dtype | None = None
    """The dtype of a complex parameter."""


class Range(NamedTuple):
    """The valid sizes of a dim of a tensor."""

    tensor: int
    axis: int
    argument: str
    symbol: str
    least: int
    most: int | None


@displayed("executables:model_html")
class CompiledModel:
    """A compiled model, with the arguments and results of the model.

    Tensors may be torch's, NumPy's, or any with `__dlpack__`; only strided ones are copied. Results
    are torch tensors over memory of the call, or xrelax tensors if no argument is a torch tensor.
    Complex tensors are torch's in both directions.
    Raises TypeError or ValueError with one line for arguments whose structure, dtype, shape or
    device differs from the export, for a dim outside its range, and for tensors that require
    gradients, which compiled code does not compute.
    """

    def __init__(self, program: Program, module: IRModule, *, seed: int = 0, **options: Any):
        self._module: IRModule | None = module
        self._program: ExportedProgram | None = program.program
        self.executable = build(module, **options)
        given = program.program
        self._in_spec, self._out_spec = structures(given)
        self._names = _argument_names(given)
        self._leaves = _leaves(program)
        self._ranges = list(_ranges(program))
        self._outputs = _outputs(program)
        self._sizes = _size_sources(program)
        self._count = self._in_spec.child(0).num_children
        self._keys = RandomKeys(seed)
        self._prepare_calls()

    def _prepare_calls(self) -> None:
        self._function = self.executable["main"]
        inputs = sum(leaf.is_parameter for leaf in self._leaves)
        self._is_random = len(self._function.spec.params) > inputs
        self._native = None if self._is_random else self._native_call()
        self._restore = _restore(self._out_spec)

    @property
    def module(self) -> IRModule:
        """The imported module; raises ValueError for a model from a pickle."""
        if self._module is None:
            raise ValueError(
                "expected a model that this process has compiled to have its module, got one from "
                "a pickle"
            )
        return self._module

    def manual_seed(self, seed: int) -> None:
        """Start the random numbers of the following calls again, with a seed."""
        self._keys.start(seed)

    def _next_key(self) -> list[Any]:
        """The last argument of a call of a model with random numbers."""
        return [self._keys.next()] if self._is_random else []

    def show_graph(self) -> GraphPicture:
        """Draw the imported graph, as `IRModule.show_graph`."""
        return self.module.show_graph()

    def save(self, path: str | Path) -> None:
        """Write the machine code with the weights to a file, which `xrelax.runtime.load` reads.

        The function "main" of the loaded executable takes the tensors of the arguments in order,
        and returns those of the results as a tuple; it needs neither PyTorch nor the compiler.
        `pickle` also keeps the structure of arguments and results.
        """
        self.executable.save(path)

    def __repr__(self) -> str:
        size = self.executable.stats()["constant_bytes"]
        return f"<CompiledModel {signature_text(self._function.spec)}; {size:,} bytes of weights>"

    def __getstate__(self) -> dict[str, Any]:
        left = {
            "_module": None,
            "_program": None,
            "_function": None,
            "_native": None,
            "_restore": None,
        }
        return {**self.__dict__, **left}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare_calls()

    def _native_call(self) -> TorchCall | None:
        """Native calls with torch tensors only, by position, if the model returns only tensors."""
        fields = self._in_spec.child(0).children()
        plain = len(self._leaves) == self._count and all(f.is_leaf() for f in fields)
        plain = plain and all(leaf.is_parameter and not leaf.dtype for leaf in self._leaves)
        returned = all(is_tensor and not is_complex for is_tensor, is_complex in self._outputs)
        if not plain or not returned or not isinstance(self._function, NativeFunction):
            return None
        return TorchCall(self._function, lambda args: self._tensors(args, {}))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if args and not kwargs and self._native is not None and type(args[0]) is torch.Tensor:
            return self._restore(self._native(*args))
        tensors = self._tensors(args, kwargs)
        results = self._function(*tensors, *self._next_key())
        if any(map(is_torch, tensors)) or not tensors:
            results = [to_torch(r) for r in results]
        return self._restored(results, tensors)

    def profile(self, /, *args: Any, repeat: int = 20, **kwargs: Any) -> Any:
        """Profile a call by kernel, as `VirtualMachine.profile`."""
        tensors = self._tensors(args, kwargs)
        return self.executable.profile("main", *tensors, *self._next_key(), repeat=repeat)

    def debug(
        self,
        /,
        *args: Any,
        reference: Any = "f64",
        rtol: float | None = None,
        atol: float | None = None,
        stage: str = "asm",
        **kwargs: Any,
    ) -> Any:
        """The first operation with a wrong result: as `VirtualMachine.debug`, with more references.

        "torch" runs the exported program node by node in PyTorch. A `CompiledModel` of a model with
        the same graph may be one too. Operations have the names of the nodes and the paths of their
        modules. Raises ValueError for a model from a pickle.
        """
        if self._program is None:
            raise ValueError(
                "expected a model that this process has compiled to debug, got one from a pickle"
            )

        tensors = [*self._tensors(args, kwargs), *self._next_key()]
        options: dict[str, Any] = {"rtol": rtol, "atol": atol, "stage": stage}
        if isinstance(reference, str) and reference == "torch":
            if self._is_random:
                raise ValueError(
                    "expected a model without random numbers to compare with PyTorch, whose "
                    "numbers are others"
                )
            reference = node_values(self._program, self._flattened(args, kwargs))
            options["described"] = "PyTorch"
        debugger = self.executable.debugger
        assert debugger is not None
        return debugger.debug("main", tensors, {}, reference=reference, **options)

    def _tensors(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The tensors of a call, in the order of the parameters, each checked by itself."""
        leaves = self._flattened(args, kwargs)
        tensors: list[Any] = []
        for leaf, value in zip(self._leaves, leaves, strict=True):
            if leaf.is_parameter:
                tensors.append(as_argument(leaf.name, value, leaf.dtype))
            elif type(value) is not type(leaf.value) or value != leaf.value:
                raise ValueError(
                    f"expected argument '{leaf.name}' to be {leaf.value!r}, its value in the "
                    f"export, got {value!r}"
                )
        self._check_ranges(tensors)
        return tensors

    def _flattened(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        if (names := self._names) is not None:
            given = bind_names("the model", names, args, kwargs)
            args = given[: self._count]
            kwargs = dict(zip(names[self._count :], given[self._count :], strict=True))
        leaves, spec = pytree.tree_flatten((args, kwargs))
        if spec != self._in_spec:
            expected, got = (_one_line(s) for s in (self._in_spec, spec))
            raise TypeError(f"expected arguments of structure {expected}, got {got}")
        return leaves

    def _check_ranges(self, tensors: Sequence[Any]) -> None:
        for tensor, axis, argument, symbol, least, most in self._ranges:
            shape = getattr(tensors[tensor], "shape", ())
            if axis >= len(shape):
                continue  # the call raises the error about the shape
            if shape[axis] < least or (most is not None and shape[axis] > most):
                bounds = f"at least {least}" if most is None else f"in [{least}, {most}]"
                raise ValueError(
                    f"expected dim {axis} ('{symbol}') of argument '{argument}' to be {bounds}, "
                    f"got {shape[axis]}"
                )

    def _restored(self, results: Sequence[Any], tensors: Sequence[Any]) -> Any:
        """The results in the structure of the model's output."""
        leaves: list[Any] = []
        remaining = iter(results)
        for is_tensor, value in self._outputs:
            if is_tensor:
                leaves.append(complex_tensor(next(remaining)) if value else next(remaining))
            elif isinstance(value, IntExpr):
                leaves.append(value.evaluate(lambda s: self._size(s, tensors)))
            else:
                leaves.append(value)
        return pytree.tree_unflatten(leaves, self._out_spec)

    def _size(self, symbol: Any, tensors: Sequence[Any]) -> int:
        index, axis = self._sizes[symbol.name]
        return int(tensors[index] if axis is None else tensors[index].shape[axis])


def compile_model(
    model: torch.nn.Module | ExportedProgram,
    example_inputs: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    **options: Any,
) -> CompiledModel:
    """Compile a model, exported by ``torch.export.export(model, example_inputs, kwargs)``.

    An `ExportedProgram` needs no example inputs. `options` are those of `build`: `target`, `check`;
    and `seed`, from which the random numbers of the model start, see `CompiledModel.manual_seed`.
    Raises TypeError if the example inputs do not match the model, UnsupportedError for modules
    whose results differ in training mode, for data-dependent Python code, and with a line for each
    operation that cannot be imported; and the exceptions of `torch.export`.
    """
    if isinstance(model, ExportedProgram):
        if example_inputs is not None or kwargs is not None or dynamic_shapes is not None:
            raise TypeError("expected no example inputs for an exported program, which has its own")
        exported = model
    else:
        args, named = _example_inputs(model, example_inputs, kwargs)
        exported = exported_program(model, args, named, dynamic_shapes)
    program = Program(exported)
    imported = program.graph_import()
    module = imported.module()
    compiled = CompiledModel(program, IRModule(module), **options)
    debugger = compiled.executable.debugger
    assert isinstance(debugger, Debugger)
    debugger.labels["main"] = labels(imported, module)
    return compiled


def _example_inputs(
    model: torch.nn.Module, args: Sequence[Any] | None, kwargs: Mapping[str, Any] | None
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if args is None and kwargs is None:
        raise TypeError("expected example inputs for a torch.nn.Module: compile(model, (x,))")
    if args is not None and not isinstance(args, tuple | list):
        raise TypeError(f"expected a tuple of example inputs, got {type(args).__name__}")
    given, named = tuple(args or ()), dict(kwargs or {})
    try:
        inspect.signature(model.forward).bind(*given, **named)
    except TypeError as error:
        count = len(given) + len(named)
        name = type(model).__name__
        raise TypeError(f"expected example inputs for {name}, got {count}: {error}") from None
    return given, named


def _argument_names(program: ExportedProgram) -> list[str] | None:
    """The names of the model's arguments, `None` unless the export has one for each."""
    signature = program.module_call_graph[0].signature
    names = getattr(signature, "forward_arg_names", None)
    positional, named = structures(program)[0].children()
    if names is None or len(names) != positional.num_children + named.num_children:
        return None
    return [*names[: positional.num_children], *named.context]


def _leaves(program: Program) -> list[Leaf]:
    parameters = {given.node for given in program.parameters()}
    return [
        Leaf(n.name, True, dtype=_complex_dtype(n.meta.get("val")))
        if n in parameters
        else Leaf(n.name, False, n.meta.get("val"))
        for n in program.inputs
    ]


def _complex_dtype(value: Any) -> torch.dtype | None:
    return value.dtype if isinstance(value, torch.Tensor) and value.is_complex() else None


def _ranges(program: Program) -> list[Range]:
    found: list[Range] = []
    for index, given in enumerate(program.parameters()):
        for axis, dim in enumerate(program.symbols.dims_of_input(given.node.meta["val"])):
            if isinstance(atom := dim.as_atom, Sym) and atom.name in program.ranges:
                least, most = program.ranges[atom.name]
                found.append(Range(index, axis, given.name, atom.name, least, most))
    return found


def _size_sources(program: Program) -> dict[str, tuple[int, int | None]]:
    """The argument and its dim that determine each symbol; no dim for an integer argument."""
    found: dict[str, tuple[int, int | None]] = {}
    for index, given in enumerate(program.parameters()):
        value = given.node.meta["val"]
        if isinstance(value, torch.SymInt):
            if isinstance(atom := program.symbols.expr(value).as_atom, Sym):
                found.setdefault(atom.name, (index, None))
        for axis, dim in enumerate(program.symbols.dims_of_input(given.node.meta["val"])):
            if isinstance(atom := dim.as_atom, Sym):
                found.setdefault(atom.name, (index, axis))
    return found


def _outputs(program: Program) -> list[tuple[bool, Any]]:
    """For each leaf of the output, whether it is a tensor.

    With it, whether the tensor is complex; else the leaf's value, or the expression of it.
    """
    found: list[tuple[bool, Any]] = []
    for node, value in program.outputs:
        result = None if node is None else node.meta.get("val")
        if isinstance(result, torch.Tensor):
            found.append((True, result.is_complex()))
        elif isinstance(result, torch.SymInt):
            found.append((False, program.symbols.expr(result)))
        else:
            found.append((False, value if node is None else result))
    return found


def _restore(spec: pytree.TreeSpec) -> Callable[[tuple[Any, ...]], Any]:
    """The function that unflattens results; it is trivial for a tuple or one tensor."""
    if spec.is_leaf():
        return operator.itemgetter(0)
    if spec.type is tuple and all(field.is_leaf() for field in spec.children()):
        return tuple
    return lambda results: pytree.tree_unflatten(results, spec)


def _one_line(value: object) -> str:
    return " ".join(str(value).split())
