"""Run kernels for AArch64 by QEMU's user mode, if it and a C compiler for AArch64 are installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from xrelax.inspection import stage_text

COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
OPTIONS = ("-static", "-w", "-Wa,-march=armv8.6-a+fp16+sve")

needs_emulator = pytest.mark.skipif(
    not all(map(shutil.which, (COMPILER, EMULATOR))), reason=f"{COMPILER} or {EMULATOR} is missing"
)

MAIN = """
#include <stdio.h>
extern int kernel({parameters}) __asm__("{symbol}");
static char {arrays};
int main(void) {{
  {reads}
  int status = kernel({arguments});
  fwrite({last}, 1, sizeof {last}, stdout);
  return status;
}}
"""
"""A program that reads the arguments of a kernel, and writes the last one."""


def emulated(function: Any, cpu: str, arrays: list[NDArray[Any]], folder: Path) -> NDArray[Any]:
    """The last of the arrays after a kernel has run on an AArch64 processor; the others are as
    they were. The first argument, the context, is null: kernels have no parallel loops."""
    target = f"llvm -mtriple=aarch64-linux-gnu -mcpu={cpu}"
    assembly = stage_text(function, "asm", target)
    symbols = re.compile(r"^\t\.globl\t(\S+\.kernel\.\w+)$", re.MULTILINE)
    ((symbol, module),) = [
        (found[1], module)
        for module in re.split(r"^(?=\t\.file\t)", assembly, flags=re.MULTILINE)
        if (found := symbols.search(module)) is not None
    ]
    names = [f"a{i}" for i in range(len(arrays))]
    program = MAIN.format(
        parameters=", ".join(["void *"] * (1 + len(arrays))),
        symbol=symbol,
        arrays=", ".join(
            f"{n}[{a.nbytes}] __attribute__((aligned(64)))"
            for n, a in zip(names, arrays, strict=True)
        ),
        reads="\n  ".join(f"fread({n}, 1, sizeof {n}, stdin);" for n in names),
        arguments=", ".join(["0", *names]),
        last=names[-1],
    )
    (folder / "main.c").write_text(program)
    (folder / "kernel.s").write_text(module)
    command = [COMPILER, *OPTIONS, "-o", "main", "main.c", "kernel.s"]
    subprocess.run(command, cwd=folder, check=True)
    given = b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)
    run = [EMULATOR, "-cpu", "max", folder / "main"]
    found = subprocess.run(run, input=given, capture_output=True, check=True).stdout
    return np.frombuffer(found, arrays[-1].dtype).reshape(arrays[-1].shape)
