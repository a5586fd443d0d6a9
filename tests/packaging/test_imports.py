"""What importing and building must not load: modules by name, each program in a new interpreter."""

import subprocess
import sys
from functools import cache

import pytest

IMPORT = "import xrelax; from xrelax.script import ir, relax, tir"
BUILD = """
from xrelax import relax
from xrelax.script import from_source

relax.build(from_source('''
@R.function
def main(x: R.Tensor((2,), "float32")):
    return R.add(x, x)
'''))
"""


@cache
def loaded(program: str) -> set[str]:
    """The modules that a program has loaded at its end."""
    run = [sys.executable, "-c", f"{program}\nimport sys\nprint(*sys.modules)"]
    return set(subprocess.run(run, check=True, capture_output=True, text=True).stdout.split())


@pytest.mark.parametrize(
    "name", ["llvmlite", "torch", "xdsl.dialects.llvm", "xrelax.backend", "xrelax.pipeline"]
)
def test_the_script_language_loads_no_compiler(name: str):
    assert name not in loaded(IMPORT)


@pytest.mark.parametrize("name", ["torch", "xrelax.profiling.instrumented", "xrelax.reference"])
def test_a_build_loads_no_evaluator(name: str):
    assert name not in loaded(BUILD)


@pytest.mark.parametrize("name", ["xdsl", "llvmlite", "jinja2"])
def test_language_models_load_no_compiler(name: str):
    """A compiled model of the cache answers without it."""
    assert name not in loaded("from xrelax import llm")


def test_a_name_of_the_table_is_imported_first():
    assert "xrelax.tir.schedule" in loaded("from xrelax.s_tir import ScheduleError")


def test_a_module_is_loaded_once_under_all_its_names():
    loaded("import xrelax.s_tir.schedule as a, xrelax.tir.schedule as b; assert a is b")


def test_names_of_the_table_are_attributes():
    program = """
from functools import reduce
import xrelax
from xrelax.names import NAMES
for name in NAMES:
    try:
        reduce(getattr, name.split("."), xrelax)
    except ModuleNotFoundError:  # of an extra
        pass
"""
    loaded(program)
