"""Functions of their own for what follows once a size is known that has no limit.

::

    relax.func @main(%x: …, %c: !relax.tensor<[1], i64>) -> !relax.tensor<rank 1, f32> {
      %s = relax.tensor_to_shape %c : … -> !relax.shape<rank 1>
      relax.match_cast %s : !relax.shape<rank 1> -> !relax.shape<[k]>
      %z = relax.zeros {shape = [k]} : !relax.tensor<[k], f32>
      relax.return %z : !relax.tensor<[k], f32>

⇒

    relax.func @main(%x: …, %c: !relax.tensor<[1], i64>) -> !relax.object {
      %s = relax.tensor_to_shape %c : … -> !relax.shape<rank 1>
      relax.match_cast %s : !relax.shape<rank 1> -> !relax.shape<[k]>
      %k = relax.prim_value : !relax.prim<i64, k>
      %0 = relax.call @main_sized(%k) : (!relax.prim<i64, k>) -> !relax.object
      relax.return %0 : !relax.object
    relax.func private @main_sized(%k: !relax.prim<i64, k>) -> !relax.object
        attributes {own_memory} {
      %z = relax.zeros {shape = [k]} : !relax.tensor<[k], f32>
      %0 = relax.call_pure_packed "vm.builtin.copy"(%z) : … -> !relax.object
      relax.return %0 : !relax.object

Memory of such a function is allocated when it is called. Results whose dims depend on the size are
objects of Python.
"""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, UnitAttr
from xdsl.ir import Block, Operation, Region
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ...dialects.nesting import enclosing
from ..functions import OWN_MEMORY, functions_by_name, graph_functions, has_own_memory, unique_name
from .convert_to_dataflow import group_pure, open_dataflow
from .lambda_lift import lift
from .unknown_tensors import as_objects, held


def outline_sizes(module: ModuleOp) -> None:
    """Outline what follows each size without a limit, in place.

    Raises Diagnostic with one line for such a size in a branch.
    """
    functions = functions_by_name(module)
    work = graph_functions(module)
    while work:
        func = work.pop()
        cast = next((op for op in func.walk() if _has_no_limit(op)), None)
        if cast is None or _is_outlined(cast, functions):
            continue
        name = unique_name(f"{func.sym_name.data}_sized", functions)
        functions[name] = rest = _outline(func, cast, name)
        work.append(rest)


def _has_no_limit(op: Operation) -> bool:
    """Whether an operation declares sizes that are read from a tensor, and have no limit."""
    if not isinstance(op, relax.MatchCastOp):
        return False
    shape = op.value.owner
    return isinstance(shape, relax.TensorToShapeOp) and shape.at_most is None


def _is_outlined(cast: Operation, functions: dict[str, Operation]) -> bool:
    """Whether a call of a function with its own memory follows the cast."""
    op = cast.next_op
    while op is not None:
        if isinstance(op, relax.CallOp) and has_own_memory(functions.get(op.callee_name)):
            return True
        op = op.next_op
    return False


def _outline(func: relax.FuncOp, cast: Operation, name: str) -> relax.FuncOp:
    if enclosing(cast, relax.IfOp) is not None:
        raise Diagnostic("expected a size in a branch to have a limit, got none", cast)
    around = cast.parent_op()
    is_dataflow = isinstance(around, relax.DataflowOp)
    if isinstance(around, relax.DataflowOp):
        open_dataflow(around)
    end = func.body.block.last_op
    assert isinstance(end, relax.func.ReturnOp)
    body, known = Block(), set(func.declared_symbols())
    while (op := cast.next_op) is not end:
        assert op is not None
        op.detach()
        body.add_op(op)
    _copy_constants(body)
    last = relax.func.ReturnOp(end.value)
    last.location = end.location
    body.add_op(last)
    wanted = held(end.value.type, known)
    last.operands[0] = as_objects(last.value, wanted, last)
    attrs = DictionaryAttr({OWN_MEMORY: UnitAttr()})
    local = relax.LocalFuncOp("sized", [], wanted, Region(body), func.impure is not None, attrs)
    call = relax.InvokeOp(local.result, [], wanted)
    local.location = call.location = cast.location
    Rewriter.insert_op([local, call], InsertPoint.after(cast))
    end.operands[0] = call.result
    func.result_type = wanted
    rest = lift(local, name)
    Rewriter.insert_op(rest, InsertPoint.after(func))
    if is_dataflow:
        group_pure(func.body.block)
        group_pure(rest.body.block)
    return rest


def _copy_constants(body: Block) -> None:
    """Give a block constants of its own, which passes know the values of."""
    copies: dict[Operation, relax.ConstantOp] = {}
    for op in list(body.walk()):
        for i, value in enumerate(op.operands):
            owner = value.owner
            if isinstance(owner, relax.ConstantOp) and owner.parent is not body:
                if owner not in copies:
                    copies[owner] = owner.clone()
                op.operands[i] = copies[owner].result
    if body.first_op is not None:
        body.insert_ops_before(list(copies.values()), body.first_op)
