"""`OnnxModel`: an ONNX model as native code, with the inputs and outputs of the file.

The importer and the compiler are imported where they are used: a model that is in the cache needs
neither of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ...backend.model_cache import ModelEntry, file_state, model_entry
from ...backend.target import Target
from ...display.rich import displayed
from ...runtime.arguments import bind_names
from ...runtime.executable import Executable
from ..random_keys import RandomKeys
from .registry import REGISTERED

if TYPE_CHECKING:
    from ...ir.module import IRModule
    from .versions import Versions


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
    model start from `seed`, see `OnnxModel.manual_seed`. A file that was compiled before with the
    same options is found in the cache, and not read. Raises as `from_onnx` and `build`.
    """
    shapes, dtypes = dict(shape_dict or {}), dtype_dict or {}
    if isinstance(model, str | os.PathLike):
        model = os.path.abspath(cast("str", model))

    def versions() -> Versions:
        from .frontend import OnnxImport
        from .model import read_model
        from .versions import Versions

        return Versions(OnnxImport(read_model(model, opset), shapes, dtypes), options)

    return OnnxModel(versions, seed, _entry(model, shapes, dtypes, opset, options))


def _entry(
    model: Any,
    shapes: Mapping[str, Sequence[Any]],
    dtypes: str | Mapping[str, str],
    opset: int | None,
    options: Mapping[str, Any],
) -> ModelEntry | None:
    """The entry of a model in the cache.

    `None` for models that are no files, for options that ask for more than code, and with
    converters from outside.
    """
    onnx = find_spec("onnx")  # whose functions define operators; it is not imported
    given = {name: value for name, value in options.items() if value}
    target, precision = given.pop("target", "llvm"), given.pop("precision", "f32")
    if not isinstance(model, str) or given or REGISTERED or onnx is None:
        return None
    dims = {name: [_dim(d) for d in shape] for name, shape in shapes.items()}
    names = dtypes if isinstance(dtypes, str) else dict(dtypes)
    state = file_state(cast("str", onnx.origin))
    return model_entry(model, Target(target), repr((state, dims, names, opset, precision)))


def _dim(dim: Any) -> Any:
    """A dim as text or number; `importers.onnx.frontend` takes the same."""
    return index(dim) if hasattr(dim, "__index__") else getattr(dim, "name", dim)


@displayed("executables:onnx_model_html")
class OnnxModel:
    """A compiled ONNX model: a function of its inputs, by position or by the file's names.

    Inputs may be arrays of any library; results are xrelax tensors, a tuple where there are
    several. `run` is ONNX Runtime's ``InferenceSession.run``. Where operators need the values of an
    input as numbers, such as a shape, or the rank of a result depends on a size, a call compiles
    the model for these numbers; the last 32 versions are kept.

    A model that was found in the cache reads its file when more than calls is asked for, such as
    `module` or `save`, and raises ValueError if the file has changed.
    """

    def __init__(
        self, compile: Callable[[], Versions], seed: int = 0, entry: ModelEntry | None = None
    ):
        self._compile, self._keys = compile, RandomKeys(seed)
        self._cached = None if entry is None else entry.load()
        notes = self._notes() if self._cached is None else self._cached.notes
        self.input_names: list[str] = notes["inputs"]
        self.output_names: list[str] = notes["outputs"]
        self._parameters: list[str] = notes["parameters"]
        if entry is not None and self._cached is None and not self._needs_values:
            others = self._versions.imported.model.data_files()
            entry.store(self.executable, notes, others)

    def _notes(self) -> dict[str, Any]:
        imported = self._versions.imported
        names = list(imported.names.values())
        return {"inputs": imported.inputs, "outputs": imported.outputs, "parameters": names}

    @cached_property
    def _versions(self) -> Versions:
        if self._cached is not None:
            self._cached.verify_files()
        return self._compile()

    @property
    def constant_inputs(self) -> tuple[str, ...]:
        """The inputs for whose values a version is compiled."""
        return () if self._cached is not None else self._versions.constant_inputs

    @property
    def constant_sizes(self) -> tuple[str, ...]:
        """The symbols of shapes for whose numbers a version is compiled."""
        return () if self._cached is not None else self._versions.constant_sizes

    @property
    def _needs_values(self) -> bool:
        return bool(self.constant_inputs or self.constant_sizes)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The outputs for inputs by position, or by the names of parameters."""
        given = bind_names("the model", self._parameters, args, kwargs)
        return self._call(dict(zip(self.input_names, given, strict=True)))

    def _call(self, given: Mapping[str, Any]) -> Any:
        if self._cached is not None:
            executable = self._cached.executable
        else:
            executable = self._versions.executable(given)
        inputs = [given[n] for n in self.input_names if n not in self.constant_inputs]
        return executable["main"](*self._with_key(executable, inputs))

    def _with_key(self, executable: Executable, inputs: Sequence[Any]) -> list[Any]:
        """Inputs by position, and after all of a model with random numbers the key."""
        parameters = len(self.input_names) - len(self.constant_inputs)
        is_random = len(executable.functions["main"].params) > parameters
        return [*inputs, *([self._keys.next()] if is_random and len(inputs) == parameters else [])]

    def manual_seed(self, seed: int) -> None:
        """Start the random numbers of the following calls again, with a seed."""
        self._keys.start(seed)

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
        return self._versions.last()[0]

    @property
    def executable(self) -> Executable:
        """The code, for the values of the last call; raises as `module`."""
        return self._versions.last()[1]

    @property
    def running(self) -> Executable:
        """The code that calls run: as `executable`, or that of the cache, which has no module."""
        return self.executable if self._cached is None else self._cached.executable

    def show_graph(self) -> Any:
        """Draw the imported graph, as `IRModule.show_graph`."""
        return self.module.show_graph()

    def save(self, path: str | Path, packed: bool = False) -> None:
        """Write the machine code with the weights to a file, which `xrelax.runtime.load` reads.

        `packed` as `Executable.save`.
        """
        self.executable.save(path, packed)

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
