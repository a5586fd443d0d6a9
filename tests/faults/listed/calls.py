"""Faults of calls of compiled functions, and of the reference evaluator that checks them."""

from __future__ import annotations

from fault import Fault

ARGUMENTS = "runtime/arguments.py"
CALLS = ("tests/runtime",)
REFERENCE = ("tests/reference",)

FAULTS = (
    Fault(
        "dims that are numbers are not checked",
        ARGUMENTS,
        "        isinstance(want, int) and want != got\n",
        "        False\n",
        tests=CALLS,
    ),
    Fault(
        "dtypes are not checked",
        ARGUMENTS,
        "    if layout.dtype != param.dtype:\n",
        "    if False:\n",
        tests=CALLS,
    ),
    Fault(
        "a symbol may be two numbers",
        ARGUMENTS,
        "        if first != size:\n",
        "        if False:\n",
        tests=CALLS,
    ),
    Fault(
        "dims that are expressions are not checked",
        ARGUMENTS,
        "        if expected != layout.shape:\n",
        "        if False:\n",
        tests=CALLS,
    ),
    Fault(
        "read-only arrays are written",
        ARGUMENTS,
        "    if not layout.writable:\n",
        "    if False:\n",
        tests=CALLS,
    ),
    Fault(
        "arrays whose elements overlap are written",
        ARGUMENTS,
        "        if abs(stride) < reach:\n",
        "        if False:\n",
        tests=CALLS,
    ),
    Fault(
        "a strided argument is not copied back",
        ARGUMENTS,
        "                back.append((staged[i], args[i]))\n",
        "                pass\n",
        tests=CALLS,
    ),
    Fault(
        "arguments that share memory are both used in place",
        ARGUMENTS,
        "if not args[i].layout.packed or (others and not param.written):",
        "if not args[i].layout.packed:",
        tests=CALLS,
    ),
    Fault(
        "two written arguments may share memory",
        ARGUMENTS,
        "        if np.shares_memory(views[index], views[j]):\n",
        "        if False:\n",
        tests=CALLS,
    ),
    Fault(
        "neighbouring arrays are taken for overlapping ones, overlapping ones for apart",
        ARGUMENTS,
        "if j != i and other.address < end and start < other.address + extents[j]:",
        "if j != i and other.address == end:",
        tests=CALLS,
    ),
    Fault(
        "the comparison accepts anything where NaN is expected",
        "reference/compare.py",
        "special = np.where(finite, ~np.isfinite(found), ~_same(found, wanted))",
        "special = np.where(finite, ~np.isfinite(found), False)",
        tests=REFERENCE,
    ),
    Fault(
        "the comparison allows a thousand times the error",
        "reference/compare.py",
        "return EPSILON[dtype] * (terms + SLACK)",
        "return EPSILON[dtype] * 1000 * (terms + SLACK)",
        tests=REFERENCE,
    ),
    Fault(
        "the comparison looks at the first element of integers",
        "reference/compare.py",
        "return _describe(actual, expected, actual != expected)",
        "return _describe(actual, expected, (actual != expected) & (actual != actual))",
        tests=REFERENCE,
    ),
    Fault(
        "the machine code's arguments are not compared",
        "reference/check.py",
        '        _compare_all("the machine code", case, "argument", arrays, "arguments")\n',
        "        pass\n",
        tests=(*REFERENCE, "tests/end_to_end/test_checked_builds.py"),
    ),
    Fault(
        "lanes that a condition turns off are stored",
        "reference/kernel.py",
        "        self.mask = mask\n        return bool(mask.any())",
        "        return bool(mask.any())",
        ("slices", "shapes"),
        REFERENCE,
    ),
    Fault(
        "predicates hold where one bound does",
        "reference/kernel.py",
        "                result = (margin(frame) > 0) & result\n",
        "                result = margin(frame) > 0\n",
        ("image", "tiles", "shapes"),
        REFERENCE,
    ),
)
