"""Drawers of the primitives on blocks and on the buffers that they use."""

from __future__ import annotations

from itertools import pairwise

from .draw_schedule import SCOPES, Blocks, Choice, Steps, at, drawer, named
from .steps import BlockAt, Lambda, Step
from .themes import TENSOR_INTRINSIC
from .view import BlockView, LoopView

WIDER = {"float32": "float64", "int32": "int64", "int8": "int16", "uint8": "int32", "bool": "int8"}


def new_blocks(before: Blocks, after: Blocks) -> Blocks:
    """The blocks that a step has made."""
    known = {b.name for b in before}
    return [b for b in after if b.name not in known]


def pairs(blocks: Blocks) -> list[tuple[BlockView, BlockView]]:
    """Blocks that store to scratch memory, and the next one."""
    return [(a, b) for a, b in pairwise(blocks) if any(a.scratch)]


@drawer()
def blockize(draw: Choice, blocks: Blocks) -> Steps:
    if draw.chance(30) and (found := pairs(blocks)):
        first, second = draw.pick(found)
        if second.loops:
            yield Step("compute_at", (first.at, second.loops[0].at))
            yield Step("blockize", ((first.at, second.at),))
            return
    for block in draw.one([b for b in blocks if b.loops]):
        options = (("preserve_unit_iters", False),) if draw.chance(40) else ()
        yield Step("blockize", (draw.pick(block.loops).at,), options)


@drawer("whole product")
def tensorize(draw: Choice, blocks: Blocks) -> Steps:
    block = blocks[0]
    if len(block.loops) != 3 or any(x.extent is None for x in block.loops):
        return
    for number, size in ((2, 2), (1, 8), (0, 4)):
        yield Step("split", (at(block, number), (None, size)))
    order = (0, 2, 4, 1, 3, 5)
    yield Step("reorder", tuple(at(block, n) for n in order))
    if draw.chance(50):
        after = yield Step("blockize", (at(block, 3),))
        for outer in named(after, f"{block.name}_o"):
            now = yield Step("decompose_reduction", (outer.at, at(outer, 2)))
            for update in named(now, f"{outer.name}_update"):
                yield Step("tensorize", (update.at, TENSOR_INTRINSIC))
        return
    now = yield Step("decompose_reduction", (block.at, at(block, 2)))
    for update in named(now, f"{block.name}_update"):
        yield Step("tensorize", (at(update, 3), TENSOR_INTRINSIC))


@drawer()
def cache_read(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one([b for b in blocks if b.reads]):
        yield Step("cache_read", (block.at, draw.rng.randrange(block.reads), draw.pick(SCOPES)))


@drawer()
def cache_write(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one([b for b in blocks if b.writes]):
        yield Step("cache_write", (block.at, draw.rng.randrange(block.writes), draw.pick(SCOPES)))


@drawer()
def cache_index(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one(blocks):
        yield Step("cache_index", (block.at, draw.pick(SCOPES), draw.rng.randrange(4)))


@drawer("product")
def cache_inplace(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one([b for b in reductions(blocks) if b.loops[0].is_plain]):
        after = yield Step("decompose_reduction", (block.at, at(block, 0)))
        for update in named(after, f"{block.name}_update"):
            number = 0 if draw.chance(80) else draw.rng.randrange(update.reads)  # its result
            yield Step("cache_inplace", (update.at, number, draw.pick(SCOPES)))


@drawer("product")
def read_at(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one([b for b in reductions(blocks) if b.reads]):
        place = at(block, draw.rng.randrange(len(block.loops)))
        number = draw.rng.randrange(block.reads)
        yield Step("read_at", (place, block.at, number, draw.pick(SCOPES)))


@drawer("product")
def write_at(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one(reductions(blocks)):
        place = at(block, draw.rng.randrange(len(block.loops)))
        yield Step("write_at", (place, block.at, 0, draw.pick(SCOPES)))


@drawer()
def reindex(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one(blocks):
        which, count = draw.pick((("read", block.reads), ("write", block.writes)))
        if count:
            yield Step("reindex", (block.at, (which, draw.rng.randrange(count))))


def axes_reversed(block: BlockView) -> Lambda:
    """The axes of a block, its spatial axes alone, in the opposite order."""
    names = [f"i{n}" for n in range(len(block.roles))]
    kept = [n for n, role in zip(names, block.roles, strict=True) if role == "spatial"]
    return Lambda(f"lambda {', '.join(names)}: ({', '.join(reversed(kept))},)")


@drawer()
def reindex_cache_read(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one([b for b in blocks if b.reads and "spatial" in b.roles]):
        number, scope = draw.rng.randrange(block.reads), draw.pick(SCOPES)
        yield Step("reindex_cache_read", (block.at, number, scope, axes_reversed(block)))


@drawer()
def reindex_cache_write(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one([b for b in blocks if b.writes and "spatial" in b.roles]):
        number, scope = draw.rng.randrange(block.writes), draw.pick(SCOPES)
        yield Step("reindex_cache_write", (block.at, number, scope, axes_reversed(block)))


@drawer("chain")
def annotate_buffer_access(draw: Choice, blocks: Blocks) -> Steps:
    """The whole of a scratch buffer is a region that the block does not leave."""
    for block, number, view in scratch_in(draw, blocks):
        if all(dim is not None for dim in view.dims[number]) and view.dims[number]:
            names = ", ".join(f"i{n}" for n in range(len(view.roles)))
            ranges = ", ".join(f"0, {dim}" for dim in view.dims[number])
            whole = Lambda(f"lambda {names}: ({ranges},)")
            yield Step("annotate_buffer_access", (block, number, "write", whole))


@drawer("chain")
def unsafe_set_dtype(draw: Choice, blocks: Blocks) -> Steps:
    """To a dtype that holds all values of the other one."""
    for block, number, view in scratch_in(draw, blocks):
        dtype = view.dtypes[number]
        yield Step("unsafe_set_dtype", (block, number, WIDER.get(dtype, dtype)))


def scratch_in(draw: Choice, blocks: Blocks) -> list[tuple[BlockAt, int, BlockView]]:
    """A block and the number of a scratch buffer that it writes."""
    found = [(b.at, i, b) for b in blocks for i, own in enumerate(b.scratch) if own]
    return draw.one(found)


@drawer("chain")
def set_scope(draw: Choice, blocks: Blocks) -> Steps:
    for block, number, _ in scratch_in(draw, blocks):
        yield Step("set_scope", (block, number, draw.pick(SCOPES)))


@drawer("chain")
def storage_align(draw: Choice, blocks: Blocks) -> Steps:
    for block, number, view in scratch_in(draw, blocks):
        if rank := view.ranks[number]:
            axis = draw.rng.randrange(rank)
            size, offset = draw.pick(((16, 0), (8, 1), (4, 3)))
            yield Step("storage_align", (block, number, axis, size, offset))


def tiled(blocks: Blocks) -> Blocks:
    """Blocks in plain loops that store to a parameter."""
    return [
        b
        for b in blocks
        if b.loops
        and b.writes == 1
        and not any(b.scratch)
        and b.loops[0].is_plain
        and "reduce" not in b.loops[0].iterator_kinds
    ]


def tile(draw: Choice, blocks: Blocks, block: BlockView) -> Steps:
    """Let a block work on scratch memory of a tile that is copied back."""
    after = yield Step("cache_write", (block.at, 0, "local"))
    copies = new_blocks(blocks, after)
    yield Step("split", (at(block, 0), (None, draw.pick((2, 3, 4)))))
    for copy in copies[:1]:
        yield Step("reverse_compute_at", (copy.at, at(block, 0)))
    yield Step("compact_buffer", (block.at, 0))


@drawer()
def compact_buffer(draw: Choice, blocks: Blocks) -> Steps:
    if draw.chance(70):
        for block in draw.one(tiled(blocks)):
            yield from tile(draw, blocks, block)
    else:
        for block, number, _ in scratch_in(draw, blocks):
            yield Step("compact_buffer", (block, number))


@drawer("shared windows")
def rolling_buffer(draw: Choice, blocks: Blocks) -> Steps:
    for first, second in draw.one([p for p in pairs(blocks) if p[1].loops]):
        yield Step("split", (at(second, 0), (None, draw.pick((2, 3, 4)))))
        yield Step("compute_at", (first.at, at(second, 0)))
        yield Step("rolling_buffer", (first.at, 0))


@drawer()
def drop_predicates(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one(tiled(blocks)):
        yield from tile(draw, blocks, block)
        yield Step("drop_predicates", (block.at,))


@drawer("chain")
def compute_at(draw: Choice, blocks: Blocks) -> Steps:
    for first, second in draw.one([p for p in pairs(blocks) if p[1].loops]):
        options = []
        if draw.chance(30):
            options.append(("preserve_unit_loops", True))
        if draw.chance(20):
            options.append(("index", draw.pick((-2, 0))))
        producer = first
        if draw.chance(25) and first.loops:  # a block of tiles
            yield Step("split", (at(first, 0), (None, draw.pick((2, 3, 4)))))
            after = yield Step("blockize", (at(first, 1),))
            producer = next(iter(new_blocks(blocks, after)), first)
        yield Step("compute_at", (producer.at, draw.pick(second.loops).at), tuple(options))


@drawer("chain")
def reverse_compute_at(draw: Choice, blocks: Blocks) -> Steps:
    for first, second in draw.one([p for p in pairs(blocks) if p[0].loops]):
        loops = [x for x in first.loops if "reduce" not in x.iterator_kinds] or first.loops
        options = (("preserve_unit_loops", True),) if draw.chance(30) else ()
        yield Step("reverse_compute_at", (second.at, draw.pick(loops).at), options)


def consumed(draw: Choice, blocks: Blocks) -> list[tuple[BlockView, BlockView, LoopView]]:
    """A block that stores to scratch memory, what uses that, and a spatial loop of the first."""
    found = [
        (first, second, loop)
        for first, second in pairs(blocks)
        for loop in first.loops
        if loop.is_plain and loop.iterator_kinds == {"spatial"}
    ]
    return draw.one(found)


@drawer("chain")
def peel(draw: Choice, blocks: Blocks) -> Steps:
    for first, second, loop in consumed(draw, blocks):
        yield Step("peel", (first.at, loop.at, draw.pick((2, 3, 4, 8)), second.at))


@drawer("chain")
def specialize(draw: Choice, blocks: Blocks) -> Steps:
    for first, second, loop in consumed(draw, blocks):
        yield Step("specialize", (first.at, loop.at, draw.pick((1, 2, 5, 20)), second.at))


@drawer("padding")
def fold_conditions(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one([b for b in blocks if b.loops and b.loops[0].is_plain]):
        after = yield Step("loop_partition", (at(block, 0), (1, None)))
        for part in draw.one(new_blocks(blocks, after)[:1]):
            yield Step("fold_conditions", (part.at,))


@drawer("product")
def blocked_sum(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one([b for b in reductions(blocks) if b.loops[0].is_plain]):
        after = yield Step("decompose_reduction", (block.at, at(block, 0)))
        for start in named(after, f"{block.name}_init"):
            for update in named(after, f"{block.name}_update"):
                for number in draw.one(update.reduction_loops):
                    unrolled = draw.pick((1, 2, 3, 4, 8))
                    yield Step("blocked_sum", (start.at, at(update, number), unrolled))


@drawer("chain")
def sample_compute_location(draw: Choice, blocks: Blocks) -> Steps:
    for first, _ in draw.one(pairs(blocks)):
        yield Step("compute_at", (first.at, Step("sample_compute_location", (first.at,))))


@drawer("chain")
def compute_inline(draw: Choice, blocks: Blocks) -> Steps:
    for first, _ in draw.one([p for p in pairs(blocks) if "reduce" not in p[0].roles]):
        yield Step("compute_inline", (first.at,))


@drawer("chain")
def reverse_compute_inline(draw: Choice, blocks: Blocks) -> Steps:
    for first, second in draw.one([p for p in pairs(blocks) if "reduce" not in p[1].roles]):
        for block in (first, second):
            if draw.chance(15) and block.loops:  # predicates of what may be no whole tile
                yield Step("split", (at(block, 0), (None, draw.pick((2, 3, 4)))))
        yield Step("reverse_compute_inline", (second.at,))


@drawer("chain")
def transform_layout(draw: Choice, blocks: Blocks) -> Steps:
    for block, number, view in scratch_in(draw, blocks):
        dims = view.dims[number]
        if not dims:
            continue
        names = [f"i{n}" for n in range(len(dims))]
        args = ", ".join(names)
        options: tuple[tuple[str, float], ...] = ()
        match draw.pick(("reverse", "split", "backwards")):
            case "reverse":
                results = ", ".join(reversed(names))
            case "split":
                width = draw.pick((2, 4))
                results = ", ".join([f"i0 // {width}", *names[1:], f"i0 % {width}"])
                if dims[0] is None or dims[0] % width:
                    options = (("pad_value", 0.0),)
            case _:
                last = f"{dims[-1]} - 1 - {names[-1]}" if dims[-1] is not None else names[-1]
                results = ", ".join([*names[:-1], last])
        mapped = Lambda(f"lambda {args}: ({results},)")
        yield Step("transform_layout", (block, ("write", number), mapped), options)


@drawer()
def transform_block_layout(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one([b for b in blocks if b.roles and len(b.loops) == len(b.roles)]):
        names = [f"i{n}" for n in range(len(block.roles))]
        results = list(names)
        if draw.chance(50) or not block.extents[0]:
            kept = [n for n, role in zip(names, block.roles, strict=True) if role == "spatial"]
            draw.rng.shuffle(kept)
            results = kept + [n for n in names if n not in kept]
        else:
            results[0:1] = ["i0 // 2", "i0 % 2"]
        yield Step(
            "transform_block_layout",
            (block.at, Lambda(f"lambda {', '.join(names)}: ({', '.join(results)},)")),
        )


@drawer("product")
def pad_einsum(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one([b for b in blocks if b.has_init]):
        yield Step("pad_einsum", (block.at, tuple(draw.pick((1, 2, 3, 4, 8)) for _ in block.roles)))


@drawer("padding")
def decompose_padding(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one([b for b in blocks if b.loops]):
        yield Step("decompose_padding", (block.at, draw.pick(block.loops).at))


def reductions(blocks: Blocks) -> Blocks:
    """Blocks that reduce."""
    return [b for b in blocks if b.has_init and b.loops]


@drawer("product")
def fuse_reduction_epilogue(draw: Choice, blocks: Blocks) -> Steps:
    for first, second in draw.one([p for p in pairs(blocks) if p[0].has_init]):
        yield Step("fuse_reduction_epilogue", (first.at, second.at))


@drawer("product")
def decompose_reduction(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one(reductions(blocks)):
        first = (block.reduction_loops or [0])[0]
        yield Step("decompose_reduction", (block.at, block.loops[draw.rng.randrange(first + 1)].at))


@drawer("product")
def rfactor(draw: Choice, blocks: Blocks) -> Steps:
    for block in draw.one(reductions(blocks)):
        for number in draw.one(block.reduction_loops):
            if block.loops[number].is_plain and draw.chance(40):
                yield Step("split", (block.loops[number].at, (None, draw.pick((2, 3, 4)))))
                number += draw.rng.randrange(2)
            yield Step("rfactor", (at(block, number), draw.pick((0, 0, -1))))
