"""Examples of models of PyTorch, of ONNX, and in Python classes."""
# ruff: noqa: E402, F811

# %% relax.frontend
import torch

import xrelax as tvm
from xrelax import relax

program = torch.export.export(torch.nn.ReLU(), (torch.zeros(3),))
module = relax.frontend.torch.from_exported_program(program, unwrap_unit_return_tuple=True)
x = torch.tensor([-1.0, 0.0, 1.0])
print(tvm.build(module)["main"](x))

# %% relax.frontend.nn
import numpy as np

from xrelax import relax
from xrelax.relax.frontend import nn


class Model(nn.Module):
    def __init__(self):
        self.linear = nn.Linear(4, 2)

    def forward(self, x):
        return relax.op.nn.relu(self.linear(x))


inputs = {"x": nn.spec.Tensor(("n", 4), "float32")}
module, parameters = Model().export_tvm({"forward": inputs})
print([(name, parameter.shape) for name, parameter in parameters])
weight, bias = np.ones((2, 4), "float32"), np.array([1, -9], "float32")
print(relax.build(module)["forward"](np.ones((1, 4), "float32"), weight, bias))

# %% relax.frontend.detach_params
import torch

from xrelax import relax
from xrelax.relax.frontend.torch import from_exported_program

model = torch.nn.Linear(3, 2).eval()
x = torch.ones(1, 3)
module = from_exported_program(torch.export.export(model, (x,)), keep_params_as_input=True)
module, parameters = relax.frontend.detach_params(module)
print([tensor.shape for tensor in parameters["main"]])
(y,) = relax.build(module)["main"](x, *parameters["main"])
torch.testing.assert_close(torch.from_dlpack(y), model(x).detach())

# %% relax.frontend.torch relax.frontend.torch.from_exported_program
import torch

from xrelax.relax.frontend.torch import from_exported_program

model = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.ReLU()).eval()
batch = torch.export.Dim("batch", min=1, max=64)
program = torch.export.export(model, (torch.zeros(2, 4),), dynamic_shapes=[{0: batch}])
print(from_exported_program(program)["main"])

# %% relax.frontend.torch.from_fx
import torch

from xrelax.relax.frontend.torch import from_fx

traced = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.ReLU()))
print(from_fx(traced, [((1, 4), "float32")])["main"])

# %% relax.frontend.torch.CompiledModel
import torch

import xrelax as tvm
from xrelax.relax.frontend.torch import CompiledModel

compiled = tvm.compile(torch.nn.Softmax(dim=-1), (torch.zeros(2, 3),))
print(isinstance(compiled, CompiledModel), compiled(torch.zeros(2, 3))[0])
try:
    compiled(torch.zeros(2, 4))
except ValueError as error:
    print(error)

# %% relax.frontend.torch.Unsupported relax.frontend.torch.UnsupportedError
import torch

import xrelax as tvm
from xrelax.relax.frontend.torch import Unsupported, UnsupportedError, converts


@converts("aten.special_bessel_y0.default")
def bessel_y0(context, x):
    raise Unsupported("the series is not implemented", "compute it outside of the model")


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.special.bessel_y0(x)


try:
    tvm.compile(Model(), (torch.ones(3),))
except UnsupportedError as error:
    print(error)
    print([(problem.target, problem.name) for problem in error.problems])

# %% relax.frontend.torch.converts
import torch

import xrelax as tvm
from xrelax.relax.frontend.torch import converts


@converts("aten.special_spherical_bessel_j0.default")
def spherical_bessel_j0(context, x):
    return context.op("divide", context.op("sin", x), x)


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.special.spherical_bessel_j0(x)


x = torch.tensor([1.0, 2.0])
compiled = tvm.compile(Model(), (x,))
torch.testing.assert_close(compiled(x), torch.special.spherical_bessel_j0(x))
print(compiled(x))

# %% relax.frontend.torch.register_backend runtime.XRelaxWarning
import warnings

import torch

import xrelax as tvm
from xrelax.relax.frontend.torch import register_backend

register_backend()
function = torch.compile(lambda x: torch.special.bessel_y1(x) * 2, backend="xrelax")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", tvm.runtime.XRelaxWarning)
    torch.testing.assert_close(function(torch.ones(3)), torch.special.bessel_y1(torch.ones(3)) * 2)
print(caught[0].message)

# %% relax.frontend.torch.relax_dynamo
import torch

from xrelax.relax.frontend.torch import relax_dynamo

model = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.ReLU()).eval()
compiled = torch.compile(model, backend=relax_dynamo())
x = torch.randn(3, 4)
with torch.no_grad():
    torch.testing.assert_close(compiled(x), model(x))

# %% relax.frontend.torch.dynamo relax.frontend.torch.dynamo_capture_subgraphs
import torch

from xrelax.relax.frontend.torch import dynamo, dynamo_capture_subgraphs


def function(x):
    y = x * 2
    return y.sin() if y.sum() > 0 else y


print(dynamo_capture_subgraphs(function, torch.ones(3)))
assert dynamo.dynamo_capture_subgraphs is dynamo_capture_subgraphs

# %% relax.frontend.onnx relax.frontend.onnx.from_onnx
import onnx

from xrelax.relax.frontend.onnx import from_onnx

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
model (float[n, 3] x) => (float[n, 3] y) { y = Softmax(x) }
""")
print(from_onnx(model, shape_dict={"x": (2, 3)})["main"])

# %% relax.frontend.onnx.OnnxModel
import numpy as np
import onnx

import xrelax as tvm
from xrelax.relax.frontend.onnx import OnnxModel

model = tvm.compile(
    onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
model (float[n] x, float[n] y) => (float[n] total) { total = Add(x, y) }
""")
)
x, y = np.ones(2, "float32"), np.array([2, 3], "float32")
print(isinstance(model, OnnxModel), model.input_names)
print(model(x, y))
print(model.run(["total"], {"x": x, "y": y}))

# %% relax.frontend.onnx.converts
import numpy as np
import onnx

import xrelax as tvm
from xrelax.relax.frontend.onnx import converts


@converts("Double", domain="example")
def double(context, x):
    return context.emit("add", x, x)


model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["example" : 1]>
model (float[n] x) => (float[n] y) { y = example.Double(x) }
""")
print(tvm.compile(model)(np.ones(2, "float32")))

# %% relax.frontend.onnx.Unsupported relax.frontend.onnx.UnsupportedError
import onnx

import xrelax as tvm
from xrelax.relax.frontend.onnx import Unsupported, UnsupportedError, converts


@converts("Scale", domain="example")
def scale(context, x, *, factor):
    if factor != 2:
        raise Unsupported(f"expected factor 2, got {factor}")
    return context.emit("add", x, x)


model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["example" : 1]>
model (float[n] x) => (float[n] y) { y = example.Scale <factor = 3> (x) }
""")
try:
    tvm.compile(model)
except UnsupportedError as error:
    print(error)

# %% relax.BasePyModule
import torch

import xrelax as tvm
from xrelax import relax
from xrelax.script import ir as I
from xrelax.script import relax as R


@I.ir_module
class Model(relax.BasePyModule):
    @I.pyfunc
    def swish(x):
        return torch.sigmoid(x) * x

    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return R.call_py_func("swish", (x,), out_ty=R.Tensor((2,), "float32"))


print(Model(tvm.cpu()).main(torch.tensor([0.0, 1.0])))

# %% relax.RelaxToPyFuncConverter
import torch

import xrelax as tvm
from xrelax import relax
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor((2,), "float32")):
    return R.nn.relu(x)


module = relax.RelaxToPyFuncConverter(tvm.IRModule.from_expr(main)).convert("main")
print(module.pyfuncs["main"](torch.tensor([-1.0, 2.0])))
