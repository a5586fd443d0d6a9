"""The function by which Python calls compiled functions, as code of any optimisation level."""

from __future__ import annotations

import pytest

from xrelax.backend.jit import compile_module
from xrelax.backend.llvm_text import emit_module
from xrelax.backend.target import Target
from xrelax.lowering.llvm.python_entry import python_entry_module
from xrelax.runtime.call_words import ENTRY_SYMBOL
from xrelax.runtime.object_file import undefined_symbols


@pytest.mark.parametrize("level", [0, 1, 3])
def test_the_entry_needs_no_symbols_of_python(level):
    module = python_entry_module()
    module.verify()
    target = Target("llvm")
    library = compile_module(emit_module(module, target), target, level)
    assert not [s for s in undefined_symbols(library.objects) if s.startswith("Py")]
    assert library.address(ENTRY_SYMBOL)


def test_the_entry_is_made_for_other_processors():
    target = Target("llvm -mtriple=aarch64-unknown-linux-gnu -mcpu=cortex-a72")
    library = compile_module(emit_module(python_entry_module(), target), target, 1)
    assert len(library.objects) == 1
