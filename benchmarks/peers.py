"""The contestants: each makes of a workload a call without arguments, at its defaults.

Constants are bound before anything is measured, inputs are what a user of the library has: its own
arrays. A peer that is not installed is left out, with a line that says so.
"""

from __future__ import annotations

import copy
import importlib
import importlib.util
import logging
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from languages import ArrayLanguage, GraphLanguage, JaxLanguage, TorchLanguage
from machine import empty_cache
from precisions import PRECISIONS, quantized
from workloads import Workload

Call = Callable[[], Any]
FORMER = "xrelax_former"


@dataclass
class Case:
    """A workload with its values, and what several peers make of it."""

    workload: Workload
    threads: int
    folder: Path
    target: str = "llvm"
    """What ours is compiled for."""
    precision: str = "f32"
    peers: ClassVar[Collection[str] | None] = None
    """The peers that can take part, if not all can."""

    def __post_init__(self) -> None:
        self.inputs = self.workload.arrays(self.workload.inputs)
        self.constants = self.workload.arrays(self.workload.constants)

    def run(self, language: Any, convert: Callable[[np.ndarray], Any]) -> Any:
        """The program on values of a language."""
        inputs = [convert(a) for a in self.inputs.values()]
        constants = {name: convert(a) for name, a in self.constants.items()}
        return self.workload.function(language, *inputs, **constants)

    @cached_property
    def expected(self) -> np.ndarray:
        """The result by NumPy in f64; for int8, that of the file as it is written."""
        if self.precision == "int8":
            return onnxruntime(self, is_optimized=False).begin().first[1]
        return self.run(ArrayLanguage(), lambda a: a.astype(np.float64))

    def ours(self) -> Contestant:
        """What this project makes of it."""
        return ours_of_file(self) if self.precision == "int8" else ours(self)

    def error(self, result: np.ndarray) -> float:
        """The largest error of a result, as a part of the largest value."""
        if result.shape != self.expected.shape:
            return float("inf")
        scale = np.abs(self.expected).max() or 1.0
        error = float(np.abs(result - self.expected).max() / scale)
        return error if np.isfinite(error) else float("inf")

    @cached_property
    def torch_module(self) -> Any:
        """The program as a module of PyTorch, with parameters."""
        import torch

        function, names = self.workload.function, list(self.constants)

        class Program(torch.nn.Module):
            def forward(self, *inputs: Any) -> Any:
                given = {n: getattr(self, f"p_{n}") for n in names}
                return function(TorchLanguage(), *inputs, **given)

        module = Program()
        for name, array in self.constants.items():
            parameter = torch.nn.Parameter(torch.from_numpy(array), requires_grad=False)
            module.register_parameter(f"p_{name}", parameter)
        return module.eval()

    @cached_property
    def torch_inputs(self) -> tuple[Any, ...]:
        """The inputs as tensors of PyTorch."""
        import torch

        return tuple(torch.from_numpy(a) for a in self.inputs.values())

    @cached_property
    def onnx_path(self) -> Path:
        """The program exported by PyTorch."""
        import torch

        path = self.folder / "program.onnx"
        logging.getLogger("torch.onnx").setLevel(logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                self.torch_module, self.torch_inputs, str(path), dynamo=True, verbose=False
            )
        return quantized(path, self.folder, self.inputs) if self.precision == "int8" else path


@dataclass
class Contestant:
    """A call, how its result becomes an array, and facts about making it.

    `first` is what the first call took, in seconds, and its result.
    """

    call: Call
    array: Callable[[Any], np.ndarray] = np.asarray
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    first: tuple[float, np.ndarray] = field(init=False)

    def begin(self) -> Contestant:
        """Call once, which may compile something."""
        begin = time.perf_counter()
        result = self.call()
        self.first = time.perf_counter() - begin, self.array(result)
        return self


def graph_module(case: Case, package: str = "xrelax") -> tuple[Any, list[Any]]:
    """A workload as a module with the function "main", and the values of its inputs.

    In bf16 it takes and returns numbers of bf16, as a module of PyTorch does that was moved to it.
    """
    relax, runtime = (importlib.import_module(f"{package}.{n}") for n in ("relax", "runtime"))
    dtype = "bfloat16" if case.precision == "bf16" else "float32"

    def converted(arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
        if dtype == "float32":
            return dict(arrays)
        return {name: runtime.array(array, dtype=dtype) for name, array in arrays.items()}

    builder = relax.BlockBuilder()
    shapes = case.workload.inputs.items()
    params = [relax.Var(n, relax.TensorStructInfo(s, dtype)) for n, s in shapes]
    constants = {n: relax.const(value) for n, value in converted(case.constants).items()}
    with builder.function("main", params):
        with builder.dataflow():
            result = case.workload.function(GraphLanguage(relax, builder), *params, **constants)
            result = builder.emit_output(result)
        builder.emit_func_output(result)
    return builder.get(), list(converted(case.inputs).values())


def ours(case: Case, package: str = "xrelax") -> Contestant:
    """A graph function, compiled twice: without a cache, and from it."""
    relax = importlib.import_module(f"{package}.relax")
    module, arrays = graph_module(case, package)
    seconds: list[float] = []
    with empty_cache():
        for _ in range(2):
            begin = time.perf_counter()
            executable = relax.build(module, case.target)
            seconds.append(time.perf_counter() - begin)
    main = executable["main"]
    out = main(*arrays)
    facts = {"cold": seconds[0], "cached": seconds[1]}
    report = executable.profile("main", *arrays, repeat=3)
    facts["operations"] = sum(k.operations or 0 for k in report)
    facts["report"] = report
    return Contestant(lambda: main(*arrays, out=out), lambda t: t.numpy(), facts)


def ours_of_file(case: Case) -> Contestant:
    """The ONNX file, compiled twice: without a cache, and from it."""
    import xrelax

    path, seconds = str(case.onnx_path), list[float]()
    with empty_cache():
        for _ in range(2):
            begin = time.perf_counter()
            model = xrelax.compile(path, target=case.target)
            if model.constant_inputs or model.constant_sizes:
                model.run(None, case.inputs)  # compiles for these values
            seconds.append(time.perf_counter() - begin)
    arrays = dict(zip(model.input_names, case.inputs.values(), strict=True))
    varying = [arrays[n] for n in model.input_names if n not in model.constant_inputs]
    report = model.executable.profile("main", *varying, repeat=3)
    facts = {"cold": seconds[0], "cached": seconds[1], "report": report}
    facts["operations"] = sum(k.operations or 0 for k in report)
    return Contestant(lambda: model(*arrays.values()), _first_output, facts)


def _first_output(result: Any) -> np.ndarray:
    return (result[0] if isinstance(result, tuple) else result).numpy()


def load_former(folder: Path) -> None:
    """Make a peer, 'former', of another checkout: its package under a name of its own."""
    path = folder / "__init__.py"
    if not path.is_file():
        raise ValueError(f"expected --former to be a checkout, got '{folder}' without __init__.py")
    spec = importlib.util.spec_from_file_location(
        FORMER, path, submodule_search_locations=[str(folder)]
    )
    assert spec is not None and spec.loader is not None
    sys.modules[FORMER] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    PEERS["former"] = (FORMER, lambda case: ours(case, FORMER))


def numpy(case: Case) -> Contestant | None:
    """NumPy, for what it has operators for."""
    if not case.workload.is_numpy:
        return None
    language, inputs = ArrayLanguage(), list(case.inputs.values())
    function, constants = case.workload.function, case.constants
    return Contestant(lambda: function(language, *inputs, **constants))


def torch(case: Case) -> Contestant:
    """PyTorch as it is."""
    return _torch_call(case, lambda module: module)


def torch_compile(case: Case) -> Contestant:
    """PyTorch with its own compiler."""
    import torch

    torch._dynamo.reset()
    return _torch_call(case, torch.compile)


def _torch_call(case: Case, prepare: Callable[[Any], Any]) -> Contestant:
    import torch

    torch.set_num_threads(case.threads)
    inputs, module = case.torch_inputs, case.torch_module
    if case.precision == "bf16":
        module = copy.deepcopy(module).to(torch.bfloat16)
        inputs = [x.to(torch.bfloat16) for x in inputs]
    module = prepare(module)

    def call() -> Any:
        with torch.inference_mode():
            return module(*inputs)

    return Contestant(call, lambda t: t.float().numpy())


def onnxruntime(case: Case, is_optimized: bool = True) -> Contestant:
    """ONNX Runtime on the program that PyTorch exports."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    if not is_optimized:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = case.threads
    options.log_severity_level = 3
    session = ort.InferenceSession(str(case.onnx_path), options, providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    feed = dict(zip(names, case.inputs.values(), strict=True))
    return Contestant(lambda: session.run(None, feed), lambda r: r[0])


def openvino(case: Case) -> Contestant:
    """OpenVINO on the program that PyTorch exports."""
    import openvino as ov

    hint = "bf16" if case.precision == "bf16" else "f32"
    config = {"INFERENCE_PRECISION_HINT": hint, "INFERENCE_NUM_THREADS": case.threads}
    compiled = ov.compile_model(str(case.onnx_path), "CPU", config)
    inputs = list(case.inputs.values())
    return Contestant(lambda: compiled(inputs), lambda r: np.asarray(r[0]))


def jax(case: Case) -> Contestant:
    """JAX, compiled with the constants in it."""
    import jax as library

    language = JaxLanguage()
    constants = {name: library.numpy.asarray(a) for name, a in case.constants.items()}
    inputs = [library.numpy.asarray(a) for a in case.inputs.values()]
    function = case.workload.function
    compiled = library.jit(lambda *given: function(language, *given, **constants))
    return Contestant(lambda: compiled(*inputs).block_until_ready())


def tvm(case: Case) -> Contestant:
    """TVM with its default pipeline, untuned."""
    import torch
    import tvm as library
    from tvm.relax.frontend.torch import from_exported_program

    with torch.no_grad():
        exported = torch.export.export(case.torch_module, case.torch_inputs)
    module = from_exported_program(exported, keep_params_as_input=False)
    target = library.target.Target({"kind": "llvm", "mcpu": _host_cpu(), "num-cores": case.threads})
    machine = library.relax.VirtualMachine(library.compile(module, target), library.cpu())
    inputs = [library.runtime.tensor(a) for a in case.inputs.values()]
    main = machine["main"]
    return Contestant(lambda: main(*inputs), _first_array)


def _first_array(result: Any) -> np.ndarray:
    return (result if hasattr(result, "numpy") else result[0]).numpy()


def _host_cpu() -> str:
    from xrelax.backend.target import Target

    return Target("llvm").cpu


OURS = "xrelax"
PEERS: dict[str, tuple[str, Callable[[Case], Contestant | None]]] = {
    "numpy": ("numpy", numpy),
    "torch": ("torch", torch),
    "torch.compile": ("torch", torch_compile),
    "onnxruntime": ("onnxruntime", onnxruntime),
    "openvino": ("openvino", openvino),
    "jax": ("jax", jax),
    "tvm": ("tvm", tvm),
}
"""Each peer by the name that it has in tables: the module it needs, and what it makes of a case."""


def installed(wanted: list[str] | None = None, precision: str = "f32") -> list[str]:
    """The peers that can take part, in a precision; prints a line for each that cannot.

    Raises ValueError for a name that no peer has.
    """
    for name in wanted or ():
        if name not in PEERS:
            raise ValueError(f"expected peers of {', '.join(PEERS)}, got '{name}'")
    found: list[str] = []
    for name, (module, _) in PEERS.items():
        having = PRECISIONS[precision].peers
        if (wanted is not None and name not in wanted) or (having and name not in having):
            continue
        needs = [module, "torch", "onnx"] if name in ("onnxruntime", "openvino") else [module]
        missing = [m for m in needs if importlib.util.find_spec(m) is None]
        if name == "torch.compile" and shutil.which(os.environ.get("CXX", "g++")) is None:
            missing.append("a C++ compiler")
        if missing:
            print(f"{name}: left out, {', '.join(missing)} not installed")
        else:
            found.append(name)
    return found


def contestants(case: Case, names: list[str]) -> dict[str, Contestant]:
    """Ours first, then the peers that can run the workload; a line for each that fails."""
    found = {OURS: case.ours().begin()}
    for name in names if case.peers is None else [n for n in names if n in case.peers]:
        try:
            made = PEERS[name][1](case)
            if made is not None:
                found[name] = made.begin()
        except Exception as error:  # what a peer raises is its own affair
            first = (str(error).splitlines() or [""])[0]
            print(f"{name}: cannot run '{case.workload.name}': {type(error).__name__}: {first}")
    return found


def case_folder() -> tempfile.TemporaryDirectory[str]:
    """Where exported programs of a case are kept."""
    return tempfile.TemporaryDirectory(prefix=f"bench{os.getpid()}_")
