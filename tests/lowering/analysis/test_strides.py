"""How far accesses move, beside the offsets of all iterations of small nests."""

from collections.abc import Mapping, Sequence
from itertools import product
from random import Random

from xdsl.dialects.arith import IndexCastOp
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue
from xdsl.parser import Parser

from xrelax.dialects import get_context, tir
from xrelax.dialects.int_expr import Arg, IntExpr, arg
from xrelax.lowering.analysis.strides import Strides, lane_step, memory_step

PROGRAMS = 100
EXTENTS = (3, 4, 5)
TABLE = (3, 1, 4, 1, 5, 9, 2, 6, 5)
X = "!tir.buffer<[16, 40], f32, strides = [50, 1]>"

FUNCTION = """
tir.prim_func @f(%T: !tir.buffer<[9], i64>, %X: {X}, %Y: {X}) {{
  tir.for %i in (0, 3) {{ tir.for %j in (0, 4) {{ tir.for %k in (0, 5) {{
    tir.block "B" (%u: spatial (0, 9) = {0}, %v: spatial (0, 9) = {1}) reads () writes () {{
      %a = tir.apply {2}
      %t = tir.load %T[{3}] : !tir.buffer<[9], i64>
      %d = arith.index_cast %t : i64 to index
      %b = tir.apply {4}
      %x = tir.load %X[{5}, {6}] : {X}
      tir.store %x, %Y[{7}, {8}] : {X}
    }}
  }} }} }}
}}
"""


def index(random: Random, variables: Sequence[str]) -> str:
    """An index over one or two variables."""
    first, second = (random.choice(variables) for _ in range(2))
    factor, offset = random.choice((1, 1, 2, 3)), random.choice(("", "", " + 1"))
    return random.choice(
        (
            f"{first}{offset}",
            f"{first} * {factor} + {second}{offset}",
            f"{first} * {factor} - {second}{offset}",
            f"{first} * {second}{offset}",
            f"{first} floordiv 2 + {second}",
            f"({first} * 2 + {second}) mod 4",
            f"{random.choice((0, 2))}",
        )
    )


def drawn(random: Random) -> tir.BlockOp:
    loops, axes = ["%i", "%j", "%k"], ["%u", "%v"]
    known = [*axes, random.choice(loops), "%a"]
    text = FUNCTION.format(
        *(index(random, loops) for _ in range(2)),
        index(random, axes),
        index(random, axes),
        random.choice(("%d", "%d + %u", "%u * 2")),
        *(index(random, [*known, "%b"]) for _ in range(2)),
        *(index(random, known) for _ in range(2)),
        X=X,
    )
    module = Parser(get_context(), text).parse_module()
    return next(op for op in module.walk() if isinstance(op, tir.BlockOp))


def value_of(expr: IntExpr, operands: Sequence[SSAValue], at: Mapping[SSAValue, int]) -> int:
    return expr.evaluate(lambda a: at[operands[a.index]] if isinstance(a, Arg) else 0)


def offsets(block: tir.BlockOp, start: Mapping[SSAValue, int]) -> dict[object, int]:
    """Where in memory each access of a block is, in an instance with these axes and loops."""
    at, found = dict(start), dict[object, int]()
    for op in block.body.block.ops:
        if isinstance(op, tir.ApplyOp):
            at[op.result] = value_of(op.expr.data, op.operands, at)
        elif isinstance(op, IndexCastOp):
            at[op.result] = TABLE[found[op.input.owner] % len(TABLE)]
        elif isinstance(op, tir.LoadOp | tir.StoreOp):
            place = [value_of(e.data, op.operands_, at) for e in op.indices]
            found[op] = sum(
                i * s.offset for i, s in zip(place, op.buffer.type.element_strides(), strict=True)
            )
    return found


def check(
    found: Mapping[tuple[int, ...], int],
    variables: Sequence[SSAValue],
    number: int,
    claim: IntExpr | None,
    values: Sequence[SSAValue],
) -> bool:
    """Check what is claimed of one variable; returns whether offsets move by one number with it.

    Offsets are by the values of all variables, the claim is over `values`.
    """
    steps = set[int]()
    for at, offset in found.items():
        ahead = (*at[:number], at[number] + 1, *at[number + 1 :])
        if ahead in found:
            steps.add(found[ahead] - offset)
            if claim is not None:
                here = dict(zip(variables, at, strict=True))
                assert value_of(claim, values, here) == found[ahead] - offset
    return len(steps) == 1


def test_steps_along_loops_and_axes():
    random, facts, claims = Random(0), 0, 0
    for _ in range(PROGRAMS):
        block = drawn(random)
        numbering = block.numbering()
        loops = [op.loop_var for op in reversed(list(around(block)))]
        bindings = [b.data for b in block.bindings]
        over_loops, over_axes = dict[object, dict](), dict[object, dict]()
        for at in product(*map(range, EXTENTS)):
            values = dict(zip(loops, at, strict=True))
            axes = [value_of(b, numbering, values) for b in bindings]
            values |= dict(zip(block.axis_vars, axes, strict=True))
            for op, offset in offsets(block, values).items():
                over_loops.setdefault(op, {})[at] = offset
        for at in product(*[range(2)] * 3, range(3), range(3)):
            values = dict(zip([*loops, *block.axis_vars], at, strict=True))
            for op, offset in offsets(block, values).items():
                over_axes.setdefault(op, {})[at] = offset
        for bound, variables, found in (
            (True, loops, over_loops),
            (False, [*loops, *block.axis_vars], over_axes),
        ):
            strides = Strides(block, bound)
            for op in (*strides.loads, *strides.stores):
                for number, variable in enumerate(variables):
                    claim = strides.step(op, variable)
                    facts += check(found[op], variables, number, claim, strides.scope.values.list)
                    claims += claim is not None
    assert claims >= 0.9 * facts > 1000


def around(block: tir.BlockOp):
    loop = block.parent_op()
    while isinstance(loop, tir.ForOp):
        yield loop
        loop = loop.parent_op()


def test_steps_of_lanes():
    """The last dim must be contiguous, and the only one that moves."""
    random, found = Random(1), 0
    terms = [arg(0), arg(1), arg(0) // 2, arg(1) % 3, arg(0) * arg(1), IntExpr.of(1)]
    for _ in range(1000):
        stride = random.choice((1, 1, 2))
        type_ = tir.BufferType.of([40, 40], f32, strides=[40 * stride, stride])
        pairs = [[random.choice(terms) * random.choice((0, 1, 2)) for _ in "ab"] for _ in "ij"]
        indices = [a + b for a, b in pairs]
        steps = set[tuple[int, ...]]()
        for lane, other in product(range(6), range(5)):
            here, there = (
                [e.evaluate(lambda a, at=at: at[a.index]) for e in indices]
                for at in ((lane, other), (lane + 1, other))
            )
            steps.add(tuple(b - a for a, b in zip(here, there, strict=True)))
        step = lane_step(type_, indices, Arg(0))
        moves = len(steps) == 1 and stride == 1 and next(iter(steps))[0] == 0
        if step is not None and step.constant is not None:
            assert steps == {(0, step.constant)} and memory_step(type_, indices, Arg(0)) == step
        found += moves
        assert step is not None or not moves
    assert found > 50
