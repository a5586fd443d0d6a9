"""Tuning of programs: the kernels of a build, and builds with what was found."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import meta_schedule as ms
from xrelax import relax
from xrelax.runtime import XRelaxWarning
from xrelax.script import from_source

TARGET = "llvm --num-cores=1"

MLP = """
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((8, 32), "float32"),
        w0: R.Tensor((48, 32), "float32"),
        b0: R.Tensor((48,), "float32"),
        w1: R.Tensor((48, 48), "float32"),
    ):
        with R.dataflow():
            lv0 = R.matmul(x, R.permute_dims(w0))
            lv1 = R.nn.relu(R.add(lv0, b0))
            lv2 = R.matmul(lv1, R.permute_dims(w1))
            lv3 = R.matmul(lv2, R.permute_dims(w1))
            R.output(lv3)
        return lv3
"""

SYMBOLIC = """
@R.function
def main(x: R.Tensor(("n", 32), "float32"), w: R.Tensor((32, 16), "float32")):
    return R.matmul(x, w)
"""

RNG = np.random.default_rng(0)
PARAMS = {
    name: RNG.random(shape, np.float32)
    for name, shape in (("w0", (48, 32)), ("b0", (48,)), ("w1", (48, 48)))
}
X = RNG.random((8, 32), np.float32)


def expected():
    hidden = np.maximum(X @ PARAMS["w0"].T + PARAMS["b0"], 0)
    return hidden @ PARAMS["w1"].T @ PARAMS["w1"].T


def check(executable, params):
    given = [X] if params else [X, *PARAMS.values()]
    vm = relax.VirtualMachine(executable, tvm.cpu())
    result = vm["main"](*map(tvm.nd.array, given)).numpy()
    np.testing.assert_allclose(result, expected(), rtol=1e-4)


def scheduled(mod):
    return [gv.name_hint for gv, f in mod.items() if (f.attrs or {}).get("tir.is_scheduled")]


@pytest.mark.parametrize("params", [None, PARAMS], ids=["parameters", "constants"])
def test_a_program_with_tuned_kernels(tmp_path, params, workers):
    module = from_source(MLP)
    tasks = ms.relax_integration.extract_tasks(module, TARGET, params)
    assert {t.task_name: t.weight for t in tasks} == {"fused_matmul_add_relu": 1, "matmul1": 2}
    database = ms.tune_relax(module, params, TARGET, tmp_path, 4, **workers)
    assert len(database) == 6
    check(ms.relax_integration.compile_relax(database, module, TARGET, params), params)
    if params is None:
        with database:
            apply = relax.transform.MetaScheduleApplyDatabase(target=TARGET)
            tuned = apply(module)
        assert sorted(scheduled(tuned)) == ["fused_matmul_add_relu", "matmul1"]
        assert not scheduled(module)
        check(relax.build(tuned, TARGET), params)


def test_passes(tmp_path, workers):
    module, work_dir = from_source(MLP), str(tmp_path)
    with tvm.target.Target(TARGET):
        tune = relax.transform.MetaScheduleTuneIRMod(
            None, work_dir, 1, op_names=["relu"], **workers
        )
        same = tune(module)
        tuned = relax.transform.MetaScheduleApplyDatabase(work_dir)(same)
        assert scheduled(tuned) == ["fused_matmul_add_relu"]
        with pytest.warns(XRelaxWarning, match="expected a tuning record of kernel 'matmul1'"):
            relax.transform.MetaScheduleApplyDatabase(work_dir, enable_warning=True)(module)
        check(relax.build(tuned, TARGET), None)
        kernels = relax.transform.LegalizeOps()(module)
        relax.transform.MetaScheduleTuneTIR(str(tmp_path / "tir"), 0, **workers)(kernels)
        assert (tmp_path / "tir" / "database_workload.json").exists()
    with pytest.raises(ValueError, match="expected a work_dir or a database around the pass"):
        relax.transform.MetaScheduleApplyDatabase()(module)


def test_the_pipeline_that_tunes(tmp_path):
    pipeline = relax.get_pipeline(
        "static_shape_tuning", target=TARGET, total_trials=2, work_dir=str(tmp_path)
    )
    tuned = pipeline(from_source(MLP))
    assert len(scheduled(tuned)) == 2
    check(relax.build(tuned, TARGET), None)


def test_symbolic_kernels_are_tuned_for_a_range(tmp_path, workers):
    module = tvm.IRModule({"main": from_source(SYMBOLIC)})
    options = {**workers, "shape_ranges": {"n": (1, 20)}}
    assert not len(ms.tune_relax(module, None, TARGET, tmp_path / "a", 2, **workers))
    database = ms.tune_relax(module, None, TARGET, tmp_path / "b", 2, **options)
    assert len(database) > 1
    executable = ms.relax_integration.compile_relax(database, module, TARGET)
    for n in (1, 7, 30):
        x, w = RNG.random((n, 32), np.float32), RNG.random((32, 16), np.float32)
        result = relax.VirtualMachine(executable, tvm.cpu())["main"](*map(tvm.nd.array, (x, w)))
        np.testing.assert_allclose(result.numpy(), x @ w, rtol=1e-4)


ATTENTION = """
@R.function
def main(
    q: R.Tensor((1, 24, 2, 16), "float32"),
    k: R.Tensor((1, 24, 2, 16), "float32"),
    v: R.Tensor((1, 24, 2, 16), "float32"),
):
    return R.nn.attention(q, k, v)
"""


def test_kernels_that_compute_beyond_their_shape_can_be_built(tmp_path, workers):
    """They may also be those of a bare function."""
    module = from_source(ATTENTION)
    database = ms.tune_relax(module, None, TARGET, tmp_path, 2, **workers)
    records = database.get_all_tuning_records()
    assert len(records) == 3 and all(r.is_valid() for r in records), [r.error for r in records]
    executable = ms.relax_integration.compile_relax(database, module, TARGET)
    given = [RNG.random((1, 24, 2, 16), np.float32) for _ in range(3)]
    result = relax.VirtualMachine(executable, tvm.cpu())["main"](*map(tvm.nd.array, given))
    q, k, v = (a[0].transpose(1, 0, 2) for a in given)
    scores = np.exp(q @ k.transpose(0, 2, 1) / 4)
    wanted = scores / scores.sum(-1, keepdims=True) @ v
    np.testing.assert_allclose(result.numpy()[0].transpose(1, 0, 2), wanted, rtol=1e-4)
