"""`CompiledModel`: an exported program as native code, with the signature of the model."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree
from xdsl.ir import Operation

from ...debugging.debugger import Debugger
from ...debugging.operations import Label, computing
from ...dialects import relax
from ...display.picture import GraphPicture
from ...display.rich import displayed
from ...driver import build
from ...ir.module import IRModule
from ...lowering.functions import functions_by_name
from ...runtime.executable import signature_text
from ...runtime.native_call import NativeFunction
from ..imported import Arguments, Imported
from ..random_keys import RandomKeys
from .debugging import labels, node_values
from .export import exported_program
from .exported_program import Program
from .signature import Signature, restored_by
from .tensors import TorchCall, is_torch, to_torch


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
        self._signature = Signature(program)
        self._keys = RandomKeys(seed)
        self._prepare_calls()

    def _prepare_calls(self) -> None:
        self._function = self.executable["main"]
        self._is_random = len(self._function.spec.params) > self._signature.inputs
        self._native = None if self._is_random else self._native_call()
        self._restore = restored_by(self._signature.out_spec)

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

    def save(self, path: str | Path, packed: bool = False) -> None:
        """Write the machine code with the weights to a file, which `xrelax.runtime.load` reads.

        The function "main" of the loaded executable takes the tensors of the arguments in order,
        and returns those of the results as a tuple; it needs neither PyTorch nor the compiler.
        `pickle` also keeps the structure of arguments and results. `packed` as `Executable.save`.
        """
        self.executable.save(path, packed)

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
        if not self._signature.is_plain or not isinstance(self._function, NativeFunction):
            return None
        return TorchCall(self._function, lambda args: self._tensors(args, {}))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if args and not kwargs and self._native is not None and type(args[0]) is torch.Tensor:
            return self._restore(self._native(*args))
        tensors = self._tensors(args, kwargs)
        results = self._function(*tensors, *self._next_key())
        if any(map(is_torch, tensors)) or not tensors:
            results = [to_torch(r) for r in results]
        return self._signature.restored(results, tensors)

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
            reference = node_values(self._program, self._signature.flattened(args, kwargs))
            options["described"] = "PyTorch"
        debugger = self.executable.debugger
        assert debugger is not None
        return debugger.debug("main", tensors, {}, reference=reference, **options)

    def _tensors(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        return self._signature.tensors(args, kwargs)


@dataclass(frozen=True)
class TorchImport(Imported):
    """An exported program; `labels` are the operations of its module in the model."""

    program: Program
    labels: Sequence[Label]

    def with_module(self, module: IRModule) -> Self:
        """The same program with another module, whose operations are in no node's name."""
        return replace(self, module=module, labels=())

    def arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Arguments:
        """The tensors of a call; raises as a call of `CompiledModel`."""
        return self.with_key(self._signature.tensors(args, kwargs)), {}

    @cached_property
    def _signature(self) -> Signature:
        return Signature(self.program)

    def names(self) -> Mapping[Operation, str]:
        """The paths of the modules of operations, or else the names of their nodes."""
        main = functions_by_name(self.module.op)["main"]
        assert isinstance(main, relax.FuncOp)
        pairs = zip(computing(main), self.labels, strict=True)
        return {op: label.module or label.name for op, label in pairs}

    def compile(self, **options: Any) -> CompiledModel:
        """The model with its signature; for `options` see `compile_model`."""
        compiled = CompiledModel(self.program, self.module, **options)
        if self.labels:
            debugger = compiled.executable.debugger
            assert isinstance(debugger, Debugger)
            debugger.labels["main"] = self.labels
        return compiled


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
    imported = import_torch(model, example_inputs, kwargs, dynamic_shapes=dynamic_shapes)
    return imported.compile(**options)


def import_torch(
    model: torch.nn.Module | ExportedProgram,
    example_inputs: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
) -> TorchImport:
    """Export and import a model; for the arguments, and what it raises, see `compile_model`."""
    if isinstance(model, ExportedProgram):
        if example_inputs is not None or kwargs is not None or dynamic_shapes is not None:
            raise TypeError("expected no example inputs for an exported program, which has its own")
        exported = model
    else:
        args, named = _example_inputs(model, example_inputs, kwargs)
        exported = exported_program(model, args, named, dynamic_shapes)
    program = Program(exported)
    graph = program.graph_import()
    module = graph.module()
    return TorchImport(IRModule(module), program, labels(graph, module))


def _as_torch(given: Any) -> Any:
    """The same structure with torch tensors over the memory of NumPy arrays."""
    return pytree.tree_map_only(np.ndarray, torch.as_tensor, given)


def _example_inputs(
    model: torch.nn.Module, args: Sequence[Any] | None, kwargs: Mapping[str, Any] | None
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if args is None and kwargs is None:
        raise TypeError("expected example inputs for a torch.nn.Module: compile(model, (x,))")
    if args is not None and not isinstance(args, tuple | list):
        raise TypeError(f"expected a tuple of example inputs, got {type(args).__name__}")
    given, named = _as_torch((tuple(args or ()), dict(kwargs or {})))
    try:
        inspect.signature(model.forward).bind(*given, **named)
    except TypeError as error:
        count = len(given) + len(named)
        name = type(model).__name__
        raise TypeError(f"expected example inputs for {name}, got {count}: {error}") from None
    return given, named
