"""Models that nobody here wrote, through `torch.export` and `torch.compile`, equal to PyTorch."""

from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch", reason="the extra 'models' is not installed")

pytestmark = [pytest.mark.models, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module", autouse=True)
def transformers() -> None:
    pytest.importorskip("transformers", reason="the extra 'models' is not installed")


@pytest.mark.sampled
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", ["bert", "gpt2", "vit", "resnet", "llama", "t5-encoder"])
def test_model(name: str, dynamic: bool):
    from zoo import ZOO, error

    assert error(ZOO[name], dynamic=dynamic) <= ZOO[name].tolerance(torch.float32)


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_dtypes(dtype: str):
    from zoo import ZOO, error

    entry, given = ZOO["bert"], getattr(torch, dtype)
    assert error(entry, given) <= entry.tolerance(given)


@pytest.fixture
def backend() -> Iterator[str]:
    from xrelax import relax

    relax.frontend.torch.register_backend()
    torch._dynamo.reset()
    yield "xrelax"
    torch._dynamo.reset()


def test_torch_compile(backend: str):
    from zoo import ZOO, difference

    entry = ZOO["bert"]
    model = entry.model()
    compiled = torch.compile(model, backend=backend, dynamic=True)
    with torch.no_grad():
        for batch, length in ((2, 16), (3, 9)):
            given = entry.example(batch, length)
            assert difference(compiled(given), model(given)) <= entry.tolerance(torch.float32)
