"""Transform arguments of kernels to the layouts that schedules chose; TVM's ``RewriteLayout``.

::

    relax.call_tir @matmul(%x, %w) : …              %w is a constant, of [k, n]

⇒ after ``sch.transform_layout(…, lambda k, j: (j // 64, k, j % 64))``

    %1 = relax.call_tir @layout_transform(%w) : …                     [n // 64, k, 64]
    relax.call_tir @matmul(%x, %1) : …

Constants of up to `LARGEST_FOLDED` bytes are transformed at compile time, larger ones when the
module is loaded (`hoist-to-load`). Padding is zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, UnitAttr, i1
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from ...dialects import relax, tir
from ...dialects.int_expr import IntExpr
from ...te.moved import moved
from ...te.prim_func import build_prim_func
from ...te.tensor import placeholder, shape_of
from ..functions import PRIVATE, functions_by_name, graph_functions, unique_name
from ..schedule.layout import MovedParameter
from ..sizes import LARGEST_FOLDED

KERNEL = "layout_transform"
"""The name of a kernel that transforms an argument, unless it is taken."""


def rewrite_calls(module: ModuleOp, parameters: Iterable[MovedParameter]) -> list[tir.PrimFuncOp]:
    """Transform the arguments of all calls to the new layouts of the callees' parameters.

    Returns the new kernels that transform layouts.
    """
    by_name: dict[str, list[MovedParameter]] = {}
    for parameter in parameters:
        by_name.setdefault(parameter.function, []).append(parameter)
    layouts = _Layouts(module)
    for func in graph_functions(module) if by_name else ():
        for call in list(func.walk()):
            if isinstance(call, relax.CallTIROp):
                for parameter in by_name.get(call.callee_name, ()):
                    layouts.rewrite(call, parameter)
    return list(layouts.kernels.values())


class _Layouts:
    """Transforms arguments, and owns the kernels that do it at run time."""

    def __init__(self, module: ModuleOp):
        self.module = module
        self.taken = functions_by_name(module)
        self.kernels: dict[object, tir.PrimFuncOp] = {}

    def rewrite(self, call: relax.CallTIROp, parameter: MovedParameter) -> None:
        """Insert the transformation of an argument before a call."""
        old = call.args[parameter.position]
        op = self._transform(old, parameter)
        op.location = call.location
        assert call.parent is not None
        call.parent.insert_op_before(op, call)
        call.operands[parameter.position] = op.result
        if isinstance(old.owner, relax.ConstantOp) and old.first_use is None:
            Rewriter.erase_op(old.owner)

    def _transform(
        self, value: SSAValue, parameter: MovedParameter
    ) -> relax.ConstantOp | relax.CallTIROp:
        new, source = parameter.new, value.owner
        data = source.value.data if isinstance(source, relax.ConstantOp) else None
        if data is None or data.array is None or (new.known_bytes or 0) > LARGEST_FOLDED:
            type_ = relax.TensorType.of(new.dims, new.element_type)
            return relax.CallTIROp(self._kernel(parameter), [value], type_)
        return relax.ConstantOp(relax.TensorData.of(moved_array(data.array, parameter), data.dtype))

    def _kernel(self, parameter: MovedParameter) -> str:
        key = parameter.index_map.results, parameter.old, parameter.new
        if key not in self.kernels:
            kernel = layout_kernel(parameter, unique_name(KERNEL, self.taken))
            self.module.body.block.add_op(kernel)
            self.kernels[key] = self.taken[kernel.sym_name.data] = kernel
        return self.kernels[key].sym_name.data


def moved_array(array: NDArray[Any], parameter: MovedParameter) -> NDArray[Any]:
    """An array in the parameter's new layout, whose dims must be numbers; padding is zero."""
    made = np.zeros([d.constant or 0 for d in parameter.new.dims], array.dtype)
    grid: Any = np.ogrid[tuple(slice(n) for n in array.shape)]
    made[tuple(_value(e, grid) for e in parameter.index_map.results)] = array
    return made


def layout_kernel(parameter: MovedParameter, name: str) -> tir.PrimFuncOp:
    """The function that copies a buffer from the parameter's old layout to the new one."""
    old, new, index_map = parameter.old, parameter.new, parameter.index_map
    source = placeholder(shape_of(old.dims), old.dtype, name="W")
    result = moved(source, index_map, shape=new.dims)
    kernel = build_prim_func([source, result], name)
    kernel.attrs = DictionaryAttr({PRIVATE: UnitAttr(), "tir.noalias": IntegerAttr(1, i1)})
    return kernel


def _value(expr: IntExpr, indices: Any) -> Any:
    """The value of an index expression on arrays or tensor expressions."""
    return expr.evaluate(lambda atom: indices[cast(Any, atom).index])
