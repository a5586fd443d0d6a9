"""The ONNX fuzzer: a few mutants, and planted faults that it finds."""

import os
import time

import numpy as np
import onnx
import onnx_fuzz
import pytest
from onnx import helper
from onnx_bases import bases
from onnx_fuzz import Found, difference, in_process, judged, main
from onnx_models import model
from onnx_mutants import CHANGES, mutant

from xrelax.importers.onnx.registry import CONVERTERS, Version, find_converter

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(64))
def test_mutants(seed):
    name, content = mutant(seed)
    found = judged(content, seed)
    assert not found.failed, f"{found.kind} of {name}: {found.message}"


def test_mutants_depend_on_the_seed_alone():
    assert mutant(5) == mutant(5) != mutant(6)
    names = {mutant(seed)[0] for seed in range(300)}
    assert {"layers", "shapes", "quantized"} < names and len(names) > 100


def test_every_change_changes_a_model():
    import random

    for change in CHANGES:
        changed = set()
        for seed in range(30):
            made = onnx.ModelProto()
            made.CopyFrom(bases()["layers"])
            change(random.Random(seed), made)
            changed.add(made.SerializeToString())
        assert len(changed) > 1, change.__name__


def test_models_that_are_not_changed_are_equal():
    for name in ("layers", "shapes", "quantized"):
        assert judged(bases()[name].SerializeToString(), 0) == Found("EQUAL")


def relu():
    node = helper.make_node("Relu", ["x"], ["y"])
    return model(node, {"x": ("float32", ["n", 4])}, ["y"]).SerializeToString()


def plant(monkeypatch, converter):
    assert find_converter("", "Relu", 17)  # which registers ours
    monkeypatch.setitem(CONVERTERS, ("", "Relu"), [Version(1, converter)])
    return judged(relu(), 0)


def test_wrong_results_are_found(monkeypatch):
    found = plant(monkeypatch, lambda ctx, x: ctx.emit("abs", x))
    assert found.kind == "WRONG" and found.message.startswith("result 0 at (")


def test_crashes_hangs_and_other_exceptions_are_found(monkeypatch):
    monkeypatch.setattr(onnx_fuzz, "SECONDS", 3)
    assert plant(monkeypatch, lambda ctx, x: os.abort()) == Found("CRASH", "SIGABRT")
    assert plant(monkeypatch, lambda ctx, x: os._exit(3)) == Found("CRASH", "exit status 768")
    assert plant(monkeypatch, lambda ctx, x: time.sleep(60)) == Found("HANG", "more than 3 s")
    found = plant(monkeypatch, lambda ctx, x: x.no_such_name)
    assert found.kind == "EXCEPTION" and "has no attribute 'no_such_name'" in found.message


def test_large_allocations_end_a_process():
    found = in_process(lambda: np.ones(1 << 40, "int8"))
    assert found.kind == "CRASH"


def test_errors_of_several_lines_are_found(monkeypatch):
    def several(given, *args, **kwargs):
        raise ValueError("one\ntwo")

    monkeypatch.setattr(onnx_fuzz, "compile_onnx", several)
    found = judged(relu(), 0)
    assert (found.kind, found.message) == ("EXCEPTION", "ValueError of 2 lines: one\ntwo")


def test_what_differs():
    x = np.float32([1, 2])
    assert difference([x], [x]) == "" and difference([], [x]) == "expected 1 results, got 0"
    assert "expected float32(2,), got float64(2,)" in difference([x.astype("float64")], [x])
    assert difference([x + 0.1], [x]).startswith("result 0 at (0,): expected 1.0")
    assert "at (1,): expected 2, got 3" in difference([np.array([1, 3])], [np.array([1, 2])])
    assert difference([np.float32([np.nan, -np.inf])], [np.float32([np.nan, -3e38])]) == ""


def test_the_command(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(onnx_fuzz, "mutant", lambda seed: ("relu", relu()))
    assert main(["--seeds", "0:2", "-v"]) == 0
    assert "EQUAL     1 of relu" in capsys.readouterr().out
    plant(monkeypatch, lambda ctx, x: ctx.emit("abs", x))
    assert main(["--seeds", "7", "--output", str(tmp_path)]) == 1
    assert "WRONG     7 of relu: result 0 at (" in capsys.readouterr().out
    assert (tmp_path / "onnx_7.onnx").read_bytes() == relu()
    assert main(["--seeds", "0:99", "--seconds", "-1"]) == 0
