"""Operators with tensors of indices: inferred shapes and messages."""

from inferred import error_of, infer


def test_take():
    assert infer("take", "[v, 64], f16", "[n, m], i32", axis=0) == "[n, m, 64], f16"
    assert infer("take", "[v, 64], f16", "[], i32", axis=1) == "[v], f16"
    assert infer("take", "[v], f16", "[n], i32") == "[n], f16"
    assert infer("take", "[v, 64], f16", "rank 2, i32", axis=0) == "rank 3, f16"
    assert infer("take", "*, f16", "[n], i32", axis=0) == "*, f16"
    assert error_of("take", "[v, 64], f16", "[n], i32") == (
        "expected an axis of 'relax.take' for a tensor of rank 2, got none"
    )
    assert error_of("take", "[v], f16", "[n], f32") == (
        "expected operands of 'relax.take' to be integers, got float32"
    )
    assert "in [-1, 1), got 1" in error_of("take", "[v], f16", "[n], i32", axis=1)


def test_gather_elements():
    assert infer("gather_elements", "[n, m], f32", "[k, m], i64") == "[k, m], f32"
    assert infer("gather_elements", "[5, 6], f32", "[3, 9], i64", axis=1) == "[3, 9], f32"
    assert infer("gather_elements", "rank 2, f32", "*, i64") == "rank 2, f32"
    assert error_of("gather_elements", "[n, m], f32", "[n, k], i64") == (
        "expected indices of 'relax.gather_elements' within data but for dim 0, "
        "got (n, m) and (n, k)"
    )
    assert "to have one rank, got (n,) and (n, 1)" in error_of(
        "gather_elements", "[n], f32", "[n, 1], i64"
    )


def test_gather_nd():
    assert infer("gather_nd", "[n, 4, 5], f32", "[m, 2], i64") == "[m, 5], f32"
    assert infer("gather_nd", "[n, 4, 5], f32", "[n, 7, 1], i64", batch_dims=1) == "[n, 7, 5], f32"
    assert infer("gather_nd", "*, f32", "[m, 2], i64") == "*, f32"
    message = "expected indices of 'relax.gather_nd' to choose from data with"
    for indices, batch in (("[m, k], i64", 0), ("[m, 4], i64", 0), ("[m, 1], i64", 1)):
        assert message in error_of("gather_nd", "[n, 4, 5], f32", indices, batch_dims=batch)


def test_index_tensor():
    assert infer("index_tensor", "[n, 4, 5], f32", "[m, 1], i64", "[3], i8") == "[m, 3, 5], f32"
    assert infer("index_tensor", "*, f32", "[m], i64") == "*, f32"
    assert error_of("index_tensor", "[n, 4], f32", "[3], i64", "[4], i64") == (
        "expected indices of 'relax.index_tensor' to broadcast, got (3,) and (4,)"
    )
    assert "for one to all dims of (n,), got 2" in error_of(
        "index_tensor", "[n], f32", "[3], i64", "[3], i64"
    )


def test_scatter_elements():
    name, data = "scatter_elements", "[n, 4], f32"
    assert infer(name, data, "[3, 4], i64", "[3, 4], f32", reduction="add") == data
    assert error_of(name, data, "[3, 4], i64", "[2, 4], f32") == (
        "expected an update of 'relax.scatter_elements' for each index, got (3, 4) and (2, 4)"
    )
    assert "one dtype" in error_of(name, data, "[3, 4], i64", "[3, 4], f16")
    assert "to be numbers, got bool" in error_of(
        name, "[n], i1", "[3], i64", "[3], i1", reduction="add"
    )


def test_scatter_nd():
    name, data = "scatter_nd", "[n, 4], f32"
    assert infer(name, data, "[m, 1], i64", "[m, 4], f32") == data
    assert infer(name, data, "[m, 2], i64", "[m], f32") == data
    for indices, updates in (("[m, 3], i64", "[m], f32"), ("[m, 1], i64", "[m], f32")):
        assert "expected indices and updates of 'relax.scatter_nd' that match (n, 4)" in error_of(
            name, data, indices, updates
        )


def test_index_put():
    name, data = "index_put", "[n, 4], f32"
    assert infer(name, data, "[m], i64", "[1, 4], f32") == data
    assert infer(name, data, "[m, 1], i64", "[3], i64", "[], f32", accumulate=True) == data
    for operands in (("[m], i64", "[m, 3], f32"), ("[m], i64", "[3], i64", "[3], f32")):
        assert "expected indices and values of 'relax.index_put' that match (n, 4)" in error_of(
            name, data, *operands
        )
    assert "for one to all dims of (n, 4), got 0" in error_of(name, data, "[4], f32")


def test_sort_and_argsort():
    assert infer("sort", "[n, 3], f16", axis=0) == "[n, 3], f16"
    assert infer("argsort", "[n, 3], f16") == "[n, 3], i32"
    assert infer("argsort", "*, f16", dtype="int64") == "*, i64"
    assert error_of("sort", "[n, 3], f16", axis=2) == (
        "expected axis of 'relax.sort' in [-2, 2), got 2"
    )
    assert "in [-1, 1), got 1" in error_of("argsort", "[n], f16", axis=1)


def test_topk():
    assert infer("topk", "[n, 9], f16", k=4, ret_type="values") == "[n, 4], f16"
    assert infer("topk", "[n, 9], f16", k=4, axis=0, ret_type="indices") == "[4, 9], i32"
    both = infer("topk", "[n, 9], f16", k=2, dtype="int64")
    assert both == "[n, 2], f16; [n, 2], i64"
    assert infer("topk", "rank 2, f16", ret_type="values") == "rank 2, f16"
    assert error_of("topk", "[n, 3], f16", k=4) == (
        "expected at least 4 elements of 'relax.topk' along dim 1, got (n, 3)"
    )
    assert "at least 1, got 0" in error_of("topk", "[n], f16", k=0)
