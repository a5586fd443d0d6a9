"""Each operator of PyTorch that has a converter, compiled and compared with PyTorch."""

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
SOME = [torch.float32, torch.bfloat16]


def numbers(*shape: int, dtype: Any = torch.float32, seed: int = 0) -> Any:
    made = torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
    return made.to(dtype)


def integers(*shape: int, low: int = -5, high: int = 6, dtype: Any = torch.int64) -> Any:
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(3)).to(dtype)


X, Y = numbers(3, 4), numbers(3, 4, seed=1)
N, M = integers(3, 4), integers(3, 4, low=1, high=7)
B = X > 0


def each(**functions: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """One model of many functions of the same arguments: its results by name."""

    def model(*args: Any) -> dict[str, Any]:
        return {name: function(*args) for name, function in functions.items()}

    return model


ARITHMETIC = each(
    add=lambda x, y: x + y,
    alpha=lambda x, y: torch.add(x, y, alpha=2),
    number=lambda x, y: 3 - x * 0.1 + y / 3,
    sub=lambda x, y: torch.sub(x, y, alpha=3),
    rsub=lambda x, y: torch.rsub(x, y),
    div=lambda x, y: x / y,
    floor=lambda x, y: torch.div(x, y, rounding_mode="floor"),
    trunc=lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    remainder=lambda x, y: torch.remainder(x, y),
    fmod=lambda x, y: torch.fmod(x, y),
    maximum=lambda x, y: torch.maximum(x, y),
    minimum=lambda x, y: torch.minimum(x, y),
    squares=lambda x, y: x**2 + y**3,
    addcmul=lambda x, y: torch.addcmul(x, x, y, value=2),
)
COMPARISONS = each(
    eq=lambda x, y: x == y,
    ne=lambda x, y: x != 2,
    lt=lambda x, y: x < y,
    le=lambda x, y: x <= 0,
    gt=lambda x, y: x > 0.5,
    ge=lambda x, y: x >= y,
    logical=lambda x, y: torch.logical_and(x, y) | torch.logical_or(x, y),
    xor=lambda x, y: torch.logical_xor(x > 0, y),
    negated=lambda x, y: torch.logical_not(x),
    where=lambda x, y: torch.where(x > y, x, y),
    number=lambda x, y: torch.where(x > y, x, 0),
    filled=lambda x, y: x.masked_fill(y > 0, -1),
    clamp=lambda x, y: x.clamp(-1, 1),
    clamp_min=lambda x, y: x.clamp(min=0) + y.clamp(max=0),
    bounds=lambda x, y: torch.clamp(x, max=y),
    relu=lambda x, y: torch.relu(x),
    abs=lambda x, y: abs(x) - torch.sign(y) - (-x),
)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_arithmetic(check, dtype: Any):
    check(ARITHMETIC, X.to(dtype), Y.to(dtype))


def test_arithmetic_of_integers(check):
    check(ARITHMETIC, N, M)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64], ids=str)
def test_comparisons(check, dtype: Any):
    check(COMPARISONS, (X * 2).to(dtype), (Y * 2).to(dtype))


def test_bits_and_bools(check):
    model = each(
        bits=lambda i, j, b: (i & j) | (i ^ 3),
        negated=lambda i, j, b: ~i,
        shifts=lambda i, j, b: (i << 2) + (i >> 1),
        bools=lambda i, j, b: (b & (i > 0)) | ~b,
        added=lambda i, j, b: b + (i > 0),
        counted=lambda i, j, b: b + i,
        compared=lambda i, j, b: b == (j > 2),
    )
    check(model, N, M, B)


def test_dtypes_are_promoted_as_in_pytorch(check):
    model = each(
        mixed=lambda x, i, b, h, s: x + i,
        bool=lambda x, i, b, h, s: x * b,
        half=lambda x, i, b, h, s: h + i,
        wide=lambda x, i, b, h, s: h * x,
        weak=lambda x, i, b, h, s: i * 0.5,
        scalar=lambda x, i, b, h, s: h + s,
        integer=lambda x, i, b, h, s: i / 2,
        rounded=lambda x, i, b, h, s: h * 0.1,
        truth=lambda x, i, b, h, s: b + 1,
        compared=lambda x, i, b, h, s: i < 0.5,
        root=lambda x, i, b, h, s: torch.sqrt(i * i),
        power=lambda x, i, b, h, s: i**2,
    )
    check(model, X, N, B, X.half(), torch.tensor(1.5, dtype=torch.float64))


@pytest.mark.parametrize("dtype", SOME, ids=str)
def test_functions(check, dtype: Any):
    names = "cos exp erf sigmoid sin tan tanh atan sinh cosh asinh square reciprocal".split()
    functions = {n: getattr(torch, n) for n in names}
    positive = {n: (lambda x, n=n: getattr(torch, n)(x.abs() + 0.5))
                for n in ("log", "log2", "log10", "rsqrt", "sqrt")}  # fmt: skip
    inside = {n: (lambda x, n=n: getattr(torch, n)(torch.tanh(x) * 0.9))
              for n in ("acos", "asin", "atanh")}  # fmt: skip
    rounding = {n: (lambda x, n=n: getattr(torch, n)(x * 3))
                for n in ("ceil", "floor", "round", "trunc")}  # fmt: skip
    check(each(**functions, **positive, **inside, **rounding), X.to(dtype))


def test_functions_near_zero(check):
    x = torch.tensor([0.0, 1e-8, -1e-6, 1e-3, 0.3, -0.7, 5.0, 40.0])
    check(each(expm1=torch.expm1, log1p=torch.log1p, softplus=F.softplus, elu=F.elu), x)


def test_special_numbers(check):
    x = torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0, 1.0])
    check(
        each(
            isnan=torch.isnan, isinf=torch.isinf, isfinite=torch.isfinite, relu=torch.relu,
            clamp=lambda x: x.clamp(-1, 1), log1p=torch.log1p, tanh=torch.tanh,
            maximum=lambda x: torch.maximum(x, -x),
        ),
        x,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS[1:3], ids=str)
def test_activations(check, dtype: Any):
    weight = torch.tensor([0.1, 0.2, 0.3, 0.4]).to(dtype)
    check(
        each(
            gelu=F.gelu,
            gelu_tanh=lambda x: F.gelu(x, approximate="tanh"),
            silu=F.silu,
            leaky=lambda x: F.leaky_relu(x, 0.2),
            hardtanh=F.hardtanh,
            relu6=F.relu6,
            hardswish=F.hardswish,
            hardsigmoid=F.hardsigmoid,
            elu=lambda x: F.elu(x, 1.5),
            softplus=F.softplus,
            mish=F.mish,
            prelu=lambda x: F.prelu(x, weight),
            softmax=lambda x: F.softmax(x, -1),
            log_softmax=lambda x: F.log_softmax(x, 0),
            dropout=lambda x: F.dropout(x, 0.5, training=False),
        ),
        (X * 2).to(dtype),
    )


def test_conversions(check):
    check(
        each(
            float=lambda x, i, b: i.float() + b.float(),
            half=lambda x, i, b: x.half(),
            integer=lambda x, i, b: x.to(torch.int32),
            bool=lambda x, i, b: i.bool(),
            like=lambda x, i, b: i.type_as(x),
            double=lambda x, i, b: x.to(torch.float64),
            back=lambda x, i, b: x.bfloat16().float(),
        ),
        X * 3, N, B,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", SOME, ids=str)
def test_reductions(check, dtype: Any):
    check(
        each(
            sum=lambda x: x.sum(),
            rows=lambda x: x.sum(1, keepdim=True),
            mean=lambda x: x.mean((0, 2)),
            amax=lambda x: x.amax(-1) + x.amin(-1),
            max=lambda x: x.max() - x.min(),
            pair=lambda x: tuple(x.max(1)),
            least=lambda x: tuple(x.min(-1, keepdim=True)),
            argmax=lambda x: x.argmax(1),
            flat=lambda x: x.argmin(),
            var=lambda x: x.var(1),
            std=lambda x: x.std((0, 1), correction=0),
            var_mean=lambda x: tuple(torch.var_mean(x, 2)),
            prod=lambda x: x[:, 0].prod(0),
            logsumexp=lambda x: torch.logsumexp(x, 1),
            cumsum=lambda x: x.cumsum(-1),
            norm=lambda x: torch.linalg.vector_norm(x, dim=1),
        ),
        numbers(2, 3, 4, dtype=dtype),
    )


def test_reductions_of_integers_and_bools(check):
    check(
        each(
            sum=lambda i, b: i.sum(0),
            count=lambda i, b: b.sum(),
            any=lambda i, b: b.any(1),
            all=lambda i, b: i.all(0, keepdim=True),
            everything=lambda i, b: b.all(),
            max=lambda i, b: i.amax(1),
            cumsum=lambda i, b: b.cumsum(1),
            mean=lambda i, b: i.float().mean(),
        ),
        N, B,
    )  # fmt: skip


def test_order(check):
    x = numbers(3, 7)
    check(
        each(
            topk=lambda x: tuple(x.topk(3)),
            least=lambda x: tuple(x.topk(2, dim=0, largest=False)),
            sort=lambda x: tuple(x.sort(-1)),
            down=lambda x: x.sort(0, descending=True)[0],
            argsort=lambda x: x.argsort(1),
        ),
        x,
    )


SHAPES = each(
    view=lambda x: x.view(-1, 4),
    flatten=lambda x: x.flatten(1),
    permute=lambda x: x.permute(2, 0, 1),
    transpose=lambda x: x.transpose(-1, 1).transpose(0, 1),
    unsqueeze=lambda x: x.unsqueeze(1).squeeze(1).unsqueeze(-1),
    expand=lambda x: x[:, :1].expand(-1, 5, -1),
    cat=lambda x: torch.cat([x, x * 2, x[:, :1]], 1),
    stack=lambda x: torch.stack([x, -x], -1),
    split=lambda x: [p + 1 for p in x.split(2, 2)],
    sizes=lambda x: x.split([1, 2], 1)[1],
    chunk=lambda x: x.chunk(2, -1)[1],
    unbind=lambda x: x.unbind(1)[2],
    slice=lambda x: x[:, 1:, ::2],
    negative=lambda x: x[:, -2:, -1],
    select=lambda x: x.select(1, -1),
    narrow=lambda x: x.narrow(2, 1, 2),
    repeat=lambda x: x.repeat(2, 1, 3),
    more=lambda x: x.repeat(2, 1, 1, 1),
    interleave=lambda x: x.repeat_interleave(2, 1),
    flip=lambda x: x.flip(1, 2),
    roll=lambda x: x.roll(1, 1),
    pad=lambda x: F.pad(x, (1, 2, 0, 1), value=3.0),
    crop=lambda x: F.pad(x, (-1, 1)),
    reflect=lambda x: F.pad(x, (2, 1), mode="reflect"),
    replicate=lambda x: F.pad(x, (2, 1), mode="replicate"),
    mirrored=lambda x: F.pad(x, (-2, 3), mode="reflect"),
    diff=lambda x: x.diff(dim=1),
    unflatten=lambda x: x.unflatten(2, (2, 2)),
)


def test_shapes(check):
    check(SHAPES, numbers(2, 3, 4))


def test_shapes_with_a_dynamic_batch(check):
    check(SHAPES, numbers(2, 3, 4), dynamic=[{0: "batch"}], others=[[numbers(5, 3, 4)]])


def test_assignments_in_place(check):
    def model(x: Any, y: Any) -> Any:
        x = x.clone()
        x[:, 1] = y[:, 0]
        x[:, 2:] *= 2
        x[0].add_(1)
        return x

    check(model, X, Y)


def test_shape_of_pixels(check):
    check(lambda x: F.pixel_shuffle(x, 2), numbers(1, 8, 3, 2))


def test_indices(check):
    table, places = numbers(7, 3), integers(2, 4, low=0, high=7)
    check(
        each(
            embedding=lambda t, p: F.embedding(p, t),
            select=lambda t, p: t.index_select(0, p[0]),
            take=lambda t, p: t[p],
            second=lambda t, p: t[:, p[0] % 3],
            pair=lambda t, p: t[p, p % 3],
            negative=lambda t, p: t[-p],
            gather=lambda t, p: t.gather(1, p % 3),
            mask=lambda t, p: torch.where(p > 3, p, 0),
            apart=lambda t, p: t.unsqueeze(0)[:, p[0], p[0] % 3],
        ),
        table, places,
    )  # fmt: skip


def test_scattered_elements(check):
    def put(x: Any, p: Any, v: Any) -> Any:
        x = x.clone()
        x[p[:, 0]] = v
        x[x > 1] = 0.0
        return x

    check(
        each(
            put=put,
            scatter=lambda x, p, v: x.scatter(1, p, v),
            add=lambda x, p, v: x.scatter_add(1, p, v),
            number=lambda x, p, v: x.scatter(1, p, 2.5),
        ),
        X, integers(3, 4, low=0, high=3).unique(dim=1)[:, :1], Y[:, :1],
    )  # fmt: skip


def test_products(check):
    a, b, c = numbers(3, 4), numbers(4, 5, seed=1), numbers(2, 3, 4, seed=2)
    check(
        each(
            mm=lambda a, b, c: a @ b,
            batch=lambda a, b, c: torch.bmm(c, c.transpose(1, 2)),
            wide=lambda a, b, c: c @ b,
            turned=lambda a, b, c: a @ c[0].t(),
            addmm=lambda a, b, c: torch.addmm(b[0], a, b, beta=2, alpha=0.5),
            vector=lambda a, b, c: a @ b[:, 0],
            dot=lambda a, b, c: a[0] @ b[:, 1],
            linear=lambda a, b, c: F.linear(c, a, a[:, 0]),
            bare=lambda a, b, c: F.linear(a, c[0]),
            einsum=lambda a, b, c: torch.einsum("bij,jk->bik", c, b),
            outer=lambda a, b, c: torch.outer(a[0], b[0]),
        ),
        a, b, c,
    )  # fmt: skip


def test_convolutions(check):
    x, w, b = numbers(2, 4, 9, 8), numbers(6, 4, 3, 3, seed=1), numbers(6, seed=2)
    grouped, line = numbers(8, 2, 3, 2, seed=3), numbers(5, 4, 3, seed=4)
    check(
        each(
            plain=lambda x: F.conv2d(x, w, b),
            strided=lambda x: F.conv2d(x, w, None, stride=(2, 1), padding=(1, 2)),
            dilated=lambda x: F.conv2d(x, w, b, dilation=2),
            grouped=lambda x: F.conv2d(x, grouped, groups=2),
            same=lambda x: F.conv2d(x, w, b, padding="same"),
            line=lambda x: F.conv1d(x[:, :, 0], line, padding=1),
            turned=lambda x: F.conv_transpose2d(
                x, w.transpose(0, 1), b, stride=2, output_padding=1
            ),
            single=lambda x: F.conv2d(x[0], w, b),
        ),
        x,
    )


def test_pools(check):
    check(
        each(
            max=lambda x: F.max_pool2d(x, 2),
            wide=lambda x: F.max_pool2d(x, 3, stride=2, padding=1, ceil_mode=True),
            mean=lambda x: F.avg_pool2d(x, 2, stride=1),
            padded=lambda x: F.avg_pool2d(x, 3, padding=1, count_include_pad=False),
            adaptive=lambda x: F.adaptive_avg_pool2d(x, (3, 1)),
            line=lambda x: F.max_pool1d(x[:, :, 0], 2) + F.avg_pool1d(x[:, :, 1], 2),
            single=lambda x: F.max_pool2d(x[0], 2),
        ),
        numbers(2, 3, 7, 8),
    )


@pytest.mark.parametrize("dtype", SOME, ids=str)
def test_norms(check, dtype: Any):
    w, b = numbers(6, seed=1, dtype=dtype), numbers(6, seed=2, dtype=dtype)
    mean, var = numbers(6, seed=3, dtype=dtype), numbers(6, seed=4, dtype=dtype).abs() + 0.5
    check(
        each(
            layer=lambda x: F.layer_norm(x.transpose(1, 2), (6,), w, b),
            bare=lambda x: F.layer_norm(x, (6, 5)),
            batch=lambda x: F.batch_norm(x, mean, var, w, b),
            plain=lambda x: F.batch_norm(x, mean, var),
            group=lambda x: F.group_norm(x, 3, w, b),
            instance=lambda x: F.instance_norm(x),
            rms=lambda x: F.rms_norm(x.transpose(1, 2), (6,), w),
        ),
        numbers(2, 6, 5, dtype=dtype),
    )


@pytest.mark.parametrize("dtype", SOME, ids=str)
def test_attention(check, dtype: Any):
    q, k, v = (numbers(2, 4, n, 8, seed=n, dtype=dtype) for n in (5, 7, 6))
    k, v = k[:, :, :6], v
    mask = numbers(2, 1, 5, 6) > -1
    attention = F.scaled_dot_product_attention
    check(
        each(
            plain=attention,
            scaled=lambda q, k, v: attention(q, k, v, scale=0.5),
            causal=lambda q, k, v: attention(q, k, v, is_causal=True),
            bias=lambda q, k, v: attention(q, k, v, attn_mask=(mask * 1.0).to(q.dtype)),
            masked=lambda q, k, v: attention(q, k, v, attn_mask=mask),
            rank3=lambda q, k, v: attention(q[0], k[0], v[0]),
            shared=lambda q, k, v: attention(q, k[:, :2], v[:, :2], enable_gqa=True),
        ),
        q, k, v,
    )  # fmt: skip


def test_new_tensors(check):
    check(
        each(
            arange=lambda x: torch.arange(3) + torch.arange(1, 9, 3),
            floats=lambda x: torch.arange(0, 1, 0.25) + torch.arange(4.0),
            full=lambda x: torch.full((2, 3), 7) + torch.full((2, 3), 1.5),
            like=lambda x: torch.full_like(x, 2) + torch.zeros_like(x) + torch.ones_like(x),
            new=lambda x: x.new_ones(2) + x.new_zeros(2) + x.new_full((2,), 3),
            zeros=lambda x: torch.zeros(2, 2, dtype=torch.int32),
            eye=lambda x: torch.eye(3) + torch.eye(3, 3),
            triangles=lambda x: x.tril() + x.triu(1),
            mask=lambda x: torch.ones(4, 4, dtype=torch.bool).tril(-1),
            linspace=lambda x: torch.linspace(-1, 1, 5),
            scalar=lambda x: torch.tensor(2.5) + x,
        ),
        X,
    )


def test_sizes_as_numbers(check):
    def model(x: Any) -> Any:
        n = x.shape[0]
        mask = torch.arange(n).unsqueeze(1) >= torch.arange(n)
        scaled = torch.where(mask, 0.0, float("-inf")).softmax(-1) @ x
        return scaled / n + n, x.reshape(n * 2, 2), x.new_zeros(n), x.mean(0)

    check(model, X, dynamic=[{0: "n"}], others=[[numbers(7, 4)], [numbers(2, 4)]])
