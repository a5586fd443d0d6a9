"""torchvision's operators on regions and boxes; the tests declare them where it is missing."""

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from xrelax import relax

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:.*create_unbacked_symint:FutureWarning")

IS_INSTALLED = find_spec("torchvision") is not None
LIBRARY = torch.library.Library("torchvision", "FRAGMENT")
REGIONS = "(Tensor x, Tensor rois, float scale, SymInt height, SymInt width"


def chosen(boxes: Any, scores: Any, threshold: float) -> Any:
    """The boxes that overlap no better one by more than a threshold, the best first."""
    found: list[int] = []
    areas = (boxes[:, 2:] - boxes[:, :2]).prod(1)
    for box in scores.argsort(descending=True, stable=True).tolist():
        low = torch.maximum(boxes[found, :2], boxes[box, :2])
        high = torch.minimum(boxes[found, 2:], boxes[box, 2:])
        common = (high - low).clamp(min=0).prod(1)
        if not (common / (areas[found] + areas[box] - common) > threshold).any():
            found.append(box)
    return torch.tensor(found)


def declare() -> None:
    def pooled(x: Any, rois: Any, scale: float, height: Any, width: Any, *_: Any) -> Any:
        return x.new_empty(rois.shape[0], x.shape[1], height, width)

    def some(boxes: Any, *_: Any) -> Any:
        count = torch.library.get_ctx().new_dynamic_size()
        return boxes.new_empty(count, dtype=torch.int64)

    LIBRARY.define("nms(Tensor boxes, Tensor scores, float threshold) -> Tensor")
    LIBRARY.define(f"roi_align{REGIONS}, int sampling_ratio, bool aligned) -> Tensor")
    LIBRARY.define(f"roi_pool{REGIONS}) -> (Tensor, Tensor)")
    LIBRARY.impl("nms", chosen, "CPU")
    for name, fake in {
        "nms": some,
        "roi_align": pooled,
        "roi_pool": lambda *given: (pooled(*given), pooled(*given)),
    }.items():
        torch.library.register_fake(f"torchvision::{name}", fake, lib=LIBRARY)


if IS_INSTALLED:
    import torchvision  # noqa: F401
else:
    declare()


class Boxes(torch.nn.Module):
    """Choices among boxes."""

    def forward(self, boxes: Any, scores: Any) -> Any:
        kept = torch.ops.torchvision.nms(boxes, scores, 0.25)
        return kept, boxes[kept]


class Regions(torch.nn.Module):
    """Pools over regions."""

    def forward(self, x: Any, rois: Any) -> Any:
        ops = torch.ops.torchvision
        samples = ops.roi_align(x, rois, 0.5, 2, 3, 2, True)
        return (
            samples,
            ops.roi_align(x, rois, 1.0, 2, 2, -1, False),
            ops.roi_pool(x, rois, 0.5, 2, 2)[0],
        )


def boxes_of(count: int) -> Any:
    corners = torch.rand(count, 2) * 8
    return torch.cat([corners, corners + 1 + torch.rand(count, 2) * 4], 1)


def test_choices_among_boxes():
    torch.manual_seed(2)
    boxes, scores = boxes_of(20), torch.rand(20)
    scores[3], scores[4] = -torch.inf, scores[5]
    count = torch.export.Dim("count", min=2)
    given, shapes = (boxes, scores), ({0: count}, {0: count})
    program = torch.export.export(Boxes(), given, dynamic_shapes=shapes)
    compiled = relax.build(relax.frontend.torch.from_exported_program(program))["main"]
    for given in [(boxes, scores), (boxes[:9], scores[:9])]:
        wanted = chosen(*given, 0.25)
        kept, rows = (f.numpy() for f in compiled(*given))
        assert 2 < len(wanted) < len(given[1])
        np.testing.assert_array_equal(kept, wanted)
        np.testing.assert_array_equal(rows, given[0][wanted])


def test_pools_over_regions():
    torch.manual_seed(2)
    given = torch.randn(2, 2, 12, 14), torch.cat([torch.arange(6.0)[:, None] % 2, boxes_of(6)], 1)
    program = torch.export.export(Regions(), given)
    mod = relax.frontend.torch.from_exported_program(program)
    samples = "pooled_size=[2, 3], spatial_scale=0.5, sample_ratio=2, aligned=True"
    bins = "R.vision.roi_pool(x, rois, pooled_size=[2, 2], spatial_scale=0.5"
    assert samples in mod.script() and bins in mod.script()
    found = relax.build(mod)["main"](*given)
    for one, other in zip(found, Regions()(*given) if IS_INSTALLED else (), strict=IS_INSTALLED):
        np.testing.assert_allclose(one.numpy(), other, rtol=1e-5, atol=1e-5)
