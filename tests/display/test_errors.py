"""Errors in a notebook: the cell's line and the message, in six lines at most."""

from __future__ import annotations

import re

import nbformat
import pytest
from nbclient import NotebookClient
from user_mistakes import PROGRAM

FAILS = """\
@tvm.register_func("fail", override=True)
def fail(x, y):
    raise ValueError("\\n".join("abcdefgh"))
"""
CALL = """\
def call(value):
    return helper(value)

def helper(value):
    return inner(value)

def inner(value):
    return relax.op.matmul(value, value)

call(x)"""

CELLS = {
    "a parse error": (
        "@I.ir_module\nclass M:\n    @T.prim_func\n    def f(A: T.Buffer((4,))):\n        A[0] = b",
        ["Cell In[{}], line 5", "    A[0] = b", "           ^", "name 'b' is not defined"],
    ),
    "shapes of an operator": (
        'x = relax.Var("x", R.Tensor((4, 8), "float32"))\nrelax.op.matmul(x, x)',
        [
            "Cell In[{}], line 2",
            "----> 2 relax.op.matmul(x, x)",
            "OpError: expected shapes of 'relax.matmul' to be compatible, got (4, 8) and (4, 8)",
        ],
    ),
    "a primitive that refuses": (
        's = tir.Schedule(Module)\nb = s.get_block("Y", "double")\ns.reverse_compute_inline(b)',
        ["Cell In[{}], line 3", "----> 3 s.reverse_compute_inline(b)", "reverse_compute_inline: "],
    ),
    "the shape of an argument": (
        'relax.build(Module)["main"](np.zeros((4, 8), "f"), np.zeros((9, 8), "f"))',
        ["Cell In[{}], line 1", "----> 1 relax", "to have shape (8, 8), got (9, 8)"],
    ),
    "an error that is not meant": (
        "tvm.nd.array([1, 2]).copyfrom(np.zeros(4))",
        [
            "Cell In[{}], line 1",
            "----> 1 tvm.nd",
            "TypeError: Cannot cast",
            "raised in xrelax.runtime.tensor, line ",
        ],
    ),
    "frames of several functions": (
        CALL,
        [
            "Cell In[{}], line 10",
            "----> 10 call(x)",
            "Cell In[{}], line 8",
            "----> 8 return relax.op.matmul",
            "OpError: expected shapes",
        ],
    ),
    "a message of many lines": (
        f'{FAILS}relax.build(m)["main"](np.zeros(4, "f"))',
        [
            "Cell In[{}], line ",
            "----> ",
            "ValueError: a",
            "b",
            "c",
            "… 5 more lines: print(sys.last_value)",
        ],
    ),
}
BUILDER = """\
m = relax.BlockBuilder()
v = relax.Var("v", R.Tensor((4,), "float32"))
with m.function("main", [v]):
    m.emit_func_output(relax.op.call_dps_packed("fail", (v,), v.struct_info))
m = m.get()"""

LAST = """\
import sys
trace = get_ipython().InteractiveTB.tb
print(type(sys.last_value).__name__, trace is sys.last_traceback)"""
"""What %debug works on is that of the last error."""


@pytest.fixture(scope="module")
def shown() -> dict[str, list[str]]:
    """The lines that a notebook shows of each error."""
    cells = [PROGRAM, BUILDER, *(cell for cell, _ in CELLS.values()), LAST]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    NotebookClient(notebook, timeout=300, allow_errors=True, kernel_name="python3").execute()
    first, second, *outputs, (last,) = [cell.outputs for cell in notebook.cells]
    assert first == second == [] and last.text == "ValueError True\n"
    texts = ["\n".join(output.traceback) for (output,) in outputs]
    return dict(zip(CELLS, [text.splitlines() for text in texts], strict=True))


@pytest.mark.parametrize("what", CELLS)
def test_an_error_has_six_lines(what: str, shown: dict[str, list[str]]):
    number, (_, expected) = [*CELLS].index(what) + 3, CELLS[what]
    assert len(shown[what]) == len(expected) <= 6
    for line, part in zip(shown[what], expected, strict=True):
        assert part.format(number) in line
        assert not re.search("\x1b|site-packages", line)
