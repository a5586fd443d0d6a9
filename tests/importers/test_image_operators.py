"""PyTorch's operators on images and volumes: convolutions, pools, interpolation, samples."""

import pytest
from drawn_tensors import each, numbers

torch = pytest.importorskip("torch")
F = torch.nn.functional


def test_convolutions_of_volumes(check):
    x, w, b = numbers(2, 4, 5, 6, 7), numbers(6, 4, 3, 2, 3, seed=1), numbers(6, seed=2)
    grouped = numbers(8, 2, 2, 2, 2, seed=3)
    check(
        each(
            plain=lambda x: F.conv3d(x, w, b, stride=(1, 2, 1), padding=(1, 0, 2)),
            grouped=lambda x: F.conv3d(x, grouped, groups=2, dilation=2),
            turned=lambda x: F.conv_transpose3d(
                x, w.transpose(0, 1), b, stride=2, padding=1, output_padding=1
            ),
            single=lambda x: F.conv3d(x[0], w, b),
        ),
        x,
    )


def test_pools_of_volumes(check):
    check(
        each(
            max=lambda x: F.max_pool3d(x, 3, stride=2, padding=1, ceil_mode=True),
            mean=lambda x: F.avg_pool3d(x, (2, 3, 2), stride=1, count_include_pad=False),
            sums=lambda x: F.avg_pool3d(x, 2, divisor_override=3),
            adaptive=lambda x: F.adaptive_avg_pool3d(x, (3, 1, 2)),
            largest=lambda x: F.adaptive_max_pool3d(x, 2),
            single=lambda x: F.max_pool3d(x[0], 2),
        ),
        numbers(2, 3, 6, 7, 8),
    )


def test_sums_of_windows(check):
    check(
        each(sums=lambda x: F.avg_pool2d(x, 3, stride=2, padding=1, divisor_override=2)),
        numbers(2, 3, 7, 8),
    )


def test_indices_of_pools(check):
    check(
        each(
            line=lambda x: F.max_pool1d(x[:, :, 0, 0], 2, return_indices=True),
            image=lambda x: F.max_pool2d(x[:, :, 0], 3, 2, 1, return_indices=True),
            single=lambda x: F.max_pool2d(x[0, :, 0], 3, 2, 1, return_indices=True)[1],
            volume=lambda x: F.max_pool3d(x, 2, return_indices=True),
        ),
        numbers(2, 3, 6, 7, 8),
    )


def test_interpolation_of_lines(check):
    check(
        each(
            nearest=lambda x: F.interpolate(x, size=11),
            exact=lambda x: F.interpolate(x, scale_factor=1.5, mode="nearest-exact"),
            linear=lambda x: F.interpolate(x, scale_factor=2.5, mode="linear"),
            corners=lambda x: F.interpolate(x, size=5, mode="linear", align_corners=True),
        ),
        numbers(2, 3, 7),
    )


def test_interpolation_of_images(check):
    check(
        each(
            nearest=lambda x: F.interpolate(x, scale_factor=(2, 1.5)),
            exact=lambda x: F.interpolate(x, size=(4, 9), mode="nearest-exact"),
            scaled=lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear"),
            sized=lambda x: F.interpolate(
                x, scale_factor=1.7, mode="bilinear", recompute_scale_factor=True
            ),
            cubic=lambda x: F.interpolate(x, scale_factor=2, mode="bicubic"),
            corners=lambda x: F.interpolate(x, size=(3, 9), mode="bicubic", align_corners=True),
        ),
        numbers(2, 3, 7, 6),
    )


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_antialiasing(check, mode):
    check(
        each(smaller=lambda x: F.interpolate(x, size=(4, 3), mode=mode, antialias=True)),
        numbers(2, 3, 9, 11),
    )


def test_images_of_any_size(check):
    sizes = ({0: "batch", 2: "height", 3: "width"},)
    check(
        each(
            doubled=lambda x: F.interpolate(F.max_pool2d(x, 3, 1, 1), scale_factor=2),
            linear=lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
            fixed=lambda x: F.interpolate(x, size=(5, 7), mode="bicubic"),
        ),
        numbers(2, 3, 8, 6),
        dynamic=sizes,
        others=[(numbers(1, 3, 5, 9, seed=1),)],
    )


def test_interpolation_of_volumes(check):
    check(
        each(
            nearest=lambda x: F.interpolate(x, scale_factor=2),
            linear=lambda x: F.interpolate(x, size=(5, 3, 7), mode="trilinear"),
        ),
        numbers(2, 3, 3, 4, 5),
    )


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_grid_samples(check, padding):
    image, volume = numbers(2, 3, 5, 6), numbers(2, 3, 3, 4, 5, seed=1)
    plane, space = numbers(2, 4, 3, 2, seed=2), numbers(2, 2, 3, 4, 3, seed=3)

    def sample(x, points, mode, corners=False):
        return F.grid_sample(x, points, mode, padding, corners)

    check(
        each(
            linear=lambda x, v, g, h: sample(x, g, "bilinear"),
            nearest=lambda x, v, g, h: sample(x, g, "nearest", True),
            cubic=lambda x, v, g, h: sample(x, g, "bicubic"),
            volume=lambda x, v, g, h: sample(v, h, "bilinear", True),
        ),
        image, volume, plane, space,
    )  # fmt: skip


def test_a_grid_of_maps(check):
    check(
        each(
            turned=lambda x, m: F.grid_sample(
                x, F.affine_grid(m, (2, 3, 4, 4), align_corners=False), align_corners=False
            )
        ),
        numbers(2, 3, 5, 6), numbers(2, 2, 3, seed=1),
    )  # fmt: skip


def test_indices_of_adaptive_max_pools(check):
    def pool(spatial, *sizes):
        function = getattr(F, f"adaptive_max_pool{spatial}d")
        return lambda x: function(x, sizes, return_indices=True)

    x = numbers(2, 3, 7, 5)
    x[0, 0, 2:4, 1:3] = 9.0
    check(each(two=pool(2, 3, 2), more=pool(2, 9, 5), one=lambda x: pool(1, 3)(x[0])), x)
    check(pool(3, 2, 3, None), numbers(1, 2, 4, 5, 3))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_antialiased_sizes_of_aligned_corners(check, mode):
    def resized(*size):
        return lambda x: F.interpolate(x, size, mode=mode, antialias=True, align_corners=True)

    check(
        each(smaller=resized(3, 5), larger=resized(9, 21), mixed=resized(4, 20)),
        numbers(2, 1, 8, 14),
    )
