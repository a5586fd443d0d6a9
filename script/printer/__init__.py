"""IR as TVMScript: Python text that a person reads and that parses back to the same program.

`print_module` and `print_function` write `tir.prim_func` and `relax.func` in the form of the MLC
course. What is printed depends on the IR alone and names only ``T``, ``R``, ``I``, ``cls`` and the
module's class.

Constants of rank 0 are written in place, ``R.const(1.0, "float32")``. All others are numbered
references, ``metadata["relax.expr.Constant"][0]``. With ``show_meta=True`` their data precedes the
class (or function) as one assignment of a literal dict::

    metadata = {
        "relax.expr.Constant": [
            {"dtype": "float32", "shape": [1], "key": "b1", "base64": "AACAPw=="},
        ],
    }

`ast.literal_eval` reads its right-hand side. ``base64`` holds the elements in row-major order,
little-endian; a bool takes one byte, a bfloat16 its two bytes; ``key`` is the constant's name,
perhaps empty.
"""

from __future__ import annotations

from .metadata import Metadata as Metadata
from .module import print_function as print_function
from .module import print_module as print_module
from .module import print_statements as print_statements
from .options import Options as Options
from .options import options_of as options_of
