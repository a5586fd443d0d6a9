"""The three ways of one rewrite give one program, and leave theirs as it was."""

import numpy as np
import pytest
import three_rewrites

from xrelax import relax


@pytest.mark.parametrize("way", three_rewrites.WAYS)
def test_each_way_gives_the_same_program(way):
    mod = three_rewrites.build_module()
    before = mod.script()
    new = three_rewrites.WAYS[way](mod)
    assert mod.script() == before
    text = new["main"].script(show_all_struct_info=False)
    lines = [t.strip() for t in text.splitlines() if " = R." in t]
    assert lines == ["gv = R.ewise_fma(x, y, y)"]
    x, y = np.random.default_rng(0).standard_normal((2, 5, 4)).astype("float32")
    result = relax.build(new, check=True)["main"](x, y).numpy()
    np.testing.assert_allclose(result, x * y + y, rtol=1e-6)


def test_the_example_runs(capsys):
    three_rewrites.main()
    assert capsys.readouterr().out.count("R.ewise_fma(x, y, y)") == 3
