"""Which intrinsics LLVM has, by their declarations."""

from __future__ import annotations

from functools import cache

from xdsl.ir import Attribute

from ..runtime.llvm_binding import LLVM_LOCK, binding, llvm_module
from .llvm_types import type_text

PREFIX = "llvm."
"""What the name of each intrinsic begins with."""


@cache
def has_intrinsic(name: str, inputs: tuple[Attribute, ...], output: Attribute | None) -> bool:
    """Whether LLVM has an intrinsic of these types; the suffix of the name may be missing.

    LLVM gives attributes to the declarations of those it has, such as `nounwind`.
    """
    returned = "void" if output is None else type_text(output)
    text = f"declare {returned} @{name}({', '.join(map(type_text, inputs))})"
    with LLVM_LOCK, llvm_module(binding().parse_assembly, text) as module:
        printed = str(module)
    return any(line.startswith("declare") and " #" in line for line in printed.splitlines())
