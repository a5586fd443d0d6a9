"""What the LLVM IR of kernels must look like to be fast: addresses, aliases, hoisting, vectors."""

import re
from collections.abc import Callable

import pytest

from xrelax.backend.llvm_module import emit_module
from xrelax.backend.target import Target

DOT = """
rt.func @main(%x: !tir.buffer<[n, m], f32>, %w: !tir.buffer<[m, k], f32>, %y:
  !tir.buffer<[n, k], f32>) results 1 {
  rt.call_dps @matmul(%x, %w) outs(%y) : (!tir.buffer<[n, m], f32>, !tir.buffer<[m, k], f32>),
    (!tir.buffer<[n, k], f32>)
}
loops.func @matmul(%X: !tir.buffer<[n, m], f32>, %W: !tir.buffer<[m, k], f32>, %Y:
  !tir.buffer<[n, k], f32>) symbols [n, m, k] noalias {
  %zero = arith.constant 0.0 : f32
  loops.for %i in (0, n) PARALLEL {
    loops.for %j in (0, k) {
      %s = loops.for %r in (0, m) carry (%acc = %zero : f32) {
        %a = loops.load %X[%i, %r] : !tir.buffer<[n, m], f32> -> f32
        %b = loops.load %W[%j, %r] : !tir.buffer<[m, k], f32> -> f32
        %p = arith.mulf %a, %b fastmath<contract> : f32
        %t = arith.addf %acc, %p fastmath<FLAGS> : f32
        loops.yield %t : f32
      }
      loops.store %s, %Y[%i, %j] : !tir.buffer<[n, k], f32>, f32
    }
  }
}
"""


@pytest.fixture(scope="module")
def llvm_ir(convert) -> Callable[[str], str]:
    """LLVM IR before optimization."""
    return lambda text: emit_module(convert(text))


def function(ir: str, name: str) -> str:
    """The text of one function."""
    match = re.search(rf"define[^@]*@{re.escape(name)}\(.*?\n}}", ir, re.DOTALL)
    assert match, f"no function {name} in {ir}"
    return match[0]


def test_reassociated_reduction_is_vectorized(build):
    """The width is the target's; without the flag the order of additions is kept."""
    lanes = Target("llvm").lanes(32)
    vector = re.compile(r"(fmul|fma|fadd)[^\n]*<(\d+) x float>")
    fast = build(DOT.replace("FLAGS", "reassoc, contract").replace("PARALLEL", ""))
    widths = {int(m[2]) for m in vector.finditer(fast.attributes["optimized_llvm_ir"]())}
    assert max(widths) in (lanes, lanes // 2)
    ordered = build(DOT.replace("FLAGS", "contract").replace("PARALLEL", ""))
    assert not re.search(r"fadd[^\n]*<\d+ x float>", ordered.attributes["optimized_llvm_ir"]())


def test_parallel_body_is_vectorized_without_alias_checks(build):
    text = DOT.replace("FLAGS", "reassoc, contract").replace("PARALLEL", "parallel")
    ir = build(text).attributes["optimized_llvm_ir"]()
    assert re.search(r"(fmul|fma|fadd)[^\n]*<\d+ x float>", ir)
    assert "memcheck" not in ir and "conflict" not in ir


def test_addresses_are_geps_on_elements(llvm_ir):
    ir = llvm_ir(DOT.replace("FLAGS", "contract").replace("PARALLEL", ""))
    assert ir.count("getelementptr inbounds float") == 3
    assert "inttoptr" not in ir and "ptrtoint" not in ir


def test_arguments_say_what_is_known(llvm_ir):
    """What users give, memory for results too, may be aligned to its elements alone."""
    ir = llvm_ir(DOT.replace("FLAGS", "contract").replace("PARALLEL", ""))
    head = function(ir, "xrelax.matmul").splitlines()[0]
    x, w, y = re.findall(r"ptr align[^,]*", head)
    assert "align 4" in x and "noalias" in x and "readonly" in x
    assert "align 4" in w and "readonly" in w
    assert "align 4" in y and "noalias" in y and "readonly" not in y
    assert "nonnull" not in head


def test_without_noalias_nothing_is_promised(llvm_ir):
    ir = llvm_ir(DOT.replace("FLAGS", "contract").replace("PARALLEL", "").replace("noalias {", "{"))
    pointers = re.findall(r"ptr align[^,]*", function(ir, "xrelax.matmul").splitlines()[0])
    assert len(pointers) == 3 and not any("noalias" in p for p in pointers)


def test_index_arithmetic_leaves_the_loops_that_do_not_change_it(llvm_ir):
    """The innermost loop adds and no more; rows are multiplied once for each row."""
    body = function(
        llvm_ir(DOT.replace("FLAGS", "contract").replace("PARALLEL", "")), "xrelax.matmul"
    )
    blocks = re.split(r"\n(?=b\d+:)", body)
    (inner,) = [b for b in blocks if "fmul" in b]
    assert "mul nsw" not in inner and inner.count("add nsw") == 3
    assert body.count("mul nsw") == 3


def test_call_that_cannot_fail_is_not_tested(llvm_ir):
    main = function(
        llvm_ir(DOT.replace("FLAGS", "contract").replace("PARALLEL", "parallel")), "xrelax.main"
    )
    assert "call i32 @xrelax.matmul" in main and "icmp" not in main


def test_outlined_loop(llvm_ir):
    """The wrapper is what the pool calls; the body has the kernel's promises."""
    ir = llvm_ir(DOT.replace("FLAGS", "contract").replace("PARALLEL", "parallel"))
    arguments = "ptr %1, ptr %2, i64 %3, i64 %4, i64 %5"
    assert f"define internal i32 @xrelax.matmul.parallel0({arguments})" in ir
    body = function(ir, "xrelax.matmul.body0").splitlines()[0]
    assert body.count("noalias") == 3 and body.count("readonly") == 2
    assert body.count("ptr align ") == 3
    call = re.search(r"call i32 @xrelax_parallel\((.*)\)", function(ir, "xrelax.matmul"))
    assert call is not None and call[1].count("ptr") == 3 and call[1].count("i64") == 4
    assert call[1].split(", ")[1] == "ptr @xrelax.matmul.parallel0"


def test_masked_access_is_not_inbounds(llvm_ir):
    """Its address may lie beyond the buffer while all lanes are off."""
    ir = llvm_ir("""
    loops.func @k(%X: !tir.buffer<[n], f32>) symbols [n] noalias {
      %m = loops.mask n - 16 : vector<16xi1>
      %v = loops.load %X[16] mask %m : !tir.buffer<[n], f32> -> vector<16xf32>
      loops.store %v, %X[16] mask %m : !tir.buffer<[n], f32>, vector<16xf32>
    }""")
    assert "getelementptr float" in ir and "inbounds" not in ir
    assert "@llvm.masked.load.v16f32.p0" in ir and "@llvm.masked.store.v16f32.p0" in ir


def test_fast_math_flags_are_carried(llvm_ir):
    ir = llvm_ir("""
    loops.func @k(%X: !tir.buffer<[4], f32>) noalias {
      %a = loops.load %X[0] : !tir.buffer<[4], f32> -> f32
      %b = math.sqrt %a fastmath<afn> : f32
      %c = arith.divf %b, %a fastmath<arcp, nsz> : f32
      %d = arith.maximumf %c, %a fastmath<fast> : f32
      loops.store %d, %X[0] : !tir.buffer<[4], f32>, f32
    }""")
    assert "call afn float @llvm.sqrt.f32" in ir
    assert re.search(r"fdiv (nsz arcp|arcp nsz) float", ir)
    assert "call fast float @llvm.maximum.f32" in ir
