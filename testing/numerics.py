"""Comparisons of arrays, and of gradients with differences of function values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def assert_allclose(
    actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 1e-7, verbose: bool = True
) -> None:
    """Raise AssertionError unless two arrays have one shape and close values.

    ``|actual - desired| <= atol + rtol * |desired|`` for each element. Both are tensors, or what
    NumPy makes an array of. TVM's ``tvm.testing.assert_allclose``.
    """
    found, wanted = _array(actual), _array(desired)
    if found.shape != wanted.shape:
        raise AssertionError(f"expected an array of shape {wanted.shape}, got {found.shape}")
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol, verbose=verbose)


def check_numerical_grads(
    function: Callable[..., Any],
    input_values: Sequence[ArrayLike],
    grad_values: Sequence[ArrayLike],
    function_value: float | None = None,
    delta: float = 1e-3,
    atol: float = 1e-2,
    rtol: float = 0.1,
) -> None:
    """Raise AssertionError unless gradients agree with central differences of a function.

    `function` maps arrays to a scalar, here from `input_values`; `grad_values` has an array of the
    same shape for each. The distance to the differences with steps of `delta` is compared as a
    whole: ``|grad - numerical| <= atol * sqrt(size) + rtol * |numerical|`` in the 2-norm.
    `function_value` is the value there, if it is known already; it is compared with what the
    function returns. Raises TypeError unless the inputs are float16, float32 or float64.
    TVM's ``tvm.testing.check_numerical_grads``.
    """
    inputs = [np.array(value) for value in input_values]
    for position, value in enumerate(inputs):
        if value.dtype.kind != "f":
            raise TypeError(f"expected input {position} to be of floats, got {value.dtype}")
    if len(inputs) != len(grad_values):
        raise AssertionError(
            f"expected a gradient by each of {len(inputs)} inputs, got {len(grad_values)}"
        )
    if function_value is not None:
        assert_allclose(float(function(*inputs)), function_value, rtol=rtol, atol=atol)
    for position, (value, given) in enumerate(zip(inputs, grad_values, strict=True)):
        grad = _array(given).astype(np.float64)
        if grad.shape != value.shape:
            raise AssertionError(
                f"expected the gradient by input {position} to have shape {value.shape}, "
                f"got {grad.shape}"
            )
        numerical = _differences(function, inputs, position, delta)
        distance = float(np.linalg.norm((grad - numerical).ravel()))
        limit = atol * np.sqrt(grad.size) + rtol * float(np.linalg.norm(numerical.ravel()))
        if not distance <= limit:
            raise AssertionError(
                f"expected the gradient by input {position} within {limit:.3g} of differences, "
                f"got a distance of {distance:.3g}"
            )


def _differences(
    function: Callable[..., Any], inputs: Sequence[NDArray[Any]], position: int, delta: float
) -> NDArray[np.float64]:
    """The central differences of a function by each element of one input."""
    found = np.empty(inputs[position].shape, np.float64)
    for index in np.ndindex(found.shape):
        ends: list[float] = []
        places: list[float] = []
        for step in (delta, -delta):
            moved = list(inputs)
            moved[position] = inputs[position].copy()
            moved[position][index] += step
            ends.append(float(function(*moved)))
            places.append(float(moved[position][index]))
        found[index] = (ends[0] - ends[1]) / (places[0] - places[1])
    return found


def _array(value: Any) -> NDArray[Any]:
    return value.numpy() if hasattr(value, "numpy") else np.asanyarray(value)
