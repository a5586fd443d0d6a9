"""The base of graph operators: operands, attributes, type inference, and reference."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, TypeAlias, cast

from numpy.typing import NDArray
from xdsl.dialects.builtin import DenseArrayBase, TupleType, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AnyOf,
    AttrSizedOperandSegments,
    BaseAttr,
    OptOperandDef,
    ParsePropInAttrDict,
    VarOperandDef,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ...attributes import RECOMPUTED
from ...diagnostics import suggestion
from ...int_expr import IntExpr
from ...irdl import IRDLOperation
from ..types import TensorType
from .attributes import REQUIRED, AttributeKind
from .language import TensorLanguage

ResultType: TypeAlias = "TensorType | TupleType"
"""The type of an operator's result: one tensor, or a tuple of tensors."""


class OperatorOp(IRDLOperation, ABC):
    """A pure function of tensors.

    A subclass defines `infer` (the result type from operand types and attributes, for static,
    symbolic and unknown shapes), `compute` (the tensor expression that it is lowered to, also a
    function in `topi`) and `reference` (NumPy). The syntax and the Python calls ``relax.op.NAME``
    and ``R.NAME`` follow from operand names and attributes. An attribute is declared as ``axis =
    opt_prop_def(Int(default=-1))``, see `attributes`. TVM's ``Op`` with ``FInferStructInfo`` and
    ``FLegalize``.
    """

    ORDER: ClassVar[tuple[str, ...]] = ()
    """The order of arguments in a call, if it is not operands first, then attributes."""

    result = result_def(AnyOf.get(BaseAttr(TensorType), BaseAttr(TupleType)))
    traits = traits_def(Pure())
    irdl_options = (ParsePropInAttrDict(),)

    @classmethod
    @abstractmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> ResultType:
        """Infer the type of the result; raises ValueError with one line for wrong operands.

        Here and below, attributes are complete: omitted ones have their defaults.
        """

    @property
    def is_view(self) -> bool:
        """Whether the result is in the memory of the first operand; it takes no kernel then."""
        return False

    @classmethod
    def assumed(
        cls, operands: Sequence[TensorType], attributes: dict[str, Any]
    ) -> Sequence[TensorType]:
        """The operands' types with the dims that the operator takes for granted.

        `infer` accepts symbols for these; compiled functions check their values when they run.
        """
        return operands

    @classmethod
    @abstractmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        """Compute the result as a tensor expression, or a tuple of them; `te` is the module `te`.

        A shape among the attributes has dims of tensor expressions: ints and expressions.
        """

    @classmethod
    @abstractmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> Any:
        """Compute the result by NumPy, or a tuple of results; shapes in attributes are ints."""

    @classmethod
    def operand_names(cls) -> tuple[str, ...]:
        """Names of the operands, in order."""
        return tuple(name for name, _ in cls.get_irdl_definition().operands)

    @classmethod
    def operand_labels(cls, count: int) -> list[str]:
        """A name for each of `count` operands; variadic ones are numbered."""
        labels: list[str] = []
        for name, size in zip(cls.operand_names(), cls._segments(count), strict=True):
            several = name == cls.variadic_operand()
            labels += [f"{name}_{i}" if several else name for i in range(size)]
        return labels

    @classmethod
    def variadic_operand(cls) -> str | None:
        """The variadic operand, if there is one."""
        return _variadic_operand(cls)

    @classmethod
    def attribute_kinds(cls) -> dict[str, AttributeKind]:
        """The kind of each attribute, in order."""
        return _attribute_kinds(cls)

    @classmethod
    def attribute_names(cls) -> tuple[str, ...]:
        """Names of the attributes, in order."""
        return tuple(cls.attribute_kinds())

    @classmethod
    def match_arguments(cls, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """Match the arguments of a call to the names of operands and attributes.

        Raises ValueError with one line for unknown, missing, repeated or too many arguments.
        """
        order = cls.ORDER or (*cls.operand_names(), *cls.attribute_names())
        if len(args) > len(order):
            raise ValueError(
                f"expected at most {len(order)} arguments of '{cls.name}', got {len(args)}"
            )
        given = dict(zip(order, args, strict=False))
        for name, value in named.items():
            if name not in order or name in given:
                raise ValueError(
                    f"expected arguments {', '.join(order)} of '{cls.name}', got '{name}'"
                    + (" twice" if name in given else "")
                )
            given[name] = value
        declared = cls.get_irdl_definition().operands
        required = [n for n, d in declared if not isinstance(d, OptOperandDef)]
        required += [n for n, k in cls.attribute_kinds().items() if k.default is REQUIRED]
        missing = [n for n in order if n in required and n not in given]
        if missing:
            raise ValueError(
                f"expected {', '.join(n for n in order if n in required)} of '{cls.name}', "
                f"got no {', '.join(missing)}"
            )
        return given

    @classmethod
    def bind(
        cls, args: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """The operands and attributes of a call ``operator(*args, **named)``.

        A list or tuple for a variadic operand is flattened; `None` is omitted. Raises ValueError
        with one line if the arguments do not match, such as a single tensor for a variadic operand.
        """
        given = cls.match_arguments(args, named)
        operands: list[Any] = []
        for name in cls.operand_names():
            value = given.get(name)
            if name == cls.variadic_operand() and isinstance(value, list | tuple):
                operands += cast("Sequence[Any]", value)
            elif value is not None:
                if name == cls.variadic_operand():
                    value_type = getattr(getattr(value, "borrowed", value), "type", None)
                    cls.require_tuple(name, value_type, type(value).__name__)
                operands.append(value)
        return operands, {n: given[n] for n in cls.attribute_names() if given.get(n) is not None}

    @classmethod
    def require_tuple(cls, name: str, type_: object, shown: object) -> None:
        """Raise ValueError unless the argument for a variadic operand has a tuple type."""
        if not isinstance(type_, TupleType):
            raise ValueError(
                f"expected {name} of '{cls.name}' to be a tuple of tensors, got {shown}"
            )

    @classmethod
    def encode(cls, attributes: Mapping[str, Any]) -> dict[str, Attribute]:
        """Convert Python attribute values to properties, without defaults.

        Raises ValueError with one line for an unknown or missing attribute, or a wrong value.
        """
        kinds = cls.attribute_kinds()
        unknown = sorted(set(attributes) - set(kinds))
        if unknown:
            known = f"attributes among {', '.join(kinds)}" if kinds else "no attributes"
            raise ValueError(f"expected {known} of '{cls.name}', got {', '.join(unknown)}")
        properties: dict[str, Attribute] = {}
        for name, kind in kinds.items():
            value = attributes.get(name, kind.default)
            if value is REQUIRED:
                raise ValueError(f"expected attribute '{name}' of '{cls.name}', got none")
            if kind.is_left_out(value):
                continue
            try:
                encoded = kind.encode(value)
            except (TypeError, ValueError):
                given: Any = value
                shown = given.type if isinstance(value, SSAValue) else repr(given)
                raise ValueError(
                    f"expected {name} of '{cls.name}' to be {kind.what}, got {shown}"
                ) from None
            if kind.default in (None, REQUIRED) or encoded != kind.encode(kind.default):
                properties[name] = encoded
        return properties

    @classmethod
    def decode(cls, properties: Mapping[str, Attribute]) -> dict[str, Any]:
        """Convert properties to Python attribute values, with defaults; the inverse of `encode`."""
        values: dict[str, Any] = {}
        for name, kind in cls.attribute_kinds().items():
            stored = properties.get(name)
            if stored is None and kind.default is REQUIRED:
                raise ValueError(f"expected attribute '{name}' of '{cls.name}', got none")
            if stored is not None:
                values[name] = kind.decode(stored)
            else:
                values[name] = _defaults(cls)[name]
        return values

    def attribute_values(self) -> dict[str, Any]:
        """The attributes as Python values, with defaults."""
        return self.decode(self.properties)

    @classmethod
    def of(
        cls, operands: Sequence[SSAValue], attributes: Mapping[str, Any] | None = None
    ) -> OperatorOp:
        """Create the operation on these operands, with its result type inferred.

        Raises ValueError with one line if operands or attributes do not match.
        """
        properties = cls.encode(attributes or {})
        sizes = cls._segments(len(operands))
        for name, operand in zip(cls.operand_labels(len(operands)), operands, strict=True):
            if not isinstance(operand.type, TensorType):
                raise ValueError(
                    f"expected {name} of '{cls.name}' to be a tensor, got {operand.type}"
                )
        types = [o.type for o in operands if isinstance(o.type, TensorType)]
        result = cls.infer(types, cls.decode(properties))
        if any(isinstance(o, AttrSizedOperandSegments) for o in cls.irdl_options):
            properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, sizes)
        return cls.create(operands=list(operands), properties=properties, result_types=[result])

    @classmethod
    def _segments(cls, given: int) -> list[int]:
        """The number of values of each operand; trailing optional operands may be omitted."""
        declared = cls.get_irdl_definition().operands
        single = [d for _, d in declared if not _is_variadic(d)]
        least = sum(not isinstance(d, OptOperandDef) for d in single)
        bounded = len(single) == len(declared)
        if given < least or (bounded and given > len(single)):
            count = f"{least}" if least == len(single) else f"{least} to {len(single)}"
            count = count if bounded else f"at least {least}"
            raise ValueError(f"expected {count} operands of '{cls.name}', got {given}")
        left, sizes = given, list[int]()
        for _, definition in declared:
            taken = left if _is_variadic(definition) else min(1, left)
            sizes.append(taken)
            left -= taken
        return sizes

    def verify_(self) -> None:
        for name in self.attributes.keys() - {RECOMPUTED}:
            known = suggestion(name, self.attribute_names())
            raise VerifyException(f"unknown attribute '{name}' of '{self.name}'{known}")
        types = [o.type for o in self.operands if isinstance(o.type, TensorType)]
        try:
            inferred = type(self).infer(types, self.attribute_values())
        except ValueError as error:
            raise VerifyException(str(error)) from None
        if inferred != self.result.type:
            raise VerifyException(
                f"expected '{self.name}' to give {inferred}, got {self.result.type}"
            )


@cache
def _attribute_kinds(cls: type[OperatorOp]) -> dict[str, AttributeKind]:
    """The kinds of the attributes; one that a subclass declares again stays in its place."""
    kinds = {name: d.constr for name, d in cls.get_irdl_definition().properties.items()}
    declared = [name for base in cls.__mro__ for name in vars(base) if name in kinds]
    names = reversed(dict.fromkeys(reversed(declared)))
    return {name: k for name in names if isinstance(k := kinds[name], AttributeKind)}


@cache
def _defaults(cls: type[OperatorOp]) -> dict[str, Any]:
    """The default values of the attributes."""
    kinds = {name: k for name, k in _attribute_kinds(cls).items() if k.default is not REQUIRED}
    return {
        name: None if k.default is None else k.decode(k.encode(k.default))
        for name, k in kinds.items()
    }


@cache
def _variadic_operand(cls: type[OperatorOp]) -> str | None:
    operands = cls.get_irdl_definition().operands
    return next((name for name, d in operands if _is_variadic(d)), None)


def _is_variadic(definition: object) -> bool:
    return isinstance(definition, VarOperandDef) and not isinstance(definition, OptOperandDef)


def evaluated(attributes: Mapping[str, Any], value_of: Callable[[IntExpr], Any]) -> dict[str, Any]:
    """Attributes whose integer expressions are evaluated by `value_of`."""

    def value(attribute: Any) -> Any:
        if isinstance(attribute, IntExpr):
            return value_of(attribute)
        if isinstance(attribute, tuple):
            return tuple(value(a) for a in cast("tuple[Any, ...]", attribute))
        return attribute

    return {name: value(attribute) for name, attribute in attributes.items()}


class UnaryOp(OperatorOp, ABC):
    """An operator of one tensor."""

    data = operand_def(TensorType)
    assembly_format = "$data attr-dict `:` type($data) `->` type($result)"


class BinaryOp(OperatorOp, ABC):
    """An operator of two tensors."""

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)"
