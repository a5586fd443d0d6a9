"""`relax.linalg` of singular matrices, of constants, and in files."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from xrelax import relax, te
from xrelax.script import from_source

SINGULAR = np.array([[1, 2, 0], [2, 4, 0], [0, 0, 1]], np.float32)


def built(call: str, **options: Any) -> Any:
    """A function of two batches of matrices."""
    return relax.build(
        from_source(f"""
@R.function
def main(x: R.Tensor(("b", "n", "n"), "float32"), y: R.Tensor(("b", "n", "m"), "float32")):
    return {call}
"""),
        **options,
    )


def batch(*matrices: Any) -> Any:
    return np.stack([np.asarray(m, np.float32) for m in matrices])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            "R.linalg.inv(x)",
            r"^expected invertible matrices of 'linalg.inv', got one at \[1\] with pivot 2 of its "
            "LU decomposition equal to 0$",
        ),
        ("R.linalg.solve(x, y)", r"^expected invertible matrices of 'linalg.solve', got .*pivot 2"),
        (
            "R.linalg.cholesky(x)",
            r"^expected positive-definite matrices of 'linalg.cholesky', got one at \[1\] whose "
            "leading minor of order 2 is not positive$",
        ),
        (
            "R.linalg.lu_factor(x, check_errors=True)[0]",
            r"^expected full-rank matrices of 'linalg.lu_factor', got one at \[1\] with pivot ",
        ),
    ],
)
def test_singular_matrices_are_errors(call: str, message: str):
    x = batch(np.eye(3), SINGULAR, SINGULAR)
    with pytest.raises(np.linalg.LinAlgError, match=message):
        built(call)(x, x)


def test_infinite_matrices_are_errors():
    x = batch(np.full((2, 2), np.nan))
    message = r"^expected finite matrices of 'linalg.svdvals', got one for which it does not conv"
    with pytest.raises(np.linalg.LinAlgError, match=message):
        built("R.linalg.svdvals(x)")(x, x)


def test_other_results_of_a_batch_with_a_singular_matrix():
    x, y = batch(2 * np.eye(3), SINGULAR), batch(np.eye(3), np.eye(3))
    solution, info = built("R.linalg.solve_ex(x, y)")(x, y)
    np.testing.assert_array_equal(info.numpy(), [0, 2])
    np.testing.assert_array_equal(solution.numpy()[0], np.eye(3, dtype=np.float32) / 2)
    assert np.isnan(solution.numpy()[1]).all()


def test_zeros_on_the_diagonal_of_triangles():
    x, y = batch([[0, 0], [1, 1]]), batch([[1], [0]])
    found = built("R.linalg.solve_triangular(x, y, upper=False)")(x, y).numpy()
    np.testing.assert_array_equal(found, [[[np.inf], [-np.inf]]])


def test_results_are_compared_after_every_pass():
    x = batch([[4, 1], [1, 3]])
    q, r = built("R.linalg.qr(x)", check=True)(x, x)
    np.testing.assert_allclose(q.numpy() @ r.numpy(), x, rtol=1e-6)


def test_constants_are_folded_unless_they_are_singular():
    source = """
@R.function
def main(x: R.Tensor((2, 2), "float32")):
    return R.add(x, R.linalg.inv(R.const({}, "float32")))
"""
    regular = relax.build(from_source(source.format("[[2, 0], [0, 4]]")))
    np.testing.assert_array_equal(regular(np.zeros((2, 2), np.float32)), [[0.5, 0], [0, 0.25]])
    singular = relax.build(from_source(source.format("[[1, 1], [1, 1]]")))
    with pytest.raises(np.linalg.LinAlgError, match="invertible"):
        singular(np.zeros((2, 2), np.float32))


def test_there_is_no_tensor_expression():
    with pytest.raises(
        ValueError, match=r"got 'relax.linalg.inv', which is a call of 'xrelax.lina"
    ):
        te.topi.inv(te.placeholder((2, 2), "float32"))


def test_files_need_only_the_runtime(tmp_path: Any):
    built("R.linalg.inv(x)").save(tmp_path / "inverse.xr")
    program = f"""
import sys
import numpy as np
from xrelax.runtime import load
x = np.array([[[2, 0], [0, 4]]], np.float32)
inverse = load({str(tmp_path / "inverse.xr")!r})["main"](x, x)
np.testing.assert_array_equal(inverse.numpy(), [[[0.5, 0], [0, 0.25]]])
assert not {{"xdsl", "xrelax.dialects"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
