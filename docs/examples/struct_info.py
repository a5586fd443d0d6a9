"""Examples of what is known of values of graphs: kinds, shapes, dtypes and devices."""
# ruff: noqa: E402

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

# %% script.relax.entry.TypeProxy
from xrelax.script import relax as R

annotation = R.Tensor(("n", 4), "float32")
assert isinstance(annotation, R.entry.TypeProxy)
print(annotation.as_struct_info())
