"""Random numbers of PyTorch's models: their distributions, and seeds."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xrelax
from xrelax import relax

torch = pytest.importorskip("torch")
F = torch.nn.functional
SIZE = 1 << 13
X = torch.linspace(-2, 2, SIZE)


def as_model(function: Callable[..., Any]) -> Any:
    """A model without weights that computes a function."""

    class Model(torch.nn.Module):
        def forward(self, *args: Any) -> Any:
            return function(*args)

    return Model().eval()


def compiled(function: Callable[..., Any], *inputs: Any, **options: Any) -> Any:
    return xrelax.compile(as_model(function), inputs, **options)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "rand": lambda x: torch.rand(SIZE),
    "rand_like": torch.rand_like,
    "uniform": lambda x: x.clone().uniform_(-1, 3),
    "empty": lambda x: torch.empty(SIZE).uniform_(),
    "randn": lambda x: torch.randn(x.shape),
    "randn_like": torch.randn_like,
    "normal": lambda x: x.clone().normal_(3, 0.5),
    "of shape": lambda x: torch.normal(1.0, 2.0, (SIZE,)),
    "of tensors": lambda x: torch.normal(x, x.abs() + 1),
    "of means": lambda x: torch.normal(x, 2.0),
    "of deviations": lambda x: torch.normal(1.0, x.abs()),
    "bernoulli": lambda x: torch.bernoulli(x.sigmoid()),
    "bernoulli number": lambda x: x.clone().bernoulli_(0.2),
    "bernoulli tensor": lambda x: x.clone().bernoulli_(x.sigmoid()),
    "exponential": lambda x: x.clone().exponential_(2.0),
    "geometric": lambda x: x.clone().geometric_(0.3),
    "log normal": lambda x: x.clone().log_normal_(0, 0.5),
    "angle of cauchy": lambda x: torch.atan(x.clone().cauchy_(1, 2)),
    "dropout": lambda x: F.dropout(x + 3, 0.3, True),
    "alpha dropout": lambda x: F.alpha_dropout(x, 0.3, True),
    "all dropped": lambda x: F.dropout(x, 1.0, True),
    "randint": lambda x: torch.randint(-3, 9, (SIZE,)),
    "randint below": lambda x: torch.randint(9, (SIZE,), dtype=torch.int32),
    "randint like": lambda x: torch.randint_like(x, 1, 5),
    "permutation": lambda x: torch.randperm(SIZE),
    "categories": lambda x: torch.multinomial(torch.tensor([0.1, 0.0, 2.0, 1.0]), SIZE, True),
    "first category": lambda x: torch.multinomial(
        torch.tensor([0.1, 0.0, 2.0, 1.0]).expand(SIZE, 4), 1
    ),
    "second category": lambda x: torch.multinomial(
        torch.tensor([0.1, 0.5, 2.0, 1.0]).expand(SIZE, 4), 2
    )[:, 1],
    "gumbel": lambda x: F.gumbel_softmax(torch.stack([x, 1 - x])).sum(0),
    "distribution": lambda x: torch.distributions.Normal(x, 1.0, validate_args=False).sample(),
}


def moments(values: Any) -> Any:
    """Means of powers of numbers, and of products with their places."""
    v, place = values.double().flatten(), torch.linspace(-1, 1, values.numel()).double()
    scale = 1 + v.abs().max()
    return torch.stack([v.mean(), v.pow(2).mean() / scale, (v * place).mean()])


@pytest.fixture(scope="module")
def found() -> Any:
    """The results of all functions, by name."""
    return compiled(lambda x: {name: f(x) for name, f in FUNCTIONS.items()}, X)(X)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_distributions_are_those_of_pytorch(name: str, found: Any):
    """Moments differ by less than six deviations, which samples of PyTorch estimate."""
    torch.manual_seed(5)
    samples = [FUNCTIONS[name](X) for _ in range(20)]
    assert (found[name].dtype, found[name].shape) == (samples[0].dtype, samples[0].shape)
    known = torch.stack([moments(s) for s in samples])
    limit = 6 * known.std(0) * (1 + 1 / 20) ** 0.5 + 1e-5 * known.abs().mean(0)
    assert ((moments(found[name]) - known.mean(0)).abs() <= limit).all()


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16], ids=str)
def test_other_dtypes(dtype: Any):
    x = X.to(dtype)
    model = compiled(
        lambda x: (torch.rand_like(x), torch.randn_like(x), x.clone().exponential_()), x
    )
    uniform, normal, exponential = (t.double() for t in model(x))
    assert 0 <= uniform.min() and uniform.max() < 1 and abs(uniform.mean() - 0.5) < 0.02
    assert abs(normal.mean()) < 0.05 and abs(normal.std() - 1) < 0.05
    assert exponential.min() > 0 and abs(exponential.mean() - 1) < 0.05


def test_dropout_scales_what_it_keeps():
    found = compiled(lambda x: F.dropout(x, 0.25, True), X)(X)
    kept = found != 0
    torch.testing.assert_close(found[kept], X[kept] / 0.75)
    assert abs(kept.float().mean() - 0.75) < 0.02


def test_permutations_and_samples_without_replacement():
    weights = torch.tensor([[0.0, 1.0, 1.0, 5.0], [3.0, 0.0, 1.0, 2.0]])
    model = compiled(lambda w: (torch.randperm(100), torch.multinomial(w, 3)), weights)
    order, samples = model(weights)
    assert order.sort().values.tolist() == list(range(100)) and order.tolist() != list(range(100))
    assert [sorted(row) for row in samples.tolist()] == [[1, 2, 3], [0, 2, 3]]


def two(x: Any) -> Any:
    return torch.rand(4), torch.rand(4)


def test_every_operator_and_every_call_has_its_own_numbers():
    model = compiled(two, X)
    numbers = torch.stack([*model(X), *model(X)])
    assert len(numbers.unique()) == 16


def test_seeds():
    first, again, other = (compiled(two, X, seed=seed) for seed in (1, 1, 2**64 - 1))
    a, b = first(X)[0], first(X)[0]
    torch.testing.assert_close(again(X)[0], a, rtol=0, atol=0)
    assert not torch.equal(a, b) and not torch.equal(a, other(X)[0])
    first.manual_seed(-1)
    torch.testing.assert_close(first(X)[1], compiled(two, X, seed=-1)(X)[1], rtol=0, atol=0)
    with pytest.raises(TypeError, match="expected a seed to be an integer, got float"):
        first.manual_seed(0.5)


def test_models_without_tensors_and_with_sizes_that_vary():
    (found,) = (compiled(lambda: torch.randn(3))(),)
    assert isinstance(found, torch.Tensor) and found.shape == (3,)
    batch = torch.export.Dim("batch")
    noisy = compiled(
        lambda x: x + torch.randn_like(x), torch.zeros(2, 3), dynamic_shapes=(({0: batch},),)
    )
    assert len(noisy(torch.zeros(50, 3)).unique()) == 150


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("seed", [0, 7])
def test_pickles_start_again(seed: int):
    model = compiled(two, X, seed=seed)
    first, _ = model(X), model(X)
    torch.testing.assert_close(pickle.loads(pickle.dumps(model))(X), first, rtol=0, atol=0)


def test_the_key_is_the_last_parameter():
    program = torch.export.export(as_model(two), (X,))
    module = relax.frontend.torch.from_exported_program(program)
    machine = relax.VirtualMachine(relax.build(module, check=True), xrelax.cpu())
    expected = compiled(two, X, seed=3)(X)
    found = machine["main"](X, np.array([3, 0]))
    for f, e in zip(found, expected, strict=True):
        np.testing.assert_array_equal(f.numpy(), e)


def test_debugging_repeats_the_numbers():
    model = compiled(lambda x: torch.relu(x + torch.randn_like(x)), X)
    assert model.debug(X).first_bad is None
    with pytest.raises(ValueError, match="expected a model without random numbers to compare"):
        model.debug(X, reference="torch")


def test_random_numbers_in_branches_are_not_supported():
    def branches(x: Any) -> Any:
        return torch.cond(x.sum() > 0, lambda x: x + torch.rand(3), lambda x: x.clone(), (x,))

    with pytest.raises(ValueError, match=r"aten\.rand\.default.*inside of a branch"):
        compiled(branches, torch.ones(3))
