"""Models made of functions, and comparison of what they compile to with PyTorch."""

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

collect_ignore_glob = (
    [] if find_spec("onnx") and find_spec("onnxruntime") else ["onnx_*.py", "test_onnx_*.py"]
)
"""Tests of ONNX files compare with the package's evaluator and with ONNX Runtime."""

TOLERANCE = {"float64": 1e-10, "float32": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}
"""Largest difference over the largest expected number, by dtype."""


def assert_close(got: Any, expected: Any, label: str = "result") -> None:
    """Equal structure, dtype and shape; floats within the tolerance of the dtype, NaN as NaN."""
    import torch

    if isinstance(expected, Mapping):
        assert list(got) == list(expected)
        for name in expected:
            assert_close(got[name], expected[name], f"{label}[{name!r}]")
    elif isinstance(expected, list | tuple):
        assert len(got) == len(expected), label
        for index, (g, e) in enumerate(zip(got, expected, strict=True)):
            assert_close(g, e, f"{label}[{index}]")
    elif isinstance(expected, torch.Tensor):
        _assert_close_tensors(got, expected, label)
    else:
        assert got == expected, label


def _assert_close_tensors(got: Any, expected: Any, label: str) -> None:
    import torch

    assert (got.dtype, got.shape) == (expected.dtype, expected.shape), label
    if expected.is_complex():
        got, expected = (torch.view_as_real(t.detach().resolve_conj()) for t in (got, expected))
    a, b = (t.detach().double().numpy() for t in (got, expected))
    if not expected.dtype.is_floating_point:
        np.testing.assert_array_equal(a, b, label)
        return
    finite = np.isfinite(b)
    np.testing.assert_array_equal(a[~finite], b[~finite], label)
    scale = np.abs(b[finite]).max(initial=1e-30)
    tolerance = TOLERANCE[str(expected.dtype).removeprefix("torch.")]
    np.testing.assert_allclose(a[finite], b[finite], rtol=0, atol=tolerance * scale, err_msg=label)


def as_model(function: Callable[..., Any]) -> Any:
    """A model without weights that computes a function."""
    import torch

    class Model(torch.nn.Module):
        def forward(self, *args: Any) -> Any:
            return function(*args)

    return Model().eval()


def _dim(name: Any) -> Any:
    import torch

    return torch.export.Dim(name) if isinstance(name, str) else name


@pytest.fixture
def check() -> Callable[..., None]:
    """Compile a function or a model, and compare it with PyTorch: ``check(f, x, y)``.

    With ``dynamic=[{axis: name}, …]``, a dict for each argument, these dims are symbols, and inputs
    of other sizes are tried too, which `others` are. A `torch.export.Dim` in place of a name has
    limits.
    """
    import torch

    import xrelax

    def run(function: Any, *inputs: Any, dynamic: Any = None, others: Any = ()) -> None:
        model = function if isinstance(function, torch.nn.Module) else as_model(function)
        shapes = None
        if dynamic is not None:
            dims: dict[str, Any] = {}
            shapes = tuple(
                {a: dims.setdefault(str(n), _dim(n)) for a, n in axes.items()} or None
                for axes in dynamic
            )
            shapes = shapes if isinstance(function, torch.nn.Module) else (shapes,)
        compiled = xrelax.compile(model, inputs, dynamic_shapes=shapes)
        for given in (inputs, *others):
            with torch.no_grad():
                assert_close(compiled(*given), model(*given))

    return run


@pytest.fixture
def compiled() -> Callable[..., Any]:
    """The result of a compiled function of tensors: ``compiled(f, x, y)``."""
    import torch

    import xrelax

    def run(function: Any, *inputs: Any) -> Any:
        with torch.no_grad():
            return xrelax.compile(as_model(function), inputs)(*inputs)

    return run
