"""Models that are trained as PyTorch trains them."""

from __future__ import annotations

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.relax.training import AppendLoss, SetupTrainer, Trainer
from xrelax.relax.training.loss import (
    CategoricalCrossEntropyLoss,
    CrossEntropyLoss,
    L1Loss,
    MSELoss,
)
from xrelax.relax.training.optimizer import SGD, Adam, MomentumSGD
from xrelax.script import ir as I
from xrelax.script import relax as R

torch = pytest.importorskip("torch")
F = torch.nn.functional


@I.ir_module
class MLP:
    I.module_attrs({"param_num": 4, "state_num": 0})

    @R.function
    def backbone(
        x: R.Tensor((8, 6), "float32"),
        w0: R.Tensor((6, 16), "float32"),
        b0: R.Tensor((16,), "float32"),
        w1: R.Tensor((16, 3), "float32"),
        b1: R.Tensor((3,), "float32"),
    ):
        with R.dataflow():
            h = R.nn.relu(R.matmul(x, w0) + b0)
            out = R.matmul(h, w1) + b1
            R.output(out)
        return out


@I.ir_module
class Transformer:
    """A block with causal attention of two heads, as a model of the next of 11 tokens."""

    I.module_attrs({"param_num": 8, "state_num": 0})

    @R.function
    def backbone(
        tokens: R.Tensor((4, 5), "int64"),
        mask: R.Tensor((5, 5), "float32"),
        embedding: R.Tensor((11, 8), "float32"),
        qkv: R.Tensor((8, 24), "float32"),
        out: R.Tensor((8, 8), "float32"),
        gamma: R.Tensor((8,), "float32"),
        beta: R.Tensor((8,), "float32"),
        up: R.Tensor((8, 16), "float32"),
        down: R.Tensor((16, 8), "float32"),
        head: R.Tensor((8, 11), "float32"),
    ):
        with R.dataflow():
            x = R.reshape(R.take(embedding, R.reshape(tokens, (20,)), axis=0), (4, 5, 8))
            normal = R.nn.layer_norm(x, gamma, beta, axes=[-1])
            parts = R.split(R.matmul(normal, qkv), 3, axis=-1)
            q = R.permute_dims(R.reshape(parts[0], (4, 5, 2, 4)), [0, 2, 1, 3])
            k = R.permute_dims(R.reshape(parts[1], (4, 5, 2, 4)), [0, 2, 3, 1])
            v = R.permute_dims(R.reshape(parts[2], (4, 5, 2, 4)), [0, 2, 1, 3])
            scores = R.nn.softmax(R.matmul(q, k) * R.const(0.5, "float32") + mask, axis=-1)
            heads = R.reshape(R.permute_dims(R.matmul(scores, v), [0, 2, 1, 3]), (4, 5, 8))
            y = x + R.matmul(heads, out)
            z = y + R.matmul(R.nn.gelu(R.matmul(y, up)), down)
            logits = R.reshape(R.matmul(z, head), (20, 11))
            R.output(logits)
        return logits


def torch_mlp(x, w0, b0, w1, b1):
    return F.relu(x @ w0 + b0) @ w1 + b1


def torch_transformer(tokens, mask, embedding, qkv, out, gamma, beta, up, down, head):
    x = embedding[tokens]
    q, k, v = (F.layer_norm(x, (8,), gamma, beta) @ qkv).chunk(3, -1)
    q, k, v = (t.reshape(4, 5, 2, 4).transpose(1, 2) for t in (q, k, v))
    heads = (((q @ k.mT) * 0.5 + mask).softmax(-1) @ v).transpose(1, 2).reshape(4, 5, 8)
    y = x + heads @ out
    return ((y + F.gelu(y @ up) @ down) @ head).reshape(20, 11)


def parameters(mod, first):
    rng = np.random.default_rng(5)
    params = mod["backbone"].params[first:]
    return [rng.standard_normal(p.shape).astype(np.float32) * 0.5 for p in params]


OPTIMIZERS = {
    "sgd": (lambda: SGD(0.1, 0.01), lambda p: torch.optim.SGD(p, 0.1, weight_decay=0.01)),
    "momentum": (
        lambda: MomentumSGD(0.05, 0.9, nesterov=True),
        lambda p: torch.optim.SGD(p, 0.05, 0.9, nesterov=True),
    ),
    "adam": (
        lambda: Adam(0.01, weight_decay=0.1),
        lambda p: torch.optim.Adam(p, 0.01, weight_decay=0.1),
    ),
}


def train(mod, optimizer, inputs, targets, values, steps=5):
    mod = SetupTrainer(
        CrossEntropyLoss(),
        optimizer,
        [mod["backbone"].ret_struct_info, R.Tensor(targets.shape, "int64")],
    )(mod)
    vm = relax.VirtualMachine(relax.build(mod), tvm.cpu())
    trainer = Trainer(mod, vm, tvm.cpu(), zero_init_param_state=False)
    trainer.load_params(values)
    losses = [float(trainer.update(list(inputs), targets).numpy()) for _ in range(steps)]
    return losses, [p.numpy() for p in trainer.export_params().values()], trainer


def train_torch(function, optimizer, inputs, targets, values, steps=5):
    leaves = [torch.from_numpy(v.copy()).requires_grad_() for v in values]
    step, losses = optimizer(leaves), []
    for _ in range(steps):
        loss = F.cross_entropy(function(*map(torch.from_numpy, inputs), *leaves), targets)
        step.zero_grad()
        loss.backward()
        step.step()
        losses.append(float(loss.detach()))
    return losses, [p.detach().numpy() for p in leaves]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_mlp(name):
    ours, theirs = OPTIMIZERS[name]
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((8, 6)).astype(np.float32), rng.integers(0, 3, 8)
    values = parameters(MLP, 1)
    losses, params, trainer = train(MLP, ours(), [x], y, values)
    wanted, expected = train_torch(torch_mlp, theirs, [x], torch.from_numpy(y), values)
    np.testing.assert_allclose(losses, wanted, rtol=1e-4)
    for p, e in zip(params, expected, strict=True):
        np.testing.assert_allclose(p, e, rtol=1e-3, atol=1e-4)
    out = trainer.predict(x).numpy()
    tensors = [torch.from_numpy(v) for v in (x, *params)]
    np.testing.assert_allclose(out, torch_mlp(*tensors), rtol=1e-4, atol=1e-5)


def test_transformer():
    rng = np.random.default_rng(2)
    tokens, targets = rng.integers(0, 11, (4, 5)), rng.integers(0, 11, 20)
    mask = np.triu(np.full((5, 5), -1e9, np.float32), 1)
    values = parameters(Transformer, 2)
    inputs = [tokens, mask]
    ours, theirs = OPTIMIZERS["adam"]
    losses, params, _ = train(Transformer, ours(), inputs, targets, values)
    wanted, expected = train_torch(
        torch_transformer, theirs, inputs, torch.from_numpy(targets), values
    )
    np.testing.assert_allclose(losses, wanted, rtol=1e-4)
    assert losses[-1] < losses[0]
    for p, e in zip(params, expected, strict=True):
        np.testing.assert_allclose(p, e, rtol=2e-2, atol=2e-4)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_losses(reduction):
    rng = np.random.default_rng(3)
    p, t = (rng.standard_normal((4, 3)).astype(np.float32) for _ in range(2))
    labels = rng.integers(0, 2, (4, 3))
    weights = rng.uniform(0.5, 2, 3).astype(np.float32)
    tp, tt, tl, tw = map(torch.from_numpy, (p, t, labels, weights))
    cross = -(tp.log_softmax(-1) * tl * tw)
    cases = [
        (L1Loss(reduction), [p, t], F.l1_loss(tp, tt, reduction=reduction)),
        (MSELoss(reduction), [p, t], F.mse_loss(tp, tt, reduction=reduction)),
        (CategoricalCrossEntropyLoss(reduction), [p, labels, weights], getattr(cross, reduction)()),
        (
            CategoricalCrossEntropyLoss(reduction, ignore_index=1),
            [p, labels, weights],
            F.nll_loss(tp.log_softmax(-1), tl.argmax(1), tw, ignore_index=1, reduction=reduction),
        ),
    ]
    for loss, values, expected in cases:
        function = loss(*(R.Tensor(v.shape, str(v.dtype)) for v in values))
        run = relax.build(tvm.IRModule.from_expr(function))[function.name]
        np.testing.assert_allclose(run(*values).numpy(), expected, rtol=1e-5)


def test_states():
    """A state goes through the steps of a trainer, and its new value is returned."""

    @I.ir_module
    class Backbone:
        I.module_attrs({"param_num": 1, "state_num": 1})

        @R.function
        def backbone(
            x: R.Tensor((2,), "float32"), w: R.Tensor((2,), "float32"), n: R.Tensor((), "float32")
        ):
            with R.dataflow():
                out = x * w
                count = n + R.const(1.0, "float32")
                R.output(out, count)
            return out, count

    type_ = R.Tensor((2,), "float32")
    mod = SetupTrainer(MSELoss("sum"), SGD(0.1), [type_, type_])(Backbone)
    trainer = Trainer(mod, relax.VirtualMachine(relax.build(mod), tvm.cpu()), tvm.cpu())
    trainer.load_params({"w": np.ones(2, np.float32)})
    x = np.array([1, 2], np.float32)
    for _ in range(3):
        trainer.update(x, np.zeros(2, np.float32))
    assert trainer.export_states()["n"].numpy() == 3
    w = trainer.export_params()["w"].numpy()
    np.testing.assert_allclose(w, [(1 - 0.2) ** 3, (1 - 0.8) ** 3], rtol=1e-5)
    np.testing.assert_allclose(trainer.predict(x).numpy(), x * w, rtol=1e-6)


def test_errors():
    x = relax.Var("x", R.Tensor((2,), "float32"))
    with pytest.raises(ValueError, match="expected distinct parameters of 'SGD', got 'x' twice"):
        SGD(0.1).init([x, x])
    with pytest.raises(ValueError, match="expected 'i' to be a tensor of floats"):
        Adam(0.1).init(relax.Var("i", R.Tensor((2,), "int32")))
    with pytest.raises(ValueError, match="expected 's' to have a shape of numbers"):
        Adam(0.1).init(relax.Var("s", R.Tensor(("n",), "float32")))
    with pytest.raises(RuntimeError, match="call init"):
        SGD(0.1).get_function()
    with pytest.raises(ValueError, match="expected reduction among mean, sum, none, got 'max'"):
        MSELoss("max")
    loss = MSELoss()(x.struct_info, x.struct_info)
    with pytest.raises(RuntimeError, match="expected parameter 'predictions' of 'mse_loss' to be"):
        AppendLoss("backbone", loss)(MLP)
    with pytest.raises(ValueError, match="to have an integer attribute 'param_num', got None"):
        SetupTrainer(MSELoss(), SGD(0.1), [x, x])(tvm.IRModule())
