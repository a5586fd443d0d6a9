"""Primitives on what loops and blocks carry: annotations, the order of axes, and a marker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.utils.exceptions import VerifyException

from ....dialects.attributes import to_attribute
from .. import annotations
from ..block_axes import reorder_axes
from ..blocks import ScheduleError
from .base import Primitives
from .instructions import primitive
from .random_variables import BlockRV, ExprRV, LoopRV


class AnnotationPrimitives(Primitives):
    """What marks loops and blocks."""

    @primitive
    def annotate(
        self, block_or_loop: BlockRV | LoopRV, ann_key: str, ann_val: str | float | ExprRV | Any
    ) -> None:
        """Give a block or loop an annotation: a number, string, variable, or list or dict of these.

        One that it has already gets the new value. Raises ScheduleError for any other value.
        """
        try:
            value = to_attribute(self._value(ann_val))
        except (TypeError, ValueError, VerifyException) as error:
            raise ScheduleError(f"expected a value for annotations: {error}") from None
        annotations.annotate(self.block_or_loop(block_or_loop), ann_key, value)

    @primitive
    def unannotate(self, block_or_loop: BlockRV | LoopRV, ann_key: str) -> None:
        """Take an annotation away; raises ScheduleError where there is none of the name."""
        annotations.unannotate(self.block_or_loop(block_or_loop), ann_key)

    @primitive
    def reorder_block_iter_var(self, block: BlockRV | str, new_order: Sequence[int]) -> None:
        """Put the axes of a block in another order, given by their positions.

        Raises ScheduleError where that is no order of all axes.
        """
        reorder_axes(self.block(block), new_order)

    @primitive(is_pure=True)
    def enter_postproc(self) -> None:
        """Mark where the part of the trace begins that is no part of the search space."""

    def _value(self, value: Any) -> Any:
        if isinstance(value, ExprRV):
            return self.number(value)
        if isinstance(value, Mapping):
            return {k: self._value(v) for k, v in cast("Mapping[str, Any]", value).items()}
        if isinstance(value, list | tuple):
            return [self._value(v) for v in cast("Sequence[Any]", value)]
        return value
