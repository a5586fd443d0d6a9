"""Examples of modules, functions, compilation, targets and errors."""
# ruff: noqa: E402

# %% IRModule
import xrelax as tvm
from xrelax.script import relax as R


@tvm.script.ir_module
class Layers:
    @R.function
    def first(x: R.Tensor((2, 3), "float32")):
        return R.nn.relu(x)


print(isinstance(Layers, tvm.IRModule), Layers.get_global_vars())
second = Layers["first"].with_attr("layer", 2)
print(tvm.IRModule({"first": Layers["first"], "second": second}))

# %% build
import numpy as np

import xrelax as tvm
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor((2, 3), "float32"), scale: R.Tensor((3,), "float32")):
    return R.multiply(x, scale)


scale = np.array([1, 10, 100], "float32")
executable = tvm.build(main, target="llvm", params={"scale": scale}, check=True)
print(executable["main"](np.ones((2, 3), "float32")))

# %% quantize
import numpy as np

import xrelax
from xrelax import relax

x = relax.Var("x", relax.TensorStructInfo((2, 4), "float32"))
builder = relax.BlockBuilder()
with builder.function("main", [x]):
    weight = relax.const(np.eye(4, dtype="float32"))
    builder.emit_func_output(builder.emit(relax.op.matmul(x, weight)))
examples = [np.array([[0, 1, 2, 3], [-1, 0, 0, 1]], "float32")]
quantized = xrelax.quantize(builder.get(), examples)
print(quantized.layers[0].range)
print(xrelax.compile(quantized)(examples[0]).numpy().round(1))

# %% compile
import torch

import xrelax as tvm

model = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.ReLU()).eval()
x = torch.ones(1, 4)
compiled = tvm.compile(model, (x,))
print(compiled(x).shape)
with torch.no_grad():
    torch.testing.assert_close(compiled(x), model(x))

# %% stages
import xrelax as tvm
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.exp(x)


for name, text in tvm.stages(main):
    print(name, len(text.splitlines()), "lines")
print(dict(tvm.stages(main))["relax"])

# %% target.Target
import xrelax as tvm

for text in (
    "llvm -mcpu=haswell -mtriple=x86_64-linux-gnu",
    "llvm -mcpu=znver4 -mtriple=x86_64-linux-gnu",
    {"kind": "llvm", "mcpu": "neoverse-n1", "mtriple": "aarch64-linux-gnu"},
):
    target = tvm.target.Target(text)
    print(target.short_name, target.vector_bits, "bits,", target.lanes(32), "floats")

# %% script
import xrelax as tvm

function = tvm.script.from_source("""
@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.add(R.exp(x), x)
""")
print(function.script())
try:
    tvm.script.from_source("@R.function\ndef main(x: R.Tensor((4,), 'float32')):\n    return y\n")
except tvm.script.ScriptError as error:
    print(error)

# %% relax
import numpy as np

from xrelax import relax

x = relax.Var("x", relax.TensorStructInfo(("n",), "float32"))
builder = relax.BlockBuilder()
with builder.function("main", [x]):
    builder.emit_func_output(builder.emit(relax.op.multiply(x, relax.const(2.0))))
executable = relax.build(builder.get())
print(executable["main"](np.ones(3, "float32")))

# %% ir
import xrelax as tvm
from xrelax import relax

x = relax.Var("x", relax.TensorStructInfo((2,), "float32"))
call = relax.op.exp(x)
print(call.op == tvm.ir.Op.get("relax.exp"), isinstance(call.op, tvm.ir.Op))
print(tvm.ir.GlobalVar("main"))

# %% ir.GlobalVar
import xrelax as tvm
from xrelax.script import relax as R


@tvm.script.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return R.exp(x)


variable = Module.get_global_var("main")
print(variable == tvm.ir.GlobalVar("main"), variable.struct_info)
print(Module[variable].name)

# %% ir.Op
import xrelax as tvm
from xrelax import relax

add = tvm.ir.Op.get("relax.add")
x = relax.Var("x", relax.TensorStructInfo((2,), "float32"))
print(add(x, x), (x + x).op is add)
try:
    tvm.ir.Op.get("relax.ad")
except ValueError as error:
    print(error)

# %% ir.save_json ir.load_json
import xrelax as tvm
from xrelax import relax
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.add(x, R.const(1.0))


loaded = tvm.ir.load_json(tvm.ir.save_json(main))
print(tvm.ir.structural_equal(loaded, main))
print(tvm.ir.load_json(tvm.ir.save_json(relax.TensorType((1, "n"), "float32"))))

# %% ir.structural_equal ir.assert_structural_equal ir.structural_hash
import xrelax as tvm
from xrelax.script import tir as T


@T.prim_func
def first(X: T.Buffer((4,), "float32")):
    X[0] = 1.0


@T.prim_func
def second(X: T.Buffer((4,), "float32")):
    X[0] = 2.0


print(tvm.ir.structural_equal(first, first.with_attr("key", 1)), tvm.ir.structural_hash(first))
try:
    tvm.ir.assert_structural_equal(first, second)
except ValueError as error:
    print(error)

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
