"""Examples of tensor expressions, kernels and schedules."""
# ruff: noqa: E402

# %% te
import numpy as np

import xrelax as tvm
from xrelax import te

n = te.var("n")
x = te.placeholder((n, 4), "float32", name="x")
k = te.reduce_axis((0, 4), name="k")
y = te.compute((n,), lambda i: te.sum(te.exp(x[i, k]), axis=k), name="y")
function = te.create_prim_func([x, y])
print(function)

sums = np.empty(2, "float32")
tvm.build(function)["main"](np.zeros((2, 4), "float32"), sums)
print(sums)

# %% topi
from xrelax import te, topi

x = te.placeholder((2, 3), "float32", name="x")
y = topi.nn.relu(topi.add(x, 1.0))
print(y.shape, y.dtype)
print(te.create_prim_func([x, y]))

# %% tir
import xrelax as tvm
from xrelax import tir
from xrelax.script import tir as T


@T.prim_func
def double(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = X[vi] * 2.0


schedule = tir.Schedule(double)
(loop,) = schedule.get_loops(schedule.get_block("Y"))
outer, inner = schedule.split(loop, [None, 4])
schedule.vectorize(inner)
schedule.mod.show()

# %% tir.For tir.ForKind tir.SBlock
from xrelax import te, tir

x = te.placeholder((4, 8), name="X")
schedule = tir.Schedule(te.create_prim_func([x, te.compute((4, 8), lambda i, j: x[i, j] * 2, "Y")]))
block, (outer, inner) = schedule.get_block("Y"), schedule.get_loops("Y")
schedule.vectorize(inner)
found, loop = schedule.get(block), schedule.get(inner)
print(isinstance(found, tir.SBlock), [a.name for a in found.iter_vars])
print([(r.buffer, [(b.min, b.extent) for b in r.region]) for r in found.reads])
print(isinstance(loop, tir.For), loop.loop_var, loop.extent, loop.kind == tir.ForKind.VECTORIZED)

# %% tir.stmt_functor tir.SBlockRealize tir.SeqStmt tir.BufferStore tir.BufferRegion
from xrelax import te, tir

x = te.placeholder((4, 8), name="X")
twice = te.compute((4, 8), lambda i, j: x[i, j] * 2, "twice")
kernel = te.create_prim_func([x, te.compute((4, 8), lambda i, j: twice[i, j] + 1, "Y")])
found = []
tir.stmt_functor.post_order_visit(kernel.body, found.append)
for node in found:
    if isinstance(node, tir.BufferStore):
        print(node.buffer, node.indices, "=", node.value, isinstance(node.value, tir.Add))
realized = [node.block for node in found if isinstance(node, tir.SBlockRealize)]
print([(b.name_hint, [isinstance(r, tir.BufferRegion) for r in b.reads]) for b in realized])
print(isinstance(kernel.body.block.body, tir.SeqStmt))

# %% tir.MatchBufferRegion
from xrelax import ir, tir

x, row = tir.decl_buffer((4, 8), name="X"), tir.decl_buffer((8,), name="row")
i, vi = tir.Var("i", "int64"), tir.Var("vi", "int64")
source = tir.BufferRegion(x, [ir.Range(vi, vi + 1), ir.Range(0, 8)])
views = [tir.MatchBufferRegion(row, source)]
axes, store = [tir.IterVar((0, 4), vi, 0)], tir.BufferStore(row, 1.0, [0])
block = tir.SBlock(axes, None, None, "first", store, match_buffers=views)
loop = tir.For(i, 0, 4, tir.ForKind.SERIAL, tir.SBlockRealize([i], True, block))
tir.PrimFunc([x], loop).show()

# %% tir.IfThenElse tir.While tir.Bind tir.Break tir.Evaluate tir.AssertStmt
from xrelax import tir
from xrelax.script import tir as T


@T.prim_func
def steps(X: T.Buffer((8,), "int32")):
    for i in range(8):
        while X[i] < 9:
            first: T.int32 = X[i]
            X[i] = first * first
            if first > 3:
                break
    T.evaluate(T.call_extern("int32", "rand"))
    assert X[0] < 9, "large"


kinds = tir.IfThenElse, tir.While, tir.Bind, tir.Break, tir.Evaluate, tir.AssertStmt
tir.stmt_functor.post_order_visit(steps.body, lambda n: isinstance(n, kinds) and print(type(n)))

# %% tir.AttrStmt tir.Continue tir.AllocBuffer tir.DeclBuffer tir.Return
from xrelax import tir
from xrelax.script import tir as T


@T.prim_func
def parts(x: T.handle("float32"), n: T.int32) -> T.int32:
    with T.attr("i", "pragma_unroll", 1):
        for i in range(n):
            X, Y = T.decl_buffer((8,), data=x), T.alloc_buffer((8,))
            if i % 2 == 0:
                continue
            Y[0] = X[0]
    return n


kinds = tir.AttrStmt, tir.Continue, tir.AllocBuffer, tir.DeclBuffer, tir.Return
tir.stmt_functor.post_order_visit(parts.body, lambda n: isinstance(n, kinds) and print(type(n)))

# %% tir.Buffer tir.is_buffer_var
from xrelax import relax, te, tir

k = te.reduce_axis((0, 16), "k")
x = te.placeholder((4, 8, 16), name="X")
y = te.compute((4, 8), lambda i, j: te.sum(x[i, j, k], axis=k), name="Y")
sums = te.create_prim_func([x, y])
print([(p.name, p.shape, tir.is_buffer_var(p)) for p in sums.params])
transposed = relax.analysis.suggest_layout_transforms(sums, [lambda i, j: (j, i)])
for block, maps in transposed.items():
    print(isinstance(block, tir.SBlock), block.name_hint)
    print(*(m for part, m in maps.items() if isinstance(part, tir.Buffer)))

# %% tir.decl_buffer
from xrelax import te, tir

x = te.placeholder((te.var("n"), 8), "float32", name="x")
double = te.create_prim_func([x, te.compute(x.shape, lambda i, j: x[i, j] * 2.0, name="y")])
tile = tir.decl_buffer((4, 8), "float32", name="tile")
print(double.specialize({double.params[0]: tile}))
print(tile.offset_of([1, 2]), tile.get_flattened_buffer().shape)

# %% tir.IndexMap
import numpy as np

from xrelax import tir

tiles = tir.IndexMap.from_func(lambda i, j: (i // 2, j, i % 2))
print(tiles.map_indices([5, 1]), tiles.map_shape([6, 4]))
print(tiles.inverse([6, 4]))
print(tiles.map_ndarray(np.arange(8).reshape(4, 2)).tolist())

# %% tir.PrimFunc
import numpy as np

import xrelax as tvm
from xrelax import tir
from xrelax.script import tir as T


@T.prim_func
def double(X: T.Buffer((3,), "float32"), Y: T.Buffer((3,), "float32")):
    for i in range(3):
        with T.block("Y"):
            vi = T.axis.spatial(3, i)
            Y[vi] = X[vi] * 2.0


print(isinstance(double, tir.PrimFunc), double.name, double.attrs)
result = np.empty(3, "float32")
tvm.build(double)["double"](np.ones(3, "float32"), result)
print(result)

# %% tir.Schedule
from xrelax import te, tir, topi

x, w = (te.placeholder((64, 64), "float32", name=name) for name in "xw")
schedule = tir.Schedule(te.create_prim_func([x, w, topi.matmul(x, w)]))
i, j, k = schedule.get_loops(schedule.get_block("matmul"))
outer, lanes = schedule.split(j, [None, 16])
schedule.reorder(i, outer, k, lanes)
schedule.vectorize(lanes)
schedule.parallel(i)
print(schedule.mod["main"])

# %% tir.ScheduleError
from xrelax import te, tir

x = te.placeholder((8,), "float32", name="x")
k = te.reduce_axis((0, 8), name="k")
total = te.compute((), lambda: te.sum(x[k], axis=k), name="total")
schedule = tir.Schedule(te.create_prim_func([x, total]))
(loop,) = schedule.get_loops("total")
try:
    schedule.parallel(loop)
except tir.ScheduleError as error:
    print(error)

# %% tir.TensorIntrin
from xrelax import te, tir


def doubled(n):
    x = te.placeholder((n,), "float32", name="x")
    return te.create_prim_func([x, te.compute((n,), lambda i: x[i] * 2, name="y")])


vectorized = tir.Schedule(doubled(4))
vectorized.vectorize(vectorized.get_loops("y")[0])
tir.TensorIntrin.register("example.double", doubled(4), vectorized.func, override=True)

schedule = tir.Schedule(doubled(32))
outer, inner = schedule.split(schedule.get_loops("y")[0], [None, 4])
schedule.tensorize(inner, "example.double")
print(schedule.mod["main"])

# %% tir.tensor_intrin tir.tensor_intrin.x86 tir.tensor_intrin.arm_cpu
from xrelax import te, tir

x = te.placeholder((4,), "int8", name="x")
w = te.placeholder((8, 4), "int8", name="w")
k = te.reduce_axis((0, 4), name="k")
y = te.compute((8,), lambda i: te.sum(x[k].astype("int32") * w[i, k].astype("int32"), k), name="y")
schedule = tir.Schedule(te.create_prim_func([x, w, y]))
outer, inner = schedule.split(schedule.get_loops("y")[0], [None, 4])
schedule.decompose_reduction("y", inner)
schedule.tensorize(inner, tir.tensor_intrin.arm_cpu.ARM_DOT_4x4_i8_SDOT_INTRIN)
print(schedule.mod["main"])
print(tir.tensor_intrin.x86.VNNI_DOT_16x4_INTRIN)

# %% tir.Var
from xrelax import relax, te, tir

n = tir.Var("n", "int64")
x = relax.Var("x", relax.TensorStructInfo((n, n + 1), "float32"))
print(x.struct_info, relax.op.flatten(x).struct_info)

# %% tir.schedule
from xrelax import te, tir

x = te.placeholder((8, 8), "float32", name="x")
function = te.create_prim_func([x, te.compute((8, 8), lambda i, j: x[j, i], name="y")])
schedule = tir.schedule.Schedule(function)
schedule.parallel(schedule.get_loops("y")[0])
print(schedule.trace)

other = tir.schedule.Schedule(function)
schedule.trace.apply_to_schedule(other)  # replays the primitives
assert other.mod.script() == schedule.mod.script()

# %% tir.schedule.analysis
from xrelax import te, tir
from xrelax.tir.tensor_intrin import arm_cpu

x = te.placeholder((6, 8), "int8", name="x")
w = te.placeholder((8, 8), "int8", name="w")
k = te.reduce_axis((0, 8), name="k")


def element(i, j):
    return te.sum(x[i, k].astype("int32") * w[j, k].astype("int32"), k)


schedule = tir.Schedule(te.create_prim_func([x, w, te.compute((6, 8), element, name="y")]))
analysis = tir.schedule.analysis
description = tir.TensorIntrin.get(arm_cpu.ARM_DOT_4x4_i8_SDOT_INTRIN).desc
info = analysis.get_tensorize_loop_mapping(schedule, "y", description)
for loop, tile in info.loop_map.items():
    print(schedule.get(loop).loop_var, schedule.get(loop).extent, tile.extent)
print(analysis.is_output_block(schedule, "y"))

# %% tir.schedule.transform
from xrelax import te, tir
from xrelax.tir.tensor_intrin import arm_cpu

x = te.placeholder((6, 8), "int8", name="x")
w = te.placeholder((8, 8), "int8", name="w")
k = te.reduce_axis((0, 8), name="k")


def element(i, j):
    return te.sum(x[i, k].astype("int32") * w[j, k].astype("int32"), k)


schedule = tir.Schedule(te.create_prim_func([x, w, te.compute((6, 8), element, name="y")]))
tile = tir.schedule.transform.tile_with_tensor_intrin
print(schedule.get(tile(schedule, "y", arm_cpu.ARM_DOT_4x4_i8_SDOT_INTRIN)).extent)
print(schedule.mod["main"])
# %% tir.call_extern
import numpy as np

import xrelax as tvm
from xrelax import te, tir

x = te.placeholder((4,), "float32", name="x")
size = te.const(16, "int64")
y = te.extern(
    (4,),
    [x],
    lambda ins, outs: tir.call_extern("void", "memcpy", outs[0].data, ins[0].data, size),
    name="y",
)
function = te.create_prim_func([x, y])
print(function)

copy = np.empty(4, "float32")
tvm.build(function)["main"](np.ones(4, "float32"), copy)
print(copy)

# %% tir.call_packed
import numpy as np

import xrelax as tvm
from xrelax import te, tir


@tvm.register_func("example.sort", override=True)
def sort(x, y):
    y.copyfrom(np.sort(x.numpy()))


x = te.placeholder((4,), "float32", name="x")
y = te.extern((4,), [x], lambda ins, outs: tir.call_packed("example.sort", ins[0], outs[0]))
function = te.create_prim_func([x, y])
print(function)

found = np.empty(4, "float32")
tvm.build(function)["main"](np.array([3, 1, 4, 2], "float32"), found)
print(found)

# %% tir.ProducerLoad
from xrelax import te, tir

scale = te.compute((), lambda: 2.0, name="scale")
x = te.placeholder((4,), "float32", name="x")
y = te.compute((4,), lambda i: x[i] * tir.ProducerLoad(scale, []), name="y")
print(te.create_prim_func([x, y]))

# %% tir.const tir.IntImm tir.FloatImm tir.StringImm
from xrelax import tir

number, half = tir.IntImm("int64", 6), tir.FloatImm("float32", 0.5)
print(number // 4, half + tir.const(2, "float32"), tir.max(tir.Var("n", "int64"), number))
print(isinstance(tir.const(1), tir.IntImm), isinstance(half, tir.IntImm))
print(tir.StringImm("local").value)

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
