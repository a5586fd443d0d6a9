"""Masked stores of one lane as scalar stores, since LLVM 22 writes too much for some of them.

::

    call void @llvm.masked.store.v16i16.p0(<16 x i16> %8, ptr align 2 %5,
                                           <16 x i1> <i1 true, i1 false, …>)
⇒
    %lane.0 = extractelement <16 x i16> %8, i64 0
    store i16 %lane.0, ptr %5, align 2

Where the value is cut off from wider integers, LLVM merges that with the store, makes this store a
scalar one, and forgets to cut: on x86 with AVX-512 it writes the bytes after the element too.
Masks become constant while code is optimised, so this looks at the code after that.
"""

import re
from itertools import count
from typing import Any

_STORE = re.compile(
    r"(?:tail )?call void @llvm\.masked\.store\.[\w.]+\("
    r"(?P<vector><\d+ x (?P<element>\w+)>) (?P<value>[^,]+|<.*>|splat \(.*?\)), "
    r"ptr (?P<attributes>[^,%@]*)(?P<pointer>[%@][^, ]+), "
    r"<\d+ x i1> <i1 true(?:, i1 false)+>\)[^\n]*"
)

_ALIGN = re.compile(r"align \d+")


def with_scalar_stores(module: Any) -> str | None:
    """The text of a module without masked stores of the first lane alone; None if it has none."""
    if not any(f.name.startswith("llvm.masked.store.") for f in module.functions):
        return None
    numbers = count()

    def scalar(found: re.Match[str]) -> str:
        name = f"%lane.{next(numbers)}"
        vector, element, value = found["vector"], found["element"], found["value"]
        aligned = _ALIGN.search(found["attributes"])
        align = aligned[0] if aligned else "align 1"
        return (
            f"{name} = extractelement {vector} {value}, i64 0\n"
            f"  store {element} {name}, ptr {found['pointer']}, {align}"
        )

    text, replaced = _STORE.subn(scalar, str(module))
    return text if replaced else None
