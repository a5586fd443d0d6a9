"""The roofline of the machine, and what follows from it for work."""

from __future__ import annotations

import re

import pytest

from xrelax.backend.jit import compile_module
from xrelax.backend.target import Target
from xrelax.profiling.machine import Level, Machine, measured_machine
from xrelax.profiling.machine_code import machine_code, multiply_adds

LEVELS = (Level("L1", 1000, 100.0), Level("DRAM", float("inf"), 10.0))
MACHINE = Machine(1, 1000.0, LEVELS)


def test_work_takes_the_longer_of_computing_and_moving():
    assert MACHINE.seconds(2000, 100, "float32") == 2.0
    assert MACHINE.seconds(10, 500, "float32") == 5.0
    assert MACHINE.seconds(2000, 100, "float64") == 4.0
    assert MACHINE.seconds(10, 2000, "float32") == 200.0


def test_data_that_several_calls_move_is_in_the_level_of_one():
    assert MACHINE.seconds(10, 2000, "float32", 500) == 20.0


def test_what_bounds_work():
    assert MACHINE.bound(2000, 100, "float32") == "FMA"
    assert MACHINE.bound(10, 500, "float32") == "L1"
    assert MACHINE.bound(10, 5000, "float32") == "DRAM"


def test_every_level_is_measured_once():
    machine = measured_machine()
    assert machine is measured_machine()
    assert [level.name for level in machine.levels] == ["L1", "L2", "L3", "DRAM"]
    assert all(level.bytes_per_second > 0 for level in machine.levels)
    assert machine.flops_per_second > 0


def test_dot_products_have_a_peak_of_their_own():
    machine = Machine(1, 1000.0, LEVELS, (("int8", 4000.0),))
    assert machine.seconds(8000, 10, "int8") == 2.0
    assert machine.seconds(8000, 10, "bfloat16") == 8.0
    assert {name for name, _ in measured_machine().dots_per_second} == {
        *multiply_adds(Target("llvm"))
    } - {"float32"}


@pytest.mark.parametrize(
    ("cpu", "names", "instructions"),
    [
        ("znver4", ["float32", "bfloat16", "int8"], ["vdpbf16ps", "vpdpbusd"]),
        ("alderlake", ["float32", "int8"], ["vpdpbusd"]),
        ("haswell", ["float32"], ["vfmadd"]),
    ],
)
def test_each_dot_product_is_measured_by_its_instruction(cpu, names, instructions):
    target = Target(f"llvm -mtriple=x86_64-linux-gnu -mcpu={cpu}")
    assert [*multiply_adds(target)] == names
    assembly = compile_module(machine_code(target), target).assembly()
    assert all(name in assembly for name in instructions)
    assert not re.search(r"spill", assembly.lower())


def test_another_target_has_a_roofline_of_its_own():
    """Vectors of half the width multiply half as much; what is read does not have to be less."""
    own = Target("llvm")
    if own.vector_bits < 512 or not own.triple.startswith("x86_64"):
        pytest.skip("there are no wider vectors than those of the other target")
    code = machine_code(Target("llvm -mcpu=haswell"))
    assert "<8 x float>" in code and "<16 x float>" not in code
    assert measured_machine(1, own) is measured_machine()


@pytest.mark.parametrize("cpu", ["haswell", "x86-64", "skylake-avx512"])
def test_reads_stay_in_registers(cpu):
    target = Target(f"llvm -mtriple=x86_64-linux-gnu -mcpu={cpu}")
    assembly = compile_module(machine_code(target), target).assembly()
    assert not re.search(r"(ps|spill).*\(%rsp\)", assembly.lower())
    assert "fmaf" not in assembly


def test_there_is_at_least_one_thread():
    with pytest.raises(ValueError, match="expected at least one thread, got 0"):
        measured_machine(0)
