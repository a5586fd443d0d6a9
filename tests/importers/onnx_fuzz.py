"""Fuzzes the ONNX importer: ``python tests/importers/onnx_fuzz.py --seeds 0:200 [--seconds 60]``.

A mutant of a small model is compiled and run in a process of its own, and by ONNX Runtime in
another one. Where both accept it results are equal; otherwise xrelax gives one line of error.
Crashes, hangs, other exceptions and other results are failures; files of them go to build/fuzz.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import pickle
import resource
import select
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx_bases import bases
from onnx_mutants import mutant
from onnx_nodes import ATOL
from xdsl.utils.exceptions import VerifyException

from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.importers.onnx.weights import DTYPES
from xrelax.importers.unsupported import UnsupportedError

SECONDS = 60
"""What a mutant may take before it counts as a hang."""
MEMORY = 6 << 30
"""The address space of a process."""
MAX_ELEMENTS = 1 << 20
"""Models with larger inputs are compiled, but are not run."""
CLEAR = (ValueError, OSError, MemoryError)
"""The exceptions that users may get."""
LARGE = 1e37
"""Numbers from here on are infinite: ONNX Runtime masks with the lowest number."""


@dataclass(frozen=True)
class Found:
    """What became of a mutant: `kind` is the first word of a line of the report."""

    kind: str
    message: str = ""

    @property
    def failed(self) -> bool:
        """Whether it is a failure of xrelax."""
        return self.kind in ("WRONG", "EXCEPTION", "CRASH", "HANG")


def in_process(work: Callable[[], Any]) -> Any:
    """What a function returns in a process of its own; a `Found` where that dies or hangs."""
    source, sink = os.pipe()
    sys.stdout.flush()
    process = os.fork()
    if not process:
        _child(work, source, sink)
    os.close(sink)
    with os.fdopen(source, "rb") as reader:
        content, end = b"", time.monotonic() + SECONDS
        while select.select([reader], [], [], max(end - time.monotonic(), 0))[0]:
            if not (part := os.read(reader.fileno(), 1 << 20)):
                break
            content += part
        else:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return Found("HANG", f"more than {SECONDS} s")
    _, status = os.waitpid(process, 0)
    if os.WIFSIGNALED(status):
        return Found("CRASH", signal.Signals(os.WTERMSIG(status)).name)
    return pickle.loads(content) if content else Found("CRASH", f"exit status {status}")


def _child(work: Callable[[], Any], source: int, sink: int) -> None:
    status = 1
    try:
        os.close(source)
        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with os.fdopen(sink, "wb") as out:
            pickle.dump(work(), out)
        status = 0
    finally:
        os._exit(status)


def feeds_of(made: Any, seed: int) -> dict[str, Any] | None:
    """Inputs of a model; `None` where their types are unknown or they are large."""
    numbers = np.random.default_rng(seed)
    constants = {t.name for t in made.graph.initializer}
    found: dict[str, Any] = {}
    for info in made.graph.input:
        if info.name in constants:
            continue
        found_type = info.type.tensor_type
        dtype = DTYPES.get(found_type.elem_type, "bfloat16")
        shape = [
            d.dim_value if d.dim_value > 0 or not _is_free(d) else 2 for d in found_type.shape.dim
        ]
        if dtype == "bfloat16" or np.prod(shape, dtype=float) > MAX_ELEMENTS:
            return None
        low = -3 if dtype[0] in "fi" else 0
        low = 1 if "len" in info.name else low  # what is computed of nothing differs
        found[info.name] = np.asarray(numbers.uniform(low, 4, shape)).astype(dtype)
    return found


def _is_free(dim: Any) -> bool:
    return not dim.HasField("dim_value") or dim.dim_value < 0


def ours(content: bytes, feeds: dict[str, Any] | None) -> Found | list[Any]:
    """The results of xrelax, or the failure or refusal."""
    try:
        compiled = compile_onnx(content)
        return Found("COMPILED") if feeds is None else compiled.run(None, feeds)
    except CLEAR as error:
        return _refusal(error)
    except Exception as error:
        return Found("EXCEPTION", f"{type(error).__name__}: {error}")


def _refusal(error: Exception) -> Found:
    """A refusal, which is a failure if its lines do not say what was expected."""
    problems = error.problems if isinstance(error, UnsupportedError) else ()
    for problem in problems:
        if problem.cause is not None and not isinstance(problem.cause, (*CLEAR, VerifyException)):
            return Found("EXCEPTION", f"{type(problem.cause).__name__}: {problem}")
    lines = str(error).count("\n") + 1
    if isinstance(error, UnicodeError) or lines != (len(problems) + 1 if problems else 1):
        return Found("EXCEPTION", f"{type(error).__name__} of {lines} lines: {error}")
    return Found("REFUSED", str(problems[0] if problems else error))


def theirs(content: bytes, feeds: dict[str, Any]) -> list[Any] | None:
    """The results of ONNX Runtime; `None` where it refuses the model."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        return list(session.run(None, feeds))
    except Exception:  # of many types, for models that it refuses
        return None


def difference(found: Sequence[Any], wanted: Sequence[Any], compares: bool = True) -> str:
    """What is wrong with results; nothing where they are within the tolerance of their dtype."""
    if len(found) != len(wanted):
        return f"expected {len(wanted)} results, got {len(found)}"
    for number, (one, other) in enumerate(zip(found, wanted, strict=True)):
        if other is None or not compares or not np.size(other):
            continue
        if (one.shape, one.dtype) != (other.shape, other.dtype):
            shapes = f"{other.dtype}{other.shape}, got {one.dtype}{one.shape}"
            return f"result {number}: expected {shapes}"
        close = _close(one, other)
        if not close.all():
            at = tuple(int(i) for i in np.argwhere(~close)[0])
            return f"result {number} at {at}: expected {other[at]}, got {one[at]}"
    return ""


def _close(found: Any, wanted: Any) -> Any:
    """Where numbers are equal within the tolerance of their dtype."""
    if wanted.dtype.kind != "f":
        return (found == wanted) | _is_undefined(wanted)
    atol = 5 * ATOL.get(wanted.dtype.name, 2e-5)
    with np.errstate(all="ignore"):
        pair = (np.where(np.abs(x) > LARGE, np.sign(x) * np.inf, x) for x in (found, wanted))
        return np.isclose(*pair, 1e-2 if atol > 1e-3 else 1e-3, atol, equal_nan=True)


def _is_undefined(values: Any) -> Any:
    """Whether integers may be those that processors make of floats out of range."""
    return values == np.iinfo(values.dtype).min if values.dtype.kind == "i" else False


def judged(content: bytes, seed: int) -> Found:
    """What becomes of a file."""
    made = onnx.ModelProto()
    try:
        made.ParseFromString(content)
        feeds = feeds_of(made, seed)
    except Exception:  # a file that is no model, or names of no text
        feeds = None
    found = in_process(lambda: ours(content, feeds))
    if isinstance(found, Found):
        return found
    assert feeds is not None
    wanted = in_process(lambda: theirs(content, feeds))
    if wanted is None or isinstance(wanted, Found):
        return Found("ACCEPTED", "which ONNX Runtime refuses")
    # ONNX Runtime's reductions of nothing have other shapes and values.
    problem = difference(found, wanted, all(np.size(feed) for feed in feeds.values()))
    return Found("WRONG", problem) if problem else Found("EQUAL")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 1 where a mutant failed."""
    parser = argparse.ArgumentParser("onnx_fuzz", description=__doc__)
    parser.add_argument("--seeds", default="0:200", help="17 or 0:200 (0:200)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="when to end")
    parser.add_argument("--output", default="build/fuzz", help="where files go (build/fuzz)")
    parser.add_argument("-v", action="store_true", help="a line for each mutant")
    options = parser.parse_args(arguments)
    first, _, last = options.seeds.partition(":")
    end = time.monotonic() + options.seconds
    counts: Counter[str] = Counter()
    for seed in range(int(first), int(last or int(first) + 1)):
        if time.monotonic() > end:
            break
        name, content = mutant(seed)
        found = judged(content, seed)
        counts[found.kind] += 1
        if found.failed or options.v:
            print(f"{found.kind:9} {seed} of {name}: {found.message[:300]}", flush=True)
        if found.failed:
            folder = Path(options.output)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"onnx_{seed}.onnx").write_bytes(content)
    print(", ".join(f"{count} {kind.lower()}" for kind, count in counts.most_common()))
    return int(any(Found(kind).failed for kind in counts))


if __name__ == "__main__":
    os.environ["XRELAX_CACHE"] = "0"
    warnings.simplefilter("ignore")
    compile_onnx(bases()["layers"])  # imports the compiler, once for all processes
    sys.exit(main())
