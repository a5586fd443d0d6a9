"""xDSL's operation classes, made faster for dialects with many operations, and a memory effect.

Definitions, checks and names are xDSL's, but construction and accessors do not walk the definition.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar, cast

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Attribute, Operation, Region, SSAValue, SSAValues
from xdsl.irdl import AttrSizedOperandSegments, OpDef, OptionalDef, VariadicDef
from xdsl.irdl import IRDLOperation as XDSLOperation
from xdsl.irdl import irdl_op_definition as xdsl_op_definition
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind

if TYPE_CHECKING:
    from xdsl.irdl.declarative_assembly_format import FormatProgram
    from xdsl.parser import Parser
    from xdsl.printer import Printer

SEGMENT_SIZES = AttrSizedOperandSegments.attribute_name

Operand = SSAValue | Sequence[SSAValue] | None
Class = TypeVar("Class", bound=XDSLOperation)


class _OperationClass(ABCMeta):
    """A metaclass whose ``isinstance`` and ``issubclass`` follow inheritance only.

    Most queries of passes test the class of an operation. ABCMeta also looks for registered
    classes, and asks all subclasses of a class in turn.
    """

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__


class IRDLOperation(XDSLOperation, metaclass=_OperationClass):
    """An operation; unlike xDSL's, its constructor accepts only SSA values as operands.

    The assembly format is compiled on first use.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if (text := vars(cls).get("assembly_format")) is not None:
            cls.assembly_format = None
            cls.parse, cls.print = _with_format(text)

    def __init__(
        self,
        *,
        operands: Sequence[Operand] = (),
        result_types: Sequence[Attribute | Sequence[Attribute]] = (),
        properties: Mapping[str, Attribute | None] | None = None,
        regions: Sequence[Region] = (),
    ):
        segments = [_listed(operand) for operand in operands]
        flat = [value for segment in segments for value in segment]
        kept = {name: p for name, p in (properties or {}).items() if p is not None}
        if _has_sizes(type(self)):
            kept[SEGMENT_SIZES] = segment_sizes(segments)
        types = [t for part in result_types for t in _listed(part)]
        Operation.__init__(
            self, operands=flat, result_types=types, properties=kept, regions=regions
        )

    def __post_init__(self) -> None:
        if _has_defaults(type(self)):
            super().__post_init__()


def _with_format(text: str) -> tuple[Any, Any]:
    """The parser and printer of an assembly format."""

    def parse(cls: type[IRDLOperation], parser: Parser) -> IRDLOperation:
        return _program(cls, text).parse(parser, cls)

    def print_(self: IRDLOperation, printer: Printer) -> None:
        _program(type(self), text).print(printer, self)

    return classmethod(parse), print_


@cache
def _program(operation: type[XDSLOperation], text: str) -> FormatProgram:
    from xdsl.irdl.declarative_assembly_format import FormatProgram

    return FormatProgram.from_str(text, operation.get_irdl_definition())


def _listed(part: Any) -> Sequence[Any]:
    """The values or types of one part of a definition, as a sequence."""
    if isinstance(part, list | tuple):
        return cast("Sequence[Any]", part)
    return () if part is None else (part,)


@cache
def _has_sizes(operation: type[XDSLOperation]) -> bool:
    options = operation.get_irdl_definition().options
    return any(isinstance(o, AttrSizedOperandSegments) for o in options)


@cache
def _has_defaults(operation: type[XDSLOperation]) -> bool:
    definition = operation.get_irdl_definition()
    parts = (*definition.properties.values(), *definition.attributes.values())
    return any(p.default_value is not None for p in parts)


def segment_sizes(segments: Sequence[Sequence[SSAValue]]) -> Attribute:
    """The property with the number of operands in each segment."""
    return _sizes_attribute(tuple([len(s) for s in segments]))


@lru_cache(maxsize=1 << 10)
def _sizes_attribute(sizes: tuple[int, ...]) -> Attribute:
    return DenseArrayBase.from_list(i32, sizes)


@lru_cache(maxsize=1 << 10)
def _starts(sizes: bytes) -> tuple[int, ...]:
    """The first position of each segment of operands, and the end of the last."""
    return tuple(accumulate(memoryview(sizes).cast("i"), initial=0))


def irdl_op_definition(cls: type[Class]) -> type[Class]:
    """Define an operation, like xDSL's decorator."""
    found = xdsl_op_definition(cls)
    definition = found.get_irdl_definition()
    for name, get in (*_operands(definition), *_results_and_regions(definition)):
        setattr(found, name, property(get))
    return found


Accessors = list[tuple[str, Callable[[Any], Any]]]


def _operands(definition: OpDef) -> Accessors:
    parts = definition.operands
    if any(isinstance(o, AttrSizedOperandSegments) for o in definition.options):
        return [(name, _segment(i, part)) for i, (name, part) in enumerate(parts)]
    single = [not isinstance(part, VariadicDef) for _, part in parts]
    found: Accessors = [(name, _operand(i)) for i, (name, _) in enumerate(parts)]
    if all(single):
        return found
    name, last = parts[-1]
    is_rest = all(single[:-1]) and not isinstance(last, OptionalDef)
    return [*found[:-1], (name, _rest_of_operands(len(found) - 1))] if is_rest else []


_item: Callable[[Any, Any], Any] = cast(Any, tuple).__getitem__
"""``tuple.__getitem__``, which bypasses the slower method of `SSAValues`."""


def _operand(position: int) -> Callable[[Any], Any]:
    return lambda op: _item(op._operands, position)


def _rest_of_operands(first: int) -> Callable[[Any], Any]:
    rest = slice(first, None)
    return lambda op: SSAValues(_item(op._operands, rest)) if first else op._operands


def _segment(position: int, part: Any) -> Callable[[Any], Any]:
    def bounds(op: Any) -> tuple[int, int]:
        starts = _starts(op.properties[SEGMENT_SIZES].data.data)
        return starts[position], starts[position + 1]

    def one(op: Any) -> Any:
        first, end = bounds(op)
        return _item(op._operands, first) if end > first else None

    def several(op: Any) -> Any:
        return SSAValues(_item(op._operands, slice(*bounds(op))))

    is_one = isinstance(part, OptionalDef) or not isinstance(part, VariadicDef)
    return one if is_one else several


def _results_and_regions(definition: OpDef) -> Accessors:
    found: Accessors = []
    if not any(isinstance(part, VariadicDef) for _, part in definition.results):
        found += [(name, _result(i)) for i, (name, _) in enumerate(definition.results)]
    if not any(isinstance(part, VariadicDef) for _, part in definition.regions):
        found += [(name, _region(i)) for i, (name, _) in enumerate(definition.regions)]
    return found


def _result(position: int) -> Callable[[Any], Any]:
    return lambda op: _item(op.results, position)


def _region(position: int) -> Callable[[Any], Any]:
    return lambda op: op.regions[position]


class AllocatesResult(MemoryEffect):
    """The result is newly allocated memory: dead if unused, never merged with an equal operation.

    xDSL's ``MemoryAllocEffect`` does not name the allocated value, so operations with it are never
    removed as dead code.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        return frozenset((EffectInstance(MemoryEffectKind.ALLOC, op.results[0]),))
