"""Compiles the models of a sweep one at a time, and compares them with PyTorch."""

from __future__ import annotations

import resource
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

MEMORY = 8 << 30
"""Bytes that a model and its compilation may take."""

TOLERANCE = 1e-4
"""The largest difference from PyTorch that is allowed, over the largest number of a result."""


class Outcome(NamedTuple):
    """What became of a model; `detail` is the cause of a failure, or the dynamic dims."""

    name: str
    state: str
    detail: str = ""
    error: float = 0.0
    export_seconds: float = 0.0
    compile_seconds: float = 0.0


class Failure(Exception):
    """A model's state that is not "equal", and its cause."""

    def __init__(self, state: str, detail: str):
        super().__init__(state, detail)
        self.state, self.detail = state, detail


def serve(connection: Any, package: str, limit: int) -> None:
    """Answer each pair of a name and "dynamic" with outcomes, in a process of its own.

    The system ends the process when a model takes more CPU seconds than the limit.
    """
    import torch

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, most))
    while (given := connection.recv()) is not None:
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + limit, most))
        connection.send(outcome(package, *given, connection.send))


def outcome(package: str, name: str, dynamic: bool, note: Callable[[str], None]) -> Outcome:
    """Compile a model and compare it; `note` gets the name of each step before it begins."""
    times: dict[str, float] = {}
    try:
        error, detail = _compared(package, name, dynamic, note, times)
        state = "equal" if error <= TOLERANCE else "wrong"
    except Failure as failure:
        error, state, detail = 0.0, failure.state, failure.detail
    return Outcome(name, state, detail, error, times.get("export", 0), times.get("compile", 0))


def _compared(
    package: str, name: str, dynamic: bool, note: Callable[[str], None], times: dict[str, float]
) -> tuple[float, str]:
    import torch

    import xrelax

    note("make")
    with _state("not made"), torch.no_grad():
        subject = import_module(f"sweep_{package}").subject(name)
        expected = subject.model(**subject.arguments())
    note("export")
    with _state("export fails"), _timed(times, "export"):
        program, dims = _exported(subject, dynamic)
    note("compile")
    with _state("crash"), _timed(times, "compile"):
        compiled = xrelax.compile(program)
    note("run")
    with _state("crash"), torch.no_grad():
        error = difference(compiled(**subject.arguments()), expected)
        for batch, length in _further(dims):
            given = subject.arguments(batch, length)
            error = max(error, difference(compiled(**given), subject.model(**given)))
    return error, ", ".join(dims)


def _exported(subject: Any, dynamic: bool) -> tuple[Any, list[str]]:
    """The program, and its dynamic dims: without the length if the model's code fixes it."""
    from xrelax.importers.torch.export import exported_program

    arguments = subject.arguments()
    if not dynamic:
        return exported_program(subject.model, (), arguments, None), []
    if subject.has_length():
        try:
            shapes = subject.dynamic_shapes(True)
            return exported_program(subject.model, (), arguments, shapes), ["batch", "length"]
        except Exception as problem:
            print(f"length is not dynamic: {_first_line(problem)}", file=sys.stderr)
    shapes = subject.dynamic_shapes(False)
    return exported_program(subject.model, (), arguments, shapes), ["batch"]


def _further(dims: list[str]) -> list[tuple[int, int]]:
    from subjects import LENGTH, SIZES

    if not dims:
        return []
    return [(batch, length if "length" in dims else LENGTH) for batch, length in SIZES]


def difference(got: Any, expected: Any) -> float:
    """The largest difference of results of equal structure, over the largest number of each.

    Infinities and NaN must be in the same places; integers must be equal.
    """
    import torch

    leaves = torch.utils._pytree.tree_leaves
    worst = 0.0
    for a, b in zip(leaves(got), leaves(expected), strict=True):
        if isinstance(b, torch.Tensor):
            if (a.shape, a.dtype) != (b.shape, b.dtype):
                return float("inf")
            worst = max(worst, _distance(a.double(), b.double(), b.is_floating_point()))
    return worst


def _distance(a: Any, b: Any, is_float: bool) -> float:
    import torch

    finite = torch.isfinite(b)
    if not torch.equal(a[~finite].nan_to_num(), b[~finite].nan_to_num()):
        return float("inf")
    if not bool(finite.any()):
        return 0.0
    gap = (a[finite] - b[finite]).abs().max().item()
    largest = b[finite].abs().max().item() if is_float else 1.0
    if gap != gap or (gap and not largest):
        return float("inf")
    return gap / largest if largest else 0.0


@contextmanager
def _state(state: str) -> Iterator[None]:
    """Raise exceptions as `Failure` with a state; the compiler's `UnsupportedError` has its own."""
    try:
        yield
    except Exception as error:
        problems = getattr(error, "problems", None)
        if problems and state == "crash":
            raise Failure("unsupported", _causes(problems)) from None
        text = f"{type(error).__name__}: {_first_line(error)}{_where(error)}"
        raise Failure(state, text) from None


@contextmanager
def _timed(times: dict[str, float], name: str) -> Iterator[None]:
    """Put the CPU seconds of this process into `times`."""
    start = time.process_time()
    try:
        yield
    finally:
        times[name] = time.process_time() - start


def _causes(problems: Any) -> str:
    return "; ".join(dict.fromkeys(f"{p.target}: {p.reason or 'no converter'}" for p in problems))


def _where(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f" ({last.filename.rpartition('/')[2]}:{last.lineno})"


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0].strip()[:200] if lines else ""
