"""Operators whose kernels TVM writes in another form than the one that builds start from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from .base import OperatorOp
from .language import TensorLanguage


class SteppedOp(OperatorOp, ABC):
    """An operator with tensors between operands and result, of which only sums are stored.

    ``relax.transform.LegalizeOps`` shows them as blocks of their own, as TVM does.
    """


class PlainFormOp(OperatorOp, ABC):
    """An operator that ``relax.transform.LegalizeOps`` makes TVM's kernel of, and builds another.

    Both have the same results.
    """

    @classmethod
    @abstractmethod
    def compute_plain(
        cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]
    ) -> Any:
        """TVM's kernel as tensor expressions; see `compute`."""
