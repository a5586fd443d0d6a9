"""The tiny configurations of `transformers`: parts are tiny too, and inputs reach the results."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from sweep_transformers import configuration, subject  # noqa: E402


@pytest.mark.models
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["llava", "detr", "voxtral", "grounding-dino"])
def test_parts_are_tiny(name: str):
    from transformers import AutoModel

    with torch.device("meta"):
        model = AutoModel.from_config(configuration(name))
    assert sum(p.numel() for p in model.parameters()) < 2e6


@pytest.mark.models
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["sam_hq_vision_model", "vit"])
def test_results_depend_on_inputs(name: str):
    found = subject(name)
    inputs = found.arguments()
    with torch.no_grad():
        a = found.model(**inputs).last_hidden_state
        b = found.model(**{**inputs, "pixel_values": inputs["pixel_values"] + 1}).last_hidden_state
    assert (a - b).abs().max() > 0.01 * a.abs().max()
