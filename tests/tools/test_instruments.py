"""What `xrelax-opt` prints and writes around passes."""

import io
import re
import sys
from pathlib import Path

import pytest

from xrelax.pipeline import STAGES
from xrelax.tools import opt

TEXT = """
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %unused = relax.nn.relu %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %x : !relax.tensor<[4], f32>
}
"""
RELAX = STAGES[0].passes


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "input.mlir").write_text(TEXT)
    return str(tmp_path / "input.mlir")


def test_a_file_for_each_pass(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = tmp_path / "new" / "tree"
    assert opt.run([file, "--emit=relax", f"--print-ir-tree-dir={folder}"]) == 0
    expected = [f"{i}_{name}.mlir" for i, name in enumerate(RELAX)]
    assert sorted(p.name for p in folder.iterdir()) == sorted(expected)
    output, errors = capsys.readouterr()
    assert (folder / expected[-1]).read_text().strip() == output.strip()
    assert errors == ""
    assert opt.run([str(folder / expected[0]), "-p", ",".join(RELAX[1:])]) == 0
    assert capsys.readouterr().out == output


def test_files_of_named_passes_have_their_numbers(file: str, tmp_path: Path):
    options = ["--print-ir-before=dce", "--print-ir-after=dce", "--print-ir-diff", "--color=always"]
    assert opt.run([file, "-p", "normalize,dce", f"--print-ir-tree-dir={tmp_path}", *options]) == 0
    assert {p.name for p in tmp_path.iterdir()} - {"input.mlir"} == {
        "1_dce.before.mlir",
        "1_dce.diff",
    }
    assert (tmp_path / "1_dce.diff").read_text().startswith("--- before dce\n+++ after dce\n@@")


def test_files_of_chunks_are_numbered_on(file: str, tmp_path: Path):
    Path(file).write_text(f"{TEXT}// -----{TEXT}")
    folder = tmp_path / "tree"
    arguments = ["-p", "normalize,dce", "--split-input-file", f"--print-ir-tree-dir={folder}"]
    assert opt.run([file, *arguments]) == 0
    names = ["0_normalize.mlir", "1_dce.mlir", "2_normalize.mlir", "3_dce.mlir"]
    assert sorted(p.name for p in folder.iterdir()) == names


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "no_color", "option", "is_colored"),
    [
        (Terminal, "", "auto", True),
        (Terminal, "1", "auto", False),
        (Terminal, "1", "always", True),
        (Terminal, "", "never", False),
        (io.StringIO, "", "auto", False),
    ],
)
def test_diffs_are_colored_for_terminals(
    file: str,
    monkeypatch: pytest.MonkeyPatch,
    stream: type[io.StringIO],
    no_color: str,
    option: str,
    is_colored: bool,
):
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr(sys, "stderr", errors := stream())
    assert opt.run([file, "-p", "dce", "--print-ir-diff", f"--color={option}"]) == 0
    assert ("\033[31m-" in errors.getvalue()) == is_colored
    assert "-    %unused" in errors.getvalue()


@pytest.mark.parametrize("check", [[], ["--check"]])
def test_times_of_all_passes(file: str, check: list[str], capsys: pytest.CaptureFixture[str]):
    assert opt.run([file, "--emit=relax", "-p", "dce,dce", "--pass-timing", *check]) == 0
    output, errors = capsys.readouterr()
    assert "Wall" not in output
    rows = re.findall(r"^ +(\d+\.\d{4}) \( *(\d+\.\d)%\)  (\S+)$", errors, re.MULTILINE)
    names = ["Parser", *RELAX, "dce", "dce", "Verifier", "Output", "Rest", "Total"]
    assert [name for _, _, name in rows] == names
    *parts, total = (float(seconds) for seconds, _, _ in rows)
    assert sum(parts) == pytest.approx(total, abs=1e-4 * len(rows))
    assert sum(float(share) for _, share, _ in rows) == pytest.approx(200, abs=0.1 * len(rows))


def test_times_until_an_error(file: str, capsys: pytest.CaptureFixture[str]):
    assert opt.run([file, "-p", "convert-to-llvm", "--pass-timing"]) == 1
    *_, total, error = capsys.readouterr().err.splitlines()
    assert total.endswith("Total") and ": error: " in error


def test_ir_that_does_not_verify_is_generic(file: str, monkeypatch, capsys):
    """As MLIR prints it: custom syntax may rely on what verifiers check."""
    from xrelax.lowering.graph.normalize import NormalizePass

    def break_types(self: NormalizePass, ctx: object, op: object) -> None:
        for func in op.body.block.ops:
            func.body.block.first_op.detach()
            func.body.block.last_op.detach()

    monkeypatch.setattr(NormalizePass, "apply", break_types)
    assert opt.run([file, "-p", "normalize", "--print-ir-after-all"]) == 1
    errors = capsys.readouterr().err
    assert '"relax.func"()' in errors and "IR Dump After normalize //" in errors


@pytest.mark.parametrize("option", ["--print-ir-after", "--print-ir-before"])
def test_nothing_runs_with_an_unknown_pass(file: str, option: str, capsys):
    assert opt.run([file, "-p", "dce", "--dump-pass-pipeline", f"{option}=dce,dcee"]) == 1
    output, errors = capsys.readouterr()
    assert output == ""
    assert errors == "error: expected a registered pass, got 'dcee', did you mean 'dce'?\n"
