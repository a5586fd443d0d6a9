"""Macros in kernels, loops with several variables under one name, dims as strings."""

import pytest

from xrelax.ir import assert_structural_equal
from xrelax.script import ScriptError, from_source
from xrelax.script import tir as T


def kernel(body, inside="", before=""):
    text = f"""
{before}
@T.prim_func
def main(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32")):
    {body}
"""
    return from_source(text)


@T.inline
def copied(source, target, *indices, scale=1.0):
    with T.block("copy"):
        vi, vj = T.axis.remap("SS", [indices[0], indices[1]])
        target[vi, vj] = source[vi, vj] * T.float32(scale)


SIZE = 4


@T.macro
def loop(source, target):
    for i, j in T.grid(SIZE, SIZE):
        copied(source, target, i, j, scale=2.0)


def test_statements_replace_calls_of_macros():
    @T.prim_func
    def main(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32")):
        loop(A, B)

    called = main

    @T.prim_func
    def main(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32")):
        for i, j in T.grid(4, 4):
            with T.block("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)

    assert_structural_equal(called, main)


def test_names_of_macros_and_headers_of_blocks():
    x = 3

    @T.inline
    def stored(target, i):
        vi = T.axis.spatial(4, i)
        target[vi] = T.float32(x)

    @T.macro(hygienic=False)
    def late(target, i):
        target[i] = T.float32(x)

    @T.prim_func
    def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for x in range(4):
            with T.block("A"):
                stored(A, x)
        for x in range(4):

            @T.inline
            def inner(target):
                target[x] = T.float32(1)

            late(A, x)
            inner(B)

    text = main.script()
    assert "A[vi] = T.float32(3)" in text and "B[x] = T.float32(1)" in text
    assert "A[x] = T.Cast" in text


def test_one_name_for_several_loops():
    whole = """for ij in T.grid(4, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [ij[0], ij[1]])
            B[vi, vj] = A[ij]"""
    remapped = """for ij in T.grid(4, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", ij)
            B[vi, vj] = A[ij]"""
    starred = """for *i, j in T.grid(4, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i[0], j])
            B[vi, vj] = A[(*i, j)]"""
    plain = """for i, j in T.grid(4, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[i, j]"""
    for text in (whole, remapped, starred):
        assert_structural_equal(kernel(text), kernel(plain))


def test_other_spellings():
    func = from_source("""
@T.prim_func
def main(A: T.buffer(("n",), "float32"), B: T.Buffer(("n + 1",), "float32")):
    for i in T.thread_binding(4, "threadIdx.x"):
        k = T.meta_var(i + 1)
        B[k] = A[i]
""")
    text = func.script()
    assert '"threadIdx.x"' in text and "B[i + 1] = A[i]" in text and "n + 1" in text


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("for *i, *j in T.grid(4, 4):\n        pass", "expected 2 loop variables, got 2"),
        (
            'for i in range(4):\n        with T.block("B"):\n            v = T.axis.S(4, i)\n'
            "            v = T.axis.S(4, i)",
            "expected distinct axes, got 'v' twice",
        ),
        (
            'for i in range(4):\n        with T.block("B"):\n            v = T.axis.S(4, i)\n'
            "            T.reads(A[v, 0])\n            T.reads(A[v, 0])",
            "expected 'T.reads' of a block once, got it twice",
        ),
        ("def f(x):\n        pass", "expected a statement of TensorIR, got a function"),
    ],
)
def test_what_kernels_refuse(body, message):
    with pytest.raises(ScriptError, match=message.replace("*", r"\*")):
        kernel(body)


def test_calls_of_macros_that_do_not_fit():
    with pytest.raises(ScriptError, match="macro: missing a required argument: 'target'"):

        @T.prim_func
        def main(A: T.Buffer((4, 4), "float32")):
            loop(A)

    with pytest.raises(TypeError, match="expected the call of a macro inside of a script"):
        loop(1, 2)
    with pytest.raises(ValueError, match="expected a function, or keywords"):
        T.inline(True)
