"""Runs the classifier in NumPy, in PyTorch, and compiled, and measures the time of an image."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

import numpy as np
from image_data import LabelledImages, Parameters
from mlp_in_numpy import numpy_mlp
from mlp_modules import MyModule, MyModuleMixture, MyModuleWithExternCall, register_library
from progress import progress

import xrelax as tvm
from xrelax import relax

Model = Callable[..., np.ndarray]
Library = Mapping[str, Callable[..., object]]
LIBRARY_FUNCTIONS = ("env.linear", "env.relu")


@dataclass(frozen=True)
class LibraryCalls:
    """The calls of registered functions for one image, and the times with cheaper functions."""

    count: int
    tensors: int
    """Arguments of all calls."""
    empty: float
    """Seconds per image with functions that do nothing."""
    converting: float
    """Seconds per image with functions that only convert their tensors for the library."""


@dataclass(frozen=True)
class Run:
    """The result of one variant of the model for all images, one call for each image."""

    name: str
    scores: np.ndarray
    """float32 of shape (images, classes)."""
    seconds: float
    """Median time of a call."""
    is_compiled: bool = False
    library_calls: LibraryCalls | None = None

    @property
    def predicted(self) -> np.ndarray:
        """The class with the highest score, for each image."""
        return self.scores.argmax(axis=1)

    @property
    def parts(self) -> tuple[float, float, float]:
        """Seconds of compiled code with its calls, of conversions, and of the library.

        Medians of short times vary, so that a difference may be below zero; it counts as zero.
        """
        calls = self.library_calls
        if calls is None:
            return self.seconds, 0.0, 0.0
        conversions, library = calls.converting - calls.empty, self.seconds - calls.converting
        return calls.empty, max(conversions, 0.0), max(library, 0.0)


def run_all(data: LabelledImages, parameters: Parameters, library: str) -> list[Run]:
    """The runs of NumPy, of PyTorch if it is installed, and of every compiled variant."""
    torch_runs = [run_torch(data, parameters)] if find_spec("torch") is not None else []
    return [
        run_numpy(data, parameters),
        *torch_runs,
        *run_compiled(data, parameters, library),
    ]


def run_numpy(data: LabelledImages, parameters: Parameters) -> Run:
    """The model in NumPy."""
    rows = [row[np.newaxis] for row in data.rows]
    return _run("NumPy", lambda row: numpy_mlp(row, **parameters), rows)


def run_torch(data: LabelledImages, parameters: Parameters) -> Run:
    """The model in PyTorch's eager mode."""
    import torch
    from torch.nn.functional import linear

    w0, b0, w1, b1 = (torch.from_numpy(parameters[name]) for name in ("w0", "b0", "w1", "b1"))
    rows = [torch.from_numpy(row[np.newaxis]) for row in data.rows]
    with torch.inference_mode():
        return _run("PyTorch", lambda row: linear(linear(row, w0, b0).relu(), w1, b1).numpy(), rows)


def run_compiled(data: LabelledImages, parameters: Parameters, library: str) -> list[Run]:
    """Every variant of the model, compiled; library calls go to `library`, torch or numpy."""
    arrays = {name: tvm.nd.array(value) for name, value in parameters.items()}
    weights = [arrays[name] for name in ("w0", "b0", "w1", "b1")]
    with_parameters = relax.transform.BindParams("main", arrays)(MyModuleMixture)
    variants = [
        ("TensorIR kernels", MyModule, weights),
        ("library calls", MyModuleWithExternCall, weights),
        ("mixture", MyModuleMixture, weights),
        ("mixture, parameters bound", with_parameters, []),
    ]
    register_library(library)
    functions: list[tuple[str, Model]] = []
    for name, module, extra in progress(variants, "compiling"):
        machine = relax.VirtualMachine(relax.build(module, target="llvm"), tvm.cpu())
        function = machine["main"]
        functions.append((name, lambda row, f=function, w=extra: f(row, *w).numpy()))
    rows = [tvm.nd.array(row[np.newaxis]) for row in data.rows]
    return [_run_compiled(name, function, rows, library) for name, function in functions]


def accuracy(run: Run, data: LabelledImages) -> float:
    """The share of images whose highest score is that of their own class."""
    return float((run.predicted == data.labels).mean())


def choose_images(right: np.ndarray, first: int, count: int, wrong: int) -> tuple[list, list]:
    """The numbers of `count` images from `first` on, and of up to `wrong` other images.

    The others are the first ones whose prediction is not right. The images after the last one are
    those at the start.
    """
    order = np.roll(np.arange(len(right)), -first)
    others = order[count:]
    return order[:count].tolist(), sorted(others[~right[others]])[:wrong]


def _run_compiled(name: str, function: Model, rows: Sequence, library: str) -> Run:
    """A run, with the cost of its calls of the registered library if it has any."""
    full = {key: tvm.get_global_func(key) for key in LIBRARY_FUNCTIONS}
    calls: list[int] = []
    _register(dict.fromkeys(full, lambda *tensors: calls.append(len(tensors))))
    function(rows[0])
    if not calls:
        scores, (seconds,) = _measure(name, function, rows, [full])
        return Run(name, scores, seconds, is_compiled=True)
    convert = import_module(library).from_dlpack
    empty = dict.fromkeys(full, lambda *tensors: None)
    converting = dict.fromkeys(full, lambda *tensors: [convert(tensor) for tensor in tensors])
    scores, (least, more, seconds) = _measure(name, function, rows, [empty, converting, full])
    return Run(name, scores, seconds, True, LibraryCalls(len(calls), sum(calls), least, more))


def _run(name: str, function: Model, rows: Sequence) -> Run:
    scores, (seconds,) = _measure(name, function, rows, [{}])
    return Run(name, scores, seconds)


def _measure(
    name: str, function: Model, rows: Sequence, libraries: Sequence[Library]
) -> tuple[np.ndarray, list[float]]:
    """The scores with the last library, and the median seconds of a call with each.

    The libraries alternate, so that a slow moment of the machine affects all of them.
    """
    _register(libraries[-1])
    function(rows[0])  # the first call loads what later calls find in the caches
    scores: list[np.ndarray] = []
    seconds: list[list[float]] = [[] for _ in libraries]
    for row in progress(rows, name):
        for library, times in zip(libraries, seconds, strict=True):
            _register(library)
            start = time.perf_counter()
            result = function(row)
            times.append(time.perf_counter() - start)
        scores.append(result)
    return np.concatenate(scores), [float(np.median(times)) for times in seconds]


def _register(library: Library) -> None:
    for name, function in library.items():
        tvm.register_func(name, function, override=True)
