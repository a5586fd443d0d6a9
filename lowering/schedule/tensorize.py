"""`tensorize`: replace the body of a block by the implementation of a tensor intrinsic.

::

    block "Y_o" (v = i):                                block "Y_o" (v = i):
      for j in (0, 16):                          ⇒        X_1 = match_buffer X[v * 16]
        block "Y": Y[v * 16 + j] = X[v * 16 + j]          Y_1 = match_buffer Y[v * 16]
                                                          call_extern "copy16"(Y_1, X_1)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import SSAValue

from ...dialects import tir
from ...dialects.int_expr import ONE, IntExpr, Sym
from ...dialects.nesting import operations_in
from ...dialects.tir.regions import EXPLICIT
from ...dialects.tir.verify_access import buffer_text
from ..substitute import substitute_symbols
from .annotations import annotate
from .blockize import blockize
from .blocks import ScheduleError, function_of
from .match_nest import Box, Matcher, Mismatch
from .regions import refresh_around

INTRINSICS: dict[str, tuple[tir.PrimFuncOp, tir.PrimFuncOp]] = {}
"""Descriptions and implementations by the names that users registered."""


def tensorize(
    target: tir.BlockOp | tir.ForOp,
    description: tir.PrimFuncOp,
    implementation: tir.PrimFuncOp,
    name: str,
    preserve_unit_iters: bool = True,
) -> tir.BlockOp:
    """Replace a block's body, or a loop, which becomes a block, by an implementation.

    The body must match `description` on regions of its buffers, which are passed to
    `implementation`. TVM's ``tensorize``. Symbols that are strides of the implementation's
    parameters get those of the buffers, and the block gets the annotations of its root block.
    Returns the block. Raises ScheduleError if they differ.
    """
    if isinstance(target, tir.ForOp):
        _prepare(blockize(_copy_of(target), preserve_unit_iters), description, implementation, name)
        target = blockize(target, preserve_unit_iters)
    matcher, body = _prepare(target, description, implementation, name)
    _replace_body(target, description, body, matcher)
    return target


def _copy_of(loop: tir.ForOp) -> tir.ForOp:
    """The loop in a copy of its function, for a trial."""
    func = function_of(loop)
    place = list(operations_in(func)).index(loop)
    copy = list(operations_in(func.clone()))[place]
    assert isinstance(copy, tir.ForOp)
    return copy


def _prepare(
    block: tir.BlockOp, description: tir.PrimFuncOp, implementation: tir.PrimFuncOp, name: str
) -> tuple[Matcher, tir.PrimFuncOp]:
    """The boxes of buffers that match, and the implementation for their strides."""
    matcher = Matcher()
    try:
        matcher.match(description, block)
        strides: dict[str, IntExpr] = {}
        for given, param in zip(description.params, implementation.params, strict=True):
            _bind_strides(param, matcher.boxes[given], implementation, strides)
    except Mismatch as error:
        raise ScheduleError(
            f"expected block '{block.block_name.data}' to be what intrinsic '{name}' describes: "
            f"{error}",
            block,
        ) from None
    body = implementation.clone()
    substitute_symbols(body, strides)
    _fold_strides(body)
    return matcher, body


def _fold_strides(body: tir.PrimFuncOp) -> None:
    """Replace strides that have become constant by constants."""
    for op in list(operations_in(body)):
        if not isinstance(op, arith.IndexCastOp) or not isinstance(op.input.owner, tir.ApplyOp):
            continue
        number = op.input.owner.expr.data.constant
        if number is not None and isinstance(op.result.type, IntegerType) and op.parent is not None:
            constant = arith.ConstantOp(IntegerAttr(number, op.result.type))
            op.parent.insert_op_before(constant, op)
            op.result.replace_all_uses_with(constant.result)
            op.detach()
            op.erase()


def _bind_strides(
    param: SSAValue, box: Box, implementation: tir.PrimFuncOp, strides: dict[str, IntExpr]
) -> None:
    """The values of symbols in the strides of a parameter; raises Mismatch for other strides."""
    type_, source = cast(tir.BufferType, param.type), cast(tir.BufferType, box.buffer.type)
    found = source.element_strides()[source.rank - type_.rank :]
    if not type_.has_strides and not _is_passed(param):
        return
    for wanted, got, dim in zip(type_.element_strides(), found, type_.dims, strict=True):
        atom = wanted.as_atom
        if isinstance(atom, Sym) and atom.name in implementation.matched_symbols():
            wanted = strides.setdefault(atom.name, got)
        if wanted != got and dim != ONE:
            raise Mismatch(
                f"expected {buffer_text(box.buffer)} to have the stride {wanted}, got {got}"
            )


def _is_passed(param: SSAValue) -> bool:
    """Whether a parameter is passed to a call, which then uses its strides."""
    return any(isinstance(use.operation, tir.OpaqueCallOp) for use in param.uses)


def _replace_body(
    block: tir.BlockOp, description: tir.PrimFuncOp, body: tir.PrimFuncOp, matcher: Matcher
) -> None:
    for op in list(block.body.block.ops)[::-1]:
        op.detach()
        op.erase()
    for given, param in zip(description.params, list(body.params), strict=True):
        view = _view(param, matcher.boxes[given], matcher.values.list)
        block.body.block.add_op(view)
        param.replace_all_uses_with(view.result)
    root, outer = _root_of(body), list(body.body.block.ops)
    inner = [] if root is None else list(root.body.block.ops)
    for op in [*(op for op in outer if op is not root), *inner]:
        op.detach()
        block.body.block.add_op(op)
    if root is not None and root.annotations is not None:
        for key, value in root.annotations.data.items():
            if key not in EXPLICIT.values():
                annotate(block, key, value)
    refresh_around([block])


def _root_of(func: tir.PrimFuncOp) -> tir.BlockOp | None:
    """The block that only holds the statements of a function, if there is one."""
    rest = [op for op in func.body.block.ops if not isinstance(op, tir.AllocBufferOp)]
    match rest:
        case [tir.BlockOp() as root] if not (root.axes.data or root.predicates.data or root.init):
            return root
        case _:
            return None


def _view(param: SSAValue, box: Box, values: Sequence[SSAValue]) -> tir.MatchBufferOp:
    type_, source = cast(tir.BufferType, param.type), cast(tir.BufferType, box.buffer.type)
    strides = source.element_strides()[source.rank - type_.rank :]
    own = tir.BufferType.of(type_.dims, type_.element_type, strides, scope=source.scope.data)
    view = tir.MatchBufferOp(box.buffer, box.starts, values, own)
    view.result.name_hint = param.name_hint
    return view
