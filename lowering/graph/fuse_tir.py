"""`fuse-tir`: replace graph functions with the attribute ``Primitive`` by fused PrimFuncs.

::

    %z = relax.call @fused_add_relu(%x, %y) : …
    relax.func private @fused_add_relu(%x: …, %y: …) -> … attributes {Primitive = true} {
      … relax.call_tir @add(%x, %y) … relax.call_tir @relu … }

⇒

::

    %z = relax.call_tir @fused_add_relu(%x, %y) : …
    tir.prim_func @fused_add_relu(%x: …, %y: …, %z: …) attributes {private} {
      … tir.store max(x + y, 0) … }

Scratch buffers between the calls are inlined if that is profitable; the default schedule merges the
remaining nests. Results in bf16 and f16 that a kernel computes and uses are not rounded in between,
unless an operation only converts a value. With ``inline=false``, as in TVM and with
``relax.transform.FuseTIR()``, the bodies are unchanged, and a build runs `inline-producers`.

A primitive function with other operations than calls of PrimFuncs is not changed. If calls change
one of its parameters, the fused PrimFunc changes it too; its callers must not use that tensor
elsewhere. Private functions that lose their last call are erased. TVM's ``FuseTIR``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects import relax
from ...dialects.nesting import operations_in
from ...dialects.sym import expr_array
from ..functions import call_graph, functions_by_name, graph_functions, is_private
from ..schedule.blocks import IS_SCHEDULED
from ..schedule.inline_producers import inline_producers
from ..verify_calls import unify_call
from .fuse_ops import is_primitive
from .fusion_kernel import FusedKernel, NotAKernel, fused_kernel
from .values import tuple_fields
from .widen_arithmetic import widen_arithmetic


def fuse_tir(module: ModuleOp, inline: bool = True) -> None:
    """Replace every primitive graph function by a PrimFunc, in place; perhaps inline its blocks."""
    functions = functions_by_name(module)
    before = set(chain.from_iterable(call_graph(functions).values()))
    made: dict[str, FusedKernel] = {}
    for func in graph_functions(module):
        if is_primitive(func):
            try:
                made[func.sym_name.data] = fused_kernel(func, functions)
            except NotAKernel:
                continue
    callers = graph_functions(module)
    calls = [op for f in callers for op in operations_in(f) if isinstance(op, relax.CallOp)]
    for call in calls:
        if call.callee_name in made and _changes_others(call, made[call.callee_name]):
            del made[call.callee_name]
    for call in calls:
        if call.callee_name in made:
            _call_kernel(call, made[call.callee_name], functions)
    for name, kernel in made.items():
        if inline and kernel.func.attr(IS_SCHEDULED) is None:
            widen_arithmetic(kernel.func)
            inline_producers(kernel.func, drops_roundings=True)
        Rewriter.replace_op(functions[name], kernel.func, [])
    _remove_unused(module, before)


def _changes_others(call: relax.CallOp, kernel: FusedKernel) -> bool:
    """Whether a kernel would change a tensor of a call that is a constant, or used elsewhere."""
    given = [a for a in call.args if not isinstance(a.type, relax.ShapeType)]
    if kernel.changed and any(isinstance(a.type, TupleType) for a in given):
        return True
    changed = [given[position] for position in kernel.changed]
    return any(isinstance(a.owner, relax.ConstantOp) or not a.has_one_use() for a in changed)


def _call_kernel(call: relax.CallOp, kernel: FusedKernel, functions: dict[str, Operation]) -> None:
    unified = unify_call(call, functions)
    assert unified is not None
    new: list[Operation] = []
    args: list[SSAValue] = []
    for arg in call.args:
        if not isinstance(arg.type, relax.ShapeType):
            args += tuple_fields(arg, new)
    args = [a for position, a in enumerate(args) if position not in kernel.unused]
    for constant in kernel.constants:
        copy = constant.clone()
        new.append(copy)
        args.append(copy.result)
    indices = [unified.symbols[s] for s in kernel.indices]
    tir_vars = expr_array(indices) if indices else None
    name, type_ = call.callee_name, call.result.type
    result = (
        relax.CallTIRInplaceOp(name, args, kernel.inplace, type_, tir_vars)
        if kernel.changed
        else relax.CallTIROp(name, args, type_, tir_vars)
    )
    result.location = call.location
    result.result.name_hint = call.result.name_hint
    shapes = [a.owner for a in call.args if isinstance(a.owner, relax.ShapeOp)]
    Rewriter.replace_op(call, [*new, result], [result.result])
    for op in [*shapes, *reversed(new)]:
        if op.results[0].first_use is None:
            op.detach()
            op.erase()


def _remove_unused(module: ModuleOp, before: set[str]) -> None:
    """Erase private functions that were called and no longer are, callers before callees."""
    functions = functions_by_name(module)
    calls = call_graph(functions)
    remaining = Counter(chain.from_iterable(calls.values()))
    work = [name for name in before if not remaining[name]]
    while work:
        func = functions.get(name := work.pop())
        if func is None or remaining[name] or not is_private(func):
            continue
        for callee in calls[name]:
            remaining[callee] -= 1
            work.append(callee)
        del functions[name]
        func.detach()
        func.erase()


@dataclass(frozen=True)
class FuseTIRPass(ModulePass):
    """Replace every graph function with the attribute ``Primitive`` by one PrimFunc.

    Without `inline` the bodies of the calls follow one another, unchanged.
    """

    name = "fuse-tir"
    inline: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fuse_tir(op, self.inline)
