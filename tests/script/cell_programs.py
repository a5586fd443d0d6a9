"""Programs of the course in the spellings of each year, and what they have to give."""

import numpy as np

ROWS, INNER, COLUMNS = 2, 6, 4


def arrays(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(s).astype("float32") for s in shapes]


KERNELS_2022 = """
    @T.prim_func
    def scale0(X: T.Buffer[(2, 6), "float32"], Y: T.Buffer[(2, 6), "float32"]):
        # function attr dict
        T.func_attr({"global_symbol": "scale0", "tir.noalias": True})
        for i, j in T.grid(2, 6):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] * T.float32(3)

    @T.prim_func
    def dense0(X: T.Buffer[(2, 6), "float32"], W: T.Buffer[(4, 6), "float32"],
               B: T.Buffer[(4,), "float32"], Z: T.Buffer[(2, 4), "float32"]):
        T.func_attr({"global_symbol": "dense0", "tir.noalias": True})
        Y = T.alloc_buffer((2, 4), "float32")
        for i, j, k in T.grid(2, 4, 6):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]
        for i, j in T.grid(2, 4):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] = Y[vi, vj] + B[vj]
"""
KERNELS_2024 = """
    @T.prim_func
    def scale0(x: T.handle, y: T.handle):
        n, m = T.int64(), T.int64()
        X = T.match_buffer(x, (n, m), "float32")
        Y = T.match_buffer(y, (n, m))
        for i, j in T.grid(n, m):
            with T.sblock("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(X[vi, vj])
                T.writes(Y[vi, vj])
                Y[vi, vj] = X[vi, vj] * T.float32(3)

    @T.prim_func
    def dense0(x: T.handle, w: T.handle, b: T.handle, z: T.handle):
        n, m, k = T.int64(), T.int64(), T.int64()
        X = T.match_buffer(x, (n, m), "float32")
        W = T.match_buffer(w, (k, m), "float32")
        B = T.match_buffer(b, (k,), "float32")
        Z = T.match_buffer(z, (n, k), "float32")
        Y = T.alloc_buffer((n, k), "float32")
        for i, j, l in T.grid(n, k, m):
            with T.block("Y"):
                vi, vj, vl = T.axis.remap("SSR", [i, j, l])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vl] * W[vj, vl]
        for i, j in T.grid(n, k):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] = Y[vi, vj] + B[vj]
"""


def graph_2024(first, second, declare="n, m, k = T.int64(), T.int64(), T.int64()"):
    return f"""
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), w: R.Tensor(("k", "m"), "float32"),
             b: R.Tensor(("k",), "float32")):
        {declare}
        with R.dataflow():
            lv0 = {first}
            out = {second}
            R.output(out)
        return out
"""


def module(name, *parts, decorator="@tvm.script.ir_module"):
    return f"{decorator}\nclass {name}:{''.join(parts)}\n"


def check(program, call, round_trip):
    x, w, b = arrays((ROWS, INNER), (COLUMNS, INNER), (COLUMNS,))
    (out,) = call(program, x, w, b, name="main")
    np.testing.assert_allclose(out, (3 * x) @ w.T + b, rtol=1e-5, atol=1e-5)
    return round_trip(program)


FIRST = 'R.call_tir(cls.scale0, (x,), out_sinfo=R.Tensor((n, m), dtype="float32"))'
DENSE_FORMS = {
    "string": 'R.call_dps_packed("dense0", (lv0, w, b), R.Tensor((n, k), "float32"))',
    "dtype keyword": 'R.call_dps_packed("dense0", (lv0, w, b), R.Tensor((n, k), dtype="float32"))',
    "out_sinfo": 'R.call_dps_packed("dense0", (lv0, w, b), out_sinfo=R.Tensor((n, k), "float32"))',
    "shape": 'R.call_dps_packed(dense0, (lv0, w, b), (n, k), dtype="float32")',
    "shape and default dtype": 'R.call_dps_packed("dense0", (lv0, w, b), (n, k))',
    "list": 'R.call_dps_packed("dense0", [lv0, w, b], [R.Tensor((n, k), "float32")])',
    "bare name": 'R.call_tir(dense0, (lv0, w, b), (n, k), dtype="float32")',
    "cls": 'R.call_tir(cls.dense0, (lv0, w, b), out_sinfo=R.Tensor((n, k), dtype="float32"))',
    "out_ty": 'R.call_tir(cls.dense0, (lv0, w, b), out_ty=R.Tensor((n, k), dtype="float32"))',
    "module name": 'R.call_tir(MyModule.dense0, (lv0, w, b), R.Tensor((n, k), "float32"))',
    "keywords": 'R.call_tir(func=dense0, args=(lv0, w, b), shape=(n, k), dtype="float32")',
    "call_tir on a string": 'R.call_tir("dense0", (lv0, w, b), (n, k), dtype="float32")',
}
