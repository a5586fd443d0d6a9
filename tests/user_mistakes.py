"""Typical mistakes: a program that everything is right in, and the lines that go wrong after it."""

PROGRAM = """\
import numpy as np
import xrelax as tvm
from xrelax import relax, te, tir
from xrelax.script import ir as I, relax as R, tir as T

@I.ir_module
class Module:
    @T.prim_func
    def double(X: T.Buffer((4, 8), "float32"), Y: T.Buffer((4, 8), "float32")):
        for i, j in T.grid(4, 8):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] + X[vi, vj]

    @R.function
    def main(x: R.Tensor((4, 8), "float32"), w: R.Tensor((8, 8), "float32")):
        cls = Module
        lv = R.call_tir(cls.double, (x,), out_sinfo=R.Tensor((4, 8), "float32"))
        return R.matmul(lv, w)
"""

MISTAKES = {
    "shape of an argument": (
        'relax.build(Module)["main"](np.zeros((4, 8), "float32"), np.zeros((9, 8), "float32"))',
        [
            "xrelax.runtime.errors.ArgumentError: expected argument 'w' to have shape (8, 8), "
            "got (9, 8)"
        ],
    ),
    "too few arguments": (
        'relax.build(Module)["main"](np.zeros((4, 8), "float32"))',
        ["TypeError: main expects 2 arguments (x, w), got 1"],
    ),
    "name of a function": (
        'relax.VirtualMachine(relax.build(Module), tvm.cpu())["man"]',
        ["ValueError: expected a function (double, main), got 'man'"],
    ),
    "name of a block": (
        'schedule = tir.Schedule(Module)\nschedule.get_block("Z", "double")',
        ["ScheduleError: get_block: expected one block 'Z' in function 'double' (Y), got none"],
    ),
    "factors of a split": (
        "schedule = tir.Schedule(Module)\n"
        'i, j = schedule.get_loops(schedule.get_block("Y", "double"))\n'
        "schedule.split(i, factors=[3, 1])",
        [
            "10:9: error: split: expected the product of the factors of loop 'i' to be at least "
            "its extent 4, got 3"
        ],
    ),
    "shapes of an operator in a script": (
        '@R.function\ndef f(x: R.Tensor((4, 8), "float32")):\n    y = R.matmul(x, x)\n    return y',
        [
            "line {3}",
            "    y = R.matmul(x, x)",
            "        ^",
            "ScriptError: expected shapes of 'relax.matmul' to be compatible, got (4, 8) and (4, "
            "8)",
        ],
    ),
    "misspelled operator": (
        '@R.function\ndef f(x: R.Tensor((4, 8), "float32")):\n    return R.nn.softmaxx(x)',
        ["got 'R.nn.softmaxx', did you mean 'R.nn.softmax'?"],
    ),
    "shapes of an operator in Python": (
        'x = relax.Var("x", relax.TensorStructInfo((4, 8), "float32"))\nrelax.op.matmul(x, x)',
        [
            "xrelax.dialects.diagnostics.OpError: expected shapes of 'relax.matmul' to be "
            "compatible, got (4, 8) and (4, 8)"
        ],
    ),
    "indices of a tensor expression": (
        'A = te.placeholder((4,), name="A")\nB = te.compute((4,), lambda i: A[i, i])',
        ["ValueError: expected 1 indices for 'A', got 2"],
    ),
    "target": (
        'relax.build(Module, target="cuda")',
        [
            "BackendError: expected a target of kind 'llvm', got 'cuda': "
            "xrelax compiles for CPUs only"
        ],
    ),
    "parameter to bind": (
        'relax.transform.BindParams("main", {"q": np.zeros(8, "float32")})(Module)',
        ["Diagnostic: expected a parameter of 'main' (x, w), got 'q'"],
    ),
    "file to load": (
        'tvm.runtime.load("missing.xr")',
        ["FileNotFoundError: [Errno 2] No such file or directory: 'missing.xr'"],
    ),
    "function of the user that fails": (
        '@tvm.register_func("fail", override=True)\n'
        "def fail(x, y):\n"
        '    raise KeyError("no such key")\n'
        'x = relax.Var("x", relax.TensorStructInfo((4,), "float32"))\n'
        "builder = relax.BlockBuilder()\n"
        'with builder.function("main", [x]):\n'
        '    call = relax.op.call_dps_packed("fail", (x,), x.struct_info)\n'
        "    builder.emit_func_output(call)\n"
        'relax.build(builder.get())["main"](np.zeros(4, "float32"))',
        ["KeyError: 'no such key'"],
    ),
}
"""By what is wrong: the lines, and how the last lines that are printed end (``{n}``: line n)."""
