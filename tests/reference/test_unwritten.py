"""`check=True` says what is read before it is written, with the block and the line."""

import pytest

from xrelax import relax
from xrelax.reference import CheckError
from xrelax.script import from_source

KERNEL = """
@I.ir_module
class Module:
    @T.prim_func
    def some(I: T.Buffer((8,), "int32"), Y: T.Buffer((8,), "float32")):
        S = T.alloc_buffer((8,))
        for i in range(8):
            with T.block("S"):
                vi = T.axis.opaque(8, i)
                if STORE:
                    S[vi] = T.float32(2)
        for i in range(8):
            with T.block("Y"):
                vi = T.axis.spatial(8, i)
                if LOAD:
                    Y[vi] = S[vi]

    @R.function
    def main(i: R.Tensor((8,), "int32")):
        y = R.call_tir(Module.some, (i,), R.Tensor((8,), "float32"))
        z = USE
        return z
"""


def build(store, load, use):
    text = KERNEL.replace("STORE", store).replace("LOAD", load).replace("USE", use)
    return relax.build(from_source(text), check=True)


def test_what_is_written_is_read():
    build("I[vi] > -9", "I[vi] > -9", "R.add(y, y)")


WRONG = {
    "scratch": (
        "vi < 5",
        "I[vi] > -9",
        "y",
        r"in 'some': \[5\] of 'S' is read before it is "
        r"written in block 'Y', <script>:16$",
    ),
    "an operand": ("vi < 8", "vi < 6", "R.add(y, y)", r"in 'main': \[6\] of 'y' is read before"),
    "a result": ("vi < 8", "vi < 6", "y", r"\[6\] of 'result 0' is read before it is written"),
    "data decides": ("I[vi] < -9", "vi < 8", "y", r"\[0\] of 'S' is read before it is written"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_not_written_is_named(case):
    store, load, use, message = WRONG[case]
    with pytest.raises(CheckError, match=message):
        build(store, load, use)
