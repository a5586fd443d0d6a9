"""`te.extern_primfunc`: the body of a PrimFunc as the definition of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.ir import SSAValue

from ..dialects.dtypes import element_type
from ..dialects.sym import Values
from ..dialects.tir import BufferType, PrimFuncOp
from ..dialects.tir.regions import accesses_in, root_buffer
from ..te.arithmetic import dim_expr
from ..te.extern import KernelCall
from ..te.tag import joined
from ..te.tensor import Tensor, shape_of
from .buffers import Buffer
from .prim_func import PrimFunc


def extern_primfunc(
    input_tensors: Sequence[Tensor],
    primfunc: PrimFunc,
    *,
    name: str = "extern",
    tag: str = "",
) -> Any:
    """The tensors that a PrimFunc only writes, computed by its body; a list if there are several.

    The inputs stand for the parameters that it reads, in order, also those that it updates in
    place. If it updates all that it writes, the last of these parameters is the output. TVM's
    ``te.extern_primfunc``. Raises ValueError for inputs that do not have the shapes and dtypes of
    the parameters, and for a PrimFunc with scalars or symbols, and TypeError for anything else.
    """
    func = getattr(primfunc, "op", None)
    if not isinstance(func, PrimFuncOp):
        raise TypeError(f"expected a PrimFunc for '{name}', got {type(primfunc).__name__}")
    (inputs, outputs), tensors = _roles(func), list(input_tensors)
    if len(inputs) != len(tensors):
        raise ValueError(f"expected {len(inputs)} inputs of '{name}', got {len(tensors)}")
    given = dict(zip(inputs, tensors, strict=True))
    for param, tensor in given.items():
        dims = [dim_expr(d) for d in tensor.shape]
        if (own := BufferType.of(dims, element_type(tensor.dtype))) != param.type:
            shown = Buffer(param).name
            raise ValueError(f"expected '{shown}' of '{name}' to be {param.type}, got {own}")
    call = KernelCall(name, (), (), tag=joined(tag), sources=tuple(tensors), kernel=func)
    for position, param in enumerate(outputs):
        type_ = cast(BufferType, param.type)
        title = f"{name}.v{position}" if len(outputs) > 1 else name
        given[param] = Tensor(title, shape_of(type_.dims), type_.dtype, call, position)
    call.outputs = tuple(given[p] for p in outputs)
    call.buffers = tuple(given[p] for p in func.params)
    call.input_placeholders = tuple(map(Buffer, inputs))
    call.output_placeholders = tuple(map(Buffer, outputs))
    return call.outputs[0] if len(outputs) == 1 else list(call.outputs)


def _roles(func: PrimFuncOp) -> tuple[list[SSAValue], list[SSAValue]]:
    """The parameters that stand for inputs, and those for outputs."""
    accesses = accesses_in(func.body.block, Values())
    read, written = (
        {root_buffer(a.region.buffer) for a in accesses if a.is_store == is_store}
        for is_store in (False, True)
    )
    params: list[SSAValue] = list(func.params)
    if func.declared_symbols() or not {*params} <= read | written:
        raise ValueError(
            f"expected '{func.sym_name.data}' to have buffers of constant shapes alone, "
            f"each of which it reads or writes"
        )
    inputs, outputs = [p for p in params if p in read], [p for p in params if p not in read]
    updated = [p for p in inputs if p in written]
    if not outputs and updated:
        outputs = [updated[-1]]
        inputs.remove(updated[-1])
    if not inputs or not outputs:
        raise ValueError(f"expected '{func.sym_name.data}' to have an input and an output")
    return inputs, outputs
