"""Examples of building, analyzing and rewriting graphs."""
# ruff: noqa: E402, F811, F841

# %% relax.BlockBuilder
from xrelax import relax

x = relax.Var("x", relax.TensorStructInfo(("n", 4), "float32"))
builder = relax.BlockBuilder()
with builder.function("main", [x]):
    with builder.dataflow():
        y = builder.emit(relax.op.exp(x))
        z = builder.emit_output(relax.op.add(y, x))
    builder.emit_func_output(z)
print(builder.get()["main"])

# %% relax.op
from xrelax import relax

x = relax.Var("x", relax.TensorStructInfo((2, 3), "float32"))
w = relax.Var("w", relax.TensorStructInfo((3, 5), "float32"))
y = relax.op.nn.softmax(relax.op.matmul(x, w), axis=-1)
print(y, y.struct_info)
try:
    relax.op.matmul(w, x)
except ValueError as error:
    print(error)

# %% relax.PyExprMutator
import xrelax as tvm
from xrelax import relax
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.exp(R.add(x, x))


@relax.expr_functor.mutator
class AddToMultiply(relax.PyExprMutator):
    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        return relax.op.multiply(*call.args) if call.op == tvm.ir.Op.get("relax.add") else call


print(AddToMultiply().visit_expr(main))

# %% relax.PyExprVisitor
from xrelax import relax
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.exp(R.add(x, x))


@relax.expr_functor.visitor
class CallPrinter(relax.PyExprVisitor):
    def visit_call_(self, call):
        super().visit_call_(call)
        print(call.op, call.args)


CallPrinter().visit_expr(main)

# %% relax.expr_functor
from xrelax import relax
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.multiply(x, R.const(2.0, "float32"))


@relax.expr_functor.mutator
class DoubleConstants(relax.PyExprMutator):
    def visit_constant_(self, constant):
        return relax.const(constant.data.numpy() * 2)


print(DoubleConstants().visit_expr(main))

# %% relax.utils.copy_with_new_vars
from xrelax import relax
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.nn.relu(x)


copy = relax.utils.copy_with_new_vars(main)
print(copy.params[0].name, copy.params == main.params)

# %% relax.analysis
from xrelax import relax
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        y = R.exp(x)
        unused = R.negative(y)
        z = R.add(y, x)
        R.output(z)
    return z


print(relax.analysis.udchain(main))
print(relax.analysis.well_formed(main))
print(relax.analysis.remove_all_unused(main))

# %% relax.binding_rewrite.DataflowBlockRewrite
from xrelax import relax
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        y = R.exp(x)
        z = R.multiply(y, y)
        R.output(z)
    return z


block = main.body.blocks[0]
rewrite = relax.binding_rewrite.DataflowBlockRewrite(block, main)
y = block.bindings[0].var
rewrite.replace_all_uses(y, main.params[0])
rewrite.remove_unused(y)
print(rewrite.mutated_root_fn())

# %% relax.dpl
from xrelax import relax
from xrelax.relax.dpl import is_op, rewrite_call, wildcard
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
    return R.add(R.multiply(x, y), y)


a, b, c = wildcard(), wildcard(), wildcard()
pattern = is_op("relax.add")(is_op("relax.multiply")(a, b), c)
fused = rewrite_call(
    pattern, lambda call, found: relax.op.ewise_fma(found[a], found[b], found[c]), main
)
print(fused)

# %% relax.transform
import xrelax as tvm
from xrelax import relax
from xrelax.script import relax as R


@tvm.script.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 2), "float32")):
        with R.dataflow():
            y = R.multiply(R.add(R.const(1.0), R.const(2.0)), x)
            R.output(y)
        return y


passes = [relax.transform.BindSymbolicVars({"n": 4}), relax.transform.FoldConstant()]
print(tvm.transform.Sequential(passes)(Module)["main"])

# %% ir.transform
import xrelax as tvm
from xrelax.script import relax as R


@tvm.script.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return R.exp(x)


@tvm.ir.transform.function_pass(opt_level=2, name="mark")
def mark(function, module, context):
    return function.with_attr("marked", True)


print(mark(Module)["main"].attrs)
with tvm.ir.transform.PassContext(opt_level=1):
    print(mark(Module)["main"].attrs)

# %% ir.instrument
import xrelax as tvm
from xrelax import relax
from xrelax.script import relax as R


@tvm.script.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return R.exp(x)


@tvm.ir.instrument.pass_instrument
class PassPrinter:
    def run_after_pass(self, module, info):
        print(info.name, [variable.name_hint for variable in module])


passes = [relax.transform.LegalizeOps(), relax.transform.FuseOps()]
with tvm.transform.PassContext(instruments=[PassPrinter()]):
    tvm.transform.Sequential(passes)(Module)

# %% relax.get_pipeline relax.register_pipeline
import xrelax as tvm
from xrelax import relax
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.nn.relu(R.exp(x))


@relax.register_pipeline("only_legalize")
def only_legalize():
    return relax.transform.LegalizeOps()


module = tvm.IRModule.from_expr(main)
for name in ("only_legalize", "zero"):
    print([var.name_hint for var in relax.get_pipeline(name)(module).functions])

# %% relax.get_default_pipeline relax.pipeline
from xrelax import relax

print(relax.get_default_pipeline("llvm").name)
print(relax.pipeline.get_pipeline("default").name)

# %% script.relax.rewriter
from xrelax.script import relax as R


@R.rewriter
class Twice:
    @R.function
    def pattern(a: R.Tensor(("n",), "float32")):
        return R.add(a, a)

    @R.function
    def replacement(a: R.Tensor(("n",), "float32")):
        return R.multiply(a, R.const(2.0, "float32"))


@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.exp(R.add(x, x))


print(Twice(main))

# %% relax.backend.pattern_registry relax.backend.register_patterns
import xrelax as tvm
from xrelax import relax
from xrelax.relax.dpl import is_op, wildcard
from xrelax.script import relax as R


@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.nn.relu(R.exp(x))


relax.backend.register_patterns([("mine.relu", is_op("relax.nn.relu")(wildcard()))])
pattern = relax.backend.pattern_registry.get_pattern("mine.relu")
fuse = relax.transform.FuseOpsByPattern([pattern], annotate_codegen=True)
module = fuse(tvm.IRModule.from_expr(main))
print(module["fused_relax_nn_relu_mine"].attrs["Codegen"])

# %% relax.backend.get_patterns_with_prefix
from xrelax import relax
from xrelax.relax.dpl import is_op, wildcard

patterns = [(f"own.{name}", is_op(f"relax.{name}")(wildcard())) for name in ("exp", "abs")]
relax.backend.register_patterns(patterns)
print([pattern.name for pattern in relax.backend.get_patterns_with_prefix("own")])
