"""Operations of every stage, and machine code, know the lines of the program they come from."""

import re

import pytest
from xdsl.dialects import llvm
from xdsl.dialects.builtin import FileLineColLoc, ModuleOp

from xrelax.backend.build import compile_llvm
from xrelax.backend.target import Target
from xrelax.inspection import lower_to, module_of
from xrelax.pipeline import STAGE_NAMES
from xrelax.script import from_source

SOURCE = """
@I.ir_module
class Module:
    @T.prim_func
    def double(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (4, n), "float32")
        Y = T.match_buffer(y, (4, n), "float32")
        for i, j in T.grid(4, n):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] * T.float32(2)

    @R.function
    def main(x: R.Tensor((4, 64), "float32"), w: R.Tensor((64, 32), "float32")):
        cls = Module
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            c = R.nn.softmax(b)
            d = R.call_tir(cls.double, (c,), R.Tensor((4, 32), "float32"))
            R.output(d)
        return d
"""
MODULE = from_source(SOURCE)
LINES = {number: line.strip() for number, line in enumerate(SOURCE.splitlines(), 1)}
OPERATIONS = [n for n, line in LINES.items() if re.match(r"[abcd] = |Y\[", line)]


def lines_of(module: ModuleOp) -> set[int]:
    places = [op.location for op in module.walk()]
    return {place.line.data for place in places if isinstance(place, FileLineColLoc)}


@pytest.mark.parametrize("stage", STAGE_NAMES)
def test_stages_know_the_line_of_each_operation(stage: str):
    found = lines_of(lower_to(MODULE.op, stage))
    names = {LINES[n] for n in OPERATIONS if n not in found}
    assert not names


def test_arithmetic_is_located():
    functions = [op for op in lower_to(MODULE.op, "llvm").walk() if isinstance(op, llvm.FuncOp)]
    kernels = [f for f in functions if "math" not in f.sym_name.data]
    found = [op for f in kernels for op in f.walk() if isinstance(op, llvm.FMulOp | llvm.FAddOp)]
    assert found and all(isinstance(op.location, FileLineColLoc) for op in found)


@pytest.mark.parametrize("stage", ["tir", "loops", "llvm"])
def test_inlined_arithmetic_has_the_line_of_its_operator(stage: str):
    source = """
@R.function
def main(x: R.Tensor((64,), "float32"), y: R.Tensor((64,), "float32")):
    with R.dataflow():
        d = R.subtract(x, y)
        s = R.multiply(d, d)
        t = R.add(s, y)
        R.output(t)
    return t
"""
    module = lower_to(module_of(from_source(source)), stage)
    names = {"sub": "R.subtract", "mul": "R.multiply", "add": "R.add"}
    lines = source.splitlines()
    found: set[str] = set()
    for op in module.walk():
        kind = re.fullmatch(r"(?:arith\.|llvm\.f)(sub|mul|add)f?", op.name)
        if kind is not None and isinstance(place := op.location, FileLineColLoc):
            assert names[kind[1]] in lines[place.line.data - 1]
            found.add(kind[1])
    assert found == set(names)


def instructions(assembly: str) -> list[str]:
    """Assembly without directives and labels of debug information."""
    debug = re.compile(r"\s*\.(loc|file|cfi|section\s+\.debug)|\.L(tmp|func_begin)\d+:")
    return [line for line in assembly.splitlines() if not debug.match(line)]


def test_debug_info_leaves_the_code_as_it_is():
    lowered, target = lower_to(MODULE.op, "llvm"), Target("llvm")
    plain = compile_llvm(lowered, target).library.assembly()
    located = compile_llvm(lowered, target, debug_info=True).library.assembly()
    assert ".loc" not in plain
    assert instructions(located) == instructions(plain)
    files = dict(re.findall(r'\.file\s+(\d+) "([^"]*)"', located))
    found = {int(n) for f, n in re.findall(r"\.loc\s+(\d+) (\d+)", located) if f in files}
    assert "<script>" in files.values() and found >= set(OPERATIONS)
