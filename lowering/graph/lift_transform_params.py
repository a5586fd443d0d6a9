"""`lift-transform-params`: move what depends on parameters alone to a function of its own.

::

    relax.func @main(%x, %w) attributes {num_input = 1 : i64} {
      %0 = relax.permute_dims %w : …
      %1 = relax.matmul %x, %0 : …

⇒

::

    relax.func @main(%x, %0) attributes {num_input = 1 : i64} {
      %1 = relax.matmul %x, %0 : …

    relax.func @main_transform_params(%params: tuple<…>) -> tuple<…> attributes {num_input = 0} {
      %w = relax.tuple_get_item %params[0] : …
      %0 = relax.permute_dims %w : …

Parameters that are still needed come first. What depends on nothing, such as zeros, stays.
Functions without `num_input` are unchanged. TVM's ``LiftTransformParams``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import sym
from ...dialects.parameters import value_name
from ...dialects.relax.operators.inference import tuple_type
from ...dialects.relax.operators.markers import StopLiftParamsOp
from ...dialects.relax.symbols import determined_symbols, undeclared_symbol
from ..functions import functions_by_name, graph_functions, unique_name
from .compile_time import NUM_INPUT, CompileTime, num_input
from .dead_code import remove_all_unused
from .values import canonical


def lift_transform_params(module: ModuleOp) -> None:
    """Lift from every public function with inputs, in place.

    Raises Diagnostic with one line if the function that parameters would be lifted to exists.
    """
    for func in graph_functions(module):
        count = num_input(func)
        if count is not None and count > 0:
            _lift(module, func, count)


def _lift(module: ModuleOp, func: relax.FuncOp, count: int) -> None:
    known = CompileTime.of(func)
    name = f"{func.sym_name.data}_transform_params"
    lifted = [op for op in _lines(func) if op.results and known.uses_parameters(op.results[0])]
    if name in functions_by_name(module):
        if lifted:
            raise Diagnostic(f"expected no function '{name}' yet, got one", func)
        return
    outputs = _needed(func, known, count)
    transform = _transform(name, func.params[count:], outputs, known)
    _use(func, count, outputs, transform)
    module.body.block.insert_op_after(transform, func)


def _lines(func: relax.FuncOp) -> Iterator[Operation]:
    for op in func.body.block.ops:
        yield from op.body.block.ops if isinstance(op, relax.DataflowOp) else (op,)


def _needed(func: relax.FuncOp, known: CompileTime, count: int) -> list[SSAValue]:
    """Known values that what stays uses: parameters first, each in order."""
    used: set[SSAValue] = set()
    for op in func.walk():
        if len(op.results) == 1 and known.uses_parameters(op.results[0]):
            continue
        if not isinstance(op, relax.OutputOp):
            used |= {canonical(o) for o in op.operands if known.uses_parameters(o)}
    params = [p for p in func.params[count:] if p in used]
    return [*params, *(v for v in known.values if v in used and v not in params)]


def _transform(
    name: str, params: Sequence[SSAValue], outputs: Sequence[SSAValue], known: CompileTime
) -> relax.FuncOp:
    """The function of the tuple of parameters, with the tuple of outputs."""
    type_ = tuple_type([p.type for p in params])
    body, inner = Block(arg_types=[type_]), Block()
    body.args[0].name_hint = "params"
    mapper: dict[SSAValue, SSAValue] = {}

    def place(value: SSAValue) -> SSAValue:
        value = canonical(value)
        if value in mapper:
            return mapper[value]
        if value in params:
            new: Operation = relax.TupleGetItemOp(body.args[0], list(params).index(value))
        else:
            assert isinstance(value.owner, Operation)
            operands = {o: place(o) for o in value.owner.operands}
            new = value.owner.clone(operands)
        inner.add_op(new)
        new.results[0].name_hint = value.name_hint
        mapper[value] = new.results[0]
        return new.results[0]

    for value, depends in known.values.items():
        if depends and value not in params and _leads_to(value, outputs):
            place(value)
    result = relax.TupleOp([place(v) for v in outputs])
    inner.add_ops([result, relax.OutputOp([result.result])])
    dataflow = relax.DataflowOp(Region(inner), [result.result.type])
    body.add_ops([dataflow, relax.ReturnOp(dataflow.outputs[0])])
    attrs = DictionaryAttr({NUM_INPUT: IntegerAttr(0, i64)})
    return relax.FuncOp(name, ["params"], result.result.type, Region(body), attrs=attrs)


def _leads_to(value: SSAValue, outputs: Sequence[SSAValue]) -> bool:
    """Whether an output is computed from a value."""
    work, seen = [*outputs], set[SSAValue]()
    while work:
        found = canonical(work.pop())
        if found is value:
            return True
        if found not in seen and isinstance(found.owner, Operation):
            seen.add(found)
            work += found.owner.operands
    return False


def _use(
    func: relax.FuncOp, count: int, outputs: Sequence[SSAValue], transform: relax.FuncOp
) -> None:
    """Let the outputs be parameters of the function, in the place of its own."""
    block, names = func.body.block, [n.data for n in func.param_names.data[:count]]
    old = list(block.args[count:])
    new: list[SSAValue] = []
    for value in outputs:
        names.append(unique_name(_name(value, func), names))
        arg = block.insert_arg(value.type, len(block.args))
        arg.name_hint = value_name(names[-1])
        new.append(arg)
    for value, arg in zip(outputs, new, strict=True):
        for visible in _forms(value, func):
            visible.replace_all_uses_with(arg)
    func.param_names = ArrayAttr([StringAttr(n) for n in names])
    for op in [o for o in func.walk() if isinstance(o, StopLiftParamsOp)]:
        if op.data.type == op.result.type:
            op.result.replace_all_uses_with(op.data)
            Rewriter.erase_op(op)
    remove_all_unused(func)
    for param in reversed(old):
        block.erase_arg(param)
    _declare_symbols(func, outputs, transform)


def _forms(value: SSAValue, func: relax.FuncOp) -> list[SSAValue]:
    """A value of a dataflow block, and the result of the block that it is."""
    found = [value]
    for op in func.body.block.ops:
        if isinstance(op, relax.DataflowOp):
            pairs = zip(op.output.values, op.outputs, strict=True)
            found += [outer for inner, outer in pairs if inner is value]
    return found


def _name(value: SSAValue, func: relax.FuncOp) -> str:
    if isinstance(value, BlockArgument):
        return func.names[value.index]
    return value.name_hint or "param"


def _declare_symbols(
    func: relax.FuncOp, outputs: Sequence[SSAValue], transform: relax.FuncOp
) -> None:
    """Pass the symbols that lifted parameters declared as one more result, a shape."""
    missing: list[str] = []
    while True:
        declared = {*determined_symbols(p.type for p in func.params), *missing}
        found = undeclared_symbol(func.body.block, declared)
        if found is None:
            break
        missing.append(found[0])
    if not missing:
        return
    dims = [sym(s) for s in missing]
    names = [n.data for n in func.param_names.data]
    names.append(unique_name("symbols", names))
    arg = func.body.block.insert_arg(relax.ShapeType.of(dims), len(func.params))
    arg.name_hint = names[-1]
    func.param_names = ArrayAttr([StringAttr(n) for n in names])
    dataflow = next(op for op in transform.body.block.ops if isinstance(op, relax.DataflowOp))
    old = dataflow.output.values[0].owner
    assert isinstance(old, relax.TupleOp)
    shape = relax.ShapeOp(dims)
    new = relax.TupleOp([*old.fields, shape.result])
    Rewriter.replace_op(old, [shape, new], [new.result])
    replaced = relax.DataflowOp(dataflow.detach_region(dataflow.body), [new.result.type])
    Rewriter.replace_op(dataflow, replaced)
    transform.result_type = new.result.type


@dataclass(frozen=True)
class LiftTransformParamsPass(ModulePass):
    """Move what depends on parameters alone to functions that run before the inputs are known."""

    name = "lift-transform-params"
    shared_transform: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.shared_transform:
            raise PassFailedException(
                "expected shared_transform=False: each function has parameters of its own"
            )
        lift_transform_params(op)
