"""Worker processes that tests share, so that they start once."""

import pytest

from xrelax import meta_schedule as ms


@pytest.fixture(scope="session")
def workers():
    """A builder and a runner on this machine, as options of functions that tune."""
    builder, runner = ms.builder.LocalBuilder(1), ms.Runner("local")
    yield {"builder": builder, "runner": runner, "progress": False}
    builder.close()
    runner.close()
