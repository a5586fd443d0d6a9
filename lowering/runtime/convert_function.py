"""One graph function as calls on memory: each operation of a `relax.func` in an `rt.func`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects import relax, rt, tir
from ...dialects.diagnostics import Diagnostic
from ...dialects.relax.types import tensors_in
from ...dialects.sym import exprs_of
from ..blame import blame
from .graph_values import Leaf, leaves, result_positions


def convert_function(
    func: relax.FuncOp, name: str, private: bool, callees: Mapping[str, str]
) -> rt.FuncOp:
    """The function as an `rt.func` called `name`; `callees` says under which names its callees run.

    Raises Diagnostic with one line that names an operation, parameter or result without a
    counterpart.
    """
    with blame(func):
        return _FunctionConverter(func, name, private, callees).convert()


class _FunctionConverter:
    def __init__(self, func: relax.FuncOp, name: str, private: bool, callees: Mapping[str, str]):
        self.func, self.name, self.private, self.callees = func, name, private, callees
        self.label = f"'{func.sym_name.data}'"
        self.memory: dict[Leaf, SSAValue] = {}
        self.entry = Block()
        self.current = self.entry
        self.escaping: set[Leaf] = set()
        """Tensors that the current dataflow block outputs: their memory is defined before it."""

    def convert(self) -> rt.FuncOp:
        names = self.add_params()
        self.add_results()
        for op in self.func.body.block.ops:
            self.convert_op(op)
        return rt.FuncOp(
            self.name,
            names,
            len(self.results),
            Region(self.entry),
            returns_tuple=isinstance(self.func.result_type, TupleType),
            private=self.private,
        )

    def add_params(self) -> list[str]:
        """Make each tensor parameter an argument, with its check if users can call the function."""
        names: list[str] = []
        for name, param in zip(self.func.names, self.func.params, strict=True):
            self.verify_param(name, param.type)
            for position, leaf in enumerate(leaves(param)):
                own = name if isinstance(param.type, relax.TensorType) else f"{name}.{position}"
                names.append(own)
                self.memory[leaf] = self.add_arg(
                    leaf, f"parameter '{own}' of {self.label}", param.name_hint
                )
        if not self.private:
            self.entry.add_ops(
                [rt.CheckOp(a, n) for a, n in zip(self.entry.args, names, strict=True)]
            )
        return names

    def verify_param(self, name: str, type_: Attribute) -> None:
        wanted = relax.TensorType | TupleType if self.private else relax.TensorType
        if not isinstance(type_, wanted):
            raise Diagnostic(
                f"expected parameter '{name}' of {self.label} to be a tensor, got {type_}"
            )

    def add_results(self) -> None:
        type_ = self.func.result_type
        fields = type_.types.data if isinstance(type_, TupleType) else (type_,)
        if not all(isinstance(f, relax.TensorType) for f in fields):
            raise Diagnostic(
                f"expected {self.label} to return a tensor or a tuple of tensors, got {type_}"
            )
        self.results = [
            self.add_arg(leaf, f"result of {self.label}", leaf[0].name_hint)
            for leaf in leaves(self.func.returned)
        ]
        self.destinations = {
            leaf: self.results[position] for leaf, position in result_positions(self.func).items()
        }

    def add_arg(self, leaf: Leaf, subject: str, hint: str | None) -> SSAValue:
        arg = self.entry.insert_arg(buffer_type(tensor_type(leaf), subject), len(self.entry.args))
        arg.name_hint = hint
        return arg

    def convert_op(self, op: Operation) -> None:
        convert = _CONVERT.get(type(op))
        if convert is None:
            hint = ": legalize it first" if isinstance(op, relax.OperatorOp) else ""
            raise Diagnostic(
                f"expected operations that run on memory in {self.label}, got '{op.name}'{hint}",
                op,
            )
        with blame(op):
            convert(self, op)

    def convert_dataflow(self, op: relax.DataflowOp) -> None:
        inner = Block()
        self.current = inner
        self.escaping = {leaf for value in op.output.values for leaf in leaves(value)}
        for nested in op.body.block.ops:
            if not isinstance(nested, relax.OutputOp):
                self.convert_op(nested)
        self.current, self.escaping = self.entry, set()
        if inner.first_op is not None:
            self.entry.add_op(rt.DataflowOp(Region(inner)))

    def convert_call_tir(self, op: relax.CallTIROp) -> None:
        values = () if op.tir_vars is None else exprs_of(op.tir_vars)
        inputs, outputs = self.inputs_of(op, op.args), self.outputs_of(op, op.result)
        self.current.add_op(rt.CallDPSOp(self.callees[op.callee_name], inputs, outputs, values))

    def convert_call(self, op: relax.CallOp) -> None:
        inputs, outputs = self.inputs_of(op, op.args), self.outputs_of(op, op.result)
        self.current.add_op(rt.CallDPSOp(self.callees[op.callee_name], inputs, outputs))

    def convert_call_dps_packed(self, op: relax.CallDPSPackedOp) -> None:
        inputs, outputs = self.inputs_of(op, op.args), self.outputs_of(op, op.result)
        self.current.add_op(rt.CallPackedOp(op.callee_name, inputs, outputs))

    def convert_call_packed(self, op: relax.CallPackedOp) -> None:
        if op.result.first_use is not None:
            raise Diagnostic(
                f"expected the result of call_packed '{op.callee.data}' in {self.label} "
                f"not to be used"
            )
        self.current.add_op(rt.CallPackedOp(op.callee.data, self.inputs_of(op, op.args), []))

    def convert_constant(self, op: relax.ConstantOp) -> None:
        constant = rt.ConstantOp(op.value.data)
        self.define((op.result, 0), constant, constant.result)

    def convert_alloc_tensor(self, op: relax.AllocTensorOp) -> None:
        self.outputs_of(op, op.result)

    def convert_return(self, op: relax.ReturnOp) -> None:
        for leaf, result in zip(leaves(op.value), self.results, strict=True):
            if self.memory[leaf] is not result:
                self.entry.add_op(rt.CopyOp(self.memory[leaf], result))

    def inputs_of(self, op: Operation, args: Sequence[SSAValue]) -> list[SSAValue]:
        found: list[SSAValue] = []
        for arg in args:
            if not tensors_in(arg.type) and not isinstance(arg.type, TupleType):
                raise Diagnostic(
                    f"expected arguments of '{op.name}' in {self.label} to be tensors, "
                    f"got {arg.type}"
                )
            found += [self.memory[leaf] for leaf in leaves(arg)]
        return found

    def outputs_of(self, op: Operation, result: SSAValue) -> list[SSAValue]:
        """Memory for each tensor that `op` makes: that of a result of the function, or new one."""
        return [
            self.allocate(leaf, f"result of '{op.name}' in {self.label}") for leaf in leaves(result)
        ]

    def allocate(self, leaf: Leaf, subject: str) -> SSAValue:
        if (memory := self.destinations.get(leaf)) is not None:
            self.memory[leaf] = memory
            return memory
        alloc = rt.AllocOp(buffer_type(tensor_type(leaf), subject))
        return self.define(leaf, alloc, alloc.result)

    def define(self, leaf: Leaf, op: Operation, memory: SSAValue) -> SSAValue:
        memory.name_hint = leaf[0].name_hint
        (self.entry if leaf in self.escaping else self.current).add_op(op)
        self.memory[leaf] = memory
        return memory


_CONVERT: dict[type[Operation], Callable[[_FunctionConverter, Any], None]] = {
    relax.AllocTensorOp: _FunctionConverter.convert_alloc_tensor,
    relax.CallDPSPackedOp: _FunctionConverter.convert_call_dps_packed,
    relax.CallOp: _FunctionConverter.convert_call,
    relax.CallPackedOp: _FunctionConverter.convert_call_packed,
    relax.CallTIROp: _FunctionConverter.convert_call_tir,
    relax.ConstantOp: _FunctionConverter.convert_constant,
    relax.DataflowOp: _FunctionConverter.convert_dataflow,
    relax.ReturnOp: _FunctionConverter.convert_return,
    relax.TupleGetItemOp: lambda _, op: None,
    relax.TupleOp: lambda _, op: None,
}
"""How each operation converts; tuples leave nothing behind but their fields' memory."""


def tensor_type(leaf: Leaf) -> relax.TensorType:
    """The type of one tensor."""
    return tensors_in(leaf[0].type)[leaf[1]]


def buffer_type(type_: relax.TensorType, subject: str) -> tir.BufferType:
    """The dense buffer of a tensor; raises Diagnostic for an unknown shape or dtype."""
    if type_.dims is None or type_.dtype is None:
        raise Diagnostic(f"expected {subject} to have a known shape and dtype, got {type_}")
    return tir.BufferType.of(type_.dims, type_.element_type)
