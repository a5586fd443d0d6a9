"""`split-layout-rewrite-preproc`: kernels that first lay out a weight anew become two kernels.

::

    tir.prim_func @f(%X, %W, %Y) attributes {private} {
      %V = tir.alloc_buffer : …
      … block "V": V[j, i] = W[i, j]              {"meta_schedule.layout_rewrite_preproc" = true}
      … block "Y": Y[i, j] = X[i, j] + V[j, i]
    }
    %y = relax.call_tir @f(%x, %w) : …

⇒

    tir.prim_func @f_weight_prepack(%W, %V) attributes {private} { … V[j, i] = W[i, j] }
    tir.prim_func @f_prepacked(%X, %V, %Y) attributes {private} { … Y[i, j] = X[i, j] + V[j, i] }
    %v = relax.call_tir @f_weight_prepack(%w) : …
    %y = relax.call_tir @f_prepacked(%x, %v) : …

After that `lift-transform-params` and `fold-constant` can lay out the weight once. TVM's
``SplitLayoutRewritePreproc``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, TupleType
from xdsl.ir import Block, BlockArgument, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects import relax, tir
from ...dialects.nesting import ancestors, operations_in
from ...dialects.tir.func import LAYOUT_FREE, symbols_of
from ..functions import functions_by_name, is_private, unique_name
from ..schedule.annotations import unannotate
from ..schedule.blocks import loaded_buffers, statements, stored_buffers, uses_of
from ..schedule.navigate import drop_plain_root
from ..schedule.regions import refresh_around
from .attach_layout_free_buffers import calls_by_callee

PREPROC = "meta_schedule.layout_rewrite_preproc"
"""The annotation of blocks that copy a parameter to a buffer in another layout."""


@dataclass(frozen=True)
class _Rewrite:
    """The statement of a kernel that copies a parameter to a scratch buffer of another layout."""

    statement: Operation
    source: BlockArgument
    target: tir.AllocBufferOp

    @property
    def target_type(self) -> tir.BufferType:
        """The type of the scratch buffer."""
        return self.target.result.type


def split_layout_rewrites(module: ModuleOp) -> None:
    """Split private kernels with marked blocks, and their calls, in place."""
    functions = functions_by_name(module)
    inner = {op.callee_name for op in module.walk() if isinstance(op, tir.CallOp)}
    for name, calls in calls_by_callee(module).items():
        func = functions.get(name)
        if not isinstance(func, tir.PrimFuncOp) or not is_private(func) or name in inner:
            continue
        found = _rewrites(func)
        inputs = min(len(call.args) for call in calls)
        if found and inputs > found[-1].source.index and all(c.te_grad_name is None for c in calls):
            names = [unique_name(f"{name}_{n}", functions) for n in ("weight_prepack", "prepacked")]
            made = [_prepack(func, names[0]), _prepacked(func, names[1])]
            functions |= dict(zip(names, made, strict=True))
            for call in calls:
                _split_call(call, found, names)
            Rewriter.replace_op(func, made, [])


def _rewrites(func: tir.PrimFuncOp) -> list[_Rewrite]:
    """What copies marked blocks make, by the positions of the parameters."""
    found = [r for op in statements(func).ops if (r := _rewrite_of(op, func)) is not None]
    return sorted(found, key=lambda r: r.source.index)


def _rewrite_of(statement: Operation, func: tir.PrimFuncOp) -> _Rewrite | None:
    """The copy of a statement, if nothing else of the function uses what it reads."""
    read, written = loaded_buffers(statement), stored_buffers(statement)
    if not list(_marked(statement)) or len(read) != 1 or len(written) != 1:
        return None
    (source,), (target,) = read, written
    if not isinstance(source, BlockArgument) or source.owner is not func.body.block:
        return None
    if not isinstance(target.owner, tir.AllocBufferOp):
        return None
    own, inside = uses_of(source), set(operations_in(statement))
    users = [*own.loads, *own.stores, *own.others, *uses_of(target).stores]
    values = {v for op in inside for v in op.operands} - {source, target}
    owners = {v.owner.parent_op() if isinstance(v.owner, Block) else v.owner for v in values}
    types = source.type, target.type
    if not all(isinstance(t, tir.BufferType) and _is_plain(t) for t in types):
        return None
    if not inside.issuperset([*users, *owners]) or any(map(symbols_of, inside)):
        return None
    return _Rewrite(statement, source, target.owner)


def _marked(statement: Operation) -> Iterator[tir.BlockOp]:
    for op in operations_in(statement):
        if isinstance(op, tir.BlockOp) and op.annotations is not None:
            if PREPROC in op.annotations.data:
                yield op


def _is_plain(type_: tir.BufferType) -> bool:
    """Whether a tensor of the graph, whose dims are numbers, can be a buffer."""
    is_static = all(dim.is_constant for dim in type_.dims)
    return is_static and type_.is_dense and type_.scope.data == "global"


def _prepack(func: tir.PrimFuncOp, name: str) -> tir.PrimFuncOp:
    """The kernel that only copies the weights."""
    new = _renamed(func, name)
    found = _rewrites(new)
    kept = {op for r in found for op in (r.statement, r.target)}
    for op in [*statements(new).ops, *new.body.block.ops][::-1]:
        if op not in kept and not any(op in ancestors(k) for k in kept) and op.parent is not None:
            op.detach()
            op.erase()
    sources = {r.source for r in found}
    for rewrite in found:
        for block in list(_marked(rewrite.statement)):
            unannotate(block, PREPROC)
        _pass_target(new, rewrite, len(new.params))
    _refresh_root(new)
    last = len(new.params) - len(found)
    new.erase_params({p.index for p in new.params[:last] if p not in sources})
    return new


def _prepacked(func: tir.PrimFuncOp, name: str) -> tir.PrimFuncOp:
    """The kernel that gets the weights in their new layouts."""
    new = _renamed(func, name)
    for rewrite in _rewrites(new):
        place = rewrite.source.index
        _pass_target(new, rewrite, place)
        rewrite.statement.detach()
        rewrite.statement.erase()
        _refresh_root(new)
        new.erase_params({place + 1})
    return new


def _renamed(func: tir.PrimFuncOp, name: str) -> tir.PrimFuncOp:
    new = func.clone()
    drop_plain_root(new)
    new.sym_name = StringAttr(name)
    new.set_attr(LAYOUT_FREE, None)
    return new


def _pass_target(func: tir.PrimFuncOp, rewrite: _Rewrite, place: int) -> None:
    """Let the scratch buffer be a parameter."""
    old = rewrite.target.result
    name = unique_name(old.name_hint or "weight", func.names)
    old.replace_all_uses_with(func.insert_param(place, name, old.type))
    rewrite.target.detach()
    rewrite.target.erase()


def _refresh_root(func: tir.PrimFuncOp) -> None:
    """Infer the regions again that a block around all statements declares."""
    root = statements(func).parent_op()
    if isinstance(root, tir.BlockOp):
        refresh_around([root])


def _split_call(call: relax.CallTIROp, rewrites: Sequence[_Rewrite], names: Sequence[str]) -> None:
    """Call the kernel that copies the weights first."""
    types = [relax.TensorType.of(t.dims, t.element_type) for t in (r.target_type for r in rewrites)]
    weights = [call.args[r.source.index] for r in rewrites]
    pack = relax.CallTIROp(names[0], weights, types[0] if len(types) == 1 else TupleType((*types,)))
    fields: list[Operation] = []
    packed = [pack.result]
    if len(types) > 1:
        fields = [relax.TupleGetItemOp(pack.result, i) for i in range(len(types))]
        packed = [field.results[0] for field in fields]
    args = list(call.args)
    for rewrite, value in zip(rewrites, packed, strict=True):
        args[rewrite.source.index] = value
    new = relax.CallTIROp(names[1], args, call.result.type, call.tir_vars)
    made: list[Operation] = [pack, *fields, new]
    for op in made:
        op.location = call.location
    name = call.result.name_hint
    Rewriter.replace_op(call, made, [new.result])
    pack.result.name_hint, new.result.name_hint = None, name


@dataclass(frozen=True)
class SplitLayoutRewritePreprocPass(ModulePass):
    """Copies of weights to other layouts, in kernels, become kernels of their own."""

    name = "split-layout-rewrite-preproc"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        split_layout_rewrites(op)
