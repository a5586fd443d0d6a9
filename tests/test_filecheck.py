"""The FileCheck suite: the RUN lines of each file, in this process, and some files through lit.

A process for each tool would import the compiler anew, which takes longer than most files do.
"""

import io
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import filecheck.main
import pytest

from xrelax.pipeline import PASSES, STAGES
from xrelax.tools import opt

SUITE = Path(__file__).parent / "filecheck"
FILES = sorted(path.relative_to(SUITE).as_posix() for path in SUITE.rglob("*.mlir"))
TOOLS = {"xrelax-opt": opt.main, "filecheck": filecheck.main.main}


@pytest.fixture(autouse=True)
def no_plugin_stays() -> Iterator[None]:
    """Passes that `--load-plugin` registers are gone after a test."""
    passes, stages = dict(PASSES), list(STAGES)
    yield
    PASSES.clear()
    PASSES.update(passes)
    STAGES[:] = stages


def run_lines(path: Path) -> list[str]:
    return [
        t
        for line in path.read_text().splitlines()
        for _, run, t in [line.partition("// RUN: ")]
        if run
    ]


def run_pipeline(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run `[not] tool … | tool …`, with `2>&1`; raises AssertionError with what a tool printed."""
    words = shlex.shlex(line, posix=True, punctuation_chars="|")
    words.whitespace_split = True
    text, args = "", list[str]()
    for word in [*words, "|"]:
        if word == "|":
            text, args = run_tool(args, text, monkeypatch), []
        else:
            args.append(word)


def run_tool(args: list[str], text: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a tool prints for this input."""
    fails, joins = args[0] == "not", "2>&1" in args
    args = [a for a in args if a not in ("not", "2>&1")]
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with monkeypatch.context() as patch:
        patch.setenv("NO_COLOR", "1")  # diagnostics are compared as text
        patch.setattr(sys, "argv", args)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", out if joins else err)
        with pytest.raises(SystemExit) as ended:
            TOOLS[args[0]]()
    printed, errors = (stream.seek(0) or stream.read() for stream in (out, err))
    assert bool(ended.value.code) == fails, f"{shlex.join(args)}\n{errors or printed}"
    return printed


@pytest.mark.parametrize("file", FILES)
def test_filecheck(file: str, monkeypatch: pytest.MonkeyPatch):
    lines = run_lines(SUITE / file)
    assert lines, f"expected a RUN line in {file}"
    for line in lines:
        path = SUITE / file
        run_pipeline(line.replace("%S", str(path.parent)).replace("%s", str(path)), monkeypatch)


def test_failures_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "wrong.mlir"
    file.write_text("// CHECK: tir.prim_func @other\ntir.prim_func @main() {\n}\n")
    for line in (f"xrelax-opt {file} | filecheck {file}", f"not xrelax-opt {file}"):
        with pytest.raises(AssertionError, match=r"xrelax-opt|other"):
            run_pipeline(line, monkeypatch)


def test_lit_runs_the_suite():
    """In processes of their own, as at the command line: the files on the tool itself."""
    lit = Path(sys.executable).parent / "lit"
    run = subprocess.run([str(lit), "-v", str(SUITE / "tools")], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
