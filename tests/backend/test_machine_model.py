"""What the cost model knows of a processor: written in a target's text, checked, used."""

import pickle
from dataclasses import replace

import pytest

from xrelax.backend.errors import BackendError
from xrelax.backend.machine_model import model_text, parse_model
from xrelax.backend.target import Target
from xrelax.backend.targets.machine_model import MachineModel
from xrelax.inspection import stage_text
from xrelax.runtime.pool_code import AWAKE_COST
from xrelax.script import from_source

MATMUL = from_source("""
@R.function
def main(x: R.Tensor((64, 96), "float32"), w: R.Tensor((96, 96), "float32")):
    y = R.matmul(x, w)
    return y
""")


def schedule(model: str) -> str:
    return stage_text(MATMUL, "schedule", f"llvm -mcpu=haswell -model={model}")


def test_a_model_has_the_fields_that_its_text_names():
    usual = MachineModel()
    model = parse_model("fma-latency=4,copy=2.5", usual)
    assert model == MachineModel(fma_latency=4, copy=2.5)
    assert model_text(model, usual) == "fma-latency=4,copy=2.5"
    assert parse_model("", usual) == usual and not model_text(usual, usual)


def test_targets_keep_their_model():
    target = Target("llvm -mcpu=haswell -model=l2-gap=2")
    usual = Target("llvm -mcpu=haswell")
    assert target.model == replace(usual.model, l2_gap=2)
    assert Target(str(target)) == target == pickle.loads(pickle.dumps(target))
    assert target != usual and "-model" not in str(usual)


def test_instruction_sets_have_models_of_their_own():
    names = ("haswell", "znver4")
    masked = [Target(f"llvm -mcpu={name}").model.masked for name in names]
    assert masked[0] > 10 > masked[1]
    assert Target("llvm -mcpu=znver5").model == MachineModel()


def test_processors_that_halve_registers():
    """Zen 4 does, unless AVX-512 is left out; the narrow target costs as much for each element."""
    target = Target("llvm -mcpu=znver4")
    assert target.model == MachineModel(narrow_rate=2.0)
    assert Target("llvm -mcpu=znver4 -mattr=-avx512f").model.narrow_rate == 1
    narrow = target.narrow
    assert (narrow.lanes(32), narrow.model.fma_rate) == (8, 2 * target.model.fma_rate)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("latency=4", r"expected a field of -model \(clock-ghz, .*\), got 'latency'"),
        ("copy=fast", "expected 'copy' of -model to be positive, got 'fast'"),
        ("copy=0", "expected 'copy' of -model to be positive, got '0'"),
        ("copy=nan", "expected 'copy' of -model to be positive, got 'nan'"),
        ("copy=inf", "expected 'copy' of -model to be positive, got 'inf'"),
        ("copy", "expected 'copy' of -model to be positive, got ''"),
    ],
)
def test_refused_models(text, message):
    with pytest.raises(BackendError, match=message):
        Target(f"llvm -model={text}")


def test_panels_are_packed_only_where_that_is_cheap():
    assert "cache_read" in schedule("copy=0.01")
    assert "cache_read" not in schedule("copy=1000")


def test_threads_share_what_is_worth_waking_them():
    assert "parallel" in schedule("wake=1")
    assert "parallel" not in schedule("wake=1e12")


def test_the_pool_wakes_threads_for_as_much_work():
    assert AWAKE_COST == 1000 * MachineModel().wake
