"""`arith.detect_iter_map` and its relatives, compared with all iterations."""

import itertools
import random

import pytest

from xrelax import arith, te, tir
from xrelax.ir import Range

x, y, z, n = (te.var(name) for name in "xyzn")
ITERATORS = {"x": x, "y": y, "z": z}


def detect(indices, extents, **options):
    ranges = {ITERATORS[name]: Range(0, extent) for name, extent in extents.items()}
    return arith.detect_iter_map(indices, ranges, **options)


def shape(result):
    """Of each sum: extent, base and scale."""
    return [
        (str(s.args[0].extent) if s.args else "1", str(s.base), *(str(a.scale) for a in s.args))
        for s in result.indices
    ]


MAPS = {
    "fused": ([x * 4 + y], {"x": 3, "y": 4}, True),
    "reversed": ([y * 3 + x + 2], {"x": 3, "y": 4}, True),
    "split": ([x // 6, x // 2 % 3, x % 2], {"x": 24}, True),
    "gap": ([x // 6, x % 2], {"x": 24}, True),
    "strides": ([x * 4 + y * 2], {"x": 3, "y": 2}, True),
    "compound": ([(x * 12 + y) // 8, (x * 12 + y) % 8], {"x": 4, "y": 12}, True),
    "crossed": ([y // 3 * 6 + x // 5 * 3 + y % 3, x % 5], {"x": 10, "y": 9}, True),
    "overlap": ([x * 7 + y], {"x": 3, "y": 8}, True),
    "window": ([x + y], {"x": 9, "y": 3}, True),
    "digits of a sum": ([(x * 6 + y) // 4, (x * 6 + y) % 4], {"x": 4, "y": 6}, True),
    "padded quotient": ([(x + 7) // 15], {"x": 26}, True),
    "padded digits": ([(x + 10) // 3 % 4, (x + 10) % 3], {"x": 60}, True),
    "shifted digits": ([(x + 1) % 3, ((x + 10) // 3 + 2) % 4], {"x": 60}, True),
    "constraint": ([x * 10 + y], {"x": 13, "y": 10}, (x * 10 + y < 128) & (x * 10 + y > 5)),
    "constraints of digits": (
        [x % 16, x // 16],
        {"x": 256},
        (x % 16 >= 3) & (x % 16 < 10) & (x // 16 >= 4) & (x // 16 < 12),
    ),
    "constraint of digits": (
        [(x * 16 + y) // 23 * 8 + (x * 16 + y) % 23 - 15],
        {"x": 12, "y": 16},
        (x * 16 + y < 184) & ((x * 16 + y) % 23 >= 15),
    ),
    "nested constraints": (
        [x * 8 + y * 2 + z],
        {"x": 11, "y": 5, "z": 2},
        (y * 2 + z >= 1) & (y * 2 + z < 9) & (x * 8 + y * 2 + z < 25) & (x * 8 + y * 2 + z >= 3),
    ),
}


def values(expr, point):
    """An expression at the points, by Python's integers."""
    text = str(expr).replace("floordiv", "//").replace(" mod ", " % ")
    return eval(text, {}, dict(point))


def check(indices, extents, predicate, result, once):
    """The sums are equal to the indices, and take each value of their box, if asked once only."""
    forms = [arith.normalize_iter_map_to_expr(s) for s in result.indices]
    taken = []
    for point in itertools.product(*map(range, extents.values())):
        at = dict(zip(extents, point, strict=True))
        if predicate is True or values(predicate, at):
            taken.append(tuple(values(i, at) for i in indices))
            assert tuple(values(f, at) for f in forms) == taken[-1]
    box = []
    for total in result.indices:
        first, scale, extent = int(total.base), 1, 1
        for digit in total.args:
            scale, extent = int(digit.scale), int(digit.extent)
        box.append(range(first, first + scale * extent, scale))
    assert set(taken) == set(itertools.product(*box))
    assert not once or len(taken) == len(set(taken))


@pytest.mark.parametrize("name", MAPS)
def test_maps_cover_their_box(name):
    indices, extents, predicate = MAPS[name]
    result = detect(indices, extents, predicate=predicate)
    assert not result.errors
    bijective = detect(indices, extents, predicate=predicate, check_level="bijective")
    check(indices, extents, predicate, result, once=not bijective.errors)


def drawn(rng, depth):
    """A random sum of quotients and remainders."""
    kind = rng.random()
    if depth == 0 or kind < 0.2:
        return rng.choice([x, y, z])
    if kind < 0.6:
        part, number = drawn(rng, depth - 1), rng.choice([2, 3, 4, 6, 8])
        return part // number if kind < 0.4 else part % number
    factor, offset = rng.choice([1, 2, 3, 4, 6, 8, 12]), rng.choice([0, 0, 1, 5, -3])
    return drawn(rng, depth - 1) * factor + drawn(rng, depth - 1) + offset


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(100))
def test_drawn_maps(seed):
    rng = random.Random(seed)
    for _ in range(10):
        extents = {name: rng.choice([1, 2, 3, 4, 6, 8, 12]) for name in "xyz"}
        indices = [drawn(rng, 3) for _ in range(rng.choice([1, 1, 2, 3]))]
        limit = drawn(rng, 2) < rng.randrange(1, 20)
        predicate = limit if rng.random() < 0.4 and not isinstance(limit, bool) else True
        for level in ("surjective", "bijective"):
            result = detect(indices, extents, predicate=predicate, check_level=level)
            if result.indices:
                check(indices, extents, predicate, result, once=level == "bijective")


@pytest.mark.parametrize(
    ("indices", "extents", "options", "message"),
    [
        ([x, x], {"x": 4}, {}, "expected a digit of x from 4 on"),
        ([x * 4 + y], {"x": 3, "y": 3}, {}, "expected a digit with scale 3, got x \\* 4 \\+ y"),
        ([x * 5 + y * 2], {"x": 3, "y": 3}, {}, "expected multiples of 2, got 5"),
        ([y - x], {"x": 3, "y": 3}, {}, "expected positive scales, got -1"),
        ([x * y], {"x": 3, "y": 3}, {}, "expected one iterator in each product"),
        ([tir.min(x, 4)], {"x": 8}, {}, "expected sums, quotients and remainders, got min"),
        ([x // y], {"x": 8, "y": 2}, {}, "expected a divisor without iterators, got y"),
        ([x % 16], {"x": 3}, {}, "expected 16 iterations or more, got 3"),
        ([(x + 80) // 32, (x + 80) % 32], {"x": 176}, {}, "expected even digits of x"),
        ([x], {"x": 3, "y": 2}, {"check_level": "bijective"}, "expected y to be in the indices"),
        ([x // 2], {"x": 4}, {"check_level": "Bijective"}, "expected a digit of x from 1 on"),
        ([x], {"x": 3, "y": 2}, {"predicate": x * 2 + y < 3}, r"expected x \* 2 \+ y to be in"),
        ([x // 4 % 2 % 3], {"x": 12}, {}, "expected a divisor of 2, got 3"),
        ([x], {"x": 3}, {"predicate": x + 4 < 4}, "expected a predicate of x that holds somewhere"),
        ([x], {"x": 3, "y": 1}, {"predicate": y > 2}, "expected a predicate of y that holds"),
        ([x], {"x": 3, "y": 2}, {"predicate": x < y}, "expected factors of one sign"),
    ],
)
def test_what_is_no_map(indices, extents, options, message):
    result = detect(indices, extents, **options)
    assert result.indices == []
    with pytest.raises(ValueError, match=message):
        raise ValueError(*result.errors)


def test_symbols_and_levels():
    result = arith.detect_iter_map([x // n, x % n], {x: Range(0, n * 8)})
    assert shape(result) == [("8", "0", "1"), ("n", "0", "1")]
    assert shape(detect([x + n * n], {"x": 3})) == [("3", "n * n", "1")]
    assert shape(detect([x, x], {"x": 3}, check_level="nocheck")) == [("3", "0", "1")] * 2
    analyzer = arith.Analyzer()
    analyzer.bind(n, 4)
    assert shape(detect([x % n], {"x": 16}, analyzer=analyzer)) == [("4", "0", "1")]
    with pytest.raises(ValueError, match=r"expected a level \(bijective, surjective, nocheck\)"):
        detect([x], {"x": 3}, check_level="injective")


def test_indices_are_simplified():
    fused = x // (n * n) * n + x % (n * n) // n
    (simple,) = arith.iter_map_simplify([fused * n + x % n], {x: Range(0, n * n * 32)})
    assert str(simple) == "x"
    (kept,) = arith.iter_map_simplify([tir.max(x, 0) * x], {x: Range(0, 4)})
    assert str(kept) == "x * x"


def test_sums_without_a_single_digit():
    ranges = {x: Range(0, 9), y: Range(0, 4), z: Range(0, 3)}
    total = arith.normalize_to_iter_sum(z + (y + x * 4 + 2) * n + tir.max(z, n), ranges)
    assert [str(a.scale) for a in total.args] == ["n * 4", "n", "1"]
    assert str(total.base) == "n * 2 + T.max(n, z)"


def test_inverses():
    mapped = detect([x % 16 * 4 + y % 4, x // 16, y // 4], {"x": 64, "y": 64}).indices
    outputs = [te.var(name) for name in "abc"]
    inverse = arith.inverse_affine_iter_map(mapped, outputs)
    for i, j in ((0, 0), (17, 5), (63, 62)):
        at = {"a": i % 16 * 4 + j % 4, "b": i // 16, "c": j // 4}
        assert [values(inverse[v], at) for v in (x, y)] == [i, j]
    several = arith.normalize_to_iter_sum(x * 4 + y, {x: Range(0, 3), y: Range(0, 3)})
    with pytest.raises(ValueError, match="expected a sum of one digit, got 2"):
        arith.inverse_affine_iter_map([several], outputs[:1])


def test_parts_that_are_built():
    mark = arith.IterMark(x, 12)
    outer, inner = arith.IterSplitExpr(mark, 3, 4, 3), arith.IterSplitExpr(mark, 1, 3)
    total = arith.IterSumExpr([outer, inner], 5)
    assert str(arith.normalize_iter_map_to_expr(total)) == "(x // 3) * 3 + x % 3 + 5"
    fused = arith.IterMark(arith.IterSumExpr([outer, inner], 0), 12)
    assert fused.source.args == [outer, inner] and fused != mark
    found = detect([x // 3, x % 3], {"x": 12}).indices
    assert found == [
        arith.IterSumExpr([arith.IterSplitExpr(mark, 3, 4)], 0),
        arith.IterSumExpr([inner], 0),
    ]
    assert len({outer, arith.IterSplitExpr(mark, 3, 4, 3), inner}) == 2
    assert found[0].args[0].source == mark and str(mark.extent) == "12"
    assert str(inner.lower_factor) == "1"
