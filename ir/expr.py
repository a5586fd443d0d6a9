"""Expressions of the graph: thin views of SSA values, under the names that TVM gives them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Block, Operation, SSAValue

from ..dialects import relax
from ..dialects.diagnostics import OpError
from ..dialects.int_expr import IntExpr, sym
from ..lowering.graph.values import canonical
from .arithmetic import Arithmetic
from .detached import FreeVariable, OpenDataflow, is_detached, keep, known_as, share
from .operators import argument_values, data_of, invoke_op, operator_op, to_value
from .parts import Part, Step
from .struct_info import (
    AnyStructInfo,
    ObjectStructInfo,
    Shape,
    TensorStructInfo,
    struct_info,
    to_type,
)


def apply_operator(name: str, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """The call of an operator as a detached expression.

    Raises OpError with one line where arguments or their types do not fit.
    """
    operator = relax.OPERATORS[name]
    try:
        operands, attributes = operator.bind(args, named)
        return expression(operator_op(operator, operands, attributes))
    except (TypeError, ValueError) as error:
        raise OpError(str(error)) from error


_KINDS: dict[type[Operation], type[Expr]] = {}
"""The class of expressions that shows each kind of operation; `Operation` is for all others."""


class Expr(Arithmetic, Part):
    """A value of the graph, `ssa`; two views are equal where they are of the same value.

    A parameter of a function of `BlockBuilder` is the variable that was given for it, and values of
    its functions are the same in the module that it returns.

    A view of a value whose operation was erased raises ValueError. A class of expressions names
    what it is a view of: ``class If(Expr, shows=relax.IfOp)``.
    """

    def __init_subclass__(cls, shows: type[Operation] | None = None) -> None:
        super().__init_subclass__()
        if shows is not None:
            _KINDS[shows] = cls

    _apply = staticmethod(apply_operator)

    def __init__(self, value: SSAValue):
        self._value = canonical(value)
        owner = self._value.owner
        is_operation = isinstance(owner, Operation)
        self._keeper = keep(owner) if is_operation and owner.parent is None else None

    @property
    def ssa(self) -> SSAValue:
        """The value, for programs that work on the operations themselves.

        From now on its operation stays, whether it is emitted or not. Raises ValueError where it
        was erased.
        """
        value = self.borrowed
        if isinstance(value.owner, Operation):
            share(value.owner)
        return value

    @property
    def borrowed(self) -> SSAValue:
        """The value, while this view lives: a detached operation without views is erased."""
        owner = self._value.owner
        if isinstance(owner, Operation) and owner.parent is None and not is_detached(owner):
            name = self._value.name_hint or owner.name
            raise ValueError(f"expected a value of the program, got '{name}', which was erased")
        return self._value

    @property
    def struct_info(self) -> AnyStructInfo:
        """What is known of the value."""
        return struct_info(self.borrowed.type)

    struct_info_ = checked_type = ty = struct_info

    @property
    def shape(self) -> Shape | None:
        """The dims of a tensor, `None` where they are unknown."""
        return self._tensor.shape

    @property
    def ndim(self) -> int:
        """The number of dims of a tensor, -1 where it is unknown."""
        return self._tensor.ndim

    @property
    def dtype(self) -> str:
        """The dtype of a tensor, "" where it is unknown."""
        return self._tensor.dtype

    @property
    def _tensor(self) -> TensorStructInfo:
        info = self.struct_info
        if not isinstance(info, TensorStructInfo):
            raise AttributeError(f"expected a tensor, got {info}")
        return info

    def same_as(self, other: object) -> bool:
        """Whether the other one is the same value."""
        return self == other

    def _text(self) -> str:
        """The name of a variable, else what computes the value."""
        from .fragments import expression_text, name_of, value_text

        owner = self.borrowed.owner
        if isinstance(self, Var) or isinstance(owner, Block):
            is_constant = isinstance(owner, relax.ConstantOp)
            return (name_of if is_constant else value_text)(self.borrowed)
        return expression_text(owner)

    def _steps(self) -> Iterable[Step]:
        return [(self.borrowed, None)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expr) and known_as(self._value) is known_as(other._value)

    def __hash__(self) -> int:
        return hash(known_as(self._value))

    def __getitem__(self, index: int) -> Expr:
        size = len(self)
        if not -size <= index < size:
            raise IndexError(f"Tuple index out of range: expected a field of {size}, got {index}")
        return self._field(index % size)

    def _field(self, index: int) -> Expr:
        return TupleGetItem(self, index)

    def __call__(self, *args: Any) -> Any:
        return expression(invoke_op(self.borrowed, argument_values(args)))

    def __len__(self) -> int:
        type_ = self.borrowed.type
        if not isinstance(type_, TupleType):
            raise TypeError(f"expected a tuple, got {struct_info(type_)}")
        return len(type_.types.data)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Expr]:
        return iter([self[i] for i in range(len(self))])


class Var(Expr):
    """A variable: a parameter, or what a binding gives a name to."""

    is_dataflow: ClassVar[bool] = False

    def __init__(
        self,
        name_hint: str | None = None,
        struct_info: Any = ObjectStructInfo(),
        *,
        name: str | None = None,
        ty: Any = None,
    ):
        if name_hint is not None and name is not None:
            raise TypeError("Specify either name or name_hint, not both")
        given = name_hint if name is None else name
        if given is None:
            raise TypeError("expected the name of a variable, got None")
        type_ = to_type(struct_info if ty is None else ty)
        super().__init__(FreeVariable(given, type_, self.is_dataflow).args[0])

    @property
    def name_hint(self) -> str:
        """The name."""
        from .fragments import name_of

        return name_of(self.borrowed)

    name = name_hint

    @property
    def expr(self) -> IntExpr:
        """The value of an integer as a dim; one of unknown value becomes the symbol of its name.

        Raises AttributeError for other variables.
        """
        type_, owner = self.borrowed.type, self.borrowed.owner
        if not isinstance(type_, relax.PrimType) or type_.dtype not in ("int32", "int64"):
            raise AttributeError(f"expected an integer, got {self.struct_info}")
        if type_.expr is None and isinstance(owner, FreeVariable):
            type_ = relax.PrimType.of(type_.element_type, sym(self.name_hint))
            self._value = owner.retype(type_)
        if type_.expr is None:
            raise AttributeError(f"expected an integer of known value, got '{self.name_hint}'")
        return type_.expr

    def rename(self, name: str) -> None:
        """Give a variable that is no parameter yet another name; raises ValueError for others."""
        owner = self.borrowed.owner
        if not isinstance(owner, FreeVariable):
            raise ValueError(f"expected a variable outside of functions, got '{self.name_hint}'")
        owner.rename(name)

    @property
    def vid(self) -> Var:
        """What identifies the variable: itself."""
        return self


class DataflowVar(Var):
    """A variable that only its dataflow block sees."""

    is_dataflow = True


class Constant(Expr, shows=relax.ConstantOp):
    """A constant tensor."""

    def __init__(self, data: Any, struct_info: Any = None):
        super().__init__(relax.ConstantOp(data_of(data, struct_info)).result)

    @property
    def data(self) -> Any:
        """The values as a Tensor; raises ValueError where they were not given."""
        return tensor_of(owner_of(self, relax.ConstantOp).value.data)


def tensor_of(data: relax.TensorData) -> Any:
    """The values of a constant as a Tensor; raises ValueError where they were not given."""
    from ..runtime.tensor import Tensor, from_numpy

    tensor = from_numpy(data.values)
    return Tensor(tensor.address, tensor.layout._replace(dtype=data.dtype), tensor.owner)


class Tuple(Expr, shows=relax.TupleOp):
    """Several values as one."""

    def __init__(self, fields: Sequence[Any]):
        super().__init__(to_value(tuple(fields)))

    @property
    def fields(self) -> list[Expr]:
        """The values."""
        return [view(f) for f in owner_of(self, relax.TupleOp).fields]

    def _field(self, index: int) -> Expr:
        return self.fields[index]


class TupleGetItem(Expr, shows=relax.TupleGetItemOp):
    """A field of a tuple."""

    def __init__(self, tuple_value: Expr, index: int):
        super().__init__(relax.TupleGetItemOp(tuple_value.borrowed, index).result)

    @property
    def tuple_value(self) -> Expr:
        """The tuple."""
        return view(owner_of(self, relax.TupleGetItemOp).tuple_value)

    @property
    def index(self) -> int:
        """The number of the field."""
        return owner_of(self, relax.TupleGetItemOp).index.data


def owner_of(expr: Expr, kind: type[Any]) -> Any:
    """The operation of this kind that an expression is the result of."""
    owner = expr.borrowed.owner
    assert isinstance(owner, kind)
    return owner


def _make(kind: type[Expr], value: SSAValue) -> Any:
    made = kind.__new__(kind)
    Expr.__init__(made, value)
    return made


def expression(op: Operation) -> Any:
    """The view of what an operation computes, such as a `Call`."""
    return _make(_KINDS.get(type(op), _KINDS[Operation]), op.results[0])


def view(value: SSAValue) -> Any:
    """The view of a value where it is used: a variable, a constant, or a detached expression."""
    value = canonical(value)
    owner = value.owner
    if isinstance(owner, Block):
        is_dataflow = isinstance(owner, FreeVariable) and owner.is_dataflow
        return _make(DataflowVar if is_dataflow else Var, value)
    if owner.parent is None or isinstance(owner, relax.ConstantOp):
        return expression(owner)
    return variable(value)


def variable(value: SSAValue) -> Any:
    """The view of the result of an operation as the variable that is bound to it."""
    is_internal = isinstance(value.owner, Operation) and _is_internal(value, value.owner)
    return _make(DataflowVar if is_internal else Var, value)


def _is_internal(value: SSAValue, owner: Operation) -> bool:
    """Whether a value is seen by its dataflow block alone."""
    block = owner.parent
    if isinstance(block, OpenDataflow):
        return value not in block.outputs
    if not isinstance(owner.parent_op(), relax.DataflowOp):
        return False
    return not any(isinstance(use.operation, relax.OutputOp) for use in value.uses)
