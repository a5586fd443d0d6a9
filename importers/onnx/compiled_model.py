"""`OnnxModel`: an ONNX model as native code, with the inputs and outputs of the file."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...dialects.relax import TensorData
from ...display.rich import displayed
from ...driver import build
from ...ir.module import IRModule
from ...runtime.arguments import bind_names
from ...runtime.executable import Executable
from ...runtime.tensor import as_tensor
from ..random_keys import RandomKeys
from .frontend import NeedsValues, OnnxImport
from .model import read_model

MAX_VERSIONS = 32
"""Compilations for different values of inputs that a model keeps."""


def compile_onnx(
    model: Any,
    shape_dict: Mapping[str, Sequence[Any]] | None = None,
    dtype_dict: str | Mapping[str, str] | None = None,
    opset: int | None = None,
    *,
    seed: int = 0,
    **options: Any,
) -> OnnxModel:
    """Compile an ONNX model: a path, bytes, or a ``ModelProto``.

    For the arguments see `from_onnx`; `options` are those of `build`. The random numbers of the
    model start from `seed`, see `OnnxModel.manual_seed`. Raises as both.
    """
    imported = OnnxImport(read_model(model, opset), shape_dict or {}, dtype_dict or {})
    return OnnxModel(imported, options, seed)


@displayed("executables:model_html")
class OnnxModel:
    """A compiled ONNX model: a function of its inputs, by position or by the file's names.

    Inputs may be arrays of any library; results are xrelax tensors, a tuple where there are
    several. `run` is ONNX Runtime's ``InferenceSession.run``. Where operators need the values of an
    input as numbers, such as a shape, or the rank of a result depends on a size, a call compiles
    the model for these numbers; the last 32 versions are kept.
    """

    def __init__(self, imported: OnnxImport, options: Mapping[str, Any], seed: int = 0):
        self.input_names = list(imported.inputs)
        self.output_names = list(imported.outputs)
        self.constant_inputs: tuple[str, ...] = ()
        """The inputs for whose values a version is compiled."""
        self.constant_sizes: tuple[str, ...] = ()
        """The symbols of shapes for whose numbers a version is compiled."""
        self._imported, self._options = imported, options
        self._keys = RandomKeys(seed)
        self._versions: OrderedDict[Any, tuple[IRModule, Executable]] = OrderedDict()
        try:
            self._version({}, {})
        except NeedsValues as needs:
            self._need(needs)

    def _need(self, needs: NeedsValues) -> None:
        names = {*self.constant_inputs, *needs.names}
        self.constant_inputs = tuple(name for name in self.input_names if name in names)
        self.constant_sizes = tuple(sorted({*self.constant_sizes, *needs.symbols}))
        self._versions.clear()

    def _version(
        self, values: Mapping[str, TensorData], sizes: Mapping[str, int]
    ) -> tuple[IRModule, Executable]:
        """The module and its code for values and sizes; raises NeedsValues if more are needed."""
        key = (*values.items(), *sizes.items())
        if key not in self._versions:
            module = IRModule(replace(self._imported, values=values, sizes=sizes).module())
            self._versions[key] = module, build(module, **self._options)
            if len(self._versions) > MAX_VERSIONS:
                self._versions.popitem(last=False)
        self._versions.move_to_end(key)
        return self._versions[key]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The outputs for inputs by position, or by the names of parameters."""
        names = list(self._imported.names.values())
        given = bind_names("the model", names, args, kwargs)
        return self._call(dict(zip(self.input_names, given, strict=True)))

    def _call(self, given: Mapping[str, Any]) -> Any:
        while True:
            constants = {name: as_tensor(given[name]) for name in self.constant_inputs}
            values = {n: TensorData.of(t.view().copy(), t.dtype) for n, t in constants.items()}
            try:
                _, executable = self._version(values, self._sizes(given))
            except NeedsValues as needs:
                self._need(needs)
                continue
            inputs = [given[n] for n in self.input_names if n not in constants]
            return executable["main"](*self._with_key(executable, inputs))

    def _with_key(self, executable: Executable, inputs: Sequence[Any]) -> list[Any]:
        """Inputs by position, and after all of a model with random numbers the key."""
        parameters = len(self.input_names) - len(self.constant_inputs)
        is_random = len(executable.functions["main"].params) > parameters
        return [*inputs, *([self._keys.next()] if is_random and len(inputs) == parameters else [])]

    def manual_seed(self, seed: int) -> None:
        """Start the random numbers of the following calls again, with a seed."""
        self._keys.start(seed)

    def _sizes(self, given: Mapping[str, Any]) -> Mapping[str, int]:
        if not self.constant_sizes:
            return {}
        shapes = {name: as_tensor(value).shape for name, value in given.items()}
        return self._imported.sizes_of(self.constant_sizes, shapes)

    def run(self, output_names: Sequence[str] | None, feeds: Mapping[str, Any]) -> list[Any]:
        """The outputs with these names, or all, as NumPy arrays.

        Raises ValueError for names that the file does not have, and as a call.
        """
        _verify_names("inputs", list(feeds), self.input_names)
        wanted = self.output_names if output_names is None else list(output_names)
        _verify_names("outputs", wanted, self.output_names)
        if missing := [name for name in self.input_names if name not in feeds]:
            raise ValueError(f"expected inputs {', '.join(self.input_names)}, got no {missing[0]}")
        results = self._call(feeds)
        is_one = len(self.output_names) == 1
        found = dict(zip(self.output_names, [results] if is_one else results, strict=True))
        return [found[name].numpy() for name in wanted]

    def named(self, inputs: Sequence[Any]) -> dict[str, Any]:
        """Inputs by position under their names."""
        return dict(zip(self.input_names, inputs, strict=True))

    @property
    def module(self) -> IRModule:
        """The imported module; raises ValueError before a call has given values it depends on."""
        return self._last()[0]

    @property
    def executable(self) -> Executable:
        """The code, for the values of the last call; raises as `module`."""
        return self._last()[1]

    def _last(self) -> tuple[IRModule, Executable]:
        if not self._versions:
            names = ", ".join([*self.constant_inputs, *self.constant_sizes])
            raise ValueError(f"expected a call first, which gives the values of {names}")
        return next(reversed(self._versions.values()))

    def show_graph(self) -> Any:
        """Draw the imported graph, as `IRModule.show_graph`."""
        return self.module.show_graph()

    def save(self, path: str | Path) -> None:
        """Write the machine code with the weights to a file, which `xrelax.runtime.load` reads."""
        self.executable.save(path)

    def profile(self, *args: Any, repeat: int = 20, **kwargs: Any) -> Any:
        """Profile a call by kernel, as `VirtualMachine.profile`."""
        given = self._with_key(self.executable, args)
        return self.executable.profile("main", *given, repeat=repeat, **kwargs)

    def debug(self, *args: Any, **kwargs: Any) -> Any:
        """The first operation with a wrong result, as `VirtualMachine.debug`."""
        return self.executable.debug("main", *self._with_key(self.executable, args), **kwargs)

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(names) for names in (self.input_names, self.output_names))
        return f"<OnnxModel ({inputs}) -> ({outputs})>"


def _verify_names(what: str, given: Sequence[str], known: Sequence[str]) -> None:
    for name in given:
        if name not in known:
            raise ValueError(f"expected {what} among {', '.join(known)}, got '{name}'")
