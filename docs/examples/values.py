"""Examples of values of graphs, and of the bindings that hold them."""
# ruff: noqa: E402

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

# %% relax.get_shape_of relax.expr.make_shape
from xrelax import relax
from xrelax.script import relax as R

x = relax.Var("x", R.Tensor(("n", 4), "float32"))
print(relax.get_shape_of(x), relax.expr.make_shape([2, 4]))
print(relax.get_shape_of(relax.Var("y", R.Tensor("float32"))))
