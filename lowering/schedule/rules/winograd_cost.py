"""The cost of 3x3 convolutions of stride 1, direct and by Winograd's minimal filtering."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from ....backend.target import Target
from ....dialects.relax.operators.toom_cook import POINTS, filtering
from ....dialects.relax.operators.winograd import TAPS
from ...cost_model import Columns, Rows, TileCost
from ...equal_parts import balanced
from .tiles import Tile, choose_tile

TILES = (8, 12, 16, 24, 32, 48, 64)
"""The most tiles in a block: each panel of the weight is loaded once for all of them."""

CACHE_SHARE = 2
"""The part of the second cache, as a divisor, that the transformed data of a block may take, or it
is read from the last cache for each panel."""

MEMORY = 10
"""The time to load a vector of weights from memory, over that from the last cache."""

LAST_SHARE = 4
"""Weights that take more than this part of the last cache, as a divisor, are in memory: other
kernels have replaced them since the last call."""

LEAST_GAIN = 1.1
"""How many times faster than the direct form the estimate must be."""


@dataclass(frozen=True)
class Blocking:
    """Tiles of `size` x `size` results, in blocks of so many rows and columns of tiles."""

    size: int
    rows: int
    columns: int


@dataclass(frozen=True)
class Convolution:
    """The sizes of a 3x3 convolution of stride 1 of an image, in float32."""

    inputs: int
    outputs: int
    height: int
    width: int

    def blocking(self, target: Target, rate: float = 1.0) -> Blocking | None:
        """The cheapest blocking; `None` if the direct form is quicker.

        `rate` is how many times as quick as in float32 the direct form is.
        """
        found = {b: self._cycles(b, target) for b in self._candidates(target)}
        best = min(found, key=lambda blocking: found[blocking])
        return best if self._direct(target) / rate >= LEAST_GAIN * found[best] else None

    def _candidates(self, target: Target) -> list[Blocking]:
        """Blocks of whole rows of tiles, if they are short enough, or of parts of one."""
        found: list[Blocking] = []
        for size, most in product((min(POINTS),) if target.math == "accurate" else POINTS, TILES):
            rows, columns = -(-self.height // size), -(-self.width // size)
            tall = balanced(rows, max(1, most // columns))
            found.append(Blocking(size, tall, balanced(columns, most)))
        return list(dict.fromkeys(found))

    def _direct(self, target: Target) -> float:
        tile = tile_of_products(self.width, TAPS**2 * self.inputs, self.outputs, 32, target)
        vectors = TAPS**2 * self.inputs * self.outputs / target.lanes(32)
        pixels = self.height * self.width
        return vectors * (pixels * tile.cost + self._load(TAPS**2, target))

    def _cycles(self, blocking: Blocking, target: Target) -> float:
        """Cycles of the products, and of the transforms before and after them."""
        size, products = blocking.size, filtering(blocking.size).products ** 2
        machine, lanes = target.model, target.lanes(32)
        across = -(-self.height // (size * blocking.rows))
        along = -(-self.width // (size * blocking.columns))
        blocks, in_block = across * along, blocking.rows * blocking.columns
        tiles = blocks * in_block
        tile = tile_of_products(in_block, self.inputs, self.outputs, 32, target)
        vectors = products * self.inputs * self.outputs / lanes
        spent = vectors * (tiles * tile.cost + blocks * self._load(products, target))
        if in_block * products * self.inputs * 4 * CACHE_SHARE > target.caches.l2:
            panels = self.outputs / (tile.vectors * lanes)
            spent += tiles * products * self.inputs / lanes * panels * machine.l3_panel
        moved = products * self.inputs + (products + size * size) * self.outputs
        # Each element takes about two multiply-adds in both directions.
        return spent + tiles * moved / lanes * (machine.copy + 4 / machine.fma_rate)

    def _load(self, products: int, target: Target) -> float:
        """Cycles to load a vector of a weight that is in memory."""
        nbytes = products * self.inputs * self.outputs * 4
        return MEMORY * target.model.l3_panel if nbytes * LAST_SHARE > target.caches.l3 else 0.0


def tile_of_products(tiles: int, inputs: int, outputs: int, bits: int, target: Target) -> Tile:
    """The register tile of so many rows of elements of `bits`, in panels that divide the outputs.

    `outputs` is a multiple of the lanes.
    """
    lanes = target.lanes(bits)
    vectors = outputs // lanes
    found = [
        choose_tile(TileCost(Rows([tiles], is_known=True), panel, lanes, target))
        for count in range(1, min(vectors, target.vector_registers) + 1)
        if vectors % count == 0
        for panel in [Columns(outputs, inputs, count * lanes)]
    ]
    return min(found, key=lambda tile: tile.cost)
