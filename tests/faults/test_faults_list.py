"""The faults' list fits the compiler's text, and a process with a fault has it."""

import random
import subprocess
import sys
import time
from collections import Counter

import pytest
from fault import ROOT, Fault
from faults import FAULTS
from inject import judge
from probes import PROBES


def test_every_fault_is_one_place_of_a_file_that_exists():
    stale = [f"{f.file}: {f.what}: {f.count}" for f in FAULTS if f.count != 1]
    assert stale == []
    assert [f.what for f in FAULTS if f.old == f.new] == []


def test_every_fault_names_probes_and_tests_that_exist():
    assert {name for f in FAULTS for name in f.probes} <= set(PROBES)
    assert [t for f in FAULTS for t in f.tests if not (ROOT / t).exists()] == []
    assert [f.what for f in FAULTS if not f.probes and not f.tests] == []
    assert [what for what, n in Counter(f.what for f in FAULTS).items() if n > 1] == []


SPLIT = next(f for f in FAULTS if f.what == "split covers one iteration less")


def test_a_process_has_the_fault_and_this_one_does_not():
    program = (
        "from xrelax.lowering.schedule import loop_checks; import inspect; "
        "print(loop_checks.split_sizes.__code__.co_consts)"
    )
    printed = [
        subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
        for env in (None, SPLIT.environment())
    ]
    assert [p.returncode for p in printed] == [0, 0]
    assert printed[0].stdout != printed[1].stdout


def test_a_fault_is_found_and_no_fault_is_not():
    found = judge(SPLIT)
    assert found.by in ("check=True", "verifier")
    harmless = Fault(
        "nothing",
        SPLIT.file,
        SPLIT.old,
        SPLIT.old + "  # the same",
        ("factors",),
    )
    assert judge(harmless).by == "nothing"


def test_a_drawn_fault_is_found():
    """Each run draws another of those for which a program is enough; `make faults` runs all."""
    quick = [
        f
        for f in FAULTS
        if f.probes and f.file.startswith(("dialects/int_expr", "lowering/schedule"))
    ]
    drawn = random.Random(seed := time.time_ns()).choice(quick)
    assert judge(drawn).by != "nothing", (seed, drawn.what)


def test_a_stale_fault_is_an_error():
    with pytest.raises(ValueError, match="once, got 0"):
        judge(Fault("stale", SPLIT.file, "no such text", ""))
