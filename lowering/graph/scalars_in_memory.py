"""Kernels whose scalar parameters are buffers of rank 0, as the pipeline passes scalars.

::

    tir.prim_func @scale(%X, %factor: f32, %Y)       tir.prim_func @scale_1(%X, %factor, %Y)
      block "Y":                                ⇒      block "Y":
        … %factor …                                      %1 = tir.load %factor[]
"""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, ModuleOp, StringAttr, UnitAttr
from xdsl.ir import SSAValue

from ...dialects import relax, tir
from ..functions import PRIVATE, functions_by_name, unique_name
from ..schedule.regions import refresh_around
from ..substitute import set_type


class ScalarsInMemory:
    """The kernels of a module that have been converted, by the functions that they came from."""

    def __init__(self, module: ModuleOp):
        self.module = module
        self.made: dict[str, tir.PrimFuncOp] = {}

    def kernel_for(self, call: relax.CallTIROp) -> tir.PrimFuncOp | None:
        """The kernel to call with tensors in place of scalars; `None` if the call has no scalar."""
        if not any(isinstance(a.type, relax.PrimType) for a in call.args):
            return None
        name = call.callee_name
        if name not in self.made:
            functions = functions_by_name(self.module)
            func = functions[name]
            assert isinstance(func, tir.PrimFuncOp)
            self.made[name] = _converted(func, unique_name(name, functions))
            self.module.body.block.insert_op_after(self.made[name], func)
        return self.made[name]


def _converted(func: tir.PrimFuncOp, name: str) -> tir.PrimFuncOp:
    new = func.clone()
    new.sym_name = StringAttr(name)
    new.set_attr(PRIVATE, UnitAttr())
    for param in list(new.params):
        if not isinstance(param.type, tir.BufferType | IndexType):
            _move_to_memory(param)
    return new


def _move_to_memory(param: SSAValue) -> None:
    """Replace a scalar parameter by a buffer, which is loaded where the scalar is used."""
    buffer = set_type(param, tir.BufferType.of([], param.type))
    loads: list[tir.LoadOp] = []
    for use in list(buffer.uses):
        user = use.operation
        load = tir.LoadOp(buffer, [])
        assert user.parent is not None
        user.parent.insert_op_before(load, user)
        user.operands[use.index] = load.result
        loads.append(load)
    refresh_around(loads)
