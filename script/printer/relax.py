"""`relax.func` as a decorated Python function: one line for each binding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.int_expr import IntExpr
from ...dialects.relax import (
    AllocTensorOp,
    CallDPSPackedOp,
    CallOp,
    CallPackedOp,
    CallTIROp,
    ConstantOp,
    DataflowOp,
    FuncOp,
    ObjectType,
    OperatorOp,
    OutputOp,
    ReturnOp,
    TupleGetItemOp,
    TupleOp,
)
from ...dialects.relax.types import type_symbols
from ...dialects.sym import exprs_of
from .literals import call_text, dictionary_text, python_text, quote, tuple_text
from .metadata import Metadata
from .names import Names
from .relax_types import Types
from .writer import Writer


class FunctionPrinter:
    """Writes one graph function; `module_name` is the class it stands in, if any."""

    def __init__(self, writer: Writer, func: FuncOp, metadata: Metadata, module_name: str | None):
        self.writer = writer
        self.func = func
        self.metadata = metadata
        self.module_name = module_name
        callees = [o.callee_name for o in func.walk() if isinstance(o, CallOp | CallTIROp)]
        self._calls_module = bool(callees) and module_name is not None
        self.names = Names([*callees, *([] if module_name is None else [module_name])])
        self.values: dict[SSAValue, str] = {}
        self.symbols: dict[str, str] = {}
        self.types = Types(self.symbols)
        self._call_text: dict[type[Operation], Callable[[Any], str]] = {
            AllocTensorOp: self._alloc_tensor,
            CallDPSPackedOp: self._call_dps_packed,
            CallOp: self._call,
            CallPackedOp: self._call_packed,
            CallTIROp: self._call_tir,
            TupleGetItemOp: lambda op: f"{self.value(op.tuple_value)}[{op.index.data}]",
            TupleOp: lambda op: self._tuple(op.fields),
        }

    def write(self) -> None:
        """Write the decorator, the signature on one line, and the body."""
        func = self.func
        for name, param in zip(func.names, func.params, strict=True):
            self.values[param] = self.names.fresh(name)
        used = {s for op in func.walk() for r in op.results for s in type_symbols(r.type)}
        used |= {s for param in func.params for s in type_symbols(param.type)}
        used |= type_symbols(func.result_type)
        for symbol in sorted(used):
            self.symbols[symbol] = self.names.fresh(symbol)
        params = [f"{self.values[p]}: {self.types.text(p.type, True)}" for p in func.params]
        result = self.types.text(func.result_type, True)
        self.writer.line(self._decorator())
        with self.writer.indented(f"def {func.sym_name.data}({', '.join(params)}) -> {result}:"):
            self._prologue()
            self._block(func.body.block, "gv")

    def _decorator(self) -> str:
        arguments = [
            *(["private=True"] if self.func.private is not None else []),
            *(["pure=False"] if self.func.impure is not None else []),
        ]
        return "@R.function" + (f"({', '.join(arguments)})" if arguments else "")

    def _prologue(self) -> None:
        for name in sorted(self.symbols.values()):
            self.writer.line(f"{name} = T.int64()")
        if self.func.attrs is not None and self.func.attrs.data:
            self.writer.line(f"R.func_attr({dictionary_text(self.func.attrs.data)})")
        if self._calls_module:
            self.writer.line(f"cls = {self.module_name}")

    def _block(self, block: Block, stem: str) -> None:
        for op in block.ops:
            match op:
                case ConstantOp():
                    pass
                case TupleOp() if _is_inlined(op):
                    pass
                case DataflowOp():
                    self._dataflow(op)
                case OutputOp():
                    pass
                case ReturnOp():
                    self.writer.line(f"return {self.value(op.value)}")
                case _:
                    self._bind(op, stem)

    def _bind(self, op: Operation, stem: str) -> None:
        text = self._text(op)
        result = op.results[0]
        if isinstance(op, CallPackedOp) and result.name_hint is None and result.first_use is None:
            self.writer.line(f"_ = {text}")
            return
        hint = result.name_hint or _output_hint(result)
        name = self.values[result] = self._fresh(hint, stem)
        self.writer.line(f"{name} = {text}")

    def _fresh(self, hint: str | None, stem: str) -> str:
        return self.names.numbered(stem) if hint is None else self.names.fresh(hint)

    def _dataflow(self, op: DataflowOp) -> None:
        with self.writer.indented("with R.dataflow():"):
            self._block(op.body.block, "lv")
            outputs = [
                self._output(inner, outer, op)
                for inner, outer in zip(op.output.values, op.outputs, strict=True)
            ]
            self.writer.line(call_text("R.output", *outputs))

    def _output(self, inner: SSAValue, outer: SSAValue, op: DataflowOp) -> str:
        """The name a value has outside; one from elsewhere or that leaves twice gets a new name."""
        name = self.values.get(inner)
        already = any(name == self.values.get(o) for o in op.outputs)
        local = isinstance(inner.owner, Operation) and inner.owner.parent is op.body.block
        if name is None or already or not local:
            text = self.value(inner)
            name = self._fresh(outer.name_hint, "gv")
            self.writer.line(f"{name} = {text}")
        self.values[outer] = name
        return name

    def value(self, value: SSAValue) -> str:
        """A variable, or a constant or tuple that is written in place."""
        if value in self.values:
            return self.values[value]
        match value.owner:
            case ConstantOp() as op:
                return self.metadata.constant(op)
            case TupleOp() as op:
                return self._tuple(op.fields)
            case _:
                raise ValueError(f"expected the value '{value.name_hint}' to have a name")

    def _tuple(self, values: Sequence[SSAValue]) -> str:
        return tuple_text([self.value(v) for v in values])

    def _text(self, op: Operation) -> str:
        if isinstance(op, OperatorOp):
            return self._operator(op)
        if type(op) not in self._call_text:
            raise ValueError(f"expected an operation that TVMScript can express, got '{op.name}'")
        return self._call_text[type(op)](op)

    def _operator(self, op: OperatorOp) -> str:
        operator = type(op)
        operands = [self.value(o) for o in op.operands]
        if operator.variadic_operand() is not None:
            operands = [tuple_text(operands)]
        given: dict[str, str] = dict(zip(operator.operand_names(), operands, strict=False))
        for name, kind in operator.attribute_kinds().items():
            if name in op.properties:
                given[name] = self._attribute(kind.decode(op.properties[name]))
        positional: list[str] = []
        for name in operator.ORDER or operator.operand_names():
            if name not in given or (name in op.properties and not operator.ORDER):
                break
            positional.append(given.pop(name))
        return call_text(f"R.{op.name.removeprefix('relax.')}", *positional, **given)

    def _attribute(self, value: Any) -> str:
        """An attribute as scripts write it; expressions of symbols make a shape."""
        if isinstance(value, tuple) and any(isinstance(v, IntExpr) for v in value):  # pyright: ignore[reportUnknownVariableType]
            return f"R.shape([{', '.join(self._dim(v) for v in value)}])"  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return python_text(value)

    def _callee(self, name: str) -> str:
        return name if self.module_name is None else f"cls.{name}"

    def _call(self, op: CallOp) -> str:
        return call_text(self._callee(op.callee_name), *map(self.value, op.args))

    def _call_tir(self, op: CallTIROp) -> str:
        variables = None
        if op.tir_vars is not None:
            variables = f"R.shape([{', '.join(map(self._dim, exprs_of(op.tir_vars)))}])"
        return self._call_dps("R.call_tir", self._callee(op.callee_name), op, variables)

    def _dim(self, expr: IntExpr) -> str:
        return self.types.dim(expr)

    def _call_dps_packed(self, op: CallDPSPackedOp) -> str:
        return self._call_dps("R.call_dps_packed", quote(op.callee_name), op, None)

    def _call_dps(
        self, function: str, callee: str, op: CallTIROp | CallDPSPackedOp, variables: str | None
    ) -> str:
        type_ = op.result.type
        if isinstance(type_, TupleType) and len(type_.types.data) > 1:
            outputs = f"[{', '.join(self.types.text(t) for t in type_.types.data)}]"
        else:
            outputs = self.types.text(type_)
        arguments = self._tuple(op.args)
        return call_text(function, callee, arguments, out_sinfo=outputs, tir_vars=variables)

    def _call_packed(self, op: CallPackedOp) -> str:
        type_ = op.result.type
        types = None if isinstance(type_, ObjectType) else f"({self.types.text(type_)},)"
        arguments = map(self.value, op.args)
        return call_text("R.call_packed", quote(op.callee.data), *arguments, sinfo_args=types)

    def _alloc_tensor(self, op: AllocTensorOp) -> str:
        type_ = op.result.type
        assert type_.dims is not None and type_.dtype is not None
        return call_text("R.alloc_tensor", self.types.shape(type_.dims), dtype=quote(type_.dtype))


def _output_hint(value: SSAValue) -> str | None:
    """The name of the dataflow output that a nameless value becomes."""
    for use in value.uses:
        if isinstance(use.operation, OutputOp):
            dataflow = use.operation.parent_op()
            return dataflow.results[use.index].name_hint if dataflow is not None else None
    return None


def _is_inlined(op: TupleOp) -> bool:
    """A nameless tuple that is only returned is part of the return statement."""
    uses = list(op.result.uses)
    return (
        op.result.name_hint is None
        and len(uses) == 1
        and isinstance(uses[0].operation, ReturnOp)
        and uses[0].operation.parent is op.parent
    )
