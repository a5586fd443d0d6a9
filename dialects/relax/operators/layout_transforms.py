"""Elements of a tensor at other indices: layout_transform."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, opt_prop_def

from ...dtypes import is_float
from ...index_map import IndexExprs
from ...int_expr import Atom, IntExpr, IntLike, Sym
from ..types import TensorType
from .attributes import AttributeKind, Ints, Number
from .base import UnaryOp
from .inference import require_number, require_rank
from .language import TensorLanguage


@dataclass(frozen=True)
class IndexMapKind(AttributeKind):
    """A map from indices to indices, held as the text of a lambda with names ``i0``, ``i1``, …"""

    @property
    def what(self) -> str:
        return "a map of indices"

    def encode(self, value: Any) -> Attribute:
        if isinstance(value, str):
            found = IndexExprs.of_text(value)
        elif callable(value):
            found = _of_function(value)
        else:
            given = getattr(value, "map", value)
            found = IndexExprs(tuple(given.names), tuple(given.results))
        if found.symbols():
            raise ValueError
        return StringAttr(str(_renamed(found)))

    def decode(self, attribute: Attribute) -> Any:
        if not isinstance(attribute, StringAttr):
            raise TypeError
        return _renamed(IndexExprs.of_text(attribute.data))


def _of_function(function: Callable[..., Any]) -> IndexExprs:
    count = len(inspect.signature(function).parameters)

    def results(indices: Sequence[IntExpr]) -> list[IntExpr]:
        found = function(*indices)
        items = cast("Sequence[Any]", found if isinstance(found, list | tuple) else [found])
        return [IntExpr.of(item) for item in items]

    return IndexExprs.of(results, count)


def _renamed(index_map: IndexExprs) -> IndexExprs:
    return IndexExprs(tuple(f"i{n}" for n in range(len(index_map.names))), index_map.results)


def _shape(index_map: IndexExprs, dims: Sequence[IntExpr]) -> list[IntExpr]:
    """The dims of the result, by one formula for all sizes of the data."""
    sizes = [Sym(f"d{i}") for i in range(len(dims))]
    values: dict[Atom, IntLike] = dict(zip(sizes, dims, strict=True))
    return [d.substitute(values) for d in index_map.shape([IntExpr.of(s) for s in sizes])]


@irdl_op_definition
class LayoutTransformOp(UnaryOp):
    """The element at index ``i`` of `data` at ``index_map(i)``; TVM's ``R.layout_transform``.

    The shape is the smallest that holds all new indices for any sizes of the data: that of
    ``i % 4`` is 4. What no element is moved to has `pad_value`, by default 0. The separators are
    those of axes in memory of several dims; memory is flat here, so that they have no effect.
    """

    name = "relax.layout_transform"
    index_map = opt_prop_def(IndexMapKind())
    pad_value = opt_prop_def(Number(default=None))
    axis_separators = opt_prop_def(Ints(default=()))
    input_axis_separators = opt_prop_def(Ints(default=()))

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (data,) = operands
        index_map: IndexExprs = attributes["index_map"]
        require_rank(cls.name, "data", data, len(index_map.names))
        pad = attributes["pad_value"]
        if isinstance(pad, float) and data.dtype is not None and not is_float(data.dtype):
            raise ValueError(f"expected pad_value of '{cls.name}' to be {data.dtype}, got {pad}")
        require_number(cls.name, "pad_value", data, pad or 0)
        if data.dims is None:
            return TensorType.of(None, data.known_element, len(index_map.results))
        return TensorType.of(_shape(index_map, data.dims), data.known_element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,), index_map = tensors, attributes["index_map"]
        shape = _shape(index_map, [te.dim_expr(d) for d in data.shape])
        return te.moved(data, index_map, attributes["pad_value"] or 0, shape)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        (data,), index_map = arrays, attributes["index_map"]
        shape = [d.constant or 0 for d in _shape(index_map, [IntExpr.of(d) for d in data.shape])]
        grid: Any = np.ogrid[tuple(slice(n) for n in data.shape)]

        def index(atom: Atom) -> Any:
            return grid[cast(Any, atom).index]

        places = [e.evaluate(index) for e in index_map.results]
        result = np.full(shape, attributes["pad_value"] or 0, data.dtype)
        result[tuple(np.broadcast_to(p, data.shape) for p in places)] = data
        return result
