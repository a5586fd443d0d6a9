"""What docs/trust.md says of inputs that are data, and of those that are code."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.script import ScriptError, from_source

HERE = "@R.function\ndef main(x: R.Tensor((4,), 'float32')):\n    return {}\n"
TEXTS = {
    "statement": "{leave}\n" + HERE.format("x"),
    "decorator": "@{leave}\n" + HERE.format("x"),
    "value": HERE.format("R.add(x, R.const({leave}, 'float32'))"),
    "attribute": HERE.format("x.__class__.__base__.__subclasses__({leave})"),
    "shape": HERE.format("x").replace("(4,)", "({leave},)"),
    "import": "import {module}\n" + HERE.format("x"),
    "comprehension": HERE.format("[{leave} for _ in range(3)]"),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_no_part_of_the_text_of_a_script_runs(text: str, tmp_path: Path, monkeypatch):
    mark = tmp_path / "mark"
    (tmp_path / "leaves_a_mark.py").write_text(f"open({str(mark)!r}, 'w')")
    monkeypatch.syspath_prepend(tmp_path)
    source = text.format(leave=f"open({str(mark)!r}, 'w')", module="leaves_a_mark")
    try:
        from_source(source)
    except ScriptError:
        pass
    assert not mark.exists()
    exec(compile(f"open({str(mark)!r}, 'w').close()", "script", "exec"))
    assert mark.exists()


def test_a_program_may_call_c_functions_of_the_process():
    program = from_source("""
@T.prim_func
def main(y: T.Buffer((1,), "int32")):
    for i in range(1):
        with T.block("y"):
            v = T.axis.spatial(1, i)
            y[v] = T.call_extern("int32", "getpid")
""")
    y = np.zeros(1, "int32")
    tvm.build(program)(y)
    assert y.tolist() == [os.getpid()]


def test_weights_of_xrelax_opt_are_no_pickles(tmp_path: Path):
    class Mark:
        def __reduce__(self):
            return (open, (str(tmp_path / "mark"), "w"))

    np.savez(tmp_path / "weights.npz", w=np.array([Mark()], object))
    (tmp_path / "empty.mlir").write_text("builtin.module {}\n")
    command = [sys.executable, "-m", "xrelax.tools.opt", str(tmp_path / "empty.mlir")]
    result = subprocess.run(
        [*command, "--weights", str(tmp_path / "weights.npz")], capture_output=True, text=True
    )
    assert result.returncode != 0 and "Traceback" not in result.stderr
    assert not (tmp_path / "mark").exists()


def test_a_pickle_can_call_anything_and_an_executable_links_code(tmp_path: Path):
    class Mark:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "mark",))

    pickle.loads(pickle.dumps(Mark()))
    assert (tmp_path / "mark").exists()
    built = relax.build(from_source(HERE.format("R.add(x, x)")))
    linked = pickle.loads(pickle.dumps(built))
    assert linked.library.objects == built.library.objects
    assert linked(np.ones(4, "float32")).numpy().tolist() == [2] * 4
