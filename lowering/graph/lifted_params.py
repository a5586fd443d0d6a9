"""Functions that compute what other functions would compute of parameters alone."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, i64
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects import relax
from ...dialects.relax.operators.inference import tuple_type
from ...dialects.relax.operators.markers import StopLiftParamsOp
from ...dialects.relax.symbols import determined_symbols, undeclared_symbol
from ..functions import unique_name
from .compile_time import NUM_INPUT, CompileTime
from .dead_code import remove_all_unused
from .values import canonical


def needed_values(func: relax.FuncOp, known: CompileTime, count: int) -> list[SSAValue]:
    """Known values that what stays uses: parameters first, each in order."""
    used: set[SSAValue] = set()
    for op in func.walk():
        if len(op.results) == 1 and known.uses_parameters(op.results[0]):
            continue
        if not isinstance(op, relax.OutputOp):
            used |= {canonical(o) for o in op.operands if known.uses_parameters(o)}
    params = dict.fromkeys(p for p in func.params[count:] if p in used)
    return [*params, *(v for v in known.values if v in used and v not in params)]


def transform_function(
    name: str, params: Sequence[SSAValue], outputs: Sequence[SSAValue], known: CompileTime
) -> relax.FuncOp:
    """The function of the tuple of parameters, with the tuple of outputs.

    It returns its parameter if these are the same.
    """
    type_ = tuple_type([p.type for p in params])
    body, inner = Block(arg_types=[type_]), Block()
    body.args[0].name_hint = "params"
    mapper: dict[SSAValue, SSAValue] = {}
    positions = {param: i for i, param in enumerate(params)}

    def place(value: SSAValue) -> SSAValue:
        value = canonical(value)
        if value in mapper:
            return mapper[value]
        if value in positions:
            new: Operation = relax.TupleGetItemOp(body.args[0], positions[value])
        else:
            assert isinstance(value.owner, Operation)
            operands = {o: place(o) for o in value.owner.operands}
            new = value.owner.clone(operands)
        inner.add_op(new)
        new.results[0].name_hint = value.name_hint
        mapper[value] = new.results[0]
        return new.results[0]

    needed = _ancestors(outputs)
    for value in known.values:
        if value not in positions and value in needed:
            place(value)
    attrs = DictionaryAttr({NUM_INPUT: IntegerAttr(0, i64)})
    if params and list(outputs) == list(params):
        body.add_op(relax.ReturnOp(body.args[0]))
        return relax.FuncOp(name, ["params"], type_, Region(body), attrs=attrs)
    result = relax.TupleOp([place(v) for v in outputs])
    inner.add_ops([result, relax.OutputOp([result.result])])
    dataflow = relax.DataflowOp(Region(inner), [result.result.type])
    body.add_ops([dataflow, relax.ReturnOp(dataflow.outputs[0])])
    return relax.FuncOp(name, ["params"], result.result.type, Region(body), attrs=attrs)


def _ancestors(outputs: Sequence[SSAValue]) -> set[SSAValue]:
    """The outputs, and the values that they are computed from."""
    work, seen = [*outputs], set[SSAValue]()
    while work:
        found = canonical(work.pop())
        if found not in seen:
            seen.add(found)
            work += found.owner.operands if isinstance(found.owner, Operation) else ()
    return seen


def read_lifted(func: relax.FuncOp, count: int, outputs: Sequence[SSAValue]) -> None:
    """Let the outputs be parameters of the function, in the place of its own."""
    old, names = range(count, len(func.params)), list(func.names[:count])
    for value in outputs:
        names.append(unique_name(_name(value, func), names))
    for value, name in zip(outputs, names[count:], strict=True):
        arg = func.insert_param(len(func.params), name, value.type)
        for form in _forms(value, func):
            form.replace_all_uses_with(arg)
    for op in [o for o in func.walk() if isinstance(o, StopLiftParamsOp)]:
        if op.data.type == op.result.type:
            op.result.replace_all_uses_with(op.data)
            Rewriter.erase_op(op)
    remove_all_unused(func)
    func.erase_params(old)


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


def missing_symbols(func: relax.FuncOp) -> list[str]:
    """Symbols that lifted parameters declared."""
    missing: list[str] = []
    while True:
        declared = {*determined_symbols(p.type for p in func.params), *missing}
        found = undeclared_symbol(func.body.block, declared)
        if found is None:
            return missing
        missing.append(found[0])
