"""What LLVM makes of a module, as text: assembly of kernels by themselves, for a target."""

from __future__ import annotations

import pytest

import xrelax
from xrelax.script import from_source

MODULE = from_source("""
@I.ir_module
class Module:
    @T.prim_func
    def double(x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.block("y"):
                v = T.axis.spatial(8, i)
                y[v] = x[v] + x[v]

    @R.function
    def main(x: R.Tensor((8,), "float32")):
        with R.dataflow():
            y = R.call_tir(Module.double, (x,), R.Tensor((8,), "float32"))
            z = R.nn.softmax(y)
            R.output(z)
        return z
""")


def labels(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.startswith("xrelax.")]
    return [".".join(line.rstrip(":").split(".")[1:3]) for line in lines]


def test_every_kernel_and_the_functions_that_call_them(capsys):
    MODULE.show(stage="asm")
    found = labels(capsys.readouterr().out)
    assert found[-2:] == ["double", "main"]
    assert "fused_double_softmax" in {name.split(".")[0] for name in found}


@pytest.mark.parametrize("name", ["fused_double_softmax", "double", "main"])
def test_one_function(capsys, name):
    MODULE.show(stage="asm", function=name)
    assert name in {label.split(".")[0] for label in labels(capsys.readouterr().out)}


def test_code_is_for_the_target(capsys):
    MODULE["double"].show(stage="asm", target="llvm -mtriple=aarch64-linux-gnu")
    assert "fadd\tv0.4s" in capsys.readouterr().out
    MODULE["double"].show(stage="llvm-opt", target="llvm -mcpu=haswell")
    assert "fadd <8 x float>" in capsys.readouterr().out


def test_a_private_function_is_shown_too(capsys):
    function = MODULE["double"].with_attr("private", True)
    function.show(stage="asm")
    assert labels(capsys.readouterr().out)


def test_a_function_without_a_stage_is_a_script(capsys):
    MODULE.show(function="double")
    assert capsys.readouterr().out == MODULE["double"].script() + "\n"
    with pytest.raises(ValueError, match="expected a function of the module"):
        MODULE.show(function="treble")


@pytest.mark.parametrize("stage", ["asm", "tir"])
def test_an_unknown_function_is_one_line(stage):
    with pytest.raises(ValueError, match=r"expected a function \(.*main.*\), got 'soft'"):
        MODULE.show(stage=stage, function="soft")


def test_an_unknown_stage_names_all():
    expected = (
        r"expected a stage \(relax, tir, rt, loops, llvm, schedule, llvm-opt, asm\), got 'obj'"
    )
    with pytest.raises(ValueError, match=expected):
        MODULE.show(stage="obj")


def test_an_executable_shows_its_code():
    built = xrelax.build(MODULE["double"], target="llvm -mcpu=haswell")
    assert "fadd" in built.inspect_source() and "vaddps" in built.get_source("asm")
