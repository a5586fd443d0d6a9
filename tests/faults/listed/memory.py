"""Faults of the plan of intermediate tensors in memory."""

from __future__ import annotations

from fault import Fault

PLAN, PASS = "lowering/runtime/memory_plan.py", "lowering/runtime/plan_memory.py"
TESTS = ("tests/filecheck/lowering/runtime", "tests/lowering/runtime")

FAULTS = (
    Fault(
        "memory is used again in the step that reads it last",
        PLAN,
        "if s.last < request.first]",
        "if s.last <= request.first]",
        ("layers", "attention"),
        TESTS,
    ),
    Fault(
        "slots do not grow",
        PLAN,
        "slot.size = slot.size if is_enough(slot.size, request.size) else request.size",
        "pass",
        ("layers", "slices"),
        TESTS,
    ),
    Fault(
        "a slot that may be too small is taken",
        PLAN,
        "    return is_non_negative(size - needed) or",
        "    return not is_non_negative(needed - size) or",
        ("layers", "integers"),
        TESTS,
    ),
    Fault(
        "a slot is in use until the end of its first buffer",
        PLAN,
        "        slot.last = request.last\n",
        "",
        ("layers", "attention", "slices"),
        TESTS,
    ),
    Fault(
        "slots begin before the one in front ends",
        PLAN,
        "total = total + aligned(size)",
        "total = total + (size // 2)",
        ("layers",),
        TESTS,
    ),
    Fault(
        "sizes are rounded down to the alignment",
        PLAN,
        "(size + (ALIGNMENT - 1)) // ALIGNMENT * ALIGNMENT",
        "size // ALIGNMENT * ALIGNMENT",
        ("layers", "slices"),
        TESTS,
    ),
    Fault(
        "uses under other dims do not count",
        PASS,
        "        if isinstance(user, rt.ReinterpretOp | rt.SliceOp | rt.ViewOp):\n",
        "        if False:\n",
        ("attention",),
        TESTS,
    ),
    Fault(
        "memory that a loop uses is free between its iterations",
        PASS,
        "            if isinstance(loop, rt.ForOp):\n",
        "            if False:\n",
        tests=TESTS,
    ),
    Fault(
        "memory is in use from its first to its second use",
        PASS,
        "min(users), max(users))",
        "min(users), sorted(users)[:2][-1])",
        ("layers", "slices", "attention"),
        TESTS,
    ),
    Fault(
        "a negative size moves what comes after",
        PLAN,
        "return size if is_non_negative(size) else maximum(size, ZERO)",
        "return size",
        tests=TESTS,
    ),
)
