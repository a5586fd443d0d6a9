"""The help of `xrelax-opt`, and the completion that shells get from it."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from xrelax.pipeline import PASSES
from xrelax.tools import opt

WORDS = """
source {script}
COMP_WORDS=({words})
COMP_CWORD={last}
COMP_LINE="{words}"
_shtab_xrelax_opt
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory):
    pytest.importorskip("shtab")
    folder = tmp_path_factory.mktemp("completion")

    def write(shell: str) -> Path:
        path = folder / f"xrelax-opt.{shell}"
        with pytest.MonkeyPatch.context() as patch, path.open("w") as file:
            patch.setattr("sys.stdout", file)
            assert opt.run(["--print-completion", shell]) == 0
        return path

    return write


def test_our_passes_come_first_with_a_line_each(capsys: pytest.CaptureFixture[str]):
    assert opt.run(["--help"]) == 0
    output, errors = capsys.readouterr()
    options, own, others = re.split(r"^passes of (?:xrelax|xDSL):$", output, flags=re.MULTILINE)
    assert options.startswith("usage: xrelax-opt ") and errors == ""
    assert [line.split()[0] for line in own.strip().splitlines()] == sorted(PASSES)
    assert re.search(r"^  fuse-ops +Group kernel calls that can be fused", own, re.MULTILINE)
    assert all(len(line.split()) > 3 for line in own.strip().splitlines())
    names = re.split(r",\s+", others.strip())
    assert {"canonicalize", "dce", "transform-interpreter"} <= set(names)
    assert names == sorted(names) and not set(names) & set(PASSES)
    assert all(len(line) <= 100 for line in others.splitlines())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["-p", "fuse-t"], {"fuse-tir", "fuse-transpose-matmul"}),
        (
            ["-p", "fuse-ops,canonicalize-"],
            {"fuse-ops,canonicalize-bindings", "fuse-ops,canonicalize-dmp"},
        ),
        (["--print-ir-after", "cse-"], {"cse-loops"}),
        (["--print-ir-d"], {"--print-ir-diff"}),
        (["--emit", "llvm"], {"llvm", "llvm-opt"}),
    ],
)
def test_bash_completes(script, words: list[str], expected: set[str]):
    line = ["xrelax-opt", *words]
    program = WORDS.format(script=script("bash"), words=" ".join(line), last=len(line) - 1)
    found = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert set(found.stdout.split()) == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_scripts_are_correct_for_their_shells(script, shell: str):
    path = script(shell)
    assert "fuse-transpose-matmul" in path.read_text() or shell == "tcsh"
    if shutil.which(shell):
        subprocess.run([shell, "-n", str(path)], check=True)


def test_a_missing_package_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert opt.run(["--print-completion", "bash"]) == 1
    assert capsys.readouterr().err == (
        "error: expected the package shtab for --print-completion: "
        "pip install 'xrelax[completion]'\n"
    )
