"""Examples of values of graphs, and of what is known of them."""
# ruff: noqa: E402, F811

# %% relax.Expr
from xrelax import relax

x = relax.Var("x", relax.TensorStructInfo((2, 3), "float32"))
y = x * 2 + 1
print(isinstance(y, relax.Expr), y.struct_info)
print(y)

# %% relax.Var
from xrelax import relax

x = relax.Var("x", relax.TensorStructInfo(("n", 4), "float32"))
print(x.name_hint, x.struct_info)
print(relax.op.sum(x, axis=1).struct_info)

# %% relax.DataflowVar relax.VarBinding relax.DataflowBlock
from xrelax import relax
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        y = R.exp(x)
        z = R.add(y, x)
        R.output(z)
    return z


(block,) = main.body.blocks
print(isinstance(block, relax.DataflowBlock), block.bindings)
first, last = block.bindings
print(isinstance(first, relax.VarBinding), first.value)
print([isinstance(binding.var, relax.DataflowVar) for binding in (first, last)])

# %% relax.BindingBlock relax.SeqExpr
from xrelax import relax
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor((4,), "float32")):
    y = R.exp(x)
    z = R.add(y, x)
    return z


assert isinstance(main.body, relax.SeqExpr)
(block,) = main.body.blocks
print(type(block) is relax.BindingBlock, block.bindings)
print(main.body.body, main.body.struct_info)

# %% relax.Constant relax.const
import numpy as np

from xrelax import relax

ones = relax.const(np.ones((2, 3)), "float32")
print(isinstance(ones, relax.Constant), ones.struct_info)
print(ones.data)
print(relax.const(1).struct_info, relax.const(0.5).struct_info)

# %% relax.Call
import xrelax as tvm
from xrelax import relax

x = relax.Var("x", relax.TensorStructInfo((2, 3), "float32"))
call = relax.Call(tvm.ir.Op.get("relax.nn.softmax"), [x], {"axis": 0})
print(call.op, call.args, call.attrs)
print(call == relax.op.nn.softmax(x, axis=0), call)

# %% relax.Tuple relax.TupleGetItem
from xrelax import relax

x = relax.Var("x", relax.TensorStructInfo((2,), "float32"))
pair = relax.Tuple([x, relax.op.exp(x)])
first = relax.TupleGetItem(pair, 0)
print(pair.fields, len(pair), pair.struct_info)
print(first, first.index, pair[1].struct_info)

# %% relax.ShapeExpr
from xrelax import relax, tir

n = tir.Var("n", "int64")
x = relax.Var("x", relax.TensorStructInfo((n, 4), "float32"))
shape = relax.ShapeExpr([n * 2, 2])
print(shape.values, shape.struct_info)
print(relax.op.reshape(x, shape).struct_info)

# %% relax.prim_value
from xrelax import relax, tir

print(relax.prim_value(4), relax.prim_value(0.5))
print(relax.prim_value(tir.Var("n") + 1))

# %% relax.PrimValue
from xrelax import relax, tir

n = tir.Var("n", "int64")
value = relax.PrimValue(n + 1)
print(value, value.value, value.struct_info)

# %% relax.StringImm
from xrelax import relax

mode = relax.StringImm("max")
print(mode, mode.value, mode.struct_info)

# %% relax.If
from xrelax import relax
from xrelax.script import relax as R


@R.function
def main(condition: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")):
    if condition:
        y = R.exp(x)
    else:
        y = R.negative(x)
    return y


choice = main.body.blocks[0].bindings[0].value
print(isinstance(choice, relax.If), choice.cond)
print(choice.true_branch)
print(choice.false_branch)

# %% relax.MatchCast
from xrelax import relax
from xrelax.script import relax as R
from xrelax.script import tir as T


@R.function
def main(x: R.Tensor("float32", ndim=2)):
    n = T.int64()
    y = R.match_cast(x, R.Tensor((n, 4), "float32"))
    return y


(binding,) = main.body.blocks[0].bindings
print(isinstance(binding, relax.MatchCast), binding)
print(binding.value.struct_info, binding.struct_info)

# %% relax.Function
import numpy as np

from xrelax import relax
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor(("n", 4), "float32")):
    return R.sum(x, axis=1)


print(isinstance(main, relax.Function), main.params, main.ret_struct_info)
print(relax.build(main)["main"](np.ones((2, 4), "float32")))

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

# %% relax.StructInfo relax.ObjectStructInfo
from xrelax import relax

tensor = relax.TensorStructInfo((2, 3), "float32")
anything = relax.ObjectStructInfo()
print(isinstance(tensor, relax.StructInfo), isinstance(anything, relax.StructInfo))
print(tensor, anything)
print(tensor == relax.TensorStructInfo((2, 3), "float32"), tensor == anything)

# %% relax.TensorStructInfo
from xrelax import relax

static = relax.TensorStructInfo((2, 3), "float32")
symbolic = relax.TensorStructInfo(("n", 3), "float32")
unknown = relax.TensorStructInfo(dtype="float32", ndim=2)
for info in (static, symbolic, unknown):
    print(info, info.shape, info.ndim, info.dtype)

# %% relax.ShapeStructInfo relax.PrimStructInfo
from xrelax import relax

shape, rank = relax.ShapeStructInfo(["n", 4]), relax.ShapeStructInfo(ndim=2)
number = relax.PrimStructInfo("int64")
print(shape, shape.values, shape.ndim)
print(rank, rank.values, rank.ndim)
print(number, number.dtype, number.value)

# %% relax.TupleStructInfo relax.FuncStructInfo
from xrelax import relax

tensor = relax.TensorStructInfo((2,), "float32")
pair = relax.TupleStructInfo([tensor, tensor])
function = relax.FuncStructInfo([tensor], pair)
print(pair, len(pair.fields))
print(function, function.ret == pair, function.purity)

# %% ir.VDevice
import xrelax as tvm
from xrelax import relax

place = tvm.ir.VDevice("llvm")
print(place.vdevice_id, relax.TensorStructInfo((4,), "float32", place))

# %% error.TVMError error.OpError
import xrelax as tvm
from xrelax import relax

x = relax.Var("x", relax.TensorStructInfo((2, 3), "float32"))
try:
    relax.op.matmul(x, x)
except tvm.error.OpError as error:
    print(isinstance(error, tvm.error.TVMError), isinstance(error, TypeError), error)

# %% error.DiagnosticError
import xrelax as tvm

try:
    tvm.script.from_source("@T.prim_func\ndef f(X: T.Buffer((4,))):\n    X[0] = x")
except tvm.error.DiagnosticError as error:
    print(error)

# %% relax.training
import numpy as np

import xrelax as tvm
from xrelax import relax
from xrelax.script import relax as R

w = relax.Var("w", R.Tensor((2,), "float32"))
sgd = relax.training.optimizer.SGD(0.1).init(w)
vm = relax.VirtualMachine(relax.build(tvm.IRModule.from_expr(sgd.get_function())), tvm.cpu())
params, gradients = [np.array([1, 2], "float32")], [np.array([10, 5], "float32")]
params, sgd.state = vm["SGD"](params, gradients, sgd.state)
print(params[0].numpy(), sgd.state[0].numpy())

# %% script.relax.entry.TypeProxy
from xrelax.script import relax as R

annotation = R.Tensor(("n", 4), "float32")
assert isinstance(annotation, R.entry.TypeProxy)
print(annotation.as_struct_info())

# %% relax.get_shape_of relax.expr.make_shape
from xrelax import relax
from xrelax.script import relax as R

x = relax.Var("x", R.Tensor(("n", 4), "float32"))
print(relax.get_shape_of(x), relax.expr.make_shape([2, 4]))
print(relax.get_shape_of(relax.Var("y", R.Tensor("float32"))))

# %% relax.testing.nn.checkpoint relax.testing.nn.emit_checkpoint
from xrelax import relax
from xrelax.relax.testing import nn
from xrelax.script import relax as R

x = relax.Var("x", R.Tensor((4,), "float32"))
bb = relax.BlockBuilder()
with bb.function("main", [x]):
    with bb.dataflow():
        y = nn.emit_checkpoint(lambda v: relax.op.exp(relax.op.sin(v)), x)
        z = bb.emit(nn.checkpoint(relax.op.tanh, y))
        loss = bb.emit_output(relax.op.sum(z))
    bb.emit_func_output(loss)
print(relax.transform.Gradient("main")(bb.get())["main_adjoint"])

# %% relax.testing.nn.Module relax.testing.nn.Parameter relax.testing.nn.emit
from xrelax import relax
from xrelax.relax.testing import nn


class Scale(nn.Module):
    def __init__(self):
        self.factor = nn.Parameter((4,), name="factor")

    def forward(self, x):
        return nn.emit(relax.op.multiply(x, self.factor))


bb = relax.BlockBuilder()
with bb.function("main"):
    model, x = Scale(), nn.Placeholder(("n", 4), name="x")
    bb.emit_func_output(model(x), params=[x, *model.parameters()])
print(bb.get())

# %% relax.testing.nn.Sequential relax.testing.nn.Linear relax.testing.nn.ReLU
from xrelax import relax
from xrelax.relax.testing import nn

bb = relax.BlockBuilder()
with bb.function("main"):
    model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2, bias=False))
    x = nn.Placeholder((1, 8), name="x")
    bb.emit_func_output(model(x), params=[x, *model.parameters()])
print(bb.get())

# %% relax.testing.nn.LogSoftmax relax.testing.nn.Placeholder
from xrelax import relax
from xrelax.relax.testing import nn

bb = relax.BlockBuilder()
with bb.function("main"):
    x = nn.Placeholder((1, 8), name="x")
    bb.emit_func_output(nn.LogSoftmax()(x), params=[x])
print(bb.get())

# %% relax.testing.nn.emit_checkpoint_sequential
from xrelax import relax
from xrelax.relax.testing import nn
from xrelax.script import relax as R

x = relax.Var("x", R.Tensor((4,), "float32"))
bb = relax.BlockBuilder()
with bb.function("main", [x]):
    with bb.dataflow():
        y = nn.emit_checkpoint_sequential([relax.op.exp, relax.op.sin, relax.op.tanh], 3, x)
        out = bb.emit_output(y)
    bb.emit_func_output(out)
print(bb.get())
