"""Planted faults are found, said to be what they are, and shrunk to scripts that show them."""

import ctypes
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
import pytest
from fuzzer.batch import CPU_SECONDS, Request, run_batch
from fuzzer.emit import script
from fuzzer.guard import Guarded
from fuzzer.kernels import KernelProgram
from fuzzer.main import main
from fuzzer.shrink import shrink
from fuzzer.steps import LoopAt, Step
from fuzzer.syntax import Axis, Block, Buffer, Expr, Kernel, number, var
from fuzzer.texts import kernel_text
from xdsl.dialects import arith

from xrelax.lowering.llvm import convert, integers
from xrelax.lowering.schedule.primitives import loop_primitives

AXIS = Axis("i", "spatial", number(8))
TARGET = Expr("load", "int32", (var("i"),), "O")
VALUE = Expr("load", "int32", (var("i"),), "A")


def copying(value=VALUE, name="k", **options):
    block = Block("b", (AXIS,), (TARGET,), "plain", (value,))
    buffers = (Buffer("A", "int32", (number(8),)),), (), (Buffer("O", "int32", (number(8),)),)
    return replace(Kernel(name, (), *buffers, (block,)), **options)


def outcome(program):
    (result,) = run_batch([Request("kernels", 0, program)])
    return result.failure


def test_what_is_right_is_no_failure():
    assert outcome(KernelProgram(copying())) is None


@dataclass(frozen=True)
class Reading(KernelProgram):
    """Reads a byte beside an array where it should call the function."""

    offset: int = 0

    def compare(self, executable):
        array = Guarded().place(np.zeros(5, np.int32), self.offset > 0)
        ctypes.string_at(array.ctypes.data + self.offset, 1)


@pytest.mark.parametrize("offset", [20, -1])
def test_a_read_beside_an_array_is_a_crash(offset):
    assert outcome(Reading(copying(), offset=19 if offset > 0 else 0)) is None
    failure = outcome(Reading(copying(), offset=offset))
    assert (failure.kind, failure.message) == ("crash", "SIGSEGV at call")


def test_a_write_beside_an_array_is_seen():
    guarded = Guarded()
    array = guarded.place(np.zeros(5, np.int32), True)
    assert guarded.is_intact()
    ctypes.memset(array.ctypes.data - 1, 0, 1)
    assert not guarded.is_intact()


@dataclass(frozen=True)
class Hanging(KernelProgram):
    """Never ends."""

    def compare(self, executable):
        for _ in count():
            pass


def test_a_hang_is_a_failure_and_the_others_are_judged(monkeypatch):
    monkeypatch.setattr("fuzzer.batch.CPU_SECONDS", 2)
    programs = [Hanging(copying(name="h")), KernelProgram(copying(name="k"))]
    results = run_batch([Request("kernels", i, p) for i, p in enumerate(programs)])
    assert {r.request.seed: r.failure and r.failure.kind for r in results} == {0: "time", 1: None}
    assert CPU_SECONDS > 2


@pytest.fixture
def wrong_products(monkeypatch):
    """A compiler that adds where it should multiply."""
    for table in (integers.INTEGER_BINARY, convert.LOWERINGS):
        monkeypatch.setitem(table, arith.MuliOp, table[arith.AddiOp])


def test_a_wrong_rule_is_shrunk_to_a_script(wrong_products, tmp_path):
    product = Expr("mul", "int32", (VALUE, Expr("load", "int32", (var("i"),), "A")))
    deep = Expr("add", "int32", (Expr("max", "int32", (VALUE, product)), number(3, "int32")))
    program = KernelProgram(copying(deep), (Step("split", (LoopAt("b", 0), (None, 3))),))
    (result,) = run_batch([Request("kernels", 0, program)])
    assert result.failure.kind == "wrong"
    found = shrink(result, 600)
    lines = kernel_text(found.program.kernel).splitlines()
    assert found.program.steps == () and len(lines) <= 8 and "*" in lines[-1]
    assert "+" not in lines[-1] and "max" not in lines[-1]
    path = tmp_path / "found.py"
    path.write_text(script(found))
    ran = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr  # the compiler of that process is right


def test_an_exception_names_its_place(monkeypatch):
    def wrong(*args, **kwargs):
        raise KeyError("planted")

    monkeypatch.setattr(loop_primitives.on_loops, "split", wrong)
    step = Step("split", (LoopAt("b", 0), (None, 4)))
    failure = outcome(KernelProgram(copying(), (step,)))
    assert failure.kind == "exception" and "planted" in failure.message
    assert failure.place.endswith("test_finding.py:wrong")


def test_the_command_reports_what_fails(wrong_products, tmp_path, capsys):
    options = ["--seconds", "4", "--seeds", "0:48", "--what", "kernels", "--workers", "1"]
    assert main([*options, "--shrink-seconds", "3", "--output", str(tmp_path)]) == 1
    text = capsys.readouterr().out
    assert "seeds from 0" in text and "FAILED" in text and str(tmp_path) in text
    assert re.search(r"^ +kernels \d+, kernels \d+", text, re.MULTILINE)
    assert list(tmp_path.glob("kernels_*.py"))
