"""Each test of quantization draws the same numbers, whichever run before it."""

import pytest
import small_networks


@pytest.fixture(autouse=True)
def numbers():
    small_networks.RNG.bit_generator.state = small_networks.START
