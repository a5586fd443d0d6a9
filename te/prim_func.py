"""Tensor expressions become a `tir.prim_func` with one block for each definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import scf
from xdsl.dialects.builtin import DictionaryAttr, IndexType, IntegerAttr, StringAttr, i1
from xdsl.ir import Block, Region, SSAValue

from ..dialects import tir
from ..dialects.attributes import to_attribute
from ..dialects.dtypes import element_type
from ..dialects.int_expr import IntExpr, Sym
from ..dialects.parameters import value_hint
from ..dialects.tir.regions import infer_regions
from .arithmetic import cast, dim_expr
from .emit import Emitter
from .expr import Index, Load, PrimExpr, Reduce
from .extern import Extern, Scatter
from .intrinsics import if_then_else
from .tensor import Compute, IterVar, Tensor


def buffer_type(tensor: Tensor) -> tir.BufferType:
    """The buffer that holds a tensor."""
    return tir.BufferType.of([dim_expr(d) for d in tensor.shape], element_type(tensor.dtype))


def build_prim_func(tensors: Sequence[Tensor], name: str = "main") -> tir.PrimFuncOp:
    """The function whose parameters are `tensors`, inputs and outputs, in this order.

    Definitions between the tensors that are not in the list become scratch buffers. Symbols that
    no parameter has as a whole dim become `index` parameters at the end. Raises ValueError when an
    input is missing from the list.
    """
    params = list(tensors)
    _check_distinct(params)
    order = _definitions(params)
    scratch = [t for d in order for t in d.outputs if t not in params]
    names = _unique_names(params + scratch)
    symbols = _undetermined(params, order)
    block = Block(arg_types=[*(buffer_type(t) for t in params), *(IndexType() for _ in symbols)])
    emitter = Emitter(block)
    param_names = [names[t] for t in params] + symbols
    for arg, param_name in zip(block.args, param_names, strict=True):
        arg.name_hint = value_hint(param_name)
    emitter.buffers |= zip(params, block.args, strict=False)
    for tensor in scratch:
        alloc = tir.AllocBufferOp(buffer_type(tensor), names[tensor])
        alloc.result.name_hint = value_hint(names[tensor])
        emitter.buffers[tensor] = emitter.result(alloc)
    for definition in order:
        _emit_definition(emitter, definition)
    handles = [
        n if _is_static(t) else f"var_{n}" for t, n in zip(params, param_names, strict=False)
    ]
    attrs = DictionaryAttr({"global_symbol": StringAttr(name), "tir.noalias": IntegerAttr(1, i1)})
    return tir.PrimFuncOp(name, [*handles, *symbols], Region(block), attrs)


def _check_distinct(params: Sequence[Tensor]) -> None:
    for position, tensor in enumerate(params):
        if tensor in params[:position]:
            raise ValueError(f"expected distinct arguments, got '{tensor.name}' twice")


def _is_static(tensor: Tensor) -> bool:
    return all(isinstance(d, int) for d in tensor.shape)


def _definitions(params: Sequence[Tensor]) -> list[Compute]:
    order: dict[Compute, None] = {}
    visiting: list[tuple[Tensor, bool]] = [(t, False) for t in reversed(params)]
    while visiting:
        tensor, done = visiting.pop()
        if tensor.op is None:
            if tensor not in params:
                raise ValueError(
                    f"expected input '{tensor.name}' among the arguments of create_prim_func"
                )
        elif done:
            order[tensor.op] = None
        elif tensor.op not in order:
            visiting.append((tensor, True))
            visiting += [(t, False) for t in reversed(tensor.op.inputs())]
    return list(order)


def _unique_names(tensors: Sequence[Tensor]) -> dict[Tensor, str]:
    taken: set[str] = set()
    names: dict[Tensor, str] = {}
    for tensor in tensors:
        base = tensor.name.replace(".", "_")
        name, count = base, 0
        while name in taken:
            count += 1
            name = f"{base}_{count}"
        taken.add(name)
        names[tensor] = name
    return names


def _undetermined(params: Sequence[Tensor], order: Sequence[Compute]) -> list[str]:
    """Symbols of dims and elements that no parameter has as a whole dim."""
    used: dict[str, None] = {}
    tensors = [*params, *(t for d in order for t in d.outputs)]
    dims = [dim_expr(d) for t in tensors for d in t.shape]
    bodies = [b for d in order for b in d.bodies]
    for expr in (*dims, *(e for b in bodies for e in _indices(b))):
        used |= dict.fromkeys(sorted(expr.symbols()))
    atoms = [dim_expr(d).as_atom for t in params for d in t.shape]
    determined = {a.name for a in atoms if isinstance(a, Sym)}
    return [s for s in used if s not in determined]


def _indices(expr: PrimExpr) -> list[IntExpr]:
    """The integer expressions over symbols in an expression."""
    if isinstance(expr, Index):
        return [expr.expr]
    return [e for child in expr.children() for e in _indices(child)]


def _emit_definition(emitter: Emitter, definition: Compute) -> None:
    reductions = [b for b in definition.bodies if isinstance(b, Reduce)]
    reduce_axes: tuple[IterVar, ...] = reductions[0].axes if reductions else ()
    if isinstance(definition, Scatter):
        start = definition.start()
        emitter.buffers[start.outputs[0]] = emitter.buffers[definition.outputs[0]]
        _emit_definition(emitter, start)
    axes = (*definition.axes, *reduce_axes)
    outer = emitter.block
    loop_values: list[SSAValue] = []
    for axis in axes:
        body = Block(arg_types=[IndexType()])
        body.args[0].name_hint = value_hint(axis.name)
        start, extent = dim_expr(axis.start), dim_expr(axis.extent)
        loop = tir.ForOp(start, extent, [], Region(body))
        emitter.block.add_op(loop)
        emitter.block = body
        loop_values.append(body.args[0])
    emitter.block.add_op(_block(emitter, definition, axes, loop_values, bool(reductions)))
    emitter.block = outer


def _block(
    emitter: Emitter,
    definition: Compute,
    axes: Sequence[IterVar],
    loop_values: Sequence[SSAValue],
    is_reduction: bool,
) -> tir.BlockOp:
    body = Block(arg_types=[IndexType() for _ in axes])
    for axis, arg in zip(axes, body.args, strict=True):
        arg.name_hint = value_hint(f"v_{axis.name}")
        emitter.define(axis, arg)
    with emitter.inside(body):
        if is_reduction:
            _emit_reduction(emitter, definition)
        elif isinstance(definition, Scatter):
            _emit_update(emitter, definition)
        elif isinstance(definition, Extern):
            definition.emit(emitter)
        else:
            for tensor, expr in zip(definition.outputs, definition.bodies, strict=True):
                emitter.store(emitter.buffers[tensor], definition.axes, expr)
    reads, writes = infer_regions(body, emitter.values)
    bindings = [emitter.values.expr(v) for v in loop_values]
    block_axes = [
        tir.Axis(a.kind, dim_expr(a.start), dim_expr(a.extent), b)
        for a, b in zip(axes, bindings, strict=True)
    ]
    annotations = {k: to_attribute(v) for k, v in definition.attrs.items()}
    return tir.BlockOp.build_from(
        definition.name,
        block_axes,
        Region(body),
        emitter.values.list,
        (),
        reads,
        writes,
        DictionaryAttr(annotations) if annotations else None,
    )


def _emit_update(emitter: Emitter, definition: Scatter) -> None:
    (output,), (value,) = definition.outputs, definition.bodies
    condition, update = emitter.value(definition.condition), Block()
    with emitter.inside(update):
        emitter.store(emitter.buffers[output], definition.place, value)
        emitter.add(scf.YieldOp())
    emitter.add(scf.IfOp(condition, [], Region(update), Region()))


def _emit_reduction(emitter: Emitter, definition: Compute) -> None:
    first = _common_reduction(definition)
    elements: list[Any] = [Load(t, tuple(definition.axes), t.dtype) for t in definition.outputs]
    init = Block()
    with emitter.inside(init):
        for tensor, identity in zip(definition.outputs, first.identity, strict=True):
            emitter.store(emitter.buffers[tensor], definition.axes, identity)
    emitter.add(tir.InitOp(Region(init)))
    single = len(elements) == 1
    combined = first.combine(
        *((elements[0], first.source[0]) if single else (tuple(elements), first.source))
    )
    updates: Sequence[PrimExpr] = (combined,) if single else combined
    if first.condition is not None:
        updates = [
            if_then_else(first.condition, u, e) for u, e in zip(updates, elements, strict=True)
        ]
    values = [
        emitter.value(cast(t.dtype, u)) for t, u in zip(definition.outputs, updates, strict=True)
    ]
    for tensor, value in zip(definition.outputs, values, strict=True):
        indices = [emitter.index(a) for a in definition.axes]
        emitter.add(tir.StoreOp(value, emitter.buffers[tensor], indices, emitter.values.list))


def _common_reduction(definition: Compute) -> Reduce:
    """The one reduction that gives all outputs; raises TypeError where they are several."""
    first = definition.bodies[0]
    for position, body in enumerate(definition.bodies):
        if not isinstance(first, Reduce) or not isinstance(body, Reduce):
            raise TypeError(f"expected every output of '{definition.name}' to be a reduction")
        if body.source is not first.source or body.index != position:
            raise TypeError(f"expected the outputs of '{definition.name}' to be one reduction")
    assert isinstance(first, Reduce)
    if len(first.source) != len(definition.bodies):
        raise TypeError(
            f"expected {len(first.source)} outputs of '{definition.name}', "
            f"got {len(definition.bodies)}"
        )
    return first
