"""Examples of networks whose graphs Python classes emit, and of their training."""
# ruff: noqa: E402

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
