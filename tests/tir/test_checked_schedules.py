"""`check=True` of a scheduled module starts at the module before: it finds unsound primitives."""

from textwrap import indent

import numpy as np
import pytest

from xrelax import relax, tir
from xrelax.dialects.int_expr import IntExpr
from xrelax.dialects.sym import ExprAttr
from xrelax.lowering.schedule import loops
from xrelax.reference import CheckError
from xrelax.script import from_source

KERNEL = """
@T.prim_func
def main(X: T.Buffer((8, 8), "float32"), Y: T.Buffer((8,), "float32")):
    for i, k in T.grid(8, 8):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + X[vi, vk]
"""


def broken_split(loop, *args, **kwargs):
    """Loses the last iteration of the inner loop."""
    made = SOUND_SPLIT(loop, *args, **kwargs)
    inner = made[-1]
    inner.properties["extent"] = ExprAttr(inner.extent.data - IntExpr.of(1))
    return made


SOUND_SPLIT = loops.split


def scheduled(sch=None):
    sch = sch or tir.Schedule(from_source(KERNEL))
    i, k = sch.get_loops("Y")
    sch.parallel(i)
    sch.unroll(sch.split(k, [None, 4])[1])
    return sch


def test_a_sound_schedule_passes():
    relax.build(scheduled().mod, check=True)


@pytest.mark.parametrize("again", [False, True])
def test_an_unsound_primitive_is_named(monkeypatch, again):
    monkeypatch.setattr(loops, "split", broken_split)
    sch = scheduled()
    if again:
        sch = tir.Schedule(sch.mod.clone())
        sch.annotate(sch.get_loops("Y")[0], "k", 1)
        sch = sch.copy()
    message = r"^primitive 'split', number \d of the schedule, changes argument 'Y' of 'main'"
    with pytest.raises(CheckError, match=message):
        relax.build(sch.mod, check=True)


def test_a_module_that_was_changed_since_is_what_is_checked(monkeypatch):
    monkeypatch.setattr(loops, "split", broken_split)
    mod = scheduled().mod
    other = from_source(KERNEL.replace("T.float32(0)", "T.float32(1)"))
    mod["main"] = other
    y = np.zeros(8, np.float32)
    relax.build(mod, check=True)["main"](np.ones((8, 8), np.float32), y)
    assert (y == 9).all()


def test_another_layout_of_a_parameter_is_another_function():
    sch = scheduled()
    sch.transform_layout("Y", ("read", 0), lambda i, j: (j, i))
    relax.build(sch.mod, check=True)


def test_a_function_of_a_scheduled_module(monkeypatch):
    monkeypatch.setattr(loops, "split", broken_split)
    with pytest.raises(CheckError, match=r"^primitive 'split'"):
        relax.build(scheduled().mod["main"], check=True)


def test_a_scheduled_module_whose_parameters_are_bound(monkeypatch):
    monkeypatch.setattr(loops, "split", broken_split)
    module = from_source(f"""
@I.ir_module
class Module:
{indent(KERNEL.replace("main", "sums"), "    ")}
    @R.function
    def main(x: R.Tensor((8, 8), "float32")):
        y = R.call_tir(Module.sums, (x,), out_sinfo=R.Tensor((8,), "float32"))
        return y
""")
    sch = tir.Schedule(module)
    sch.work_on("sums")
    with pytest.raises(CheckError, match=r"^primitive 'split'"):
        relax.build(scheduled(sch).mod, params={"x": np.ones((8, 8), np.float32)}, check=True)
