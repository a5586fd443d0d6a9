"""Functions that the tests of mutators and visitors begin with."""

import xrelax as tvm
from xrelax.script import from_source

ADD, MULTIPLY = tvm.ir.Op.get("relax.add"), tvm.ir.Op.get("relax.multiply")


def function(body, result='R.Tensor((3, 4), "float32")'):
    text = f"""
@R.function
def main(x: R.Tensor((3, 4), "float32"), y: R.Tensor((3, 4), "float32")) -> {result}:
{body}
"""
    return from_source(text)


FMA_INPUT = """
    with R.dataflow():
        lv0 = R.multiply(x, y)
        gv0 = R.add(lv0, y)
        R.output(gv0)
    return gv0
"""


def body(func):
    text = func.script(show_all_struct_info=False).splitlines()
    return [t.strip() for t in text[next(i for i, t in enumerate(text) if "def " in t) + 1 :]]
