"""Programs of the Relax language for the tests: modules, builds, and names of functions."""

import pytest

import xrelax as tvm
from xrelax.ir.equality import assert_structural_equal
from xrelax.script import from_source

IMPORTS = "from xrelax.script import ir as I, relax as R, tir as T\n"


@pytest.fixture
def module():
    """The module of functions, which its own script gives again."""

    def module(body):
        parsed = from_source(f"{IMPORTS}@I.ir_module\nclass M:\n{body}")
        assert_structural_equal(from_source(parsed.script()).op, parsed.op)
        return parsed

    return module


@pytest.fixture
def build(module):
    """Compile functions with every pass checked."""

    def build(body, check=True):
        return tvm.build(module(body), check=check)["main"]

    return build


@pytest.fixture
def names():
    """Names to register functions under, which are free again afterwards."""
    from xrelax.runtime.registry import registered_functions

    before = dict(registered_functions())
    yield
    for name in set(registered_functions()) - set(before):
        tvm.register_func(name, lambda *_: None, override=True)
