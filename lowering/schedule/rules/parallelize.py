"""Parallelize the outermost loops whose iterations are independent; the last rule.

::

    for i in (0, n)                                   for i in (0, n) parallel
      for k in (0, m)                            ⇒      for k in (0, m)
        block "Y" (vi: spatial = i, vk: reduce = k)       block "Y" (vi: spatial = i, …)

Iterations are independent if each writes its own part of every buffer defined outside the loop, and
reads only that part of what the loop writes. Short loops are fused with loops inside. If they
cannot be fused, inner loops become parallel if they have enough work for each start of the threads,
or if the outer loop has one iteration. Adjacent independent nests, such as full tiles and their
remainder, are fused horizontally. Loops of little constant work stay serial. For symbolic extents
the runtime decides.
A vectorized loop is strip-mined first::

    for i in (0, n) vectorized          ⇒          for s in (0, (n + 4095) // 4096) parallel
                                                     for i in (0, min(4096, …)) vectorized
"""

from __future__ import annotations

from xdsl.ir import Block

from ....backend.target import Target
from ....dialects import tir
from ....dialects.int_expr import ONE
from ....dialects.nesting import operations_in
from ...analysis.boxes import is_at_least_zero
from ...analysis.independence import are_apart, conflict_of, is_noalias
from ...cost_model import CostModel
from ..blocks import blocks_in, statements
from ..primitives.schedule import Schedule

LEAST_TRIP_COUNT = 16
"""The least trip count that threads of most machines share evenly enough."""

CHUNKS_PER_THREAD = 4
"""Chunks per thread that suffice if the number of cores is known and divides the trip count."""

INNER_WAKES = 10
"""The least work of a parallel loop inside another one, in times of waking threads."""

STRIP = 4096
"""Iterations in a strip: whole vectors on every machine, and whole cache lines."""

FUSED_CYCLES = 12.0
"""The least cycles of a fused iteration, which hide the computation of its indices."""

SECTION_WAKES = 0.25
"""The least work of a nest that becomes a parallel section, in times of waking threads."""


LEAST_WORK = (1, 4, 16, 1 << 20)
"""Choices of a search: the least work of a parallel loop, in times of waking threads."""


def parallelize(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Parallelize the independent loops of a function."""
    if not is_noalias(func):
        return
    model = CostModel(target)
    shares = () if target.num_cores == 1 else LEAST_WORK
    least = sch.decide("parallel.least", 1, lambda: shares) * model.machine.wake
    _visit_all(sch, statements(func), least, model)


def _visit_all(sch: Schedule, parent: Block, least: float, model: CostModel) -> bool:
    """Parallelize loops of a block, or loops in them; returns whether one became parallel."""
    nests = [op for op in parent.ops if isinstance(op, tir.ForOp)]
    found = any([_visit(sch, op, least, model) for op in nests])
    for run in _sections_in(parent, model):
        if run[0].kind.data == "parallel" or sum(model.operation(op) or 0 for op in run) > least:
            section = sch.fuse_horizontally(*map(sch.rv, run))
            found = sch.applies(sch.parallel, section) or found
    return found


def _visit(sch: Schedule, loop: tir.ForOp, least: float, model: CostModel) -> bool:
    """Parallelize a loop, or loops in it, if they have enough work; whether one became parallel."""
    if not _is_free(loop) or model.is_small(loop, least):
        return False
    if conflict_of(loop) is not None:
        return _visit_inside(sch, loop, least, model)
    if loop.kind.data == "vectorized":
        trips = loop.extent.data.constant
        return (trips is None or trips > STRIP) and _parallelize_strips(sch, loop)
    nest = _nest(sch, loop, model)
    if not _shares_evenly(nest, model):
        if _share_sections(sch, nest, model) or _visit_inside(sch, nest, least, model):
            return True
    return nest.extent.data != ONE and _make_parallel(sch, nest)


def _share_sections(sch: Schedule, loop: tir.ForOp, model: CostModel) -> bool:
    """Fuse the nests in a loop horizontally, then with the loop, and parallelize the result."""
    runs = _sections_in(loop.body.block, model)
    if loop.extent.data == ONE or len(runs) != 1 or len(runs[0]) != len(loop.body.block.ops):
        return False
    section = sch.fuse_horizontally(*map(sch.rv, runs[0]))
    fused = sch.try_(sch.fuse, sch.rv(loop), section)  # a loop of a reduction may be empty
    return fused is not None and sch.applies(sch.parallel, fused)


def _sections_in(parent: Block, model: CostModel) -> list[list[tir.ForOp]]:
    """Maximal runs of adjacent independent loop nests.

    All nests but the first have one iteration.
    """
    found: list[list[tir.ForOp]] = []
    run: list[tir.ForOp] = []
    for op in parent.ops:
        if not isinstance(op, tir.ForOp) or not _is_section(op, model):
            run = []
        elif run and op.extent.data == ONE and all(are_apart(op, o) for o in run):
            run.append(op)
        else:
            run = [op] if op.extent.data.constant else []
            found.append(run)
    return [nests for nests in found if len(nests) > 1]


def _is_section(loop: tir.ForOp, model: CostModel) -> bool:
    """Whether a loop may be a parallel section: independent, with enough work and no threads."""
    if loop.kind.data not in ("serial", "parallel") or not _is_known(loop):
        return False
    cycles = model.inside(loop)
    if cycles is None or cycles < SECTION_WAKES * model.machine.wake:
        return False
    return loop.kind.data == "parallel" or loop.extent.data == ONE or conflict_of(loop) is None


def _shares_evenly(loop: tir.ForOp, model: CostModel) -> bool:
    """Whether threads get equal parts of a loop; assumed for symbolic extents."""
    trips, cores = loop.extent.data.constant, model.target.num_cores
    if trips is None or trips >= LEAST_TRIP_COUNT:
        return True
    return cores is not None and trips >= CHUNKS_PER_THREAD * cores and trips % cores == 0


def _visit_inside(sch: Schedule, loop: tir.ForOp, least: float, model: CostModel) -> bool:
    """Parallelize loops inside a loop, which wake threads in each of its iterations."""
    inner = [op for op in loop.body.block.ops if isinstance(op, tir.ForOp)]
    if is_at_least_zero(1 - loop.extent.data, {}):
        return _visit_all(sch, loop.body.block, least, model)
    wakes = INNER_WAKES * model.machine.wake
    return any([_visit(sch, op, wakes, model) for op in inner if model.operation(op) is not None])


def _make_parallel(sch: Schedule, loop: tir.ForOp) -> bool:
    # refused if an axis is not spatial, or if iterations may depend on each other
    return sch.applies(sch.parallel, sch.rv(loop))


def _is_free(loop: tir.ForOp) -> bool:
    """Whether the loop is serial or vectorized, and can be analyzed."""
    return loop.kind.data in ("serial", "vectorized") and _is_known(loop)


def _is_known(loop: tir.ForOp) -> bool:
    """Whether a loop holds blocks, and has no annotations, external calls or parallel loops."""
    if (loop.annotations is not None and loop.annotations.data) or not blocks_in(loop):
        return False
    return not any(
        isinstance(op, tir.OpaqueCallOp)
        or (isinstance(op, tir.ForOp) and op.kind.data in ("parallel", "thread_binding"))
        for op in operations_in(loop)
        if op is not loop
    )


def _parallelize_strips(sch: Schedule, loop: tir.ForOp) -> bool:
    """Strip-mine a vectorized loop, and parallelize the loop over strips."""
    strips = sch.try_(sch.strip_mine, sch.rv(loop), STRIP)  # a loop of a reduction may be empty
    return strips is not None and sch.applies(sch.parallel, strips[0])


def _nest(sch: Schedule, loop: tir.ForOp, model: CostModel) -> tir.ForOp:
    """Fuse a short loop with the loops perfectly nested in it; returns the fused loop."""
    chain, trips = [loop], loop.extent.data.constant
    while trips is not None and trips < LEAST_TRIP_COUNT and not _shares_evenly(loop, model):
        ops = list(chain[-1].body.block.ops)
        inner = ops[0]
        if len(ops) != 1 or not isinstance(inner, tir.ForOp) or not _can_join(chain, inner, model):
            break
        chain.append(inner)
        extent = inner.extent.data.constant
        trips = None if extent is None else trips * extent
    # a loop of a reduction may be empty
    fused = sch.try_(sch.fuse, *map(sch.rv, chain)) if len(chain) > 1 else None
    return loop if fused is None else sch.loop(fused)


def _can_join(chain: list[tir.ForOp], inner: tir.ForOp, model: CostModel) -> bool:
    cycles = model.inside(inner)
    if cycles is not None and cycles < FUSED_CYCLES:
        return False
    variables = {loop.loop_var for loop in chain}
    is_plain = inner.kind.data == "serial" and variables.isdisjoint(inner.operands_)
    return is_plain and _is_free(inner) and conflict_of(inner) is None
