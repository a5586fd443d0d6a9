"""What tests of builders use: variables, values, tensor expressions, and what was built."""

import numpy as np

from xrelax import relax, te


def var(name="x", shape=(2, 3), dtype="float32"):
    return relax.Var(name, relax.TensorStructInfo(shape, dtype))


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def fill(model):
    """Values of the parameters of a model, which it gets."""
    for i, parameter in enumerate(model.parameters()):
        parameter.data = random(*parameter.shape, seed=i + 1)
    return [p.data for p in model.parameters()]


def run(mod, *args, name="main"):
    return relax.build(mod)[name](*args).numpy()


def lines(mod, name="main"):
    text = mod[name].script(show_all_struct_info=False).splitlines()
    start = next(i for i, line in enumerate(text) if line.startswith("def "))
    return [line.strip() for line in text[start + 1 :]]


def te_matmul(A: te.Tensor, B: te.Tensor) -> te.Tensor:
    k = te.reduce_axis((0, A.shape[1]), name="k")
    shape = (A.shape[0], B.shape[1])
    return te.compute(shape, lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="matmul")


def te_relu(A: te.Tensor) -> te.Tensor:
    return te.compute(A.shape, lambda *i: te.max(A(*i), 0), name="relu")
