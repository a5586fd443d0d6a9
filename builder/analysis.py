"""Questions about graph functions and modules; TVM's ``relax.analysis``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Block, Operation, SSAValue

from ..dialects import relax
from ..dialects.diagnostics import Diagnostic
from ..dialects.relax.closure import effects
from ..dialects.tir import BufferType
from ..ir.base_function import BaseFunc
from ..ir.block_views import SBlock
from ..ir.blocks import (
    Binding,
    DataflowBlock,
    SeqExpr,
    binding,
    is_binding,
)
from ..ir.buffers import Buffer
from ..ir.callees import GlobalVar
from ..ir.expr import Expr, Var, view
from ..ir.function import Function
from ..ir.module import IRModule
from ..ir.prim_func import PrimFunc
from ..lowering.functions import call_graph, functions_by_name, recursive_groups
from ..lowering.graph.compile_time import CompileTime
from ..lowering.graph.dead_code import remove_all_unused as remove_from
from ..lowering.graph.reshape_pattern import is_reshape
from ..lowering.schedule.suggest_layouts import suggest_layouts
from ..tir.index_map import IndexMap
from .module import check
from .type_analysis import BaseCheckResult as BaseCheckResult
from .type_analysis import collect_non_negative_expressions as collect_non_negative_expressions
from .type_analysis import definable_tir_vars_in_struct_info as definable_tir_vars_in_struct_info
from .type_analysis import definable_tir_vars_in_type as definable_tir_vars_in_type
from .type_analysis import defined_symbolic_vars as defined_symbolic_vars
from .type_analysis import erase_to_well_defined as erase_to_well_defined
from .type_analysis import free_symbolic_vars as free_symbolic_vars
from .type_analysis import get_static_type as get_static_type
from .type_analysis import struct_info_base_check as struct_info_base_check
from .type_analysis import struct_info_lca as struct_info_lca
from .type_analysis import tir_vars_in_struct_info as tir_vars_in_struct_info
from .type_analysis import tir_vars_in_type as tir_vars_in_type
from .type_analysis import type_base_check as type_base_check
from .type_analysis import type_lca as type_lca

__script_path__ = "relax.analysis"


def remove_all_unused(func: Function | SeqExpr) -> Any:
    """A copy of a function, or of its body, without pure bindings that nothing depends on.

    Raises TypeError for anything but a graph function or its body.
    """
    block = func.block if isinstance(func, SeqExpr) else None
    around = None if block is None else block.parent_op()
    given = Function(around) if isinstance(around, relax.FuncOp) else func
    if not isinstance(given, Function):
        raise TypeError(f"expected a graph function or its body, got {type(func).__name__}")
    op = given.op.clone()
    assert isinstance(op, relax.FuncOp)
    remove_from(op)
    return Function(op).body if isinstance(func, SeqExpr) else Function(op)


def well_formed(
    obj: IRModule | BaseFunc, check_struct_info: bool = True, *, check_ty: bool = True
) -> bool:
    """Whether a module, with its calls, or a function verifies.

    Types are always checked: `check_struct_info` and `check_ty` are ignored.
    """
    module = obj if isinstance(obj, IRModule) else IRModule.from_expr(obj)
    try:
        check(module.op)
    except Diagnostic:
        return False
    return True


check_well_formed = well_formed


def computable_at_compile_time(func: Function) -> list[Var]:
    """The parameters after those that the attribute `num_input` counts, and what follows from them.

    Those are the variables that are known before the inputs of the function are, in order.
    """
    known = CompileTime.of(func.definition).values
    return [view(v) for v in known if isinstance(v.owner, Block) or is_binding(v.owner)]


def bindings_of(func: Function | SeqExpr) -> list[Binding]:
    """All bindings of a function or body, in order, those of dataflow blocks and branches too."""
    body = func if isinstance(func, SeqExpr) else func.body
    block = body.block
    if block is None:
        return [line for lines in body.blocks for line in lines.bindings]
    lines = [op for op in block.walk() if is_binding(op)]
    return [binding(op) for op in lines if not isinstance(op, relax.DataflowOp)]


def bound_vars(expr: Any) -> list[Var]:
    """The parameters of functions, and the variables of all bindings in a function or body."""
    if not isinstance(expr, Function | SeqExpr):
        return []
    params: list[Any] = [] if isinstance(expr, SeqExpr) else [*expr.params]
    block = _block(expr)
    inner = (
        [] if block is None else [op for op in block.walk() if isinstance(op, relax.LocalFuncOp)]
    )
    own: list[Any] = [view(p) for op in inner for p in op.params]
    return [*params, *own, *(b.var for b in bindings_of(expr))]


def all_vars(expr: Any) -> list[Var]:
    """Every variable of a function, body or expression, bound or free."""
    return list(dict.fromkeys([*bound_vars(expr), *free_vars(expr)]))


def used_vars(expr: Any) -> list[Var]:
    """The variables that a function, body or expression uses."""
    found: dict[Var, None] = {}
    block = _block(expr)
    if block is None:
        post_order_visit(expr, lambda e: found.setdefault(e) if isinstance(e, Var) else None)
        return list(found)
    used = [view(o) for op in block.walk() for o in op.operands]
    return list(dict.fromkeys(v for v in used if isinstance(v, Var)))


def _block(expr: Any) -> Block | None:
    """The operations of a function or of its body; `None` for other expressions."""
    if isinstance(expr, Function):
        expr = expr.body
    return expr.block if isinstance(expr, SeqExpr) else None


def free_vars(expr: Any) -> list[Var]:
    """The variables that a function, body or expression uses and does not define."""
    inside = set(bound_vars(expr))
    return [v for v in used_vars(expr) if v not in inside]


def name_to_binding(func: Function) -> dict[str, list[Binding]]:
    """The bindings by the names of their variables."""
    found: dict[str, list[Binding]] = {}
    for line in bindings_of(func):
        found.setdefault(line.var.name_hint, []).append(line)
    return found


def get_var2val(func: Function) -> dict[Var, Expr]:
    """What each variable of a function is bound to."""
    return {b.var: b.value for b in bindings_of(func)}


def udchain(block: DataflowBlock | Function) -> dict[Var, list[Var]]:
    """For each variable of a block or function the variables whose values use it."""
    lines = bindings_of(block) if isinstance(block, Function) else block.bindings
    users: dict[Var, list[Var]] = {}
    for line in lines:
        users.setdefault(line.var, [])
        owner = line.var.borrowed.owner
        for operand in owner.operands if isinstance(owner, Operation) else ():
            if isinstance(used := view(operand), Var):
                users.setdefault(used, []).append(line.var)
    return users


def all_global_vars(func: Function) -> list[GlobalVar]:
    """The functions of the module that a function calls."""
    calls = (o for o in func.op.walk() if isinstance(o, relax.SymbolCallOp | relax.LoopOp))
    names = [op.callee_name for op in calls]
    return [GlobalVar(name) for name in dict.fromkeys(names)]


called_global_vars = all_global_vars


def detect_recursion(mod: IRModule) -> list[list[GlobalVar]]:
    """The groups of graph functions that call one another in a cycle, or themselves."""
    calls = call_graph(functions_by_name(mod.op))
    return [[mod.get_global_var(n) for n in group] for group in recursive_groups(calls)]


def post_order_visit(expr: Any, visit: Callable[[Any], Any]) -> None:
    """Call `visit` on an expression, function or its body and all it is made of, parts first."""
    if isinstance(expr, Function | SeqExpr):
        for line in bindings_of(expr):
            post_order_visit(line.value, visit)
            visit(line.var)
        visit(expr)
        return
    owner = expr.borrowed.owner
    if not isinstance(expr, Var) and isinstance(owner, Operation):
        for operand in owner.operands:
            post_order_visit(view(operand), visit)
    visit(expr)


def has_reshape_pattern(func: PrimFunc) -> bool:
    """Whether a kernel only gives its input another shape, as far as that can be proved."""
    return is_reshape(func.prim_func)


def suggest_layout_transforms(
    func: PrimFunc, write_buffer_transforms: Sequence[IndexMap | Callable[..., Any]]
) -> dict[SBlock, dict[SBlock | Buffer, IndexMap]]:
    """The maps of blocks and of what they read that follow from maps of the last parameters.

    For each block there is the map of its axes, for `Schedule.transform_block_layout`, and those of
    buffers, for `transform_layout`. Blocks with other than affine accesses have none. Raises
    Diagnostic for more maps than parameters, and for a map of another number of indices than the
    parameter has.
    """
    op = func.prim_func
    params = op.params[max(0, len(op.params) - len(write_buffer_transforms)) :]
    if len(params) < len(write_buffer_transforms):
        raise Diagnostic(
            f"Incompatible PrimFunc and write_transformations: expected at most {len(params)} "
            f"maps for '{func.name}', got {len(write_buffer_transforms)}"
        )
    outputs: dict[SSAValue, Any] = {}
    for param, given in zip(params, write_buffer_transforms, strict=True):
        found = given if isinstance(given, IndexMap) else IndexMap.from_func(given)
        rank = param.type.rank if isinstance(param.type, BufferType) else 0
        if len(found.map.names) != rank:
            raise Diagnostic(
                f"Mismatch between output buffer shape and index map: expected a map of {rank} "
                f"indices for '{param.name_hint}', got {found.map}"
            )
        outputs[param] = found.map
    return {
        SBlock(block): {SBlock(block): IndexMap(axes)}
        | {Buffer(b): IndexMap(m) for b, m in buffers.items()}
        for block, (axes, buffers) in suggest_layouts(op, outputs).items()
    }


def contains_impure_call(func: Function | SeqExpr, own_name: GlobalVar | None = None) -> bool:
    """Whether a function or body has effects: it prints, asserts, or calls what is not pure.

    Calls of `own_name` do not count, nor do functions inside that are only defined.
    """
    block = _block(func)
    if block is not None:
        operations = list(block.ops)
    else:
        owners = [line.value.borrowed.owner for line in bindings_of(func)]
        operations = [o for o in owners if isinstance(o, Operation)]
    own = None if own_name is None else own_name.name_hint
    return any(
        not (isinstance(op, relax.CallOp) and own is not None and op.callee_name == own)
        for op in effects(operations)
    )
