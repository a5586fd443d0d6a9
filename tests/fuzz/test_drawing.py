"""What the fuzzer draws: the same for a seed, and of everything that there is."""

import random

import pytest
from fuzzer.draw_kernel import draw_kernel
from fuzzer.draw_schedule import DRAWERS
from fuzzer.evaluate import run
from fuzzer.kernels import inputs_of
from fuzzer.report import Report
from fuzzer.sources import draw_program
from fuzzer.texts import kernel_text

from xrelax.script import from_source
from xrelax.tir.schedule import INSTRUCTIONS


def test_every_primitive_has_a_drawer():
    assert set(DRAWERS) == {kind.method for kind in INSTRUCTIONS.values()}


@pytest.mark.parametrize("what", ["kernels", "schedules"])
def test_programs_depend_on_the_seed_alone(what):
    def drawn(seed):
        return [program for program, _ in draw_program(what, seed)][-1]

    assert drawn(5) == drawn(5) != drawn(6)


def test_kernels_read_nothing_out_of_bounds_and_parse():
    for seed in range(40):
        kernel, _ = draw_kernel(random.Random(seed), "k")
        for sizes in kernel.sizes:
            run(kernel, sizes, inputs_of(kernel, sizes))
        from_source(kernel_text(kernel))


def test_what_long_runs_do_not_draw_is_reported(tmp_path):
    report = Report(("schedules",), tmp_path)
    assert not report.failed
    report.programs["schedules"] = 5000
    report.tried.update(dict.fromkeys(DRAWERS, 100))
    report.applied.update(dict.fromkeys(DRAWERS, 25))
    assert not report.failed
    report.applied["split"], report.tried["fuse"] = 24, 0
    assert report.failed and "SCARCE split" in report.text(1) and "NOT DRAWN fuse" in report.text(1)
