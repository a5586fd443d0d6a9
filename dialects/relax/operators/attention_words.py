"""Attention of words that hold two bf16, for dot-product instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import NDArray
from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition

from ...int_expr import IntExpr
from ..types import TensorType
from .attention import DotProductAttentionOp
from .inference import require_dtype, require_floats
from .language import TensorLanguage
from .words import numbers_of, word, words_of


@irdl_op_definition
class AttentionWordsOp(DotProductAttentionOp):
    """`relax.nn.attention` of bf16, in pairs that are words of 32 bits (`pack_words`).

    Words of query and key hold two numbers of a head, those of the value two keys:
    (batch, queries, heads, size / 2), (batch, keys, key heads, size / 2) and
    (batch, keys / 2, key heads, value size). Sums are float32, as the result is, and weights are
    rounded to bf16, as in PyTorch's attention of bfloat16. Attributes are those of
    `relax.nn.attention`; raises ValueError without a `scale`, which the sizes do not tell.
    """

    name = "relax.nn.attention_words"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        if attributes["scale"] is None:
            raise ValueError(f"expected scale of '{cls.name}' to be given, got None")
        return super().infer(operands, attributes)

    @classmethod
    def element(cls, operands: Sequence[TensorType]) -> Attribute | None:
        require_dtype(cls.name, operands[:3], "uint32".__eq__, "words of two bfloat16")
        require_floats(cls.name, operands[3:])
        return f32

    @classmethod
    def value_rows(cls, keys: IntExpr) -> IntExpr:
        return words_of(keys, 2)

    @classmethod
    def dtypes(cls, query: str) -> tuple[str, str]:
        return "float32", "float32"

    @classmethod
    def multiply(cls, te: TensorLanguage, left: Any, right: Any, dtype: str) -> Any:
        return te.bfdot(left, right)

    @classmethod
    def weights_of(cls, keys: IntExpr) -> IntExpr:
        return words_of(keys, 2) * 2

    @classmethod
    def rows_of_weights(
        cls, te: TensorLanguage, weights: Any, visible: Callable[[Any, Any, int], Any]
    ) -> Any:
        *rows, keys = weights.shape
        length = te.dim_expr(keys)
        (count,) = te.shape_of([words_of(length, 2)])

        def pair(*i: Any) -> Any:
            def rounded(at: Any) -> Any:
                return weights(*i[:3], at).astype("bfloat16")

            found, is_seen = word(te, rounded, "bfloat16", i[3], length), visible(i[2], i[3] * 2, 2)
            return found if is_seen is None else te.select(is_seen, found, te.const(0, found.dtype))

        return te.compute((*rows, count), pair, name="T_words")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        query, key, value, *bias = arrays
        query, key = (numbers_of(a, -1, "float32") for a in (query, key))
        value = numbers_of(value, 1, "float32")[:, : key.shape[1]]
        return super().reference([query, key, value, *bias], attributes)
