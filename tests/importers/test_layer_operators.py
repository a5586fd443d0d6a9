"""Products, convolutions and other layers of PyTorch give what PyTorch gives."""

from typing import Any

import pytest
from drawn_tensors import SOME, each, numbers

torch = pytest.importorskip("torch")
F = torch.nn.functional


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
