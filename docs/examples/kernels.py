"""Examples of tensor expressions and of the kernels that they become."""
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
