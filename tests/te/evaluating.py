"""Tensors evaluated by way of their kernels, and arrays for them."""

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from xrelax import te
from xrelax.dialects.diagnostics import verify
from xrelax.reference.evaluate import evaluate


def run(tensors, *arrays, shapes=None):
    """The last tensors of a create_prim_func, computed from arrays for the first ones."""
    function = te.create_prim_func(tensors)
    module = ModuleOp([function.op.clone()])
    verify(module)
    outputs = []
    for position, tensor in enumerate(tensors[len(arrays) :]):
        shape = shapes[position] if shapes else tensor.shape
        outputs.append(np.zeros(shape, tensor.dtype))
    results = evaluate(module, "main", [*arrays, *outputs])[len(arrays) :]
    return results[0] if len(results) == 1 else results


def array(*shape, dtype="float32", seed=0):
    """Random values of a dtype; integers are below 9."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.startswith(("int", "uint")):
        return rng.integers(0, 9, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)
