"""`xrelax.compile` takes modules and models, and PyTorch only where a model is PyTorch's."""

import subprocess
import sys

import pytest

import xrelax
from xrelax import te


def kernel():
    x = te.placeholder((4,), name="x")
    y = te.compute((4,), lambda i: x[i] + 1.0, name="y")
    return te.create_prim_func([x, y])


def test_a_function_is_built():
    executable = xrelax.compile(kernel(), target="llvm")
    assert type(executable) is type(xrelax.build(kernel()))


def test_other_objects_are_refused():
    with pytest.raises(TypeError, match="expected a module or a function to build, got int"):
        xrelax.compile(3)


def test_nothing_imports_torch():
    program = (
        "import sys, xrelax, xrelax.importers.compile\n"
        "from xrelax import relax\n"
        "relax.frontend.torch, xrelax.compile\n"
        "assert not [n for n in sys.modules if n.split('.')[0] in ('torch', 'sympy')]\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
