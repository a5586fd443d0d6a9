"""`legalize-ops`: replace graph operators by calls of PrimFuncs built from tensor expressions.

    %y = relax.nn.relu %x : !relax.tensor<[1, n], f32> -> !relax.tensor<[1, n], f32>

becomes

    %y = relax.call_tir @relu(%x) : (!relax.tensor<[1, n], f32>) -> !relax.tensor<[1, n], f32>

with a private ``tir.prim_func @relu`` in the module. Operators with the same operand types and
attributes share one function; scalar constants are inlined, and operands of which only the shape
matters are no arguments. Operators of the runtime, such as ``relax.linalg.inv``, become calls of
its registered functions. TVM's ``LegalizeOps`` is ``scalars=true inline=false``, with which ranges
of known bounds and conversions of single constants are constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, IndexType, IntegerAttr, ModuleOp, UnitAttr, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax, tir
from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import Atom, IntExpr, Sym
from ...dialects.relax.operators.conversion import AstypeOp
from ...dialects.relax.operators.library import LibraryOp
from ...dialects.relax.operators.patterns import ArangeOp
from ...dialects.relax.operators.steps import SteppedOp
from ...dialects.relax.operators.views import MemoryViewOp
from ...dialects.relax.types import shape_text, tensors_in
from ...dialects.sym import expr_array
from ...te import topi
from ...te.broadcast import ConstantTensor, ScalarTensor
from ...te.prim_func import build_prim_func
from ..functions import PRIVATE, functions_by_name, unique_name
from ..schedule.blocks import blocks_in
from ..schedule.inline import inline_blocks
from ..scope import locate
from .data_sizes import is_sized_by_data
from .kernel_inputs import Input, infers_same_result, input_of, opaque_dims, scalar_of, tensor_for
from .known_values import known_array

Key: TypeAlias = tuple[str, tuple[Input, ...], tuple[tuple[str, Attribute], ...]]


_PREFIXED = """abs acos acosh asin asinh atan atanh bitwise_not ceil clip cos cosh exp floor
isfinite isinf isnan log logical_not negative round rsqrt sigmoid sign sin sinh sqrt square tan
tanh trunc"""
TVM_NAMES = {
    **{f"relax.{name}": f"tir_{name}" for name in _PREFIXED.split()},
    "relax.astype": "cast",
    "relax.collapse_sum_like": "collapse_sum",
    "relax.collapse_sum_to": "collapse_sum",
    "relax.concat": "concatenate",
    "relax.flatten": "reshape",
    "relax.full_like": "full",
    "relax.gather_elements": "gather",
    "relax.nn.batch_flatten": "reshape",
    "relax.nn.leakyrelu": "leaky_relu",
    "relax.ones_like": "ones",
    "relax.permute_dims": "transpose",
    "relax.zeros_like": "zeros",
}
"""The names of kernels that are not those of their operators; TVM's."""


class _Kernel(NamedTuple):
    """A kernel, and which of the operator's inputs it reads."""

    func: tir.PrimFuncOp
    read: list[int]


@dataclass
class _Kernels:
    """The kernels that exist in one module, by operator, inputs and attributes."""

    module: ModuleOp
    scalars: bool
    inline: bool
    taken: set[str] = field(default_factory=lambda: set[str]())
    made: dict[Key, _Kernel] = field(default_factory=lambda: dict[Key, _Kernel]())

    def kernel_for(self, op: relax.OperatorOp, inputs: list[Input]) -> _Kernel:
        """The function that computes an operator on these inputs."""
        properties = sorted(op.properties.items(), key=lambda item: item[0])
        key = (op.name, tuple(inputs), tuple(properties))
        if key not in self.made:
            wanted = TVM_NAMES.get(op.name, op.name.rpartition(".")[2])
            name = unique_name(wanted, self.taken, separator="")
            self.taken.add(name)
            kernel = _build(op, inputs, name, plain=not self.inline)
            if self.inline and isinstance(op, SteppedOp):
                inline_blocks(reversed(blocks_in(kernel.func)), lambda definition: True)
            first = self.module.body.block.first_op
            assert first is not None
            locate([kernel.func], op.location)
            self.module.body.block.insert_op_before(kernel.func, first)
            self.made[key] = kernel
        return self.made[key]


def _build(op: relax.OperatorOp, inputs: list[Input], name: str, plain: bool) -> _Kernel:
    labels = _distinct(type(op).operand_labels(len(inputs)))
    tensors = [tensor_for(i, label) for i, label in zip(inputs, labels, strict=True)]
    outputs = topi.compute_operator(type(op), tensors, op.attribute_values(), plain)
    params = {
        i: t.value if isinstance(t, ScalarTensor) else t
        for i, t in enumerate(tensors)
        if not isinstance(t, ConstantTensor)
    }
    kernel = build_prim_func([*params.values(), *outputs], name, len(outputs))
    read = _needed(list(params), kernel)
    if len(read) < len(params):
        kernel = build_prim_func([*(params[i] for i in read), *outputs], name, len(outputs))
    kernel.properties["attrs"] = DictionaryAttr(
        {PRIVATE: UnitAttr(), "tir.noalias": IntegerAttr(1, i1)}
    )
    return _Kernel(kernel, read)


def _distinct(labels: Sequence[str]) -> list[str]:
    """Names of parameters: operands of a list have one label."""
    names: list[str] = []
    for label in labels:
        names.append(unique_name(label, names))
    return names


def _needed(inputs: list[int], kernel: tir.PrimFuncOp) -> list[int]:
    """The inputs that a kernel reads, or whose symbols no other parameter that stays determines."""
    params = dict(zip(inputs, kernel.params, strict=False))
    kept = list(kernel.params)
    for param in params.values():
        others = {s for p in kept if p is not param for s in _symbols(p)}
        if param.first_use is None and _symbols(param) <= others:
            kept.remove(param)
    return [i for i, p in params.items() if p in kept]


def _symbols(param: SSAValue) -> set[str]:
    dims = param.type.dims if isinstance(param.type, tir.BufferType) else ()
    return {s for dim in dims for s in dim.symbols()}


def _require_known_result(op: relax.OperatorOp, inputs: list[Input]) -> None:
    """Raise Diagnostic if operands of known shapes do not determine the type of the result."""
    if any(t.dims is None for t in tensors_in(op.result.type)):
        shapes = [shape_text(i) for i in inputs if isinstance(i, relax.TensorType)]
        raise Diagnostic(
            f"expected shapes of '{op.name}' that are provably compatible, got "
            f"{' and '.join(shapes)}: use R.match_cast on an operand",
            op,
        )


def _check_assumptions(op: relax.OperatorOp) -> None:
    """Cast operands to the types that the operator takes for granted, which checks their dims."""
    types = [o.type for o in op.operands if isinstance(o.type, relax.TensorType)]
    for index, type_ in enumerate(type(op).assumed(types, op.attribute_values())):
        if type_ != types[index]:
            cast = relax.MatchCastOp(op.operands[index], type_, shape_text(type_))
            cast.location = op.location
            Rewriter.insert_op(cast, InsertPoint.before(op))
            op.operands[index] = cast.result


def _check_room(op: MemoryViewOp) -> None:
    """Check at run time that a view is within its operand, unless that is known."""
    x, result = op.x.type, op.result.type
    assert isinstance(x, relax.TensorType) and isinstance(result, relax.TensorType)
    if x.dims is None or result.dims is None:
        return  # which `_legalize` refuses
    room, end = op.room(x, result, op.attribute_values()["relative_byte_offset"])
    if room != end:
        shape = relax.ShapeOp([end])
        shape.result.name_hint = "view"
        within = relax.MatchCastOp(shape.result, relax.ShapeType.of([room]), f"{room} bytes")
        shape.location = within.location = op.location
        Rewriter.insert_op([shape, within], InsertPoint.before(op))


def _has_unknown_shape(op: relax.OperatorOp) -> bool:
    """Whether an operator has tensors of unknown shape, for which there may be a later pass."""
    return any(t.dims is None for operand in op.operands for t in tensors_in(operand.type))


def _constant_of(op: relax.OperatorOp) -> relax.ConstantOp | None:
    """The constant that TVM makes of an operator: of a range, or a single number's conversion."""
    type_ = op.result.type
    if not isinstance(op, ArangeOp | AstypeOp) or not isinstance(type_, relax.TensorType):
        return None
    is_number = isinstance(op, ArangeOp) or type_.rank == 0
    array = known_array(op.result) if is_number else None
    return None if array is None else relax.ConstantOp(relax.TensorData.of(array, type_.dtype))


def _legalize(op: relax.OperatorOp, kernels: _Kernels) -> None:
    if not kernels.inline and (constant := _constant_of(op)) is not None:
        number = op.operands[0].owner if op.operands else None
        _replace(op, constant)
        if isinstance(number, relax.ConstantOp) and number.result.first_use is None:
            Rewriter.erase_op(number)
        return
    _check_assumptions(op)
    labels = type(op).operand_labels(len(op.operands))
    given = zip(labels, op.operands, strict=True)
    inputs = [input_of(op, label, operand, kernels.scalars) for label, operand in given]
    _require_known_result(op, inputs)
    if isinstance(op, LibraryOp):
        callee = op.callee(op.attribute_values())
        _replace(op, relax.CallDPSPackedOp(callee, op.operands, op.result.type))
        return
    opaque, names = opaque_dims(inputs)
    if names and infers_same_result(op, opaque, names):
        inputs = opaque
    else:
        names = {}
    kernel, read = kernels.kernel_for(op, inputs)
    back: dict[Atom, IntExpr] = {}
    for dim, symbol in names.items():
        atom = symbol.as_atom
        assert atom is not None
        back[atom] = dim
    index_params = [
        n for n, p in zip(kernel.names, kernel.params, strict=True) if isinstance(p.type, IndexType)
    ]
    variables = (
        expr_array([IntExpr.of(Sym(n)).substitute(back) for n in index_params])
        if index_params
        else None
    )
    args = [_argument(op.operands[i], inputs[i]) for i in read]
    tensors = list(op.operands)
    _replace(op, relax.CallTIROp(kernel.sym_name.data, args, op.result.type, variables))
    for tensor in tensors:
        if isinstance(tensor.owner, relax.PrimToTensorOp) and tensor.first_use is None:
            Rewriter.erase_op(tensor.owner)


def _argument(operand: SSAValue, given: Input) -> SSAValue:
    """What is passed to the kernel for an operand."""
    scalar = scalar_of(operand) if isinstance(given, relax.PrimType) else None
    return operand if scalar is None else scalar


def _replace(
    op: relax.OperatorOp, new: relax.CallTIROp | relax.CallDPSPackedOp | relax.ConstantOp
) -> None:
    new.location = op.location
    new.result.name_hint = op.result.name_hint
    Rewriter.replace_op(op, new)


@dataclass(frozen=True)
class LegalizeOpsPass(ModulePass):
    """Replace every graph operator by a call of its PrimFunc.

    Views stay, operators named `skip_ops`, such as ``relax.add``, and those whose result has as
    many elements as data says: `resolve-shapes` gives these a size. With `scalars`, floats of
    unknown value are parameters of kernels, as in TVM, and otherwise buffers of rank 0. Without
    `inline` the steps of a `SteppedOp` are blocks of their own, the kernel of a `PlainFormOp` is
    that of TVM, and operators on tensors of unknown shape stay.
    """

    name = "legalize-ops"
    skip_ops: tuple[str, ...] | None = None
    scalars: bool = False
    inline: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = _Kernels(op, self.scalars, self.inline, set(functions_by_name(op)))
        for operator in list(op.walk()):
            if not isinstance(operator, relax.OperatorOp) or operator.is_view:
                continue
            if is_sized_by_data(operator) or operator.name in (self.skip_ops or ()):
                continue
            if not self.inline and _has_unknown_shape(operator):
                continue
            if isinstance(operator, MemoryViewOp):
                _check_room(operator)
            _legalize(operator, kernels)
