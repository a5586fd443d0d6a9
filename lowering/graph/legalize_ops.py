"""`legalize-ops`: graph operators become calls of PrimFuncs made from their tensor expressions.

    %y = relax.nn.relu %x : !relax.tensor<[1, n], f32> -> !relax.tensor<[1, n], f32>

becomes

    %y = relax.call_tir @relu(%x) : (!relax.tensor<[1, n], f32>) -> !relax.tensor<[1, n], f32>

with ``tir.prim_func @relu`` in the module, private to it. Operators with the same operand types and
attributes share one function. TVM's ``LegalizeOps``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, UnitAttr, i1
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException

from ... import te
from ...dialects import relax, tir
from ...dialects.int_expr import Atom, IntExpr, Sym
from ...dialects.sym import expr_array
from ..functions import PRIVATE, functions_by_name, unique_name

Key = tuple[str, tuple[Attribute, ...], tuple[tuple[str, Attribute], ...]]


@dataclass
class _Kernels:
    """The kernels made so far in one module, by operator, operand types and attributes."""

    module: ModuleOp
    taken: set[str] = field(default_factory=lambda: set[str]())
    made: dict[Key, tir.PrimFuncOp] = field(default_factory=lambda: dict[Key, tir.PrimFuncOp]())

    def kernel_for(self, op: relax.OperatorOp, types: list[relax.TensorType]) -> tir.PrimFuncOp:
        """The function that computes an operator on tensors of these types."""
        key = (
            op.name,
            tuple(types),
            tuple(sorted(op.properties.items(), key=lambda item: item[0])),
        )
        if key not in self.made:
            name = unique_name(op.name.split(".")[-1], self.taken)
            self.taken.add(name)
            kernel = _build(op, types, name)
            first = self.module.body.block.first_op
            assert first is not None
            self.module.body.block.insert_op_before(kernel, first)
            self.made[key] = kernel
        return self.made[key]


def _build(op: relax.OperatorOp, types: list[relax.TensorType], name: str) -> tir.PrimFuncOp:
    inputs = [
        te.placeholder(te.tensor.shape_of(t.dims or ()), t.dtype or "", name=operand)
        for t, operand in zip(types, type(op).operand_names(), strict=False)
    ]
    result = type(op).compute(te, inputs, op.attribute_values())
    kernel = te.build_prim_func([*inputs, result], name)
    kernel.properties["attrs"] = DictionaryAttr(
        {PRIVATE: UnitAttr(), "tir.noalias": IntegerAttr(1, i1)}
    )
    return kernel


def _opaque_dims(
    types: list[relax.TensorType],
) -> tuple[list[relax.TensorType], dict[IntExpr, IntExpr]]:
    """Types whose dims are numbers and symbols: other expressions get symbols of their own."""
    names: dict[IntExpr, IntExpr] = {}
    used = {s for t in types for s in t.symbols()}
    renamed: list[relax.TensorType] = []
    for type_ in types:
        dims: list[IntExpr] = []
        for dim in type_.dims or ():
            if dim.is_constant or isinstance(dim.as_atom, Sym):
                dims.append(dim)
                continue
            if dim not in names:
                symbol = unique_name("d", used)
                used.add(symbol)
                names[dim] = IntExpr.of(Sym(symbol))
            dims.append(names[dim])
        renamed.append(relax.TensorType.of(dims, type_.element_type))
    return renamed, names


def _legalize(op: relax.OperatorOp, kernels: _Kernels) -> None:
    types: list[relax.TensorType] = []
    for name, operand in zip(type(op).operand_names(), op.operands, strict=False):
        if (
            not isinstance(operand.type, relax.TensorType)
            or operand.type.dims is None
            or operand.type.dtype is None
        ):
            raise PassFailedException(
                f"expected {name} of '{op.name}' to have a known shape and dtype, "
                f"got {operand.type}"
            )
        types.append(operand.type)
    opaque, names = _opaque_dims(types)
    kernel = kernels.kernel_for(op, opaque)
    back: dict[Atom, IntExpr] = {}
    for dim, symbol in names.items():
        atom = symbol.as_atom
        assert atom is not None
        back[atom] = dim
    index_params = [
        n
        for n, p in zip(kernel.names, kernel.params, strict=True)
        if not isinstance(p.type, tir.BufferType)
    ]
    variables = (
        expr_array([IntExpr.of(Sym(n)).substitute(back) for n in index_params])
        if index_params
        else None
    )
    call = relax.CallTIROp(kernel.sym_name.data, list(op.operands), op.result.type, variables)
    call.location = op.location
    call.result.name_hint = op.result.name_hint
    Rewriter.replace_op(op, call)


@dataclass(frozen=True)
class LegalizeOpsPass(ModulePass):
    """Replace every graph operator by a call of its PrimFunc."""

    name = "legalize-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = _Kernels(op, set(functions_by_name(op)))
        for operator in [o for o in op.walk() if isinstance(o, relax.OperatorOp)]:
            _legalize(operator, kernels)
