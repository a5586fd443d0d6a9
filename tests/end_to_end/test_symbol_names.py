"""Names of functions that symbols of compiled code have too."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.relax import op as R


@pytest.mark.parametrize("name", ["poll", "vectorcall", "memcpy", "expf", "main_"])
def test_functions_are_not_taken_for_each_other(name: str):
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorStructInfo((4,), "float32"))
    with builder.function(name, [x]):
        builder.emit_func_output(builder.emit(R.exp(builder.emit(R.exp(x)))))
    executable = relax.build(builder.get())
    found = executable[name](np.zeros(4, np.float32))
    np.testing.assert_allclose(found.numpy(), np.full(4, np.e), rtol=1e-6)
