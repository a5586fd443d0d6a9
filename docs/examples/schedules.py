"""Examples of schedules and of tensor intrinsics."""
# ruff: noqa: E402

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
