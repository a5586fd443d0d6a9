"""What is known of a value before the program runs: thin wrappers of types, and of dims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, TypeAttribute

from ..dialects.dims import dim_of, dims_of
from ..dialects.dtypes import element_type
from ..dialects.int_expr import IntExpr
from ..dialects.relax import FuncType, ObjectType, PrimType, ShapeType, TensorType
from ..dialects.relax.type_relations import says_less
from ..dialects.relax.types import type_symbols
from ..display.rich import displayed
from .parts import symbol_lines


class Shape(tuple[Any, ...]):
    """The dims of a tensor: ints where they are numbers, else expressions of symbols."""

    @property
    def values(self) -> tuple[Any, ...]:
        """The dims."""
        return tuple(self)


def shape_of(dims: Iterable[IntExpr]) -> Shape:
    """Dims as users see them."""
    from ..te.arithmetic import index_value

    return Shape(index_value(d) for d in dims)


TypeT = TypeVar("TypeT", bound=Attribute)


def _symbols_in(type_: Attribute) -> set[str]:
    """The symbols in a type, also in those of a function's parameters and result."""
    parts = [*type_.params.data, type_.result] if isinstance(type_, FuncType) else []
    return type_symbols(type_).union(*map(_symbols_in, parts))


@displayed("programs:struct_info_html")
class StructInfo(Generic[TypeT]):
    """A type of the graph, `type`; equal to any other of the same type."""

    type: TypeT

    def same_as(self, other: object) -> bool:
        """Whether the other one says the same."""
        return self == other

    def is_base_of(self, derived: AnyStructInfo) -> bool:
        """Whether every value of the other one is a value of this one."""
        return says_less(self.type, derived.type)

    def __eq__(self, other: object) -> bool:
        if isinstance(getattr(other, "path", None), str):  # an annotation, such as R.Tensor((4,))
            return self.type == to_type(other)
        if not isinstance(other, StructInfo):
            return False
        return self.type == cast("AnyStructInfo", other).type

    def __hash__(self) -> int:
        return hash(self.type)

    def script(self, *, verbose_expr: bool = False) -> str:
        """The type as TVMScript writes it; with `verbose_expr` below ``n = T.int64()`` lines."""
        from ..script.printer.relax_types import Types

        declared = sorted(_symbols_in(self.type)) if verbose_expr else ()
        return "\n".join([*symbol_lines(declared), Types({}).text(self.type)])

    def __str__(self) -> str:
        return self.script()

    def __repr__(self) -> str:
        return str(self)


AnyStructInfo: TypeAlias = "StructInfo[Any]"


class TensorStructInfo(StructInfo[TensorType]):
    """A tensor: its shape, or only its rank `ndim`, and its dtype, each of which may be unknown.

    A shape is a tuple, another tensor's shape, or anything that iterates over dims; a dim is a
    number, an expression of symbols, or a string. Of a variable for a shape, what its type says is
    known. The dtype "" is unknown, `vdevice` is ignored. Raises ValueError for a dtype that does
    not exist, and for an `ndim` other than the shape's.
    """

    def __init__(
        self,
        shape: Any = None,
        dtype: str | None = "float32",
        vdevice: object = None,
        ndim: int = -1,
    ):
        element = None if not dtype else element_type(_dtype_name(dtype))
        known = _shape_type(shape, ndim)
        if known.rank is not None and ndim not in (-1, known.rank):
            raise ValueError(f"expected a shape of {ndim} dims, got {known.rank}")
        self.type = TensorType.of(known.dims, element, known.rank)

    @property
    def shape(self) -> Shape | None:
        """The dims, or `None` where they are unknown."""
        return None if self.type.dims is None else shape_of(self.type.dims)

    @property
    def dtype(self) -> str:
        """The dtype's name, "" where it is unknown."""
        return self.type.dtype or ""

    @property
    def ndim(self) -> int:
        """The number of dims, -1 where it is unknown."""
        return -1 if self.type.rank is None else self.type.rank


def _shape_type(shape: Any, ndim: int) -> ShapeType:
    """What is known of a shape: its dims, those of a variable's type, or only a rank."""
    type_ = getattr(getattr(shape, "borrowed", None), "type", None)
    if isinstance(type_, ShapeType) and type_.rank is not None:
        return type_
    is_known = shape is not None and not isinstance(type_, ShapeType)
    return ShapeType.of(dims_of(shape) if is_known else None, ndim if ndim >= 0 else None)


def _dtype_name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


class ShapeStructInfo(StructInfo[ShapeType]):
    """A shape as a value: its dims, or only their number; ValueError for both."""

    def __init__(self, values: Any = None, ndim: int = -1):
        if values is not None and ndim >= 0:
            raise ValueError(f"expected the dims or their number, got {values} and {ndim}")
        dims = None if values is None else dims_of(values)
        self.type = ShapeType.of(dims, ndim if ndim >= 0 else None)

    @property
    def values(self) -> Shape | None:
        """The dims, or `None` where they are unknown."""
        return None if self.type.dims is None else shape_of(self.type.dims)

    @property
    def ndim(self) -> int:
        """The number of dims, -1 where it is unknown."""
        return -1 if self.type.rank is None else self.type.rank


class PrimStructInfo(StructInfo[PrimType]):
    """A number as a value: ``PrimStructInfo("int64")``, or ``PrimStructInfo(value=n + 1)``."""

    def __init__(self, dtype: Any = None, value: Any = None):
        if dtype is not None and not isinstance(dtype, str):
            dtype, value = None, dtype
        expr = None if value is None else dim_of(value)
        self.type = PrimType.of(element_type(dtype or "int64"), expr)

    @property
    def dtype(self) -> str:
        """The dtype's name."""
        return self.type.dtype

    @property
    def value(self) -> Any:
        """The number or expression, or `None` where it is unknown."""
        return None if self.type.expr is None else shape_of([self.type.expr])[0]


class TupleStructInfo(StructInfo[TupleType]):
    """Several values as one."""

    def __init__(self, fields: Sequence[Any]):
        self.type = TupleType(tuple(_type_attribute(f) for f in fields))

    @property
    def fields(self) -> list[AnyStructInfo]:
        """What is known of each field."""
        return [struct_info(t) for t in self.type.types.data]


class ObjectStructInfo(StructInfo[ObjectType]):
    """Any value."""

    def __init__(self) -> None:
        self.type = ObjectType()


class FuncStructInfo(StructInfo[FuncType]):
    """A function: its parameters, what it returns, and whether it is pure."""

    def __init__(self, params: Sequence[Any], ret: Any, purity: bool = True):
        self.type = FuncType.of([to_type(p) for p in params], to_type(ret), not purity)

    @property
    def params(self) -> list[AnyStructInfo]:
        """What is known of each parameter."""
        return [struct_info(t) for t in self.type.params.data]

    @property
    def ret(self) -> AnyStructInfo:
        """What is known of the result."""
        return struct_info(self.type.result)

    @property
    def purity(self) -> bool:
        """Whether calls have no effect but their result."""
        return not self.type.impure


_WRAPPERS: dict[type[Attribute], type[AnyStructInfo]] = {
    FuncType: FuncStructInfo,
    ObjectType: ObjectStructInfo,
    PrimType: PrimStructInfo,
    ShapeType: ShapeStructInfo,
    TensorType: TensorStructInfo,
    TupleType: TupleStructInfo,
}


def struct_info(type_: Attribute) -> AnyStructInfo:
    """The struct info of a type of the graph; raises ValueError for a foreign one."""
    if type(type_) not in _WRAPPERS:
        raise ValueError(f"expected a type of the graph, got {type_}")
    wrapper = _WRAPPERS[type(type_)]
    info = wrapper.__new__(wrapper)
    info.type = type_
    return info


def to_type(annotation: Any) -> Attribute:
    """The type behind a struct info or an annotation such as ``R.Tensor((4,), "float32")``.

    Raises TypeError or ValueError with one line for anything else.
    """
    if isinstance(annotation, StructInfo):
        return cast("AnyStructInfo", annotation).type
    if isinstance(annotation, Attribute):
        return annotation
    if isinstance(path := getattr(annotation, "path", None), str):
        return _annotated(path, annotation.args, annotation.kwargs).type
    if isinstance(annotation, list | tuple):
        return TupleStructInfo(cast("Sequence[Any]", annotation)).type
    if hasattr(annotation, "struct_info"):
        return annotation.struct_info.type
    raise TypeError(
        f"expected a struct info such as TensorStructInfo((4,), 'float32'), got {annotation!r}"
    )


def _type_attribute(annotation: Any) -> TypeAttribute:
    return cast(TypeAttribute, to_type(annotation))


def _annotated(path: str, args: Sequence[Any], kwargs: dict[str, Any]) -> AnyStructInfo:
    match path:
        case "R.Tensor":
            return _tensor(*args, **kwargs)
        case "R.Shape":
            return ShapeStructInfo(*args, **kwargs)
        case "R.Prim":
            return PrimStructInfo(*args, **kwargs)
        case "R.Tuple":
            given: Any = args[0] if len(args) == 1 else None
            fields = cast("Sequence[Any]", given) if isinstance(given, list | tuple) else args
            return TupleStructInfo(fields)
        case "R.Callable":
            return FuncStructInfo(*args, **kwargs)
        case "R.Object" | "R.Any":
            return ObjectStructInfo()
        case _:
            raise ValueError(f"expected an annotation such as R.Tensor, got {path}")


class VDevice(NamedTuple):
    """Where a tensor is, in TVM. Annotations may name it; there is one device, the CPU."""

    target: Any = None
    vdevice_id: int = 0
    memory_scope: str = "global"


def _tensor(
    shape: Any = None, dtype: str | None = None, vdevice: object = None, ndim: int = -1
) -> TensorStructInfo:
    """A tensor as scripts write it: the dtype may come first, and is unknown where it is left."""
    if isinstance(shape, str) and dtype is None:
        shape, dtype = None, shape
    return TensorStructInfo(shape, dtype, vdevice, ndim)
