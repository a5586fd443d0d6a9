"""Functions and calls that tests of the pattern language match."""

from xrelax.relax.dpl import is_op
from xrelax.script import from_source


def matmul(*args):
    return is_op("relax.matmul")(*args)


def add(*args):
    return is_op("relax.add")(*args)


def function(body, end="return R.nn.relu(b)"):
    return module(body, end)["main"]


def module(body, end="return R.nn.relu(b)"):
    return from_source(f"""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 4), "float32"),
             b0: R.Tensor((4,), "float32")):
        with R.dataflow():
    {body.replace(chr(10), chr(10) + "    ")}
        {end}
""")
