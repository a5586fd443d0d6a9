"""Drawers of the primitives on loops and annotations."""

from __future__ import annotations

from .draw_schedule import (
    Blocks,
    Choice,
    Steps,
    around,
    at,
    drawer,
    factors,
    loops_in,
    named,
    plain,
    spatial,
)
from .steps import Step


@drawer()
def split(draw: Choice, blocks: Blocks) -> Steps:
    for loop in draw.one(plain(blocks)):
        found = factors(draw, loop.extent)
        options = []
        if draw.chance(20):
            options.append(("preserve_unit_iters", False))
        if loop.extent and None not in found and draw.chance(30):
            options.append(("disable_predication", True))
        yield Step("split", (loop.at, found), tuple(options))


@drawer()
def sample_perfect_tile(draw: Choice, blocks: Blocks) -> Steps:
    for loop in draw.one([x for x in plain(blocks) if x.extent]):
        drawn = Step("sample_perfect_tile", (loop.at, draw.pick((1, 2, 3))))
        yield Step("split", (loop.at, drawn))


@drawer()
def sample_categorical(draw: Choice, blocks: Blocks) -> Steps:
    for loop in draw.one(plain(blocks)):
        drawn = Step("sample_categorical", ((2, 3, 4), (0.25, 0.5, 0.25)))
        yield Step("split", (loop.at, (None, drawn)))


@drawer()
def loop_partition(draw: Choice, blocks: Blocks) -> Steps:
    for loop in draw.one([x for x in plain(blocks) if x.extent]):
        part = draw.rng.randrange(1, loop.extent + 1)
        found = draw.pick(((None, part), (part, None), (part, loop.extent - part)))
        options = (("preserve_unit_iters", False),) if draw.chance(30) else ()
        yield Step("loop_partition", (loop.at, found), options)


@drawer("chain")
def loop_overlap(draw: Choice, blocks: Blocks) -> Steps:
    for loop in draw.one([x for x in spatial(blocks) if x.extent]):
        yield Step("loop_overlap", (loop.at, draw.rng.randrange(1, loop.extent + 1)))


@drawer()
def loop_trim(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one([b for b in blocks if any(x.extent and x.is_plain for x in b.loops)]):
        numbers = [i for i, x in enumerate(block.loops) if x.extent and x.is_plain]
        loop = block.loops[draw.pick(numbers)].at
        if draw.chance(60):
            blocks = yield Step("split", (loop, (None, draw.pick((2, 3, 4)))))
        yield Step("loop_trim", (loop,))


@drawer("windows")
def skip_padding(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one([b for b in blocks if b.has_init and b.reduction_loops]):
        number = block.reduction_loops[0]
        if draw.chance(40):
            order = [block.loops[i].at for i in (0, number, 1)]
            blocks, number = (yield Step("reorder", tuple(order))), 1
        after = yield Step("decompose_reduction", (block.at, at(block, number)))
        for update in named(after, f"{block.name}_update"):
            yield Step("skip_padding", (at(update, number), draw.pick((1, 1, 2, 3))))


@drawer()
def fuse(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one([b for b in blocks if around(b)]):
        first = draw.pick(around(block))
        yield Step("fuse", (block.loops[first].at, block.loops[first + 1].at))


@drawer()
def reorder(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one([b for b in blocks if around(b)]):
        first = draw.pick(around(block))
        last = first
        while last in around(block):
            last += 1
        loops = [x.at for x in block.loops[first : last + 1]]
        draw.rng.shuffle(loops)
        yield Step("reorder", tuple(loops))


@drawer("chain")
def merge(draw: Choice, blocks: Blocks) -> Steps:
    places = [i for i in range(len(blocks) - 1) if _alike(blocks, i)]
    for i in draw.one(places):
        depth = draw.rng.randrange(len(blocks[i].loops))
        yield Step("merge", (blocks[i].loops[depth].at, blocks[i + 1].loops[depth].at))


def _alike(blocks: Blocks, i: int) -> bool:
    one, other = blocks[i].loops, blocks[i + 1].loops
    return bool(one) and [x.extent for x in one] == [x.extent for x in other]


@drawer()
def parallel(draw: Choice, blocks: Blocks) -> Steps:
    for loop in draw.one(spatial(blocks)):
        yield Step("parallel", (loop.at,))


@drawer()
def vectorize(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one([b for b in blocks if b.loops]):
        found = spatial([block]) if draw.chance(60) else plain([block])
        for loop in draw.one(found[-1:] if draw.chance(70) else found):
            yield Step("vectorize", (loop.at,))


@drawer()
def fuse_horizontally(draw: Choice, blocks: Blocks) -> Steps:
    """The parts of a partition, which follow each other."""
    for loop in draw.one([x for x in spatial(blocks) if x.extent and x.extent > 1]):
        part = draw.rng.randrange(1, loop.extent)
        after = yield Step("loop_partition", (loop.at, (part, None)))
        made = [b for b in after if b.name not in [x.name for x in blocks]]
        if len(made) == 2:
            yield Step("fuse_horizontally", tuple(at(b, loop.at.number) for b in made))


@drawer()
def strip_mine(draw: Choice, blocks: Blocks) -> Steps:
    for loop in draw.one(plain(blocks)):
        if "reduce" not in loop.iterator_kinds and draw.chance(40):
            yield Step("vectorize", (loop.at,))
        yield Step("strip_mine", (loop.at, draw.pick((1, 2, 3, 4, 8))))


@drawer()
def unroll(draw: Choice, blocks: Blocks) -> Steps:
    short = [x for x in plain(blocks) if x.extent and x.extent <= 8]
    for loop in draw.one(short or plain(blocks)):
        yield Step("unroll", (loop.at,))


@drawer()
def bind(draw: Choice, blocks: Blocks) -> Steps:
    for loop in draw.one(spatial(blocks)):
        yield Step("bind", (loop.at, draw.pick(("threadIdx.x", "blockIdx.x", "vthread.x"))))


@drawer()
def add_unit_loop(draw: Choice, blocks: Blocks) -> Steps:
    for target in draw.one([*(b.at for b in blocks), *(x.at for x in loops_in(blocks))]):
        yield Step("add_unit_loop", (target,))


@drawer()
def annotate(draw: Choice, blocks: Blocks) -> Steps:
    for target in draw.one([*(b.at for b in blocks), *(x.at for x in loops_in(blocks))]):
        yield Step("annotate", (target, "pragma_x", draw.pick((1, "text", 2.5, (1, 2)))))


@drawer()
def unannotate(draw: Choice, blocks: Blocks) -> Steps:
    for target in draw.one([*(b.at for b in blocks), *(x.at for x in loops_in(blocks))]):
        yield Step("annotate", (target, "pragma_x", 1))
        yield Step("unannotate", (target, "pragma_x"))


@drawer()
def reorder_block_iter_var(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one([b for b in blocks if b.roles]):
        order = list(range(len(block.roles)))
        draw.rng.shuffle(order)
        yield Step("reorder_block_iter_var", (block.at, tuple(order)))


@drawer()
def enter_postproc(draw: Choice, blocks: Blocks) -> Steps:
    yield Step("enter_postproc")


@drawer()
def get_block(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one(blocks):
        yield Step("get_block", (block.name,))


@drawer()
def get_loops(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one(blocks):
        yield Step("get_loops", (block.at,))


@drawer()
def get_child_blocks(draw: Choice, blocks: Blocks) -> Steps:
    for target in draw.one([*(b.at for b in blocks), *(x.at for x in loops_in(blocks))]):
        yield Step("get_child_blocks", (target,))


@drawer("chain")
def get_producers(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one(blocks):
        yield Step("get_producers", (block.at,))


@drawer("chain")
def get_consumers(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one(blocks):
        yield Step("get_consumers", (block.at,))


@drawer()
def get_output_blocks(draw: Choice, blocks: Blocks) -> Steps:
    yield Step("get_output_blocks", ("root",))
