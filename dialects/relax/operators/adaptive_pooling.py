"""Adaptive pools, whose windows share the spatial dims as evenly as possible."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, opt_prop_def

from .attributes import Ints
from .layouts import AnyLayouts
from .pool_attributes import OneDim, ThreeDims, TwoDims
from .pool_windows import EvenWindows
from .pooling import LargestOfWindows, MeanOfWindows, PoolOp, numpy_mean, wide_sums
from .windows import spatial_ints


class AdaptivePoolOp(PoolOp, ABC):
    """A pool with `output_size` windows per spatial dim, by default one for each element."""

    PREFIX: ClassVar[str] = "adaptive_pool"
    output_size = opt_prop_def(Ints(default=None))

    @classmethod
    def windows(cls, attributes: dict[str, Any]) -> tuple[EvenWindows, ...]:
        given, rank = attributes["output_size"], len(cls.SPATIAL)
        if given is None:
            return (EvenWindows(cls.name, None),) * rank
        sizes = spatial_ints(cls.name, "output_size", given, rank, 1)
        return tuple(EvenWindows(cls.name, s) for s in sizes)

    @classmethod
    @abstractmethod
    def numpy_function(cls, window: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
        """The NumPy reduction of one window over `axes`."""

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        data, counts = cls.numpy_windows(wide_sums(arrays[0]), attributes)
        result = np.zeros((*data.shape[:2], *counts), data.dtype)
        for at in np.ndindex(*counts):
            bounds = [
                slice(i * d // n, -(-(i + 1) * d // n))
                for i, d, n in zip(at, data.shape[2:], counts, strict=True)
            ]
            window = data[(slice(None), slice(None), *bounds)]
            result[(..., *at)] = cls.numpy_function(window, tuple(range(2, data.ndim)))
        return cls.in_out_layout(result, attributes)


class AdaptiveAvgPoolOp(MeanOfWindows, AdaptivePoolOp, ABC):
    """The mean of each window."""

    @classmethod
    def numpy_function(cls, window: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
        count = np.prod([window.shape[a] for a in axes])
        return numpy_mean(window.sum(axis=axes), count)


class AdaptiveMaxPoolOp(LargestOfWindows, AdaptivePoolOp, ABC):
    """The largest element of each window."""

    @classmethod
    def numpy_function(cls, window: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
        return window.max(axis=axes)


@irdl_op_definition
class AdaptiveAvgPool1dOp(AnyLayouts, AdaptiveAvgPoolOp, OneDim):
    """Averages over adaptive windows of one dim; `torch.nn.functional.adaptive_avg_pool1d`."""

    name = "relax.nn.adaptive_avg_pool1d"


@irdl_op_definition
class AdaptiveAvgPool2dOp(AnyLayouts, AdaptiveAvgPoolOp, TwoDims):
    """Averages over adaptive windows of two dims; `torch.nn.functional.adaptive_avg_pool2d`."""

    name = "relax.nn.adaptive_avg_pool2d"


@irdl_op_definition
class AdaptiveAvgPool3dOp(AnyLayouts, AdaptiveAvgPoolOp, ThreeDims):
    """Averages over adaptive windows of three dims; `torch.nn.functional.adaptive_avg_pool3d`."""

    name = "relax.nn.adaptive_avg_pool3d"


@irdl_op_definition
class AdaptiveMaxPool1dOp(AnyLayouts, AdaptiveMaxPoolOp, OneDim):
    """Maxima over adaptive windows of one dim; `torch.nn.functional.adaptive_max_pool1d`."""

    name = "relax.nn.adaptive_max_pool1d"


@irdl_op_definition
class AdaptiveMaxPool2dOp(AnyLayouts, AdaptiveMaxPoolOp, TwoDims):
    """Maxima over adaptive windows of two dims; `torch.nn.functional.adaptive_max_pool2d`."""

    name = "relax.nn.adaptive_max_pool2d"


@irdl_op_definition
class AdaptiveMaxPool3dOp(AnyLayouts, AdaptiveMaxPoolOp, ThreeDims):
    """Maxima over adaptive windows of three dims; `torch.nn.functional.adaptive_max_pool3d`."""

    name = "relax.nn.adaptive_max_pool3d"
