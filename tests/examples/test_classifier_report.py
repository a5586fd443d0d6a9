"""The tables and sentences of the example."""

import sys

import classifier_report
import numpy as np
import pytest
from classifier_runs import LibraryCalls, Run
from image_data import DataError, LabelledImages

SCORES = np.log(np.array([[0.7, 0.2, 0.1], [0.25, 0.5, 0.25], [0.0001, 0.0001, 0.9998]]))
CALLS = LibraryCalls(count=3, tensors=10, empty=20e-6, converting=95e-6)


@pytest.fixture
def data() -> LabelledImages:
    """Three images of classes a, c and c."""
    return LabelledImages("x", "X", np.zeros((3, 2, 2)), np.array([0, 2, 2]), tuple("abc"))


def test_predictions_of_the_image_the_next_and_wrong_ones(data: LabelledImages, capsys):
    pytest.importorskip("tabulate", reason="tabulate is not installed")
    classifier_report.print_predictions(data, Run("x", SCORES, 1.0), first=2)
    assert capsys.readouterr().out.split("\n") == [
        "image           #2     #0     #1",
        "----------  ------  -----  -----",
        "true label       c      a      c",
        "predicted        c      a      b",
        "right          yes    yes     NO",
        "a            <0.1%  70.0%  25.0%",
        "b            <0.1%  20.0%  50.0%",
        "c           >99.9%  10.0%  25.0%",
        "",
        "",
    ]


def test_runs(data: LabelledImages, capsys):
    pytest.importorskip("tabulate", reason="tabulate is not installed")
    classifier_report.print_runs(data, [Run("one", SCORES, 3.25e-6), Run("two", SCORES, 1e-3)], 2)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[2:4]]
    assert lines == [["one", "c", "66.67%", "3.2", "µs"], ["two", "c", "66.67%", "1000.0", "µs"]]


def test_reason_has_the_measured_figures():
    run = Run("library calls", SCORES, 150e-6, True, CALLS)
    assert classifier_report.reason(run, "torch") == (
        "With registered functions that do nothing, library calls take 20.0 µs per image: each "
        "of the 3 calls leaves compiled code, takes the GIL and makes tensors of its arguments. "
        "Converting these 10 tensors for torch adds 75.0 µs, and torch's computation 55.0 µs."
    )


def test_missing_tabulate_is_one_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "tabulate", None)
    with pytest.raises(DataError, match="the tables need tabulate: install the extra `demo`"):
        classifier_report.print_table({"class": ["a"], "score": ["1.0"]})


def test_stages_begin_with_relax_and_are_never_empty():
    sizes = classifier_report.stage_sizes()
    assert sizes[0][0] == "relax"
    assert len(sizes) >= 3 and all(count > 0 for _, count in sizes)


def test_count_operations():
    text = """builtin.module {
  relax.func @main(%x : !relax.tensor<[n], f32>) {
    // a comment.with a dot
    %0 = arith.constant 1.0 : f32
    %1, %2 = "test.op"(%0) : (f32) -> (f32, f32)
    relax.return %1 : f32
  }
}"""
    assert classifier_report.count_operations(text) == 5
