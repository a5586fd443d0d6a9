"""A small module that tests of the cache build, and what it computes."""

from __future__ import annotations

import numpy as np

from xrelax.script import from_source

SOURCE = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        with R.dataflow():
            y = R.{name}(x, R.const([1.0, 2.0, 3.0, {last}], "float32"))
            R.output(y)
        return y
"""
X = np.arange(8, dtype="float32").reshape(2, 4)
ROW = np.arange(1, 5)


def module(name: str = "add", last: str = "4.0"):
    return from_source(SOURCE.format(name=name, last=last))
