"""Which kernels only give their input another shape."""

import pytest

from xrelax import relax
from xrelax.script import from_source


def kernel(source, target, extents, index, value="A[{index}]"):
    names = [f"v{i}" for i in range(len(extents))]
    loops = ", ".join(f"i{i}" for i in range(len(extents)))
    written = ", ".join(names)
    return from_source(f"""
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, {source})
    B = T.match_buffer(b, {target})
    for {loops} in T.grid({", ".join(extents)}):
        with T.block("B"):
            {written} = T.axis.remap("{"S" * len(extents)}", [{loops}])
            B[{written}] = {value.format(index=index)}
""")


@pytest.mark.parametrize(
    ("source", "target", "extents", "index"),
    [
        ("(2, 3, 4)", "(8, 3)", "83", "(v0*3+v1)//12, (v0*3+v1)%12//4, (v0*3+v1)%4"),
        ("(2, 3)", "(2, 1, 3, 1)", "2131", "v0, v2"),
        ("(n, 4)", "(n * 4,)", ["n * 4"], "v0 // 4, v0 % 4"),
        ("(n, 4)", "(n, 4)", ["n", "4"], "v0, v1"),
    ],
)
def test_reshapes(source, target, extents, index):
    extents = ", ".join(extents).split(", ") if isinstance(extents, str) else extents
    assert relax.analysis.has_reshape_pattern(kernel(source, target, extents, index))


@pytest.mark.parametrize(
    ("source", "target", "extents", "index", "value"),
    [
        ("(2, 3)", "(3, 2)", "32", "v1, v0", "A[{index}]"),
        ("(2, 3)", "(2, 3)", "23", "v0, v1", "A[{index}] + 1.0"),
        ("(2, 3)", "(2, 3)", "23", "v0, v1", "A[{index}] + A[0, 0]"),
        ("(2, 3)", "(2, 3)", "23", "0, v1", "A[{index}]"),
    ],
)
def test_other_kernels(source, target, extents, index, value):
    func = kernel(source, target, list(extents), index, value)
    assert not relax.analysis.has_reshape_pattern(func)
