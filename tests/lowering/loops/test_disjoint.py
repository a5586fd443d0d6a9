"""What the passes on loops take for disjoint is, element by element; and they do take it for that.

Both analyses may say no where the answer is yes. The tests count how often they do not.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import combinations, permutations, product

from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects import test
from xdsl.dialects.builtin import VectorType, f32
from xdsl.ir import SSAValue
from xdsl.parser import Parser

from xrelax.backend.target import Target
from xrelax.dialects import get_context, loops
from xrelax.dialects.int_expr import IntExpr, Sym
from xrelax.lowering.loops.lane_analysis import LaneAnalysis
from xrelax.lowering.loops.places import Place, are_disjoint

SETTINGS = settings(max_examples=400, deadline=None, derandomize=True, database=None)
ISA = Target("llvm -mcpu=haswell").isa
EXTENTS = {"o": 2, "j": 4, "i": 3}
"""The loop around the one that is vectorized, that one, and the one inside."""


def buffer() -> SSAValue:
    return test.TestOp(result_types=[f32]).results[0]


@st.composite
def places(draw: st.DrawFn):
    """Elements and vectors at sums of multiples of two symbols."""
    rank, size = draw(st.integers(0, 2)), draw(st.integers(2, 4))
    shared = [draw(st.sampled_from(["0", "a", "2*a", "a+b"])) for _ in range(rank)]
    found: list[tuple[list[tuple[int, int, int]], int]] = []
    forms = {"0": (0, 0), "a": (1, 0), "2*a": (2, 0), "a+b": (1, 1)}
    for _ in range(size):
        own = [draw(st.sampled_from([f, f, f, f, "a"])) for f in shared]
        indices = [(*forms[f], draw(st.integers(0, 6))) for f in own]
        found.append((indices, draw(st.sampled_from([1, 1, 2, 4])) if rank else 1))
    return found


def elements(indices, lanes, a, b):
    """The elements of a place for numbers of the symbols."""
    at = [x * a + y * b + c for x, y, c in indices]
    return {(*at[:-1], at[-1] + n) for n in range(lanes)} if at else {()}


def test_disjoint_places_share_no_element():
    said, where = Counter[tuple[bool, bool]](), buffer()
    a, b = (IntExpr.of(Sym(name)) for name in "ab")

    @SETTINGS
    @given(places())
    def check(found):
        answer = are_disjoint(
            [
                Place(
                    where,
                    tuple(a * x + b * y + c for x, y, c in indices),
                    f32 if lanes == 1 else VectorType(f32, [lanes]),
                    None,
                )
                for indices, lanes in found
            ]
        )
        truth = not any(
            elements(*p, *n) & elements(*q, *n)
            for n in product(range(4), repeat=2)
            for p, q in combinations(found, 2)
        )
        assert truth or not answer
        said[answer, truth] += 1

    check()
    assert said[True, True] >= 40 and said[False, False] >= 40
    assert said[True, True] >= 0.6 * (said[True, True] + said[False, True])


@dataclass(frozen=True)
class Access:
    """``B[…]`` at sums of multiples of the loops; the first is stored."""

    indices: tuple[tuple[str, ...], ...]

    def text(self) -> str:
        return "%B[" + ", ".join("".join(parts) for parts in self.indices) + "]"

    def at(self, **values: int) -> tuple[int, ...]:
        return tuple(
            eval("".join(parts).replace("%", "").replace("floordiv", "//"), {}, values)
            for parts in self.indices
        )


@st.composite
def bodies(draw: st.DrawFn):
    """Some accesses to one buffer, most of them alike."""
    terms = ("%j", "%j * 2", "%j floordiv 2", "%i", "%i * 4", "%o", "0", "0")

    def index():
        some = [draw(st.sampled_from(terms)) for _ in range(draw(st.integers(1, 2)))]
        return (" + ".join(some), f" + {draw(st.integers(0, 2))}")

    first = tuple(index() for _ in range(draw(st.integers(1, 2))))
    found = [Access(first)]
    for _ in range(draw(st.integers(0, 2))):
        keep = draw(st.sampled_from([True, True, False]))
        indices = [old if keep or draw(st.booleans()) else index() for old in first]
        found.append(Access(tuple(indices)))
    return found, draw(st.booleans())


def lanes_run_together(accesses: list[Access], has_inner: bool) -> bool:
    """What `LaneAnalysis` says of the loop over ``%j``."""
    type_ = f"!tir.buffer<[{', '.join(['64'] * len(accesses[0].indices))}], f32>"
    lines = [f"%x{n} = loops.load {a.text()} : {type_} -> f32" for n, a in enumerate(accesses[1:])]
    lines += ["%c = arith.constant 1.0 : f32"]
    lines += [f"loops.store %c, {accesses[0].text()} : {type_}, f32"]
    text = "\n".join(lines)
    if has_inner:
        text = f"loops.for %i in (0, {EXTENTS['i']}) {{\n{text}\n}}"
    else:
        text = text.replace("%i", "0")
    for name in "jo":
        text = f"loops.for %{name} in (0, {EXTENTS[name]}) {{\n{text}\n}}"
    module = Parser(
        get_context(), f"loops.func @k(%B: {type_}) noalias {{\n{text}\n}}"
    ).parse_module()
    module.verify()
    loop = [op for op in module.walk() if isinstance(op, loops.ForOp)][1]
    return LaneAnalysis(loop, ISA).is_vectorizable()


def lanes_are_apart(accesses: list[Access], has_inner: bool) -> bool:
    """Whether no lane touches, in any iteration of the inner loop, what another one stores."""
    inner = range(EXTENTS["i"]) if has_inner else range(1)
    for o in range(EXTENTS["o"]):
        stored = [{accesses[0].at(o=o, j=j, i=i) for i in inner} for j in range(EXTENTS["j"])]
        touched = [
            {a.at(o=o, j=j, i=i) for i in inner for a in accesses} for j in range(EXTENTS["j"])
        ]
        if any(stored[p] & touched[q] for p, q in permutations(range(EXTENTS["j"]), 2)):
            return False
    return True


def test_lanes_that_run_together_touch_nothing_of_each_other():
    said = Counter[tuple[bool, bool]]()

    @SETTINGS
    @given(bodies())
    def check(drawn):
        answer, truth = lanes_run_together(*drawn), lanes_are_apart(*drawn)
        assert truth or not answer
        said[answer, truth] += 1

    check()
    assert said[True, True] >= 40 and said[False, False] >= 40
    assert said[True, True] >= 0.6 * (said[True, True] + said[False, True])
