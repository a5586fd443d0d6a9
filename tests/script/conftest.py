"""A notebook without a notebook: cells run statement by statement in one namespace, as IPython does."""

import __future__

import ast
import builtins
import linecache
import sys
import types

import numpy as np
import pytest

from xrelax.ir.structural_equal import assert_structural_equal
from xrelax.reference.evaluate import evaluate
from xrelax.script import from_source

FEATURES = [getattr(__future__, name).compiler_flag for name in __future__.all_feature_names]


class Notebook:
    """Runs cells; `names` is the namespace, a `__main__` without `__file__`."""

    def __init__(self):
        self.module = types.ModuleType("__main__")
        self.names = self.module.__dict__
        self.names["__builtins__"] = vars(builtins)
        self.flags = 0
        self.count = 0

    def __getitem__(self, name):
        return self.names[name]

    def _compile(self, nodes, filename):
        code = compile(ast.Module(nodes, []), filename, "exec", self.flags, True)
        self.flags |= sum(flag for flag in FEATURES if code.co_flags & flag & ~self.flags)
        return code

    def run(self, cell):
        """Run one cell."""
        self.count += 1
        filename = f"<ipython-input-{self.count}-{abs(hash(cell)):x}>"
        lines = [f"{line}\n" for line in cell.split("\n")]
        linecache.cache[filename] = (len(cell), None, lines, filename)
        tree = compile(cell, filename, "exec", self.flags | ast.PyCF_ONLY_AST, True)
        outer, sys.modules["__main__"] = sys.modules["__main__"], self.module
        try:
            for node in tree.body:
                exec(self._compile([node], filename), self.names)
        finally:
            sys.modules["__main__"] = outer


@pytest.fixture
def notebook():
    """A notebook whose first cell has run the usual imports."""
    found = Notebook()
    found.run(
        "import numpy as np\n"
        "import xrelax as tvm\n"
        "from xrelax.ir.module import IRModule\n"
        "from xrelax.script import tir as T, relax as R\n"
        "from xrelax.script import ir as I\n"
        "from xrelax import relax, te, topi\n"
    )
    return found


def module_of(program):
    """The xDSL module of an `IRModule`, or one that holds a single function."""
    from xdsl.dialects.builtin import ModuleOp

    return program.op if isinstance(program.op, ModuleOp) else ModuleOp([program.op.clone()])


@pytest.fixture(scope="session")
def round_trip():
    """Print a program, parse the text, and require the same program; returns the text."""

    def check(program):
        text = program.script(show_meta=True)
        again = from_source(text)
        assert_structural_equal(program.op, again.op)
        assert again.script(show_meta=True) == text
        return text

    return check


@pytest.fixture(scope="session")
def call():
    """Run a function of a program on arrays by the reference evaluator; PrimFuncs write the last."""

    def run(program, *args, name=None):
        module = module_of(program)
        function = name or getattr(program, "name", "main")
        arrays = [np.copy(a) if isinstance(a, np.ndarray) else a for a in args]
        return evaluate(module, function, arrays)

    return run
