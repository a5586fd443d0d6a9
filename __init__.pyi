"""The names of the Python API for type checkers; at run time `names.py` finds them."""

from . import ir as ir
from . import relax as relax
from . import runtime as runtime
from . import script as script
from . import te as te
from .driver import build as build
from .driver import stages as stages
from .ir.module import IRModule as IRModule
from .runtime import Device as Device
from .runtime import cpu as cpu
from .runtime import device as device
from .runtime import get_global_func as get_global_func
from .runtime import register_func as register_func
from .runtime import register_global_func as register_global_func

__version__: str

compile = build

# Namespaces that are no modules.

class nd:
    from .runtime import NDArray as NDArray
    from .runtime import array as array
    from .runtime import cpu as cpu
    from .runtime import empty as empty

class target:
    from .backend.target import Target as Target

class tir:
    from .ir.function import PrimFunc as PrimFunc

class topi:
    from .te.topi import add as add
    from .te.topi import divide as divide
    from .te.topi import matmul as matmul
    from .te.topi import maximum as maximum
    from .te.topi import minimum as minimum
    from .te.topi import multiply as multiply
    from .te.topi import subtract as subtract

    class nn:
        from .te.topi import relu as relu
