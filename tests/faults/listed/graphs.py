"""Faults of graph passes, of verifiers and of the regions of blocks."""

from __future__ import annotations

from fault import Fault

G = "lowering/graph/"
TESTS = (
    "tests/filecheck/lowering/graph",
    "tests/lowering/graph/test_dead_code.py",
    "tests/lowering/graph/test_fusion.py",
    "tests/lowering/graph",
)
VERIFIERS = ("tests/filecheck/dialects", "tests/script/test_kernel_errors.py")

FAULTS = (
    Fault(
        "groups that differ in their arguments share a function",
        G + "fuse_ops.py",
        "steps.append((call.callee_name, tuple(numbers[a] for a in call.args)))",
        "steps.append(call.callee_name)",
        tests=TESTS,
    ),
    Fault(
        "groups that differ in dims share a function",
        G + "fuse_ops.py",
        "            tuple(e.substitute(mapping) for e in self._exprs()),\n",
        "",
        ("slices", "attention"),
        TESTS,
    ),
    Fault(
        "what leaves a group is computed in it alone",
        G + "fusion_groups.py",
        "                    node.escapes = True\n",
        "                    pass\n",
        ("layers", "slices", "integers"),
        TESTS,
    ),
    Fault(
        "kernels are moved over calls in place",
        G + "fusion_groups.py",
        "    if isinstance(op, relax.CallTIRInplaceOp | relax.CallOp | relax.LoopOp):\n"
        "        return False\n",
        "",
        tests=TESTS,
    ),
    Fault(
        "groups have two reductions",
        G + "fusion_groups.py",
        " or sum(len(g.anchors) for g in groups) > 1:",
        ":",
        ("layers", "attention"),
        TESTS,
    ),
    Fault(
        "casts that check something go away unused",
        G + "dead_code.py",
        "return op.value.type == op.result.type",
        "return True",
        tests=TESTS,
    ),
    Fault(
        "outputs that are read move to their neighbour's place",
        G + "dead_code.py",
        "replacements = dict(zip(kept, trimmed.outputs, strict=True))",
        "replacements = dict(zip(kept, reversed(trimmed.outputs), strict=True))",
        tests=TESTS,
    ),
    Fault(
        "any permutation is taken for a transpose",
        G + "fuse_transpose_matmul.py",
        "return op.data if order == [*range(rank - 2), rank - 1, rank - 2] else None",
        "return op.data",
        tests=TESTS,
    ),
    Fault(
        "products of what calls write read it before",
        G + "fuse_transpose_matmul.py",
        "if source is None or source in self.written or op.rhs in self.written:",
        "if source is None:",
        tests=TESTS,
    ),
    Fault(
        "constants that calls write are folded",
        G + "fold_constant.py",
        " or touches(op, self.written):",
        ":",
        tests=TESTS,
    ),
    Fault(
        "folded tuples take their first field",
        G + "fold_constant.py",
        "[made.fields[op.index.data]]",
        "[made.fields[0]]",
        ("slices", "image"),
        TESTS,
    ),
    Fault(
        "private functions that a private one calls go away",
        G + "dead_code.py",
        "live = {*roots, *(n for root in roots for n in reached_from(calls, root))}",
        "live = {*roots, *(n for root in roots for n in calls[root])}",
        tests=TESTS,
    ),
    Fault(
        "blocks move to where a part of what they load is made",
        "lowering/schedule/required_ranges.py",
        "    if not any(axes >= set().union(*told) for axes in told):\n",
        "    if False:\n",
        tests=("tests/tir/test_compute_at.py",),
    ),
    Fault(
        "quotients by a variable join their remainders",
        "dialects/quotients.py",
        ' not in ("floordiv", "mod") or not is_divisor(atom.rhs):',
        ' not in ("floordiv", "mod"):',
        tests=("tests/end_to_end/test_division_by_zero.py",),
    ),
    Fault(
        "threads may read what others write",
        "lowering/graph/verify_kernels.py",
        "        if load is not None:\n",
        "        if False:\n",
        tests=("tests/lowering/test_parallel_kernels.py",),
    ),
    Fault(
        "scratch memory stays outside of parallel loops",
        "lowering/graph/normalize.py",
        "if conflict_of(loop, buffers - {alloc.result}) is not None:",
        "if False:",
        tests=("tests/lowering/test_parallel_kernels.py",),
    ),
    Fault(
        "a sum that begins once is taken for one that begins in each iteration",
        "dialects/tir/verify_block.py",
        "any(s.runs(at) for s in starts)",
        "bool(starts)",
        tests=("tests/tir/test_sums_in_blocks.py",),
    ),
    Fault(
        "bindings may leave the range of their axis",
        "dialects/tir/verify_block.py",
        "        if happens(op, lambda i: not _is_within(i, op, binding, wanted)):\n",
        "        if False:\n",
        tests=VERIFIERS,
    ),
    Fault(
        "accesses may be outside of buffers",
        "dialects/tir/verify_access.py",
        "        if happens(op, lambda i, e=index, s=size, d=dim: "
        "_is_outside(i, e, s, d, operands)):\n",
        "        if False:\n",
        tests=VERIFIERS,
    ),
    Fault(
        "an access at the dim itself is inside",
        "dialects/tir/verify_access.py",
        "return first < 0 or first + at.evaluate(size, ()) > at.evaluate(dim, ())",
        "return first < 0 or first > at.evaluate(dim, ())",
        tests=VERIFIERS,
    ),
    Fault(
        "attributes that no operator has are accepted",
        "dialects/relax/operators/base.py",
        "        for name in self.attributes.keys() - {RECOMPUTED}:\n",
        "        for name in ():\n",
        tests=("tests/filecheck/tools", *VERIFIERS),
    ),
    Fault(
        "operators may give another type than they infer",
        "dialects/relax/operators/base.py",
        "        if inferred != self.result.type:\n",
        "        if False:\n",
        tests=VERIFIERS,
    ),
    Fault(
        "a block reads what its last access reads",
        "dialects/tir/regions.py",
        "box if known is None else [_hull(a, b) for a, b in zip(known, box, strict=True)]",
        "box",
        ("slices", "caches"),
        ("tests/script", "tests/tir"),
    ),
    Fault(
        "a view's region begins at its source's start",
        "dialects/tir/regions.py",
        "else Interval(first.lower, first.upper + size - 1)",
        "else Interval(IntExpr.of(0), first.upper + size - 1)",
        tests=("tests/filecheck/dialects", "tests/script", "tests/tir"),
    ),
)
