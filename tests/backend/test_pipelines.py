"""Code that LLVM's own passes make invalid is optimized with less of them."""

from ctypes import c_void_p

import numpy as np
import pytest

from xrelax.backend.jit import compile_module
from xrelax.backend.target import Target

HALVES = """
define void @halves(ptr %x, ptr %y) {
  %room = alloca [32 x i8], align 32
  %second = getelementptr i8, ptr %room, i64 16
  %a = load <4 x float>, ptr %x, align 4
  store <4 x float> %a, ptr %second, align 16
  %b = fadd <4 x float> %a, %a
  store <4 x float> %b, ptr %room, align 16
  %both = load <8 x float>, ptr %room, align 32
  store <8 x float> %both, ptr %y, align 4
  ret void
}
"""


@pytest.mark.parametrize("is_explicit", [False, True])
def test_scratch_memory_written_backwards(function, is_explicit: bool):
    """LLVM 22.1 uses `%b` before it is computed (llvm-project#189680)."""
    library = compile_module(HALVES, Target("llvm"), is_explicit=is_explicit)
    x, y = np.arange(4, dtype=np.float32), np.zeros(8, np.float32)
    function(library, "halves", None, c_void_p, c_void_p)(x.ctypes.data, y.ctypes.data)
    assert y.tolist() == [0, 2, 4, 6, 0, 1, 2, 3]
