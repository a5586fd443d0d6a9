"""The roofline of the machine, and what follows from it for work."""

from __future__ import annotations

import pytest

from xrelax.profiling.machine import Level, Machine, measured_machine

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


def test_there_is_at_least_one_thread():
    with pytest.raises(ValueError, match="expected at least one thread, got 0"):
        measured_machine(0)
