"""Which iterations are independent, beside all pairs of iterations of small loops."""

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

from xdsl.parser import Parser

from xrelax.dialects import get_context, tir
from xrelax.dialects.int_expr import IntExpr
from xrelax.lowering.analysis.independence import (
    are_apart,
    conflict_of,
    conflict_of_axes,
    conflicts_between,
)

PROGRAMS = 300
Touched = set[tuple[str, tuple[int, ...]]]

HEAD = """
tir.prim_func @f(%X: !tir.buffer<[64, 64], f32>, %Y: !tir.buffer<[64, 64], f32>) {
  %c = arith.constant 0.0 : f32
"""


def index(random: Random, variables: Sequence[str]) -> str:
    """An index as loops have it after splits and fusions, and others."""
    first, second = (random.choice(variables) for _ in range(2))
    offset = random.choice(("", "", " + 1", " + 2"))
    a, b = random.choice((1, 1, 2, 3, 4)), random.choice((2, 3, 4))
    return random.choice(
        (
            f"{first}{offset}",
            f"{first} * {a}{offset}",
            f"{first} * {a} + {second}{offset}",
            f"({first} * {b} + {second}) floordiv {a}",
            f"({first} * {b} + {second}) mod {b}",
            f"{first} floordiv {b}{offset}",
            f"{first} mod {b}{offset}",
            f"min({first}, {b}){offset}",
            "0",
        )
    )


def accesses(random: Random, variables: Sequence[str]) -> list[str]:
    """One to three stores and loads, some of which have each other's indices."""
    found: list[str] = []
    pair = [index(random, variables), index(random, variables)]
    for number in range(random.choice((1, 1, 2, 3))):
        if random.random() < 0.5:
            pair = [index(random, variables), pair[1]]
        place = f"[{', '.join(pair)}]"
        if number == 0 or random.random() < 0.5:
            found.append(f"tir.store %c, %Y{place} : !tir.buffer<[64, 64], f32>")
        else:
            buffer = random.choice("XY")
            found.append(f"%x{number} = tir.load %{buffer}{place} : !tir.buffer<[64, 64], f32>")
    return found


def parsed(text: str) -> tir.PrimFuncOp:
    module = Parser(get_context(), HEAD + text + "\n}").parse_module()
    return next(op for op in module.walk() if isinstance(op, tir.PrimFuncOp))


def run(block, at: dict[object, int]) -> Iterator[tuple[bool, tuple[str, tuple[int, ...]]]]:
    """What the statements of a block touch, in order: whether it is stored, and which element."""
    for op in block.ops:
        if isinstance(op, tir.ForOp):
            low, size = (e.evaluate(lambda a, op=op: at[op.operands_[a.index]]) for e in bounds(op))
            for value in range(low, low + size):
                yield from run(op.body.block, {**at, op.loop_var: value})
        elif isinstance(op, tir.LoadOp | tir.StoreOp):
            place = tuple(
                i.data.evaluate(lambda a, op=op: at[op.operands_[a.index]]) for i in op.indices
            )
            yield isinstance(op, tir.StoreOp), (op.buffer.name_hint or "", place)


def bounds(loop: tir.ForOp) -> tuple[IntExpr, IntExpr]:
    return loop.min.data, loop.extent.data


def touched(block, at: dict[object, int]) -> tuple[Touched, Touched]:
    """What is stored and what is touched at all."""
    found = list(run(block, at))
    return {e for is_store, e in found if is_store}, {e for _, e in found}


def meet(one: tuple[Touched, Touched], other: tuple[Touched, Touched]) -> bool:
    return bool(one[0] & other[1] or one[1] & other[0])


def check_share(answers: Sequence[tuple[bool, bool]], least: float) -> None:
    """Nothing is called independent that is not, and of what is so, this share is found."""
    assert all(fact for claim, fact in answers if claim)
    facts = [claim for claim, fact in answers if fact]
    assert len(facts) > 30
    assert sum(facts) >= least * len(facts), f"{sum(facts)} of {len(facts)}"


def test_iterations_of_a_loop():
    random, answers = Random(0), []
    for _ in range(PROGRAMS):
        extent, inner = random.choice((2, 5, 8, 12)), random.choice((1, 2, 3, 4))
        inner_text = random.choice(
            (f"{inner}", f"min({inner}, {extent} - %i)", f"max(0, %i - {extent - 2})")
        )
        body = "\n".join(accesses(random, ["%i", "%i", "%j", "%o"]))
        loop = (
            f"tir.for %o in (0, 2) {{ tir.for %i in (0, {extent}) {{ "
            f"tir.for %j in (0, {inner_text}) {{\n{body}\n}} }} }}"
        )
        outer = next(op for op in parsed(loop).walk() if isinstance(op, tir.ForOp))
        own = next(op for op in outer.body.block.ops if isinstance(op, tir.ForOp))
        fact = True
        for o in range(2):
            found = [
                touched(own.body.block, {outer.loop_var: o, own.loop_var: i}) for i in range(extent)
            ]
            pairs = ((a, b) for n, a in enumerate(found) for b in found[:n])
            fact = fact and not any(meet(a, b) for a, b in pairs)
        answers.append((conflict_of(own) is None, fact))
    check_share(answers, 0.75)


def test_instances_of_a_block():
    random, answers = Random(1), []
    sizes = (3, 4, 2)
    for _ in range(PROGRAMS):
        kinds = [random.choice(("spatial", "spatial", "reduce")) for _ in sizes]
        axes = ", ".join(
            f"%v{n}: {kind} (0, {size}) = %i{n}"
            for n, (kind, size) in enumerate(zip(kinds, sizes, strict=True))
        )
        loops = " ".join(f"tir.for %i{n} in (0, {size}) {{" for n, size in enumerate(sizes))
        body = "\n".join(accesses(random, ["%v0", "%v1", "%v2"]))
        func = parsed(f'{loops} tir.block "B" ({axes}) reads () writes () {{\n{body}\n}} }} }} }}')
        block = next(op for op in func.walk() if isinstance(op, tir.BlockOp))
        own = [n for n, kind in enumerate(kinds) if kind == "spatial"]
        axes_of = [block.axis_vars[n] for n in own]
        found = [
            (
                tuple(at[n] for n in own),
                touched(block.body.block, dict(zip(block.axis_vars, at, strict=True))),
            )
            for at in product(*map(range, sizes))
        ]
        fact = not any(
            a != b and meet(one, other)
            for n, (a, one) in enumerate(found)
            for b, other in found[:n]
        )
        answers.append((conflict_of_axes(block, axes_of) is None, fact))
    check_share(answers, 0.65)


def nest(statements: Sequence[str], name: str) -> str:
    body = "\n".join(statements).replace("%i", f"%i{name}").replace("%j", f"%j{name}")
    return f"tir.for %i{name} in (0, 4) {{ tir.for %j{name} in (0, 3) {{\n{body}\n}} }}"


def test_nests_beside_each_other():
    random, merged, joined = Random(2), [], []
    for _ in range(PROGRAMS):
        texts = [nest(accesses(random, ["%i", "%j"]), name) for name in "ab"]
        statements = parsed("\n".join(texts)).body.block.ops
        one, other = (op for op in statements if isinstance(op, tir.ForOp))
        chains = [(o, next(op for op in o.body.block.ops)) for o in (one, other)]
        found = [
            {
                at: touched(inner.body.block, {outer.loop_var: at[0], inner.loop_var: at[1]})
                for at in product(range(4), range(3))
            }
            for outer, inner in chains
        ]
        pairs = [(a, b, meet(found[0][a], found[1][b])) for a in found[0] for b in found[1]]
        (first, second) = chains
        conflicts = list(conflicts_between(first, first[-1], second, second[-1]))
        merged.append((not conflicts, not any(m for a, b, m in pairs if a != b)))
        joined.append((are_apart(one, other), not any(m for _, _, m in pairs)))
    check_share(merged, 0.5)
    check_share(joined, 0.4)


def test_fused_loops_as_sections():
    """Each iteration runs one iteration of one of two nests, of which the first is of two loops."""
    for digits in ("%i mod 3, %i floordiv 3", "%i floordiv 13, %i mod 13"):
        sections = parsed(
            f"""
            tir.for %s in (0, 40) {{
              tir.for %i in (%s, min(1, max(-%s + 39, 0))) {{
                tir.store %c, %Y[{digits}] : !tir.buffer<[64, 64], f32>
              }}
              tir.for %j in (39, max(0, %s - 38)) {{
                tir.store %c, %Y[0, %j] : !tir.buffer<[64, 64], f32>
              }}
            }}"""
        )
        loop = next(op for op in sections.walk() if isinstance(op, tir.ForOp))
        assert conflict_of(loop) is None


def test_one_iteration_of_several_that_may_be_there():
    """A loop of an unknown number of iterations does not stand for its first one."""
    loop = parsed(
        """
        tir.for %s in (0, 4) {
          tir.for %i in (%s, max(0, 2 - %s)) {
            tir.store %c, %Y[%i, 0] : !tir.buffer<[64, 64], f32>
          }
        }"""
    )
    assert conflict_of(next(op for op in loop.walk() if isinstance(op, tir.ForOp))) is not None


def test_a_product_with_a_loop_around():
    """In its iteration 0, all others store the same element."""
    nest = parsed(
        """
        tir.for %o in (0, 4) {
          tir.for %i in (0, 4) {
            tir.store %c, %Y[%o * %i, 0] : !tir.buffer<[64, 64], f32>
          }
        }"""
    )
    outer = next(op for op in nest.walk() if isinstance(op, tir.ForOp))
    assert conflict_of(next(op for op in outer.body.block.ops if isinstance(op, tir.ForOp)))
