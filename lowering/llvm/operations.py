"""The table of conversion to LLVM: every operation that may be in a kernel or a graph function."""

from __future__ import annotations

from xdsl.ir import Operation

from .builder import Lowering
from .calls import CALLS
from .casts import CASTS
from .control import CONTROL
from .floats import FLOATS
from .index import INDICES
from .integers import INTEGERS
from .math_functions import MATH
from .memory import MEMORY
from .vectors import VECTORS

LOWERINGS: dict[type[Operation], Lowering] = {
    **CALLS,
    **CASTS,
    **CONTROL,
    **FLOATS,
    **INDICES,
    **INTEGERS,
    **MATH,
    **MEMORY,
    **VECTORS,
}
"""How each operation is lowered."""
