"""A notebook without a notebook, which runs cells as IPython does; checks of programs."""

import __future__

import ast
import builtins
import linecache
import re
import sys
import types

import numpy as np
import pytest

from xrelax.ir.equality import assert_structural_equal
from xrelax.reference.evaluate import evaluate
from xrelax.script import ScriptError, from_source

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
    """Run a function of a program by the reference evaluator; PrimFuncs write the last array."""

    def run(program, *args, name=None):
        module = module_of(program)
        function = name or getattr(program, "name", "main")
        arrays = [np.copy(a) if isinstance(a, np.ndarray) else a for a in args]
        return evaluate(module, function, arrays)

    return run


@pytest.fixture(scope="session")
def refused():
    """Parse a wrong program: `message` is in the error, at the text `at` of the line it shows.

    With neither the program is right: tables show in this way where the border is.
    """

    def check(text, message, at):
        if message is None and at is None:
            from_source(text)
            return
        with pytest.raises(ScriptError) as caught:
            from_source(text)
        shown = str(caught.value)
        head, line, caret = shown.split("\n")
        assert message is None or message in head
        place = re.match(r"<script>:(\d+):(\d+): error: (.+)$", head)
        assert place is not None, head
        assert line == text.split("\n")[int(place[1]) - 1]
        assert caret == " " * (int(place[2]) - 1) + "^"
        if at is not None:
            assert line[int(place[2]) - 1 :].startswith(at), shown

    return check


HEADER = "@T.prim_func\ndef kernel({}):\n"


@pytest.fixture(scope="session")
def kernel():
    """A PrimFunc `kernel` from its parameters and the text of its body."""
    return kernel_of


def kernel_of(params, body):
    lines = body.strip("\n").splitlines()
    margin = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return from_source(HEADER.format(params) + "\n".join("    " + line[margin:] for line in lines))


@pytest.fixture
def run(call, round_trip):
    """Run a kernel on its inputs and an empty output; its printed text has to do the same."""

    def check(params, body, *args, shape=None, dtype="float32"):
        program = kernel_of(params, body)
        out = np.zeros(shape if shape is not None else args[0].shape, dtype)
        *_, result = call(program, *args, out)
        *_, again = call(from_source(round_trip(program)), *args, out)
        np.testing.assert_array_equal(result, again)
        return result

    return check
