"""`gradient`: add the adjoint of a graph function, which also returns the gradients of its result.

::

    relax.func @main(%x: !relax.tensor<[3, 3], f32>) -> !relax.tensor<[], f32> {
      %gv = relax.dataflow -> … {
        %0 = relax.sum %x : …
        relax.output %0 : …
      }
      relax.return %gv : …
    }

⇒ with a second function

::

    relax.func @main_adjoint(%x: …) -> tuple<…, tuple<!relax.tensor<[3, 3], f32>>> {
      %gv, %x_adjoint = relax.dataflow -> … {
        %0 = relax.sum %x : …
        %1 = relax.ones {shape = [], dtype = f32} : …
        %2 = relax.broadcast_to %1 {shape = [3, 3]} : …
        relax.output %0, %2 : …
      }
      …
    }

Reverse-mode differentiation: adjoints go from the result to the operands, by the rules of
`gradient_rules`, and those of one value are added. TVM's ``Gradient``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr, TupleType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic, suggestion
from ...dialects.dtypes import is_float
from ..functions import functions_by_name, graph_function
from . import elementwise_gradients as _elementwise
from . import tensor_gradients as _tensors
from .checkpoints import Checkpoints
from .dead_code import remove_all_unused
from .gradient_rules import KERNEL_RULES, RULES, Backward, Rule, known_dtype
from .one_dataflow import only_dataflow
from .values import canonical, returned_fields

assert _elementwise and _tensors  # modules that register rules


def add_gradient(
    module: ModuleOp,
    func_name: str,
    require_grads: Sequence[str] | None = None,
    target_index: int = 0,
) -> None:
    """Add ``{func_name}_adjoint`` to the module, in place.

    The function, one dataflow block, returns a float of rank 0, or a tuple whose field
    `target_index` is one. The adjoint returns what the function returns, and the tuple of the
    gradients by the parameters, or by the values named `require_grads`. Raises Diagnostic with one
    line for another function, value or index, and for an operator without a gradient.
    """
    func = graph_function(module, func_name)
    name = f"{func_name}_adjoint"
    if name in functions_by_name(module):
        raise Diagnostic(f"expected no function '{name}' yet, got one")
    new = func.clone()
    module.body.block.insert_op_before(new, func)
    _differentiate(new, name, require_grads, target_index)


def _differentiate(
    func: relax.FuncOp, name: str, require_grads: Sequence[str] | None, target_index: int
) -> None:
    """Make a function its adjoint."""
    dataflow = only_dataflow(func)
    checkpoints = Checkpoints(dataflow, Backward(dataflow.output))
    target = _target(func, dataflow, target_index)
    sources = _sources(func, dataflow, require_grads, checkpoints.marked)
    adjoints = _Adjoints(Backward(dataflow.output), checkpoints)
    adjoints.start(target)
    for op in reversed(list(dataflow.body.block.ops)):
        adjoints.visit(op)
    gradients = [adjoints.of(source) for source in sources]
    for op in dataflow.body.block.ops:
        if isinstance(op, relax.CallTIROp):
            op.te_grad_name = op.te_grad_kwargs = None
    _return_also(func, dataflow, gradients)
    func.sym_name = StringAttr(name)
    func.properties.pop("private", None)
    if func.attrs is not None and "global_symbol" in func.attrs.data:
        func.attrs = DictionaryAttr({**func.attrs.data, "global_symbol": StringAttr(name)})
    remove_all_unused(func)


def _target(func: relax.FuncOp, dataflow: relax.DataflowOp, index: int) -> SSAValue:
    """The value to differentiate, inside of the dataflow block."""
    name, fields = func.sym_name.data, returned_fields(func)
    if not 0 <= index < len(fields):
        raise Diagnostic(
            f"expected target_index of '{name}' below {len(fields)}, got {index}", func
        )
    target = fields[index]
    type_ = target.type
    if not _is_differentiable(type_) or not isinstance(type_, relax.TensorType) or type_.rank != 0:
        raise Diagnostic(f"expected a float of rank 0 to differentiate in '{name}', got {type_}")
    if target.owner is not dataflow:
        raise Diagnostic(
            f"expected the target of '{name}' to be computed in its dataflow block", func
        )
    return canonical(target)


def _sources(
    func: relax.FuncOp,
    dataflow: relax.DataflowOp,
    names: Sequence[str] | None,
    marked: Mapping[str, SSAValue],
) -> list[SSAValue]:
    """The values by which gradients are asked for: parameters, or values of the block by name."""
    if names is None:
        return list(func.params)
    known: dict[str, SSAValue] = {**dict(zip(func.names, func.params, strict=True)), **marked}
    for op in dataflow.body.block.ops:
        known |= {r.name_hint: r for r in op.results if r.name_hint is not None}
    for inner, outer in zip(dataflow.output.values, dataflow.outputs, strict=True):
        if outer.name_hint is not None:
            known[outer.name_hint] = inner
    found: list[SSAValue] = []
    for name in names:
        value = known.get(name)
        if value is None:
            raise Diagnostic(
                f"expected a value of '{func.sym_name.data}' to differentiate by, got '{name}'"
                f"{suggestion(name, known)}"
            )
        if value in found:
            raise Diagnostic(f"expected '{name}' once among require_grads, got it twice")
        if not _is_differentiable(value.type):
            raise Diagnostic(
                f"expected '{name}' to be floats to differentiate by it, got {value.type}"
            )
        found.append(value)
    return found


def _is_differentiable(type_: Attribute) -> bool:
    if isinstance(type_, TupleType):
        return all(map(_is_differentiable, type_.types.data))
    return isinstance(type_, relax.TensorType) and is_float(type_.dtype or "bool")


@dataclass
class _Adjoints:
    """The gradient of the target by each value so far."""

    g: Backward
    checkpoints: Checkpoints
    known: dict[SSAValue, SSAValue] = field(default_factory=lambda: {})

    def start(self, target: SSAValue) -> None:
        """The gradient of the target by itself."""
        self._set(target, self.g("ones", shape=[], dtype=known_dtype(target)))

    def of(self, value: SSAValue) -> SSAValue:
        """The gradient by a value; zeros if the target does not depend on it."""
        if value not in self.known:
            self._set(value, self._zeros(value.type))
        return self.known[value]

    def visit(self, op: Operation) -> None:
        """Pass the adjoint of an operation's result on to its operands."""
        adjoint = self.known.get(op.results[0]) if len(op.results) == 1 else None
        if adjoint is None or isinstance(op, relax.ConstantOp):
            return
        match op:
            case relax.TupleOp():
                for value, part in zip(
                    op.fields, self.g.fields(adjoint, len(op.fields)), strict=True
                ):
                    self._add(value, part)
            case relax.TupleGetItemOp():
                self._add_to_field(op.tuple_value, op.index.data, adjoint)
            case relax.OperatorOp():
                self._visit_operator(op, adjoint)
            case relax.CallTIROp(te_grad_name=StringAttr(data=name)):
                if name not in KERNEL_RULES:
                    hint = suggestion(name, KERNEL_RULES)
                    raise Diagnostic(f"expected a registered gradient, got '{name}'{hint}", op)
                self._pass_on(KERNEL_RULES[name], op, adjoint)
            case relax.MatchCastOp():
                self._add(op.value, adjoint)
            case _:
                raise Diagnostic(f"expected operators with gradients, got '{op.name}'", op)

    def _visit_operator(self, op: relax.OperatorOp, adjoint: SSAValue) -> None:
        rule = RULES.get(op.name)
        if rule is None:
            if not any(_is_differentiable(o.type) for o in op.operands):
                return
            raise Diagnostic(f"expected operators with gradients, got '{op.name}'", op)
        self._pass_on(rule, op, adjoint)

    def _pass_on(self, rule: Rule, op: Operation, adjoint: SSAValue) -> None:
        used = self.checkpoints.operation(op)
        for operand, part in zip(op.operands, rule(self.g, used, adjoint), strict=True):
            if part is not None and _is_differentiable(operand.type):
                self._add(operand, part)
        self.checkpoints.finish(op, used)

    def _add(self, value: SSAValue, part: SSAValue) -> None:
        """Add to the gradient by a value; constants have none."""
        value = canonical(value)
        if not isinstance(value.owner, relax.ConstantOp):
            known = self.known.get(value)
            self._set(value, part if known is None else self._sum(known, part))

    def _set(self, value: SSAValue, adjoint: SSAValue) -> None:
        if adjoint.name_hint is None and value.name_hint is not None:
            adjoint.name_hint = f"{value.name_hint}_adjoint"
        self.known[value] = adjoint

    def _add_to_field(self, value: SSAValue, index: int, part: SSAValue) -> None:
        """Add to one field of the gradient by a tuple."""
        value, type_ = canonical(value), value.type
        assert isinstance(type_, TupleType)
        known = self.known.get(value)
        fields: list[SSAValue] = []
        for position, field_type in enumerate(type_.types.data):
            if known is None:
                fields.append(part if position == index else self._zeros(field_type))
                continue
            old = self.g.field(known, position)
            fields.append(self._sum(old, part) if position == index else old)
        self._set(value, self.g.tuple(fields))

    def _sum(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        if not isinstance(lhs.type, TupleType):
            return self.g("add", lhs, rhs)
        return self.g.tuple(
            [
                self._sum(self.g.field(lhs, i), self.g.field(rhs, i))
                for i in range(len(lhs.type.types.data))
            ]
        )

    def _zeros(self, type_: Attribute) -> SSAValue:
        if isinstance(type_, TupleType):
            return self.g.tuple([self._zeros(t) for t in type_.types.data])
        if not isinstance(type_, relax.TensorType) or None in (type_.dims, type_.dtype):
            raise Diagnostic(f"expected tensors of known shape and dtype, got {type_}")
        return self.g("zeros", shape=type_.dims, dtype=type_.dtype)


def _return_also(
    func: relax.FuncOp, dataflow: relax.DataflowOp, gradients: Sequence[SSAValue]
) -> None:
    """Return a pair of the result and the tuple of gradients."""
    inner = [*dataflow.output.values, *gradients]
    Rewriter.replace_op(dataflow.output, relax.OutputOp(inner))
    new = relax.DataflowOp(dataflow.detach_region(dataflow.body), [v.type for v in inner])
    new.location = dataflow.location
    count = len(dataflow.outputs)
    for old, result in zip([*dataflow.outputs, *inner[count:]], new.outputs, strict=True):
        result.name_hint = old.name_hint
    Rewriter.replace_op(dataflow, new, new.outputs[:count])
    adjoints = relax.TupleOp(new.outputs[count:])
    result = relax.TupleOp([func.returned, adjoints.result])
    Rewriter.insert_op([adjoints, result], InsertPoint.before(func.end))
    func.end.operands[0] = result.result
    func.result_type = result.result.type


@dataclass(frozen=True)
class GradientPass(ModulePass):
    """Add the adjoint of a graph function, which also returns gradients of its result."""

    name = "gradient"
    func_name: str = "main"
    require_grads: tuple[str, ...] | None = None
    target_index: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        add_gradient(op, self.func_name, self.require_grads, self.target_index)
