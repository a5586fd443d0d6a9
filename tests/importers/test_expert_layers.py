"""What layers of experts are made of gives what PyTorch gives."""

import pytest
from drawn_tensors import each, numbers

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("transposed", [False, True])
def test_grouped_matmul(check, transposed: bool):
    x, ends = numbers(9, 16), torch.tensor([2, 2, 9], dtype=torch.int32)
    weight = numbers(3, 24, 16, seed=1) if transposed else numbers(3, 16, 24, seed=1)

    def grouped(x, weight, ends):
        weight = weight.transpose(1, 2) if transposed else weight
        return torch.nn.functional.grouped_mm(x, weight, offs=ends)

    # PyTorch exports the operator for bfloat16 alone.
    check(grouped, x.to(torch.bfloat16), weight.to(torch.bfloat16), ends)


def test_counts_of_intervals(check):
    special = torch.tensor([0, 1, 2, 3, -1, 1.5, float("nan"), float("inf"), -float("inf")])
    check(
        each(
            whole=lambda x: torch.histc(x, bins=4, min=0, max=3),
            parts=lambda x: torch.histc(x, bins=7, min=-1, max=1.5),
        ),
        torch.cat([numbers(40) * 2, special]),
    )


def test_layer_of_experts(check):
    """The layer of `transformers` with sorted tokens, without the weights of the routes."""

    def layer(x, experts, weight):
        ordered, places = experts.sort()
        counts = torch.histc(ordered.float(), bins=4, min=0, max=3)
        ends = counts.cumsum(0, dtype=torch.int32)
        found = torch.nn.functional.grouped_mm(x[places], weight, offs=ends)
        return torch.empty_like(found).index_copy(0, places, found)

    experts = torch.tensor([3, 0, 0, 2, 3, 0, 2])
    x, weight = numbers(7, 8).to(torch.bfloat16), numbers(4, 8, 16, seed=1).to(torch.bfloat16)
    check(layer, x, experts, weight)
