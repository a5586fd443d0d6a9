"""The `llvm_ext` dialect: LLVM instructions that xDSL's `llvm` dialect lacks or restricts.

An op is here only if `llvm.*` has none (`fptosi`, `switch`, `extractelement`, most intrinsics),
does not support vectors (`fcmp`, `select`), or verifies nothing (the float casts).
`backend/llvm_module.py` translates both dialects to LLVM IR.
"""

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Dialect

from .calls import SIGNATURES as SIGNATURES
from .calls import CallPtrOp as CallPtrOp
from .calls import IntrinsicOp as IntrinsicOp
from .casts import CastKind as CastKind
from .casts import CastKindAttr as CastKindAttr
from .casts import CastOp as CastOp
from .control import SwitchOp as SwitchOp
from .vectors import ExtractElementOp as ExtractElementOp
from .vectors import FCmpOp as FCmpOp
from .vectors import FCmpPredicate as FCmpPredicate
from .vectors import FCmpPredicateAttr as FCmpPredicateAttr
from .vectors import PoisonOp as PoisonOp
from .vectors import SelectOp as SelectOp
from .vectors import SplatOp as SplatOp

LOOP = "llvm_ext.loop"
"""Attribute of `llvm.br`/`llvm.cond_br` back edges: `{unroll.disable, vectorize.width = 16 : i32}`.

A key is what follows `llvm.loop.` in LLVM's metadata; values are unit, `i1` or `i32`."""

BRANCH_WEIGHTS = "llvm_ext.weights"
"""Attribute of `llvm.cond_br`: `array<i32: 1, 2000>`, how often each side is taken."""

INVARIANT = "llvm_ext.invariant"
"""Unit attribute of `llvm.load`: the memory does not change while the function runs."""

EXPLICIT_VECTORS = ArrayAttr([StringAttr("xrelax-loops"), StringAttr("explicit-vectors")])
"""`passthrough` of a function whose loops are already vectorized; LLVM then does not try."""

LLVMExt = Dialect(
    "llvm_ext",
    [
        CallPtrOp,
        CastOp,
        ExtractElementOp,
        FCmpOp,
        IntrinsicOp,
        PoisonOp,
        SelectOp,
        SplatOp,
        SwitchOp,
    ],
    [CastKindAttr, FCmpPredicateAttr],
)
