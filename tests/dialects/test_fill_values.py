"""Numbers that tensors are filled with: constants fit the dtype, other values are converted."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.script import from_source
from xrelax.script.errors import ScriptError

FITTING = [("1.5", "int8", 1), ("-0.5", "uint8", 0), ("127", "int8", 127), ("-1", "float16", -1)]


def main(params: str, value: str):
    return from_source(f"""
@R.function
def main({params}):
    return {value}
""")


@pytest.mark.parametrize(("number", "dtype", "wanted"), FITTING)
def test_a_constant_is_converted(number: str, dtype: str, wanted: float):
    made = relax.build(main("", f'R.full((2,), R.const({number}), "{dtype}")'), check=True)()
    np.testing.assert_array_equal(made.numpy(), np.full(2, wanted, dtype))


@pytest.mark.parametrize("number", ["128", "-129", "1e9", 'float("nan")'])
@pytest.mark.parametrize("value", ['full((2,), {}, "int8")', 'full_like(x, {}, "int8")'])
def test_a_constant_that_does_not_fit_is_refused(number: str, value: str):
    text = "R." + value.format(f"R.const({number})")
    with pytest.raises(ScriptError, match=r"expected fill_value .* in the range of int8, got"):
        main('x: R.Tensor((2,), "float32")', text)


def test_other_values_are_converted_as_by_astype():
    function = main('x: R.Tensor((), "int32")', 'R.full((2,), x, "int8")')
    made = relax.build(function, check=True)(np.array(300, "int32"))
    np.testing.assert_array_equal(made.numpy(), np.full(2, 44, "int8"))
