"""What a terminal and a notebook show of a mistake: the user's lines and the message."""

import os
import subprocess
import sys

import nbformat
import pytest
from nbconvert.preprocessors import ExecutePreprocessor
from user_mistakes import MISTAKES, PROGRAM

BEFORE = PROGRAM.count("\n")


def run(tmp_path, lines, **environment):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM + lines + "\n")
    done = subprocess.run(
        [sys.executable, path],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | environment,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    return done.stderr.splitlines()


def ends_as(printed, expected, before):
    lines = [
        line.format(*range(before, before + 20)) if line.startswith("line") else line
        for line in expected
    ]
    tails = printed[-len(lines) :]
    return all(tail.endswith(line) for tail, line in zip(tails, lines, strict=True)) or printed


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_terminal(mistake, tmp_path):
    lines, expected = MISTAKES[mistake]
    printed = run(tmp_path, lines)
    assert ends_as(printed, expected, BEFORE) is True
    assert len(printed) <= (6 if "lambda" in lines or "def fail" in lines else 4)
    assert "xrelax/" not in "".join(printed)


def test_a_notebook():
    cells = [PROGRAM, *(lines for lines, _ in MISTAKES.values()), "1 / 0", "[][0]"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    runner = ExecutePreprocessor(timeout=300, allow_errors=True, kernel_name="python3")
    runner.preprocess(notebook, {})
    first, *results = [cell.outputs for cell in notebook.cells]
    assert first == []
    shown = ["\n".join(o.traceback).splitlines() for (o,) in results]
    for number, (printed, (lines, expected)) in enumerate(
        zip(shown, MISTAKES.values(), strict=False), 2
    ):
        assert ends_as(printed, expected, 0) is True
        assert len(printed) <= (5 if "lambda" in lines or "def fail" in lines else 4)
        assert printed[0].startswith(f"Cell In[{number}], line ")
    assert "Cell In[1]:10:9: error: split" in shown[list(MISTAKES).index("factors of a split")][-1]
    assert all("Traceback (most recent call last)" in "".join(s) for s in shown[-2:])


DEBUGGED = f"""{PROGRAM}
x, w = np.zeros((4, 8), "f"), np.zeros((8, 8), "f")
report = relax.build(Module).debug("main", x, w, reference={{"lv": x + 1}})
print(report.rows()[0][2], report.summary())"""

WARNED = """\
import warnings
import torch
from xrelax.relax.frontend.torch import register_backend
register_backend()
def odd(x):
    return torch.special.bessel_j0(x) + 1
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    torch.compile(odd, backend="xrelax")(torch.ones(3))
print([str(w.message) for w in caught if "bessel" in str(w.message)])"""


@pytest.mark.parametrize(("code", "line"), [(DEBUGGED, 18), (WARNED, 6)])
def test_places_in_cells(code, line):
    """Reports and messages call the file of a cell by its number."""
    if code == WARNED:
        pytest.importorskip("torch")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    ExecutePreprocessor(timeout=300, kernel_name="python3").preprocess(notebook, {})
    text = "".join(o.text for o in notebook.cells[0].outputs if o.get("name") == "stdout")
    assert f"Cell In[1]:{line}" in text and "ipykernel" not in text


def test_all_frames_on_request(tmp_path):
    printed = run(tmp_path, 'Module["f"]', XRELAX_TRACEBACK="full")
    assert any("ir/module.py" in line for line in printed)


def test_a_fault_of_the_package_keeps_all_frames(tmp_path):
    lines = "from xrelax.ir import module\nmodule.GlobalVar = None\nModule.functions"
    printed = run(tmp_path, lines)
    assert printed[-1] == "TypeError: 'NoneType' object is not callable"
    assert any("ir/module.py" in line for line in printed)


def test_errors_of_the_user_that_led_to_it_are_shown(tmp_path):
    lines = 'try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    Module["f"]'
    printed = run(tmp_path, lines)
    assert "ZeroDivisionError: division by zero" in printed
    assert printed[-1].endswith("got 'f'")
    assert not any("ir/module.py" in line for line in printed)


def test_other_threads(tmp_path):
    lines = "t = threading.Thread(target=lambda: Module['f'])\nt.start()\nt.join()"
    printed = run(tmp_path, f"import threading\n{lines}\nraise SystemExit(1)")
    assert printed[0].startswith("Exception in thread Thread-1")
    assert not any("ir/module.py" in line for line in printed)
    assert printed[-1].endswith("got 'f'")


def test_a_hook_of_the_user_gets_what_is_not_filtered(tmp_path):
    before = "import sys\nsys.excepthook = lambda *e: print('hooked', e[1], file=sys.stderr)\n"
    path = tmp_path / "hooked.py"
    path.write_text(before + "import xrelax\n1 / 0\n")
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert done.stderr == "hooked division by zero\n"
