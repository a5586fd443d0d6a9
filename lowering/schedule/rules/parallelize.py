"""The last rule: the outermost loops whose iterations are independent run on threads.

::

    for i in (0, n)                                   for i in (0, n) parallel
      for k in (0, m)                            ⇒      for k in (0, m)
        block "Y" (vi: spatial = i, vk: reduce = k)       block "Y" (vi: spatial = i, …)

Iterations are independent where each writes its own part of every buffer from outside of the loop,
and reads of what the loop writes nothing but that part. Short loops are fused with those inside;
where that is not possible, loops further inside run on threads if each time there is much to do, or
if there is one time. Nests beside each other that touch nothing of each other, as of rows that fill
no tile, are iterations of one loop then. Small constant loops, by what they do and by what they
move, stay as they are. Of others the run time decides, when it knows their extents.
A loop whose iterations are lanes is cut into strips for threads first::

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
"""Iterations that are shared out evenly enough among the threads of most machines."""

CHUNKS_PER_THREAD = 4
"""Iterations of each thread, as many for each, that are as good where the processors are known."""

INNER_WAKES = 10
"""How many times as long as handing out work a loop inside of another one takes to be parallel."""

STRIP = 4096
"""Lanes in a strip: whole vectors on every machine, and whole cache lines."""

FUSED_CYCLES = 12.0
"""Cycles inside of fused loops from which computing their indices again costs little."""

SECTION_WAKES = 0.25
"""How many times as long as handing out work a nest takes to be a section of a parallel loop."""


def parallelize(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Let threads share the independent loops of a function."""
    if not is_noalias(func):
        return
    model = CostModel(target)
    _visit_all(sch, statements(func), model.machine.wake, model)


def _visit_all(sch: Schedule, parent: Block, least: float, model: CostModel) -> bool:
    """Make loops of a block parallel, or loops in them; whether one became so."""
    nests = [op for op in parent.ops if isinstance(op, tir.ForOp)]
    found = any([_visit(sch, op, least, model) for op in nests])
    for run in _sections_in(parent, model):
        if run[0].kind.data == "parallel" or sum(model.operation(op) or 0 for op in run) > least:
            section = sch.fuse_horizontally(*map(sch.rv, run))
            found = sch.applies(sch.parallel, section) or found
    return found


def _visit(sch: Schedule, loop: tir.ForOp, least: float, model: CostModel) -> bool:
    """Make a loop parallel, or loops in it, where there is enough to do; whether one became so."""
    if not _is_free(loop) or model.is_small(loop, least):
        return False
    if conflict_of(loop) is not None:
        return _visit_inside(sch, loop, least, model)
    if loop.kind.data == "vectorized":
        trips = loop.extent.data.constant
        return (trips is None or trips > STRIP) and _make_parallel(sch, _strips(sch, loop))
    nest = _nest(sch, loop, model)
    if not _shares_evenly(nest, model):
        if _share_sections(sch, nest, model) or _visit_inside(sch, nest, least, model):
            return True
    return nest.extent.data != ONE and _make_parallel(sch, nest)


def _share_sections(sch: Schedule, loop: tir.ForOp, model: CostModel) -> bool:
    """Let threads share a loop and those in it at once, where these are one after the other."""
    runs = _sections_in(loop.body.block, model)
    if loop.extent.data == ONE or len(runs) != 1 or len(runs[0]) != len(loop.body.block.ops):
        return False
    section = sch.fuse_horizontally(*map(sch.rv, runs[0]))
    fused = sch.try_(sch.fuse, sch.rv(loop), section)  # a loop of a reduction may be empty
    return fused is not None and sch.applies(sch.parallel, fused)


def _sections_in(parent: Block, model: CostModel) -> list[list[tir.ForOp]]:
    """Nests beside each other of which none writes what another one touches, as long as possible.

    All but the first have one iteration.
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
    """Whether a loop may be part of another one: independent, with nothing in it on threads."""
    if loop.kind.data not in ("serial", "parallel") or not _is_known(loop):
        return False
    cycles = model.inside(loop)
    if cycles is None or cycles < SECTION_WAKES * model.machine.wake:
        return False
    return loop.kind.data == "parallel" or loop.extent.data == ONE or conflict_of(loop) is None


def _shares_evenly(loop: tir.ForOp, model: CostModel) -> bool:
    """Whether threads get as much of a loop each; taken to be so where its extent is unknown."""
    trips, cores = loop.extent.data.constant, model.target.num_cores
    if trips is None or trips >= LEAST_TRIP_COUNT:
        return True
    return cores is not None and trips >= CHUNKS_PER_THREAD * cores and trips % cores == 0


def _visit_inside(sch: Schedule, loop: tir.ForOp, least: float, model: CostModel) -> bool:
    """The same for the loops in a loop, which wake threads in every one of its iterations."""
    inner = [op for op in loop.body.block.ops if isinstance(op, tir.ForOp)]
    if is_at_least_zero(1 - loop.extent.data, {}):
        return _visit_all(sch, loop.body.block, least, model)
    wakes = INNER_WAKES * model.machine.wake
    return any([_visit(sch, op, wakes, model) for op in inner if model.operation(op) is not None])


def _make_parallel(sch: Schedule, loop: tir.ForOp) -> bool:
    # an axis may not be spatial, or it is not known what iterations share
    return sch.applies(sch.parallel, sch.rv(loop))


def _is_free(loop: tir.ForOp) -> bool:
    """Whether nobody has decided how the loop runs, and all it does is known."""
    return loop.kind.data in ("serial", "vectorized") and _is_known(loop)


def _is_known(loop: tir.ForOp) -> bool:
    """Whether a loop is of blocks, has no annotations, and neither calls nor threads are in it."""
    if (loop.annotations is not None and loop.annotations.data) or not blocks_in(loop):
        return False
    return not any(
        isinstance(op, tir.CallExternOp)
        or (isinstance(op, tir.ForOp) and op.kind.data in ("parallel", "thread_binding"))
        for op in operations_in(loop)
        if op is not loop
    )


def _strips(sch: Schedule, loop: tir.ForOp) -> tir.ForOp:
    """Cut a vectorized loop into strips, the last of which ends with it; returns their loop."""
    return sch.loop(sch.strip_mine(sch.rv(loop), STRIP)[0])


def _nest(sch: Schedule, loop: tir.ForOp, model: CostModel) -> tir.ForOp:
    """The loop, or if it is short one that it and the loops alone in it have been fused to."""
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
