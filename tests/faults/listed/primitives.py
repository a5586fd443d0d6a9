"""Faults of schedule primitives and of what they check."""

from __future__ import annotations

from fault import Fault

S = "lowering/schedule/"
TESTS = (
    "tests/lowering/schedule/test_primitives.py",
    "tests/tir/test_loop_refusals.py",
    "tests/tir/test_buffers.py",
    "tests/tir/test_reductions.py",
    "tests/tir/test_blocks.py",
    "tests/tir/test_whole_tiles.py",
    "tests/tir",
)
LOOPS = (
    "tests/tir/test_loop_primitives.py",
    "tests/tir/test_loop_refusals.py",
    "tests/tir/test_schedule.py",
)

FAULTS = (
    Fault(
        "split has no predicate",
        S + "loops.py",
        "        add_predicates(block, [(first + step, first + end) for end in ends], values)\n",
        "        pass\n",
        ("tiles",),
        LOOPS,
    ),
    Fault(
        "split covers one iteration less",
        S + "loop_checks.py",
        "missing = (extent + product - 1) // product",
        "missing = extent // product",
        ("tiles",),
        LOOPS,
    ),
    Fault(
        "split forgets where the loop starts",
        S + "loops.py",
        "_replace([loop], made, [first + step], values)",
        "_replace([loop], made, [step], values)",
        tests=LOOPS,
    ),
    Fault(
        "fuse forgets where loops start",
        S + "loops.py",
        "values.rebase(loop.min.data, loop.operands_) + digit)",
        "digit)",
        tests=LOOPS,
    ),
    Fault(
        "fuse takes the outer size for the inner digit",
        S + "loops.py",
        "        inner = inner * size\n",
        "        inner = inner * sizes[0]\n",
        ("caches", "shapes"),
        LOOPS,
    ),
    Fault(
        "reorder asks nothing",
        S + "loops.py",
        "    verify_reorder(chain, order)\n",
        "",
        tests=LOOPS,
    ),
    Fault(
        "loops bound to reduction axes may be parallel",
        S + "loop_checks.py",
        'if is_used and kind_of_axis != "spatial":',
        "if False:",
        tests=TESTS,
    ),
    Fault(
        "loops with a kind are split as if they had none",
        S + "loop_checks.py",
        '    if loop.kind.data != "serial":\n',
        "    if False:\n",
        tests=LOOPS,
    ),
    Fault(
        "loops are fused over what is beside them",
        S + "loop_checks.py",
        "if outer.body.block.first_op is not outer.body.block.last_op:",
        "if False:",
        tests=LOOPS,
    ),
    Fault(
        "rfactor puts the new dim at the end",
        S + "rfactor.py",
        "    dims.insert(plan.position, plan.loop.extent.data)\n",
        "    dims.append(plan.loop.extent.data)\n",
        tests=("tests/tir/test_reductions.py", "tests/lowering/schedule/test_rfactor.py"),
    ),
    Fault(
        "rfactor starts each part with the initial value",
        S + "rfactor.py",
        "if plan.reducer.may_start_again(init):",
        "if True:",
        tests=("tests/tir/test_reductions.py", "tests/lowering/schedule/test_rfactor.py"),
    ),
    Fault(
        "rfactor drops predicates",
        S + "rfactor.py",
        '{old.block_name.data}_rf", _bounds(old, new, {}))',
        '{old.block_name.data}_rf", [])',
        tests=("tests/tir/test_reductions.py", "tests/lowering/schedule/test_rfactor.py"),
    ),
    Fault(
        "compute_at keeps no part within its axis",
        S + "compute_at.py",
        "            bounds += _bounds_of("
        "axis, part, first if part.extent == ONE else binding, ranges)\n",
        "            pass\n",
        ("caches",),
        TESTS,
    ),
    Fault(
        "compute_at computes one element less",
        S + "compute_at.py",
        "(loop,) = new_loops([_loop_name(block.axis_vars[position])], [part.extent], values)",
        "(loop,) = new_loops([_loop_name(block.axis_vars[position])], [part.extent - 1], values)",
        ("caches", "tiles"),
        TESTS,
    ),
    Fault(
        "compute_at ignores what runs in between",
        S + "compute_at.py",
        "    between = _between(move, move.nest, move.target)\n"
        "    _verify_apart(move, between, loaded_buffers(block))\n",
        "    between = _between(move, move.nest, move.target)\n",
        tests=TESTS,
    ),
    Fault(
        "reverse_compute_at takes incomplete results",
        S + "required_ranges.py",
        '        if not holds:\n            raise ScheduleError(f"expected {what}", store)\n',
        "        del holds, what\n",
        tests=TESTS,
    ),
    Fault(
        "compute_inline ignores that the axes are in another order",
        S + "inline.py",
        "    for axis, index in zip(axis_of, indices, strict=True):\n",
        "    for axis, index in enumerate(indices):\n",
        tests=TESTS,
    ),
    Fault(
        "compute_inline ignores stores in between",
        S + "inline.py",
        "    _verify_unchanged(definition, parent, order[first : last + 1])\n",
        "",
        tests=TESTS,
    ),
    Fault(
        "compute_inline shares the value of different elements",
        S + "inline.py",
        "load.parent, tuple(numbering.exprs(load.indices, load.operands_))",
        "load.parent, ()",
        ("tiles",),
        TESTS,
    ),
    Fault(
        "a block that stores a part of a buffer is inlined where the rest is loaded",
        S + "inline.py",
        "if not _is_stored(definition, load):",
        "if False:",
        tests=("tests/tir/test_reverse_inline.py",),
    ),
    Fault(
        "cache_read copies what is stored to later",
        S + "cache.py",
        "    verify_unchanged(old, parent, statements, block, readers or [block])\n",
        "",
        tests=TESTS,
    ),
    Fault(
        "cache_write keeps the copy of a part that others read more of",
        S + "cache.py",
        "    if not contains(written, found[0], values):\n",
        "    if False:\n",
        tests=TESTS,
    ),
    Fault(
        "decompose_reduction initializes without predicates",
        S + "reduction.py",
        "            if not reducing & {numbering[i] for e in (b.lhs.data, b.rhs.data) "
        "for i in e.args()}\n",
        "            if False\n",
        ("tiles",),
        TESTS,
    ),
    Fault(
        "decompose_reduction forgets a loop around the initialization",
        S + "reduction.py",
        "for old in [op for op in inner if op.loop_var in spatial]:",
        "for old in [op for op in inner if op.loop_var in spatial][:1]:",
        ("tiles",),
        TESTS,
    ),
    Fault(
        "decompose_reduction splits reductions of outer loops",
        S + "reduction.py",
        "    if any(p.loop_var in reducing for p in outside):\n",
        "    if False:\n",
        tests=TESTS,
    ),
    Fault(
        "an index map that loses elements is taken for one that keeps all",
        S + "index_map.py",
        "return _product(self.shape(dims)) == _product(dims)",
        "return True",
        tests=("tests/tir/test_index_map.py", "tests/tir/test_layouts.py"),
    ),
    Fault(
        "digits with gaps are taken for bijective",
        "lowering/analysis/iter_map.py",
        "    is_dense = interval_of(moving, ranges) == Interval.range(0, count)\n",
        "    is_dense = True\n",
        tests=("tests/lowering/analysis/test_iter_map.py",),
    ),
)
