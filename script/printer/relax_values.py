"""Values of graph functions as expressions: calls, operators, constants, tuples, shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.attributes import RECOMPUTED
from ...dialects.int_expr import IntExpr
from ...dialects.relax import (
    AllocStorageOp,
    AllocTensorOp,
    AssertOp,
    CallDPSPackedOp,
    CallKernelOp,
    CallOp,
    CallPackedOp,
    CallPurePackedOp,
    CallTIRInplaceOp,
    CallTIROp,
    ConstantOp,
    InvokeOp,
    KillStorageOp,
    KillTensorOp,
    LoopOp,
    MatchCastOp,
    ObjectType,
    OperatorOp,
    PrimToTensorOp,
    PrimValueOp,
    PrintOp,
    ShapeOfOp,
    ShapeOp,
    StorageTensorOp,
    StringOp,
    TensorToPrimOp,
    TensorToShapeOp,
    TupleGetItemOp,
    TupleOp,
)
from ...dialects.sym import exprs_of
from .literals import call_text, dictionary_text, python_text, quote, tuple_text
from .metadata import Metadata, scalar_text
from .options import Options
from .relax_types import Types

_STATE_THEIR_TYPE = (CallDPSPackedOp, CallTIROp)


class ValueTexts:
    """Writes expressions; `values` holds the names of those values that have one so far."""

    def __init__(self, metadata: Metadata, module_name: str | None, options: Options):
        self.metadata = metadata
        self.options = options
        self.module_name = module_name
        self.values: dict[SSAValue, str] = {}
        self.symbols: dict[str, str] = {}
        self.types = Types(self.symbols)
        self._call_text: dict[type[Operation], Callable[[Any], str]] = {
            AllocStorageOp: self._alloc_storage,
            AllocTensorOp: self._alloc_tensor,
            CallDPSPackedOp: self._call_dps_packed,
            AssertOp: lambda op: self._formatted("R.assert_op", op.format.data, *op.operands),
            CallKernelOp: self._call_kernel,
            CallOp: self._call,
            CallPackedOp: self._call_packed,
            CallPurePackedOp: self._call_packed,
            CallTIRInplaceOp: self._call_tir,
            CallTIROp: self._call_tir,
            InvokeOp: lambda op: call_text(self.value(op.callee), *map(self.value, op.args)),
            KillStorageOp: lambda op: call_text("R.memory.kill_storage", self.value(op.value)),
            KillTensorOp: lambda op: call_text("R.memory.kill_tensor", self.value(op.value)),
            LoopOp: self._loop,
            MatchCastOp: lambda op: self._typed("R.match_cast", op.value, op.result.type),
            PrintOp: lambda op: self._formatted("R.print", op.format.data, *op.operands),
            PrimValueOp: lambda op: call_text("R.prim_value", self._dim(op.result.type.expr)),
            ShapeOfOp: lambda op: call_text("R.shape_of", self.value(op.tensor)),
            PrimToTensorOp: lambda op: call_text("R.prim_to_tensor", self.value(op.prim)),
            StorageTensorOp: self._storage_tensor,
            StringOp: lambda op: call_text("R.str", quote(op.text.data)),
            TensorToPrimOp: self._tensor_to_prim,
            TensorToShapeOp: self._tensor_to_shape,
            ShapeOp: lambda op: call_text("R.shape", self._dims(op.result.type.dims)),
            TupleGetItemOp: lambda op: f"{self.value(op.tuple_value)}[{op.index.data}]",
            TupleOp: lambda op: self._tuple(op.fields),
        }

    def value(self, value: SSAValue) -> str:
        """A variable, or a constant or tuple that is written in place."""
        if value in self.values:
            return self.values[value]
        match value.owner:
            case ConstantOp() as op:
                return self.metadata.constant(op)
            case TupleOp() as op:
                return self._tuple(op.fields)
            case Block(parent=None) if value.name_hint is not None:  # of no function
                return value.name_hint
            case _:
                raise ValueError(f"expected the value '{value.name_hint}' to have a name")

    def annotated(self, name: str, op: Operation) -> str:
        """A name with the type that `op` gives it, which some operations state themselves."""
        if isinstance(op, _STATE_THEIR_TYPE):
            return name
        return self.typed(name, op.results[0])

    def typed(self, name: str, value: SSAValue) -> str:
        """A name with the type of its value, if types are shown."""
        return f"{name}: {self.types.text(value.type)}" if self.options.show_types else name

    def _tuple(self, values: Sequence[SSAValue]) -> str:
        return tuple_text([self.value(v) for v in values])

    def _text(self, op: Operation) -> str:
        text = self._computed(op)
        return call_text("R.grad.recomputed", text) if RECOMPUTED in op.attributes else text

    def _computed(self, op: Operation) -> str:
        if isinstance(op, OperatorOp):
            return self._operator(op)
        if type(op) not in self._call_text:
            raise ValueError(f"expected an operation that TVMScript can express, got '{op.name}'")
        return self._call_text[type(op)](op)

    def _operator(self, op: OperatorOp) -> str:
        operator = type(op)
        operands = [self.value(o) for o in op.operands]
        names, variadic = operator.operand_names(), operator.variadic_operand()
        if variadic is not None:
            first, count = names.index(variadic), len(operands) - len(names) + 1
            operands[first : first + count] = [tuple_text(operands[first : first + count])]
        given: dict[str, str] = dict(zip(names, operands, strict=False))
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
        if isinstance(value, IntExpr):
            return self._dim(value)
        if isinstance(value, tuple) and any(isinstance(v, IntExpr) for v in value):  # pyright: ignore[reportUnknownVariableType]
            return f"R.shape([{', '.join(self._dim(v) for v in value)}])"  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return python_text(value)

    def _callee(self, name: str) -> str:
        if self.module_name is None:
            return name
        return f"{self.options.module_alias or self.module_name}.{name}"

    def _call(self, op: CallOp) -> str:
        return call_text(self._callee(op.callee_name), *map(self.value, op.args))

    def _call_tir(self, op: CallTIROp | CallTIRInplaceOp) -> str:
        variables = None
        if op.tir_vars is not None:
            variables = f"R.shape([{', '.join(map(self._dim, exprs_of(op.tir_vars)))}])"
        function = f"R.{op.name.removeprefix('relax.')}"
        return self._call_dps(function, self._callee(op.callee_name), op, variables)

    def _loop(self, op: LoopOp) -> str:
        return call_text(
            "R.loop",
            self._callee(op.callee_name),
            self._tuple(op.carried),
            scanned=self._tuple(op.scanned) if op.scanned else None,
            given=self._tuple(op.given) if op.given else None,
            trips=None if op.trip_count is None else self._dim(op.trip_count),
            is_while=None if op.is_while is None else "True",
        )

    def _typed(self, function: str, value: SSAValue, type_: Attribute) -> str:
        return call_text(function, self.value(value), self.types.text(type_))

    def _tensor_to_shape(self, op: TensorToShapeOp) -> str:
        limits = [] if op.at_most is None else [f"at_most={self._dims(op.limits)}"]
        return call_text("R.tensor_to_shape", self.value(op.tensor), *limits)

    def _tensor_to_prim(self, op: TensorToPrimOp) -> str:
        owner, dtype = op.tensor.owner, op.result.type.dtype
        if not isinstance(owner, ConstantOp) or owner.value.data.array is None or dtype == "int64":
            return call_text("R.tensor_to_prim", self.value(op.tensor))
        return call_text("R.prim_value", f"T.{dtype}({scalar_text(owner.value.data)})")

    def _dims(self, dims: Sequence[IntExpr]) -> str:
        return f"[{', '.join(map(self._dim, dims))}]"

    def _dim(self, expr: IntExpr) -> str:
        return self.types.dim(expr)

    def _call_dps_packed(self, op: CallDPSPackedOp) -> str:
        return self._call_dps("R.call_dps_packed", quote(op.callee_name), op, None)

    def _call_dps(
        self,
        function: str,
        callee: str,
        op: CallTIROp | CallTIRInplaceOp | CallDPSPackedOp,
        variables: str | None,
    ) -> str:
        type_ = op.result.type
        if isinstance(type_, TupleType) and len(type_.types.data) > 1:
            outputs = f"[{', '.join(self.types.text(t) for t in type_.types.data)}]"
        else:
            outputs = self.types.text(type_)
        arguments = self._tuple(op.args)
        inplace, gradient = None, dict[str, str]()
        if isinstance(op, CallTIRInplaceOp):
            inplace = f"[{', '.join(map(str, op.positions))}]"
        if isinstance(op, CallTIROp) and op.te_grad_name is not None:
            function = f"{function}_with_grad"
            gradient["te_grad_name"] = quote(op.te_grad_name.data)
            if op.te_grad_kwargs is not None:
                gradient["te_grad_kwargs"] = dictionary_text(op.te_grad_kwargs.data)
        return call_text(
            function,
            callee,
            arguments,
            inplace_indices=inplace,
            out_sinfo=outputs,
            **gradient,
            tir_vars=variables,
        )

    def _formatted(self, function: str, text: str, *values: SSAValue) -> str:
        format_ = call_text("R.str", quote(text)) if text else None
        return call_text(function, *map(self.value, values), format=format_)

    def _call_packed(self, op: CallPackedOp | CallPurePackedOp) -> str:
        type_ = op.result.type
        is_given = isinstance(op, CallPurePackedOp) or not isinstance(type_, ObjectType)
        types = f"({self.types.text(type_)},)" if is_given else None
        function, inplace = f"R.{op.name.removeprefix('relax.')}", None
        if isinstance(op, CallPurePackedOp) and op.positions:
            function, inplace = "R.call_inplace_packed", f"[{', '.join(map(str, op.positions))}]"
        arguments = map(self.value, op.args)
        return call_text(
            function,
            quote(op.callee.data),
            *arguments,
            inplace_indices=inplace,
            sinfo_args=types,
        )

    def _call_kernel(self, op: CallKernelOp) -> str:
        callee = self._callee(op.callee_name)
        if op.tir_vars is None:
            return call_text(callee, *map(self.value, op.args))
        values = f"R.shape({self._dims(exprs_of(op.tir_vars))})"
        return call_text(
            "R.vm.call_tir_dyn", callee, tuple_text([*map(self.value, op.args), values])
        )

    def _alloc_storage(self, op: AllocStorageOp) -> str:
        size = f"R.shape([{self._dim(op.size.data)}])"
        return call_text("R.memory.alloc_storage", size, "0", quote("global"), quote("uint8"))

    def _storage_tensor(self, op: StorageTensorOp) -> str:
        type_ = op.result.type
        assert type_.dims is not None and type_.dtype is not None
        return call_text(
            "R.memory.alloc_tensor",
            self.value(op.storage),
            self._dim(op.offset.data),
            f"R.shape({self._dims(type_.dims)})",
            quote(type_.dtype),
        )

    def _alloc_tensor(self, op: AllocTensorOp) -> str:
        type_ = op.result.type
        assert type_.dims is not None and type_.dtype is not None
        return call_text("R.alloc_tensor", self.types.shape(type_.dims), dtype=quote(type_.dtype))
