"""Examples of calls of kernels and of registered functions in graphs."""
# ruff: noqa: E402

# %% relax.ExternFunc
from xrelax import relax

x = relax.Var("x", relax.TensorStructInfo((2,), "float32"))
log = relax.ExternFunc("example.log")
print(log.global_symbol, log(x))
print(relax.call_dps_packed(log, [x], out_sinfo=x.struct_info))

# %% relax.call_dps_packed
import numpy as np

import xrelax as tvm
from xrelax import relax


@tvm.register_func("example.half", override=True)
def half(x, out):
    out.copyfrom(x.numpy() / 2)


x = relax.Var("x", relax.TensorStructInfo((2,), "float32"))
builder = relax.BlockBuilder()
with builder.function("main", [x]):
    call = relax.call_dps_packed("example.half", [x], out_sinfo=x.struct_info)
    builder.emit_func_output(builder.emit(call))
print(relax.build(builder.get())["main"](np.ones(2, "float32")))

# %% relax.call_tir
from xrelax import relax
from xrelax.script import tir as T


@T.prim_func
def double(X: T.Buffer((2,), "float32"), Y: T.Buffer((2,), "float32")):
    for i in range(2):
        with T.block("Y"):
            vi = T.axis.spatial(2, i)
            Y[vi] = X[vi] * 2.0


x = relax.Var("x", relax.TensorStructInfo((2,), "float32"))
builder = relax.BlockBuilder()
kernel = builder.add_func(double, "double")
with builder.function("main", [x]):
    builder.emit_func_output(builder.emit(relax.call_tir(kernel, [x], x.struct_info)))
print(builder.get()["main"])

# %% relax.call_tir_with_grad
from xrelax import relax
from xrelax.script import tir as T


@T.prim_func
def double(X: T.Buffer((2,), "float32"), Y: T.Buffer((2,), "float32")):
    for i in range(2):
        with T.block("Y"):
            vi = T.axis.spatial(2, i)
            Y[vi] = X[vi] * 2.0


x = relax.Var("x", relax.TensorStructInfo((2,), "float32"))
builder = relax.BlockBuilder()
kernel = builder.add_func(double, "double")
with builder.function("main", [x]):
    call = relax.call_tir_with_grad(kernel, [x], x.struct_info, te_grad_name="gradient_of_double")
    builder.emit_func_output(builder.emit(call))
print(builder.get()["main"])

# %% relax.call_pure_packed
import numpy as np

import xrelax as tvm
from xrelax import relax

tvm.register_func("double", lambda x: tvm.nd.array(x.numpy() * 2))
x = relax.Var("x", relax.TensorStructInfo((2,), "float32"))
builder = relax.BlockBuilder()
with builder.function("main", [x]):
    call = relax.call_pure_packed("double", x, sinfo_args=x.struct_info)
    builder.emit_func_output(builder.emit(call))
print(relax.build(builder.get())["main"](np.ones(2, "float32")))

# %% relax.call_inplace_packed
import numpy as np

import xrelax as tvm
from xrelax import relax


def increment(x):
    x.copyfrom(x.numpy() + 1)
    return x


tvm.register_func("increment", increment)
x = relax.Var("x", relax.TensorStructInfo((2,), "float32"))
builder = relax.BlockBuilder()
with builder.function("main", [x]):
    call = relax.call_inplace_packed("increment", x, inplace_indices=0, sinfo_args=x.struct_info)
    builder.emit_func_output(builder.emit(call))
array = np.ones(2, "float32")
relax.build(builder.get())["main"](array)
print(array)

# %% relax.call_tir_inplace
from xrelax import relax
from xrelax.script import tir as T


@T.prim_func
def increment(X: T.Buffer((2,), "float32")):
    for i in range(2):
        with T.block("X"):
            vi = T.axis.spatial(2, i)
            X[vi] = X[vi] + 1.0


x = relax.Var("x", relax.TensorStructInfo((2,), "float32"))
builder = relax.BlockBuilder()
kernel = builder.add_func(increment, "increment")
with builder.function("main", [x]):
    call = relax.call_tir_inplace(kernel, [x], [0], out_ty=x.struct_info)
    builder.emit_func_output(builder.emit(call))
print(builder.get()["main"])
