"""Numbers of few bits, in the layout that dot-product instructions read.

The weights of 16 columns and one block follow each other, a word for each column, so that vectors
of words are vectors of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...dtypes import element_type
from ...int_expr import IntExpr
from ..types import TensorType, shape_text
from .attributes import Int
from .base import OperatorOp
from .block_products import BITS_IN_BYTE, BYTES_IN_WORD
from .inference import require_dtype, require_rank
from .language import TensorLanguage

PANEL = 16
"""Columns whose words are next to each other."""
BITS = (2, 4, 8)


def numbers_in_word(op_name: str, bits: int) -> int:
    """The numbers in a word; raises ValueError for other than 2, 4 or 8 bits."""
    if bits not in BITS:
        raise ValueError(f"expected bits of '{op_name}' to be 2, 4 or 8, got {bits}")
    return BYTES_IN_WORD * BITS_IN_BYTE // bits


def _words_of_block(op_name: str, bits: int, block_size: int) -> int:
    """Words of a column in a block; raises ValueError for sizes that do not fill words."""
    numbers = numbers_in_word(op_name, bits)
    if block_size < numbers or block_size % numbers:
        raise ValueError(
            f"expected block_size of '{op_name}' to be a multiple of {numbers}, got {block_size}"
        )
    return block_size // numbers


def _panels(columns: IntExpr) -> IntExpr:
    return (columns + PANEL - 1) // PANEL


@irdl_op_definition
class PackBlocksOp(OperatorOp):
    """Numbers ``(n, k)`` of few bits, as `matmul_blocks` reads them.

    The result is uint32 of shape ``(panels of 16 columns, blocks of k, words, 16)``. Word ``j`` of
    ``w`` in a block has its numbers ``4 (h w + j) + i``, for the byte ``i`` and the bits from
    ``h bits`` on in this byte. Columns of the last panel that do not exist are 0.
    """

    name = "relax.nn.pack_blocks"
    x = operand_def(TensorType)
    bits = opt_prop_def(Int(default=4))
    block_size = opt_prop_def(Int(default=32))
    assembly_format = "$x attr-dict `:` type($x) `->` type($result)"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (x,) = operands
        size = attributes["block_size"]
        words = _words_of_block(cls.name, attributes["bits"], size)
        require_dtype(cls.name, operands, "uint8".__eq__, "uint8")
        require_rank(cls.name, "x", x, 2)
        if x.dims is None:
            return TensorType.of(None, element_type("uint32"), 4)
        columns, depth = x.dims
        if depth % size != IntExpr.of(0):
            raise ValueError(
                f"expected x (n, k) of '{cls.name}' to have k of whole blocks of {size}, got "
                f"{shape_text(x)}"
            )
        dims = [_panels(columns), depth // size, words, PANEL]
        return TensorType.of(dims, element_type("uint32"))

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (x,) = tensors
        bits, size = attributes["bits"], attributes["block_size"]
        words = _words_of_block(cls.name, bits, size)
        columns, depth = map(te.dim_expr, x.shape)
        panels, blocks = te.shape_of([_panels(columns), depth // size])

        def element(p: Any, b: Any, j: Any, c: Any) -> Any:
            column, word = p * PANEL + c, te.const(0, "uint32")
            for part in range(BITS_IN_BYTE // bits):
                for byte in range(BYTES_IN_WORD):
                    at = b * size + (part * words + j) * BYTES_IN_WORD + byte
                    number = x(column, at).astype("uint32") & ((1 << bits) - 1)
                    word |= number << (BITS_IN_BYTE * byte + bits * part)
            return te.if_then_else(column < x.shape[0], word, te.const(0, "uint32"))

        return te.compute((panels, blocks, words, PANEL), element, name="blocks")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        (x,) = arrays
        bits, size = attributes["bits"], attributes["block_size"]
        words = _words_of_block(cls.name, bits, size)
        filled = np.pad(x, [(0, -len(x) % PANEL), (0, 0)]) & ((1 << bits) - 1)
        shape = (-1, PANEL, x.shape[1] // size, BITS_IN_BYTE // bits, words, BYTES_IN_WORD)
        parts = filled.astype(np.uint8).reshape(shape).transpose(3, 0, 2, 4, 1, 5)
        found = np.zeros(parts.shape[1:], np.uint8)
        for number, part in enumerate(parts):
            found |= part << np.uint8(bits * number)
        return np.ascontiguousarray(found).view(np.uint32)[..., 0]
