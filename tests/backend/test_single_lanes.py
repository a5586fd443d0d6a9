"""Masked stores of one lane write that lane, and nothing else."""

from ctypes import c_void_p

import numpy as np
import pytest

from xrelax.backend.jit import with_scalar_stores
from xrelax.runtime.llvm_binding import LLVM_LOCK, binding, llvm_module


def test_a_store_of_one_lane_keeps_what_is_known_of_its_address():
    ir = """
define void @f(ptr %p, <4 x float> %x) {
  call void @llvm.masked.store.v4f32.p0(<4 x float> %x, ptr nonnull align 64 %p,
                                        <4 x i1> <i1 true, i1 false, i1 false, i1 false>)
  ret void
}
declare void @llvm.masked.store.v4f32.p0(<4 x float>, ptr, <4 x i1>)
"""
    with LLVM_LOCK, llvm_module(binding().parse_assembly, ir) as module:
        text = with_scalar_stores(module)
    assert text is not None
    with LLVM_LOCK, llvm_module(binding().parse_assembly, text) as module:
        assert "store float %lane.0, ptr %p, align 64" in str(module)
        assert with_scalar_stores(module) is None


@pytest.mark.parametrize(("narrow", "wide"), [("i8", "i32"), ("i16", "i32"), ("i32", "i64")])
def test_masked_store_of_one_lane_cut_off_from_a_wider_one(build, function, narrow, wide):
    """LLVM 22 would store the whole wide lane, on a CPU with AVX-512."""
    on = ", ".join(["true", *["false"] * 7])
    library = build(f"""
    llvm.func @f(%p: !llvm.ptr, %q: !llvm.ptr) {{
      %x = llvm.load %q {{alignment = 1 : i64}} : !llvm.ptr -> vector<8x{wide}>
      %y = llvm.add %x, %x : vector<8x{wide}>
      %z = llvm.trunc %y : vector<8x{wide}> to vector<8x{narrow}>
      %m = llvm.mlir.constant(dense<[{on}]> : vector<8xi1>) : vector<8xi1>
      llvm_ext.intrinsic "llvm.masked.store"(%z, %p, %m) align 1 : i64
        : (vector<8x{narrow}>, !llvm.ptr, vector<8xi1>) -> ()
      llvm.return
    }}""")
    data, source = np.zeros(8, f"int{narrow[1:]}"), np.full(8, -1, f"int{wide[1:]}")
    function(library, "f", None, c_void_p, c_void_p)(data.ctypes.data, source.ctypes.data)
    assert data.tolist() == [-2, *[0] * 7]
