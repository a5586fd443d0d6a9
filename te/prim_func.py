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
from ..dialects.int_expr import ZERO, Atom, IntExpr, Sym
from ..dialects.parameters import value_hint
from ..dialects.tir.func import LAYOUT_FREE, LAYOUT_FREE_INPUTS
from ..dialects.tir.regions import infer_regions
from ..lowering.functions import unique_name
from ..lowering.scalar_builder import ssa_type
from .arithmetic import cast, dim_expr, symbol
from .axes import IterVar
from .emit import Emitter
from .expr import Index, Let, Load, PrimExpr, Reduce, Var
from .extern import Extern, KernelCall, Scatter
from .intrinsics import if_then_else
from .scan import ScanOp
from .tensor import Compute, Tensor


def buffer_type(tensor: Tensor) -> tir.BufferType:
    """The buffer that holds a tensor."""
    return tir.BufferType.of([dim_expr(d) for d in tensor.shape], element_type(tensor.dtype))


def build_prim_func(
    args: Sequence[Tensor | PrimExpr], name: str = "main", outputs: int = 0
) -> tir.PrimFuncOp:
    """The function whose parameters are `args`, inputs and outputs, in this order.

    These are tensors, and variables of scalars. Definitions between the tensors that are not in
    the list become scratch buffers. Symbols that no parameter is or has as a whole dim become
    `index` parameters before the last `outputs` arguments. Raises ValueError when an input is
    missing from the list, and for an argument that is there twice.
    """
    params = [a for a in args if isinstance(a, Tensor)]
    given = [_symbol_of(a) for a in args if isinstance(a, Index)]
    _check_distinct([_symbol_of(a) if isinstance(a, Index) else a for a in args])
    order = _definitions(params)
    scratch = [t for d in order for t in d.outputs if t not in params]
    symbols = [s for s in _undetermined(params, order) if s not in given]
    first = len(args) - outputs
    every = [*args[:first], *(symbol(s) for s in symbols), *args[first:]]
    names = _unique_names(params + scratch, {str(a) for a in every if not isinstance(a, Tensor)})
    block = Block(arg_types=[_parameter_type(a) for a in every])
    emitter = Emitter(block)
    param_names = [names[a] if isinstance(a, Tensor) else str(a) for a in every]
    for param, arg, param_name in zip(every, block.args, param_names, strict=True):
        arg.name_hint = value_hint(param_name)
        if isinstance(param, Tensor):
            emitter.buffers[param] = arg
        elif isinstance(param, Var):
            emitter.define(param, arg)
    for tensor in scratch:
        alloc = tir.AllocBufferOp(buffer_type(tensor), names[tensor])
        alloc.result.name_hint = value_hint(names[tensor])
        emitter.buffers[tensor] = emitter.result(alloc)
    for definition in order:
        _emit_definition(emitter, definition)
    handles = [
        n if not isinstance(a, Tensor) or _is_static(a) else f"var_{n}"
        for a, n in zip(every, param_names, strict=True)
    ]
    data: dict[str, Any] = {"global_symbol": StringAttr(name), "tir.noalias": IntegerAttr(1, i1)}
    free = [t for d in order for t in d.attrs.get(LAYOUT_FREE_INPUTS, ())]
    if any(t in params for t in free):
        places = [i for i, a in enumerate(every) if isinstance(a, Tensor) and a in free]
        data[LAYOUT_FREE] = to_attribute(places)
    _name_blocks(block)
    return tir.PrimFuncOp(name, handles, Region(block), DictionaryAttr(data))


def _name_blocks(body: Block) -> None:
    """Give each block a name of its own, so that a schedule can look it up."""
    taken: set[str] = set()
    for op in body.walk():
        if isinstance(op, tir.BlockOp):
            op.block_name = StringAttr(unique_name(op.block_name.data, taken))
            taken.add(op.block_name.data)


def _parameter_type(arg: Tensor | PrimExpr) -> Any:
    """The type of a parameter; raises TypeError for what is neither a tensor nor a variable."""
    if isinstance(arg, Tensor):
        return buffer_type(arg)
    if isinstance(arg, Index):
        return IndexType()
    if isinstance(arg, Var):
        return ssa_type(arg.dtype)
    raise TypeError(f"expected a tensor or a variable, got {type(arg).__name__}")


def _symbol_of(arg: Index) -> str:
    atom = arg.expr.as_atom
    if not isinstance(atom, Sym):
        raise TypeError(f"expected a tensor or a variable, got {arg}")
    return atom.name


def _check_distinct(params: Sequence[Any]) -> None:
    for position, param in enumerate(params):
        if any(param is p or (isinstance(p, str) and p == param) for p in params[:position]):
            raise ValueError(
                f"expected distinct arguments, got '{getattr(param, 'name', param)}' twice"
            )


def _is_static(tensor: Tensor) -> bool:
    return all(isinstance(d, int) for d in tensor.shape)


def _definitions(params: Sequence[Tensor]) -> list[Compute]:
    order: dict[Compute, None] = {}
    visiting: list[tuple[Tensor, bool]] = [(t, False) for t in reversed(params)]
    while visiting:
        tensor, done = visiting.pop()
        if not isinstance(tensor.op, Compute):
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


def _unique_names(tensors: Sequence[Tensor], taken: set[str]) -> dict[Tensor, str]:
    """Names of buffers that are none of those taken, which these are then, too."""
    names: dict[Tensor, str] = {}
    for tensor in tensors:
        names[tensor] = unique_name(tensor.name.replace(".", "_"), taken)
        taken.add(names[tensor])
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
    if isinstance(expr, Let) and isinstance(expr.var, Index):  # a symbol in the body alone
        own: dict[Atom, IntExpr] = {atom: ZERO for atom in expr.var.expr.all_atoms}
        return [*_indices(expr.value), *(e.substitute(own) for e in _indices(expr.body))]
    return [e for child in expr.children() for e in _indices(child)]


def _emit_definition(emitter: Emitter, definition: Compute) -> None:
    if isinstance(definition, KernelCall):
        definition.emit(emitter)
        return
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
    if isinstance(definition, ScanOp):
        for axis, number in definition.aliases:
            emitter.define(axis, body.args[number])
        for state, output in zip(definition.states, definition.outputs, strict=True):
            emitter.buffers[state] = emitter.buffers[output]
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
    if not axes and not isinstance(definition, Extern):
        block_axes = [_unit_axis(body)]
    annotations = {
        k: to_attribute(v) for k, v in definition.attrs.items() if k != LAYOUT_FREE_INPUTS
    }
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


def _unit_axis(body: Block) -> tir.Axis:
    """The axis of the block of one element, as in TVM; that of statements has none."""
    body.insert_arg(IndexType(), 0).name_hint = "vi"
    return tir.Axis("spatial", IntExpr.of(0), IntExpr.of(1), IntExpr.of(0))


def _emit_update(emitter: Emitter, definition: Scatter) -> None:
    (output,), (value,) = definition.outputs, definition.bodies
    condition, update = emitter.value(definition.condition), Block()
    with emitter.inside(update):
        emitter.store(emitter.buffers[output], definition.place, value)
        emitter.add(scf.YieldOp())
    emitter.add(scf.IfOp(condition, [], Region(update), Region()))


def _emit_reduction(emitter: Emitter, definition: Compute) -> None:
    first = definition.bodies[0]
    assert isinstance(first, Reduce)
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
