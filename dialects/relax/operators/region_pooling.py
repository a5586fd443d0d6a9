"""Pools over regions of images: roi_align, roi_pool.

A region is a row of ``(image, x0, y0, x1, y1)``. Its bins have elements whose number depends on the
region, so that each bin is a loop.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ..types import TensorType, shape_text
from .attributes import Bool, Int, Ints, Number, Text
from .base import OperatorOp
from .conversion import accumulator, rounded, wide
from .inference import require_floats, require_rank
from .language import TensorLanguage
from .region_bins import AlignedBins, Bins, PooledBins
from .windows import spatial_ints


class RegionPoolOp(OperatorOp, ABC):
    """A pool of ``(N, C, H, W)`` data over regions ``(R, 5)``: ``(R, C, *pooled_size)``.

    The image of a region that is out of bounds is the nearest one.
    """

    data = operand_def(TensorType)
    rois = operand_def(TensorType)
    assembly_format = "$data `,` $rois attr-dict `:` type($data) `,` type($rois) `->` type($result)"

    @classmethod
    def bins(cls, attributes: dict[str, Any]) -> Bins:
        """How the bins of a region are pooled."""
        raise NotImplementedError

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        data, rois = operands
        require_floats(cls.name, operands)
        require_rank(cls.name, "data", data, 4)
        require_rank(cls.name, "rois", rois, 2)
        size = spatial_ints(cls.name, "pooled_size", attributes["pooled_size"], 2, 1)
        if data.dims is None or rois.dims is None:
            return TensorType.of(None, data.known_element, 4)
        if rois.dims[1].constant != 5:
            raise ValueError(
                f"expected rois of '{cls.name}' to be rows of 5 numbers, got {shape_text(rois)}"
            )
        if any(data.dims[axis].constant == 0 for axis in (0, 2, 3)):
            raise ValueError(
                f"expected data of '{cls.name}' to have elements, got {shape_text(data)}"
            )
        return TensorType.of([rois.dims[0], data.dims[1], *size], data.known_element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        data, rois = tensors
        size = spatial_ints(cls.name, "pooled_size", attributes["pooled_size"], 2, 1)
        dtype, bins = accumulator(data.dtype), cls.bins(attributes)
        shape = (rois.shape[0], data.shape[1], *size)

        def pooled(ib: Any, inputs: Any, outputs: Sequence[Any], *at: Any) -> None:
            bins.pool(te, ib, (data, rois), outputs[0], at, size)

        axes = (rois.shape[0], *size)
        found = te.statements([shape], [data, rois], pooled, [dtype], axes, "T_regions")[0]
        return rounded(te, found, data.dtype)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        data, rois = (wide(a) for a in arrays)
        size = spatial_ints(cls.name, "pooled_size", attributes["pooled_size"], 2, 1)
        result = np.zeros((rois.shape[0], data.shape[1], *size), data.dtype)
        bins = cls.bins(attributes)
        for region, *at in np.ndindex(rois.shape[0], *size):
            image = data[int(np.clip(rois[region, 0], 0, data.shape[0] - 1))]
            result[(region, slice(None), *at)] = bins.numpy(image, rois[region, 1:], at, size)
        return result


@irdl_op_definition
class RoiAlignOp(RegionPoolOp):
    """Pool samples of a region; `torchvision.ops.roi_align`, ONNX ``RoiAlign``.

    A bin has `sample_ratio` samples along both dims, by default one for each element that it spans.
    `aligned` regions are moved by half an element, others have a size of at least 1. The result is
    the mean of the samples, or of mode "max", the largest product of an element and its weight.
    """

    name = "relax.vision.roi_align"
    pooled_size = opt_prop_def(Ints())
    spatial_scale = opt_prop_def(Number(default=1.0))
    sample_ratio = opt_prop_def(Int(default=0))
    aligned = opt_prop_def(Bool(default=False))
    layout = opt_prop_def(Text(default="NCHW", choices=("NCHW",)))
    mode = opt_prop_def(Text(default="avg", choices=("avg", "max")))

    @classmethod
    def bins(cls, attributes: dict[str, Any]) -> Bins:
        return AlignedBins(
            attributes["spatial_scale"],
            max(attributes["sample_ratio"], 0),
            attributes["aligned"],
            attributes["mode"] == "max",
        )


@irdl_op_definition
class RoiPoolOp(RegionPoolOp):
    """The largest elements of the bins of a region; `torchvision.ops.roi_pool`.

    The bounds of a region are rounded, and both belong to it. A bin without elements gives 0. ONNX
    ``MaxRoiPool``.
    """

    name = "relax.vision.roi_pool"
    pooled_size = opt_prop_def(Ints())
    spatial_scale = opt_prop_def(Number(default=1.0))
    layout = opt_prop_def(Text(default="NCHW", choices=("NCHW",)))

    @classmethod
    def bins(cls, attributes: dict[str, Any]) -> Bins:
        return PooledBins(attributes["spatial_scale"])
