"""Batch normalizations in training: statistics of the batch, and running ones that move."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from xrelax import relax
from xrelax.runtime import XRelaxWarning

torch = pytest.importorskip("torch")
frontend = relax.frontend.torch
F = torch.nn.functional
FORMS = (None, False, True)
DTYPES = {
    "float32": (torch.float32, torch.float32, 1e-6),
    "float64": (torch.float64, torch.float64, 1e-14),
    "float16": (torch.float16, torch.float16, 2e-3),
    "half of the data": (torch.float16, torch.float32, 2e-3),
}


class Moving(torch.nn.Module):
    """Statistics that are inputs, which the norm changes."""

    def forward(self, x: Any, mean: Any, var: Any, weight: Any) -> Any:
        y = F.batch_norm(x, mean, var, weight, training=True, momentum=0.3, eps=1e-3)
        return y * mean[:, None], mean, var


class Layer(torch.nn.Module):
    """A layer with statistics of its own; with `reads`, what it returns depends on them."""

    def __init__(self, momentum: Any = 0.1, reads: bool = False) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm2d(3, momentum=momentum)
        self.reads = reads

    def forward(self, x: Any) -> Any:
        y = self.norm(x)
        return y * self.norm.running_mean.sum() if self.reads else y


def built(model: Any, inputs: Any, form: bool | None, **options: Any) -> Any:
    program = torch.export.export(model, deepcopy(inputs), **options)
    return relax.build(frontend.from_exported_program(program, run_ep_decomposition=form))["main"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("is_dynamic", [False, True])
@pytest.mark.parametrize("dtypes", DTYPES)
def test_moved_statistics(dtypes: str, is_dynamic: bool, form: bool | None):
    own, others, bound = DTYPES[dtypes]
    torch.manual_seed(0)
    inputs = torch.randn(4, 3, 5).to(own), *(t.to(others) for t in torch.rand(3, 3))
    batch = {0: torch.export.Dim("n", min=2, max=100)}
    options = {"dynamic_shapes": (batch, None, None, None)} if is_dynamic else {}
    with pytest.warns(XRelaxWarning, match="changes input '(mean|var)'"):
        run = built(Moving(), inputs, form, **options)
    found = [torch.from_dlpack(t) for t in run(*inputs)]
    for got, want in zip(found, Moving()(*deepcopy(inputs)), strict=True):
        torch.testing.assert_close(got, want, rtol=bound, atol=bound)


@pytest.mark.parametrize("form", FORMS)
def test_a_layer_in_training(form: bool | None):
    model, x = Layer().train(), torch.randn(2, 3, 4, 4) * 3 + 1
    (found,) = built(model, (x,), form)(x)
    torch.testing.assert_close(torch.from_dlpack(found), model(x), rtol=1e-5, atol=1e-6)


def test_one_operator_in_the_form_of_tvm():
    x = torch.randn(2, 3, 4, 4)
    program = torch.export.export(Layer(momentum=0.25).train(), (x,))
    text = frontend.from_exported_program(program, run_ep_decomposition=True).script()
    assert "momentum=0.25, training=True)" in text
    assert "R.variance" not in text


@pytest.mark.parametrize("form", FORMS)
def test_running_statistics_that_results_read_are_refused(form: bool | None):
    x = torch.randn(2, 3, 4, 4)
    with pytest.raises(ValueError, match=r"changes buffer 'norm\.running_mean' at .*: return"):
        built(Layer(reads=True).train(), (x,), form)


def test_saved_statistics_are_refused():
    class Saved(torch.nn.Module):
        def forward(self, x: Any, v: Any) -> Any:
            function = torch.ops.aten._native_batch_norm_legit_functional
            return function(x, v, v, v, v, True, 0.1, 1e-5)[1]

    with pytest.raises(ValueError, match=r"result 1 of '.*' is not computed"):
        built(Saved(), (torch.randn(2, 3), torch.rand(3)), True)


def test_given_statistics_stay():
    class Still(torch.nn.Module):
        def forward(self, x: Any, v: Any) -> Any:
            function = torch.ops.aten._native_batch_norm_legit_functional
            y, _, _, mean, var = function(x, v, v, v, v, False, 0.1, 1e-5)
            return y, mean, var

    inputs = torch.randn(2, 3), torch.rand(3)
    found = built(Still(), inputs, True)(*inputs)
    for got, want in zip(found, Still()(*inputs), strict=True):
        torch.testing.assert_close(torch.from_dlpack(got), want)


def test_momentum_beyond_one_is_refused():
    with pytest.raises(ValueError, match=r"momentum of 'relax.nn.batch_norm' in \[0, 1\], got 1.5"):
        built(Layer(momentum=1.5).train(), (torch.randn(2, 3, 4, 4),), True)


@pytest.mark.parametrize("has_gradients", [False, True])
def test_compiled_layers_move_their_statistics(has_gradients: bool):
    torch._dynamo.reset()
    frontend.register_backend()
    eager, x = Layer().train(), torch.randn(2, 3, 4, 4)
    model = deepcopy(eager)
    with torch.set_grad_enabled(has_gradients):
        found, wanted = torch.compile(model, backend="xrelax")(x), eager(x)
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6)
    for got, want in zip(model.buffers(), eager.buffers(), strict=True):
        torch.testing.assert_close(got, want)
