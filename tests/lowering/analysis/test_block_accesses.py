"""What accesses are to their block, beside all instances of small blocks."""

from collections.abc import Callable, Sequence
from itertools import product
from random import Random

from xdsl.parser import Parser

from xrelax.dialects import get_context, tir
from xrelax.lowering.analysis.block_accesses import dim_axes, element_update, has_reuse

PROGRAMS = 300
Instance = tuple[int, ...]

FUNCTION = """
tir.prim_func @f(
  %X: !tir.buffer<[9, 9], f32>, %W: !tir.buffer<[9, 9], f32>, %Y: !tir.buffer<[9, 9], f32>
) {{
  tir.for %i in (0, {0[0]}) {{ tir.for %j in (0, {0[1]}) {{ tir.for %k in (0, {0[2]}) {{
    tir.block "B" (%u: spatial (0, {0[0]}) = %i, %v: spatial (0, {0[1]}) = %j,
                   %r: reduce (0, {0[2]}) = %k) reads () writes (%Y[0:9, 0:9]) {{
      %y = tir.load %Y[{1}] : !tir.buffer<[9, 9], f32>
      %x = tir.load %X[{2}] : !tir.buffer<[9, 9], f32>
      %w = tir.load %W[{3}] : !tir.buffer<[9, 9], f32>
      %p = arith.mulf %x, %w : f32
      %s = {4} %y, %p : f32
      tir.store %s, %Y[{5}] : !tir.buffer<[9, 9], f32>
    }}
  }} }} }}
}}
"""


def drawn(random: Random) -> tuple[tir.BlockOp, Sequence[int]]:
    sizes = [random.choice((1, 2, 3, 3)) for _ in range(3)]

    def place(axes: str) -> str:
        terms = [f"%{axis}" for axis in axes]
        options = [*terms, *terms, *terms, f"{random.choice(terms)} * 2", "0", " + ".join(terms)]
        return ", ".join(random.choice(options) for _ in "ab")

    result = place("uv")
    loaded = result if random.random() < 0.8 else place("uv")
    operation = random.choice(("arith.addf", "arith.addf", "arith.maximumf"))
    text = FUNCTION.format(sizes, loaded, place("uvr"), place("uvr"), operation, result)
    module = Parser(get_context(), text).parse_module()
    return next(op for op in module.walk() if isinstance(op, tir.BlockOp)), sizes


def element(block: tir.BlockOp, op: tir.LoadOp | tir.StoreOp) -> Callable[[Instance], Instance]:
    def at(instance: Instance) -> Instance:
        values = dict(zip(block.axis_vars, instance, strict=True))
        return tuple(i.data.evaluate(lambda a: values[op.operands_[a.index]]) for i in op.indices)

    return at


def test_axes_of_dims():
    random = Random(0)
    for _ in range(PROGRAMS):
        block, _ = drawn(random)
        for op in block.body.block.ops:
            if isinstance(op, tir.LoadOp | tir.StoreOp):
                found = element(block, op)((2, 3, 5))
                known = [(2, 3, 5).index(i) if i in (2, 3, 5) else None for i in found]
                # The sum of u and v is as large as r here.
                sums = [len(i.data.args()) > 1 for i in op.indices]
                expected = [None if s else k for s, k in zip(sums, known, strict=True)]
                assert dim_axes(block, op) == expected


def test_updates_of_one_element():
    """Instances of other spatial axes store other elements, and load no others of the result."""
    random, found = Random(1), 0
    for _ in range(PROGRAMS):
        block, sizes = drawn(random)
        update = element_update(block, lambda op: op.name in ("arith.mulf", "arith.addf"))
        stores = [op for op in block.body.block.ops if isinstance(op, tir.StoreOp)]
        old, *loads = [op for op in block.body.block.ops if isinstance(op, tir.LoadOp)]
        stored, loaded = (element(block, op) for op in (stores[0], old))
        places = {at: stored(at) for at in product(*map(range, sizes))}
        apart = len(set(places.values())) == sizes[0] * sizes[1]
        same = all(place == loaded(at) for at, place in places.items())
        names = {op.name for op in block.body.block.ops}
        if update is not None:
            found += 1
            assert apart and same and "arith.maximumf" not in names
            assert list(update.loads) == loads and update.store is stores[0]
            assert update.axes == dim_axes(block, stores[0])
    assert found > 20


def test_reuse_of_elements():
    """Some operand moves with the reduction and is the same for several results."""
    random, answers = Random(2), []
    for _ in range(PROGRAMS):
        block, sizes = drawn(random)
        fact = False
        for op in list(block.body.block.ops):
            if not isinstance(op, tir.LoadOp) or op.buffer in block.write_buffers:
                continue
            at = element(block, op)

            def moves(axis: int, at=at, sizes=sizes) -> bool:
                step = tuple(int(n == axis) for n in range(3))
                return sizes[axis] > 1 and at((0, 0, 0)) != at(step)

            stays = any(sizes[axis] > 1 and not moves(axis) for axis in (0, 1))
            fact = fact or (moves(2) and stays)
        assert has_reuse(block) == fact
        answers.append(fact)
    assert 50 < sum(answers) < PROGRAMS - 50
