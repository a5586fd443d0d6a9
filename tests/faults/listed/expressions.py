"""Faults of integer expressions, their bounds, and the arithmetic of scripts."""

from __future__ import annotations

from fault import Fault

TERMS, COMPOUNDS, BOUNDS = (
    "dialects/int_expr/terms.py",
    "dialects/int_expr/compounds.py",
    "dialects/bounds.py",
)
EXPR_TESTS = ("tests/dialects/test_int_expr.py", "tests/dialects/test_bounds.py")
SCALAR_TESTS = ("tests/te",)

FAULTS = (
    Fault(
        "quotients are rounded towards zero",
        COMPOUNDS,
        "return IntExpr.of(value // divisor)\n    whole",
        "return IntExpr.of(int(value / divisor))\n    whole",
        tests=EXPR_TESTS,
    ),
    Fault(
        "a quotient forgets the remainder of its constant",
        COMPOUNDS,
        "            rest[monomial] = remainder\n",
        "            rest[monomial] = 0\n",
        ("layers", "tiles"),
        EXPR_TESTS,
    ),
    Fault(
        "an inexact quotient of polynomials is taken for exact",
        COMPOUNDS,
        "        if coefficient % factor:\n            return None\n",
        "        if coefficient % factor:\n            return result\n",
        ("layers",),
        EXPR_TESTS,
    ),
    Fault(
        "a remainder keeps no coefficient",
        COMPOUNDS,
        "{m: c % divisor for m, c in lhs.terms}",
        "{m: c for m, c in lhs.terms if c % divisor == 0}",
        ("tiles", "shapes"),
        EXPR_TESTS,
    ),
    Fault(
        "min and max are exchanged",
        COMPOUNDS,
        '    "min": minimum,\n    "max": maximum,\n',
        '    "min": maximum,\n    "max": minimum,\n',
        ("layers",),
        EXPR_TESTS,
    ),
    Fault(
        "equal products are not added up by substitution",
        TERMS,
        "terms[m] = terms.get(m, 0) + coefficient * c",
        "terms[m] = coefficient * c",
        ("layers", "tiles"),
        EXPR_TESTS,
    ),
    Fault(
        "an evaluated sum forgets its coefficients",
        TERMS,
        "            product = coefficient\n            for atom in monomial:\n",
        "            product = 1\n            for atom in monomial:\n",
        ("layers",),
        EXPR_TESTS,
    ),
    Fault(
        "what an atom is multiplied with is not looked for in compounds",
        TERMS,
        "if len(monomial) - len(others) > 1 or any(_mentions(a, atom) for a in others):",
        "if len(monomial) - len(others) > 1:",
        ("tiles", "caches"),
        EXPR_TESTS,
    ),
    Fault(
        "a range ends one too late",
        BOUNDS,
        "return Interval(first, first + extent - 1)",
        "return Interval(first, first + extent)",
        ("tiles",),
        EXPR_TESTS,
    ),
    Fault(
        "a range ends one too early",
        BOUNDS,
        "return Interval(first, first + extent - 1)",
        "return Interval(first, first + extent - 2)",
        ("tiles", "shapes"),
        EXPR_TESTS,
    ),
    Fault(
        "less is less or equal",
        BOUNDS,
        "return is_non_negative(IntExpr.of(rhs) - lhs - 1)",
        "return is_non_negative(IntExpr.of(rhs) - lhs)",
        ("tiles", "shapes"),
        EXPR_TESTS,
    ),
    Fault(
        "bounds are not exchanged by a negative factor",
        BOUNDS,
        "return Interval(lhs.upper * factor, lhs.lower * factor)",
        "return Interval(lhs.lower * factor, lhs.upper * factor)",
        ("slices",),
        EXPR_TESTS,
    ),
    Fault(
        "a quotient goes away where the rest is only below the divisor",
        BOUNDS,
        "if span is not None and is_non_negative(span.lower) and is_less(span.upper, rhs):",
        "if span is not None and is_less(span.upper, rhs):",
        ("slices", "image"),
        EXPR_TESTS,
    ),
    Fault(
        "quotient and remainder are joined whatever they are multiplied with",
        BOUNDS,
        "if remainders and quotients and quotients[0] == remainders[0] * atom.rhs:",
        "if remainders and quotients:",
        ("caches",),
        EXPR_TESTS,
    ),
    Fault(
        "a minimum is simplified to the other side",
        BOUNDS,
        'return lhs if atom.op == "min" else rhs\n        if',
        'return rhs if atom.op == "min" else lhs\n        if',
        ("image", "shapes"),
        EXPR_TESTS,
    ),
    Fault(
        "integers wrap one too late",
        "te/arithmetic.py",
        "return (value - low) % (high - low + 1) + low",
        "return (value - low) % (high - low + 2) + low",
        tests=SCALAR_TESTS,
    ),
    Fault(
        "bfloat16 is cut off instead of rounded",
        "runtime/dtype.py",
        "rounded = (bits + np.uint32(0x7FFF) + odd) >> np.uint32(16)",
        "rounded = bits >> np.uint32(16)",
        tests=("tests/runtime/test_tensor.py",),
    ),
    Fault(
        "the narrower dtype wins",
        "te/arithmetic.py",
        "return a if bit_width(a) > bit_width(b) else b",
        "return b if bit_width(a) > bit_width(b) else a",
        tests=SCALAR_TESTS,
    ),
    Fault(
        "a difference of constants is folded to their sum",
        "te/arithmetic.py",
        "            return x - y\n",
        "            return x + y\n",
        ("slices",),
        SCALAR_TESTS,
    ),
)
