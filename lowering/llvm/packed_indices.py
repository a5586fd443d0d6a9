"""Loops that pack their index below other bits of an integer, which stay loops.

LLVM 22 computes wrong addresses on x86-64 where it can tell that the low 32 bits of a 64-bit value
are a small number: of ``data[min(a << 32, b << 32 | 1) & 0xffffffff]`` with some more minima, the
address mode takes all 64 bits (the shift by the size of an element, narrowed to 32 bits, is widened
again with its operand). Packed indices are such bits, once a loop is unrolled and they are known.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ...dialects import loops

_KEEPS = (arith.IndexCastOp, arith.ExtSIOp, arith.ExtUIOp)
_PACKS = (arith.OrIOp, arith.AddiOp, arith.XOrIOp)


def packs_index(loop: loops.ForOp) -> bool:
    """Whether a loop joins its index with an integer that was shifted to the left."""
    work: list[SSAValue] = [loop.loop_var]
    while work:
        for use in work.pop().uses:
            op = use.operation
            if isinstance(op, _KEEPS):
                work.append(op.result)
            elif isinstance(op, _PACKS):
                if any(isinstance(v.owner, arith.ShLIOp) for v in op.operands):
                    return True
    return False
