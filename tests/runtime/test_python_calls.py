"""The function by which Python calls compiled functions, as code of any optimization level."""

from __future__ import annotations

import subprocess
import sys

import pytest

from xrelax.backend.jit import compile_module
from xrelax.backend.target import Target
from xrelax.runtime.call_words import ENTRY_SYMBOL
from xrelax.runtime.native import undefined_symbols
from xrelax.runtime.python_calls.entry import python_calls_ir


@pytest.mark.parametrize("level", [0, 1, 3])
def test_the_entry_needs_no_symbols_of_python(level):
    library = compile_module(python_calls_ir(), Target("llvm"), level)
    assert not [s for s in undefined_symbols(library.objects) if s.startswith("Py")]
    assert library.address(ENTRY_SYMBOL)


def test_the_entry_is_made_for_other_processors():
    target = Target("llvm -mtriple=aarch64-unknown-linux-gnu -mcpu=cortex-a72")
    library = compile_module(python_calls_ir(), target, 1)
    assert len(library.objects) == 1


def test_the_code_is_made_without_the_compiler():
    code = (
        "import sys; from xrelax.runtime.python_calls.entry import python_calls_ir;"
        "assert python_calls_ir() == python_calls_ir();"
        "print(*(m for m in sys.modules if m.split('.')[0] in ('xdsl', 'llvmlite')))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("\n", "")
