"""Examples of devices, tensors, registered functions and executables."""
# ruff: noqa: E402

# %% cpu device Device
import xrelax as tvm

print(tvm.cpu(), tvm.device("cpu:0") == tvm.cpu(), tvm.Device() == tvm.cpu())
try:
    tvm.device("gpu")
except ValueError as error:
    print(error)

# %% cuda rocm opencl metal vulkan webgpu
import xrelax as tvm

for device in (tvm.cuda, tvm.rocm, tvm.opencl, tvm.metal, tvm.vulkan, tvm.webgpu):
    print(device(), device().exist)
try:
    tvm.tensor([1.0, 2.0], tvm.cuda())
except ValueError as error:
    print(error)

# %% nd.array
import numpy as np

import xrelax as tvm

numbers = np.array([1.0, 2.0, 3.0])
x = tvm.nd.array(numbers)
y = tvm.nd.array([[1, 2], [3, 4]], dtype="float32")
numbers[0] = 9  # x is a copy
print(x)
print(y)

# %% nd.NDArray
import numpy as np

import xrelax as tvm

x = tvm.nd.array(np.zeros(3, "float32"))
copied, shared = x.numpy(), np.asarray(x)
shared[1] = 5
print(isinstance(x, tvm.nd.NDArray), x.shape, x.dtype, x.device, x.nbytes)
print(x.numpy(), copied)

# %% nd.empty
import numpy as np

import xrelax as tvm

x = tvm.nd.empty((2, 3), "float32")
x.copyfrom(np.eye(2, 3))
print(x)

# %% runtime
import numpy as np

import xrelax as tvm

array = np.zeros((2, 2), "float32")
x = tvm.runtime.from_numpy(array)  # shares the memory
array[0, 0] = 1
print(x)
print(tvm.runtime.tensor([1, 2]).dtype)

# %% register_global_func
import numpy as np

import xrelax as tvm
from xrelax.script import relax as R


@tvm.register_global_func("example.increment", override=True)
def increment(x, out):
    out.copyfrom(x.numpy() + 1)


@R.function
def main(x: R.Tensor((3,), "float32")):
    return R.call_dps_packed("example.increment", (x,), out_sinfo=R.Tensor((3,), "float32"))


print(tvm.build(main)(np.zeros(3, "float32")))

# %% get_global_func
import xrelax as tvm


@tvm.register_global_func("example.double", override=True)
def double(x):
    return 2 * x


print(tvm.get_global_func("example.double")(21))
print(tvm.get_global_func("example.unknown", allow_missing=True))
try:
    tvm.get_global_func("example.unknown")
except ValueError as error:
    print(error)

# %% relax.Executable
import numpy as np

import xrelax as tvm
from xrelax import relax
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor(("n", 4), "float32")):
    return R.sum(x, axis=1)


executable = tvm.build(main)
print(isinstance(executable, relax.Executable), list(executable.functions))
print(executable["main"])
print(executable["main"](np.ones((2, 4), "float32")))

# %% load_module
import tempfile

import numpy as np

import xrelax as tvm
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor(("n",), "float32")):
    return R.add(x, x)


with tempfile.TemporaryDirectory() as folder:
    tvm.build(main).save(f"{folder}/double.xr")
    loaded = tvm.load_module(f"{folder}/double.xr")  # needs no compiler
    print(loaded["main"](np.ones(3, "float32")))

# %% relax.VirtualMachine
import numpy as np

import xrelax as tvm
from xrelax import relax
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
    return R.subtract(x, y)


vm = relax.VirtualMachine(tvm.build(main), tvm.cpu())
x, y = np.array([5, 7], "float32"), np.array([1, 2], "float32")
print(vm["main"](x, y))
vm.set_input("main", x, y=x)
vm.invoke_stateful("main")
print(vm.get_outputs("main"))

# %% rpc.LocalSession support.utils.tempdir support.utils.TempDirectory
import numpy as np

import xrelax as tvm
from xrelax import te

x = te.placeholder((4,), "float32", name="x")
y = te.compute((4,), lambda i: x[i] + 1.0, name="y")
ex = tvm.compile(te.create_prim_func([x, y]))
session = tvm.rpc.LocalSession()
with tvm.support.utils.tempdir() as folder:
    ex.export_library(folder.relpath("kernel.so"))
    session.upload(folder.relpath("kernel.so"))
result = tvm.runtime.empty((4,), "float32", session.cpu())
session.load_module("kernel.so")["main"](np.arange(4, dtype="float32"), result)
print(session.listdir(), result, isinstance(folder, tvm.support.utils.TempDirectory))

# %% runtime.convert
import xrelax as tvm

values = tvm.runtime.convert([1, (2.0, "three"), {"four": [5]}])
print(values)

# %% DataType
import xrelax as tvm

dtype = tvm.DataType("int8x4")
print(dtype.bits, dtype.lanes, dtype.itemsize)
print(dtype.with_lanes(8))

# %% runtime.module.BenchmarkResult
from xrelax.runtime.module import BenchmarkResult

seconds = BenchmarkResult((0.001, 0.003, 0.002))
print(seconds.median, seconds.max)

# %% runtime.num_threads runtime.set_num_threads
import xrelax as tvm

before = tvm.runtime.num_threads()
tvm.runtime.set_num_threads(1)
print(tvm.runtime.num_threads())
tvm.runtime.set_num_threads(before)

# %% llm
import xrelax

# How `generate` and `chat` choose tokens; the same seed gives the same text.
sampling = xrelax.llm.Sampling(temperature=0.5, top_k=2, repetition_penalty=1.5, seed=0)
print(sampling)
try:
    xrelax.llm.Sampling(top_p=1.5)
except ValueError as error:
    print(error)  # expected top_p above 0, at most 1, got 1.5

# %% ffi.Array
import numpy as np

import xrelax as tvm
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor((2,), "float32")):
    return (R.add(x, x), x)


result = tvm.build(main)["main"](np.ones(2, "float32"))
print(isinstance(result, tvm.ffi.Array), len(result))

# %% device_from_target
import xrelax as tvm

target = tvm.target.Target("llvm -mcpu=haswell -mtriple=x86_64-linux-gnu")
print(tvm.device_from_target(target))
print(tvm.device_from_target("llvm") == tvm.cpu())

# %% testing testing.assert_allclose testing.check_numerical_grads
import numpy as np

import xrelax as tvm

x = np.array([1.0, 2.0], "float32")
tvm.testing.assert_allclose(tvm.nd.array(x), [1, 2])
try:
    tvm.testing.check_numerical_grads(lambda x: (x**3).sum(), [x], [2 * x])
except AssertionError as error:
    print(error)
tvm.testing.check_numerical_grads(lambda x: (x**3).sum(), [x], [3 * x**2])

# %% relax.testing.vm relax.testing.vm.check_saved_func
import numpy as np

from xrelax import relax
from xrelax.relax.testing.vm import check_saved_func
from xrelax.script import from_source

function = from_source("""
@R.function
def main(x: R.Tensor((2,), "float32")):
    return R.call_pure_packed("test.vm.add", x, x, sinfo_args=R.Tensor((2,), "float32"))
""")
vm = relax.VirtualMachine(relax.build(function))
print(check_saved_func(vm, "main", np.array([1.0, 2.0], "float32")))

# %% runtime.save_param_dict runtime.load_param_dict
import numpy as np

import xrelax as tvm

saved = tvm.runtime.save_param_dict({"weight": np.ones((2, 3), "float32")})
print(len(saved), tvm.runtime.load_param_dict(saved)["weight"])

# %% contrib.tvmjs.dump_tensor_cache contrib.tvmjs.load_tensor_cache
import numpy as np

import xrelax as tvm
from xrelax.contrib import tvmjs

with tvm.support.utils.tempdir() as folder:
    tvmjs.dump_tensor_cache(
        {"weight": np.ones((2, 3), "float32")}, folder.path, "raw", {"layers": 1}
    )
    params, metadata = tvmjs.load_tensor_cache(folder.path, tvm.cpu())
print(params["weight"], metadata)

# %% runtime.save_param_dict_to_file runtime.load_param_dict_from_file
import numpy as np

import xrelax as tvm

with tvm.support.utils.tempdir() as folder:
    path = folder.relpath("model.params")
    tvm.runtime.save_param_dict_to_file({"bias": np.zeros(2, "float16")}, path)
    print(tvm.runtime.load_param_dict_from_file(path))
