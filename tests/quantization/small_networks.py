"""Networks of a few layers to quantize."""

from itertools import pairwise

import numpy as np

from xrelax import relax

RNG = np.random.default_rng(0)
START = RNG.bit_generator.state


def draw(*shape, scale=1.0):
    return (RNG.standard_normal(shape) * scale).astype("float32")


def module_of(function, *params):
    """A module of a function that emits operators of its parameters."""
    builder = relax.BlockBuilder()
    given = [relax.Var(n, relax.TensorStructInfo(s, "float32")) for n, s in params]
    with builder.function("main", given):
        with builder.dataflow():
            result = builder.emit_output(function(builder, *given))
        builder.emit_func_output(result)
    return builder.get()


def mlp(*sizes, outlier=0.0):
    """Linear layers with relu in between; an outlier in the weight of the first."""
    weights = [draw(n, k, scale=k**-0.5) for k, n in pairwise(sizes)]
    weights[0][0, 0] += outlier

    def function(b, x):
        for number, weight in enumerate(weights):
            bias = draw(weight.shape[0], scale=0.1)
            x = b.emit(relax.op.linear(x, relax.const(weight), relax.const(bias)))
            x = b.emit(relax.op.nn.relu(x)) if number + 1 < len(weights) else x
        return x

    return module_of(function, ("x", (4, sizes[0])))


def cnn():
    first, second = draw(8, 3, 3, 3, scale=0.2), draw(8, 8, 3, 3, scale=0.1)
    weight = draw(8, 5, scale=0.3)

    def function(b, x):
        y = b.emit(
            relax.op.nn.relu(relax.op.nn.conv2d(x, relax.const(first), padding=[1, 1, 1, 1]))
        )
        y = b.emit(relax.op.nn.max_pool2d(y, pool_size=[2, 2], strides=[2, 2]))
        y = b.emit(relax.op.nn.relu(relax.op.nn.conv2d(y, relax.const(second), strides=[2, 2])))
        return b.emit(relax.op.matmul(relax.op.mean(y, axis=[2, 3]), relax.const(weight)))

    return module_of(function, ("x", (2, 3, 12, 12)))
