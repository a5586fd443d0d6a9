"""Examples of index expressions: symbols, constants, maps, and what is proved of them."""
# ruff: noqa: E402

# %% tir.Var
from xrelax import relax, tir

n = tir.Var("n", "int64")
x = relax.Var("x", relax.TensorStructInfo((n, n + 1), "float32"))
print(x.struct_info, relax.op.flatten(x).struct_info)

# %% tir.const tir.IntImm tir.FloatImm tir.StringImm
from xrelax import tir

number, half = tir.IntImm("int64", 6), tir.FloatImm("float32", 0.5)
print(number // 4, half + tir.const(2, "float32"), tir.max(tir.Var("n", "int64"), number))
print(isinstance(tir.const(1), tir.IntImm), isinstance(half, tir.IntImm))
print(tir.StringImm("local").value)

# %% tir.IndexMap
import numpy as np

from xrelax import tir

tiles = tir.IndexMap.from_func(lambda i, j: (i // 2, j, i % 2))
print(tiles.map_indices([5, 1]), tiles.map_shape([6, 4]))
print(tiles.inverse([6, 4]))
print(tiles.map_ndarray(np.arange(8).reshape(4, 2)).tolist())

# %% arith.Analyzer arith.ConstIntBound arith.IntervalSet arith.ModularSet ir.Range
import xrelax as tvm
from xrelax import tir

i, n = tir.Var("i", "int64"), tir.Var("n", "int64")
analyzer = tvm.arith.Analyzer()
analyzer.bind(i, tvm.ir.Range(0, 8))
print(analyzer.simplify((n * 8 + i) // 8), analyzer.can_prove(i < 8))
print(analyzer.const_int_bound(3 - i) == tvm.arith.ConstIntBound(-4, 3))
print(analyzer.modular_set(n * 6 + i * 4 + 1) == tvm.arith.ModularSet(2, 1))
print(analyzer.int_set(i + n, {i: tvm.arith.IntervalSet(n, n + 3)}))

# %% arith.detect_linear_equation arith.detect_clip_bound
import xrelax as tvm
from xrelax import tir

i, n = tir.Var("i", "int64"), tir.Var("n", "int64")
print(tvm.arith.detect_linear_equation(i * (n + 4) + i + 7, [i]))
print(tvm.arith.detect_clip_bound(tir.all(i - 1 > 0, i < n * 6), [i]))

# %% arith.estimate_region_lower_bound arith.estimate_region_upper_bound
from xrelax import arith, ir, tir

i, j = tir.Var("i"), tir.Var("j")
loops = {i: ir.Range(0, 16), j: ir.Range(0, 4)}
rows = [ir.Range.from_min_extent(i * 4 + j, 3)]
gaps = [ir.Range.from_min_extent(i * 8, 2)]
print(arith.estimate_region_lower_bound(rows, loops))
print(arith.estimate_region_lower_bound(rows, loops, i * 4 + j < 62))
print(arith.estimate_region_lower_bound(gaps, loops))
print(arith.estimate_region_upper_bound(gaps, loops))

# %% arith.detect_iter_map arith.IterMapLevel arith.normalize_iter_map_to_expr
from xrelax import arith, te
from xrelax.ir import Range

i, j = te.var("i"), te.var("j")
flat = i * 12 + j
ranges = {i: Range(0, 4), j: Range(0, 12)}
found = arith.detect_iter_map(
    [flat // 8, flat % 8], ranges, check_level=arith.IterMapLevel.Bijective
)
for total in found.indices:
    print(arith.normalize_iter_map_to_expr(total), "takes", total.args[0].extent, "values")
print(arith.detect_iter_map([i, i + j], ranges).errors)

# %% arith.inverse_affine_iter_map arith.iter_map_simplify
from xrelax import arith, te
from xrelax.ir import Range

i, n = te.var("i"), te.var("n")
print(arith.iter_map_simplify([i // n * n + i % n], {i: Range(0, n * 32)}))
swapped = arith.detect_iter_map([i % 8, i // 8], {i: Range(0, 32)}).indices
print(arith.inverse_affine_iter_map(swapped, [te.var("a"), te.var("b")]))

# %% arith.normalize_to_iter_sum arith.IterMapExpr arith.IterMark arith.IterSplitExpr
from xrelax import arith, te
from xrelax.ir import Range

i, n = te.var("i"), te.var("n")
total = arith.normalize_to_iter_sum(i // 4 * 2 + n, {i: Range(0, 32)})
quarter = arith.IterSplitExpr(arith.IterMark(i, 32), lower_factor=4, extent=8, scale=2)
print(total.args == [quarter], total.base, isinstance(quarter, arith.IterMapExpr))

# %% arith.IterSumExpr
from xrelax import arith, te

i = te.var("i")
digits = [arith.IterSplitExpr(arith.IterMark(i, 32), 4, 8, 1)]
total = arith.IterSumExpr(digits, 5)
print(arith.normalize_iter_map_to_expr(total))

# %% ir.is_prim_expr ir.is_prim_var
import xrelax as tvm
from xrelax import relax, tir

n = tir.Var("n", "int64")
x = relax.Var("x", relax.TensorStructInfo((n, 2), "float32"))
print([tvm.ir.is_prim_expr(value) for value in (n, n + 1, x)])
print([tvm.ir.is_prim_var(value) for value in (n, n + 1, x)])
