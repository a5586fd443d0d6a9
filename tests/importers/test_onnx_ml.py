"""Classical models of ONNX: linear ones, ensembles of trees, and the preparation of features."""

import numpy as np
import pytest
from onnx_models import check, floats, model, node

from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.importers.unsupported import UnsupportedError

DOMAIN = "ai.onnx.ml"


def made(operator, outputs="y", dtype="float32", columns=3, **attributes):
    nodes = node(operator, "x", outputs, domain=DOMAIN, **attributes)
    inputs = {"x": (dtype, ["n", columns])}
    return model(nodes, inputs, outputs.split(), domains={DOMAIN: 3})


ROWS = np.array([[1.5, -2, 0], [0, 0, 0], [-4, 3, -1]], "float32")
NUMBERS = np.array([[1, 7, 3], [7, 5, 1]])
FEATURES = {
    "scaler": ("Scaler", ROWS, {"offset": [1.0, 2.0, 3.0], "scale": [0.5, 1.0, 4.0]}),
    "scaler of integers": ("Scaler", NUMBERS, {"offset": [1.0], "scale": [2.0]}),
    "largest": ("Normalizer", ROWS, {"norm": "MAX"}),
    "absolute values": ("Normalizer", ROWS, {"norm": "L1"}),
    "squares": ("Normalizer", ROWS, {"norm": "L2"}),
    "binarizer": ("Binarizer", ROWS, {"threshold": 1.0}),
    "imputer": ("Imputer", np.where(ROWS == 0, np.nan, ROWS),
                {"imputed_value_floats": [1.0, 2.0, 3.0], "replaced_value_float": np.nan}),
    "imputer of integers": ("Imputer", NUMBERS,
                            {"imputed_value_int64s": [9], "replaced_value_int64": 7}),
    "vectorizer": ("FeatureVectorizer", ROWS, {"inputdimensions": [3]}),
    "one hot": ("OneHotEncoder", NUMBERS, {"cats_int64s": [7, 1, 2], "zeros": 1}),
    "one hot of floats": ("OneHotEncoder", np.float32([[0.5, np.nan, 1]]),
                          {"cats_int64s": [0, 1], "zeros": 1}),
    "labels": ("LabelEncoder", NUMBERS, {"keys_int64s": [7, 1], "values_floats": [0.5, 2.0],
                                         "default_float": -3.0}),
}  # fmt: skip


@pytest.mark.parametrize("name", FEATURES)
def test_features(name: str):
    operator, x, attributes = FEATURES[name]
    check(made(operator, dtype=str(x.dtype), **attributes), {"x": x})


def test_elements_at_places():
    nodes = node("ArrayFeatureExtractor", "x at", domain=DOMAIN)
    inputs, places = {"x": ("float32", ["n", 3])}, {"at": np.array([2, 0])}
    check(model(nodes, inputs, ["y"], 17, places, {DOMAIN: 3}), {"x": ROWS})


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
def test_linear_classifier(transform: str):
    labels = {"classlabels_ints": [4, 2], "post_transform": transform}
    numbers = {"coefficients": floats(6).tolist(), "intercepts": [0.5, -0.25]}
    check(made("LinearClassifier", "label y", **numbers, **labels), {"x": floats(5, 3)})


def test_linear_regressor():
    numbers = {"coefficients": floats(6).tolist(), "intercepts": [0.5, -0.25], "targets": 2}
    check(made("LinearRegressor", **numbers), {"x": floats(5, 3)})


@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID", "no vectors", "one class"])
def test_support_vectors(kernel: str):
    vectors = {"n_supports": 4, "support_vectors": floats(12).tolist()}
    given = {"kernel_type": kernel if kernel.isupper() else "LINEAR", "one_class": 0,
             "kernel_params": [0.5, 0.25, 2.0], "rho": [0.75], "coefficients": floats(4).tolist(),
             **vectors}  # fmt: skip
    if kernel == "no vectors":
        given |= {"n_supports": 0, "support_vectors": [], "coefficients": floats(3).tolist()}
    given["one_class"] = int(kernel == "one class")
    given = {k: v for k, v in given.items() if v != []}
    check(made("SVMRegressor", **given), {"x": floats(6, 3)})


def ensemble(kind, ids, modes=("BRANCH_LEQ",), positive=False, **others):
    """Attributes of three trees of three inner nodes and four leaves, which have weights of ids."""
    numbers = np.random.default_rng(3)
    inner, each = 3, len(ids)
    weights = numbers.standard_normal(12 * each)
    owners = np.repeat(np.arange(12), each)
    return {
        "nodes_treeids": np.repeat(range(3), 7).tolist(),
        "nodes_nodeids": list(range(7)) * 3,
        "nodes_featureids": numbers.integers(0, 3, 21).tolist(),
        "nodes_modes": [modes[i % len(modes)] if i % 7 < inner else "LEAF" for i in range(21)],
        "nodes_values": numbers.integers(-1, 2, 21).astype("float32").tolist(),
        "nodes_truenodeids": [2 * i + 1 if i < inner else 0 for i in range(7)] * 3,
        "nodes_falsenodeids": [2 * i + 2 if i < inner else 0 for i in range(7)] * 3,
        f"{kind}_treeids": (owners // 4).tolist(),
        f"{kind}_nodeids": (owners % 4 + inner).tolist(),
        f"{kind}_ids": list(ids) * 12,
        f"{kind}_weights": (np.abs(weights) / 6 if positive else weights).tolist(),
        **others,
    }


SAMPLES = np.random.default_rng(1).integers(-2, 3, (40, 3)).astype("float32")
REGRESSORS = {
    "sum": ensemble("target", [0], n_targets=1),
    "means": ensemble("target", [0, 1], n_targets=2, aggregate_function="AVERAGE",
                      base_values=[1.0, -2.0]),
    "largest": ensemble("target", [0], n_targets=1, aggregate_function="MAX"),
    "comparisons": ensemble("target", [0], ("BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ"),
                            n_targets=1),
    "missing": ensemble("target", [0], ("BRANCH_LT",), n_targets=1,
                        nodes_missing_value_tracks_true=[1, 0] * 10 + [1]),
}  # fmt: skip
CLASSIFIERS = {
    "three classes": ensemble("class", [0, 2, 1], classlabels_int64s=[7, 3, 5],
                              post_transform="SOFTMAX"),
    "one score": ensemble("class", [0], classlabels_int64s=[3, 7], post_transform="LOGISTIC"),
    "one score as it is": ensemble("class", [0], classlabels_int64s=[3, 7]),
    "one probability": ensemble("class", [0], positive=True, classlabels_int64s=[0, 1]),
    "two probabilities": ensemble("class", [0, 1], positive=True, classlabels_int64s=[0, 1]),
}  # fmt: skip


@pytest.mark.parametrize("name", REGRESSORS)
def test_trees_of_regressors(name: str):
    x = np.where(SAMPLES == 2, np.nan, SAMPLES) if name == "missing" else SAMPLES
    check(made("TreeEnsembleRegressor", **REGRESSORS[name]), {"x": x})


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_trees_of_classifiers(name: str):
    # ONNX Runtime compares the second of two probabilities with 0
    by = "reference" if name == "two probabilities" else "onnxruntime"
    check(made("TreeEnsembleClassifier", "label y", **CLASSIFIERS[name]), {"x": SAMPLES}, by)


LINE = {"coefficients": [1.0, 2.0, 3.0], "intercepts": [0.5]}
WRONG = {
    "strings": ("labels that are strings", made("LinearClassifier", "label y", **{
        **LINE, "coefficients": [1.0] * 6, "intercepts": [0.0, 0.0],
        "classlabels_strings": ["a", "b"]})),
    "rows": ("expected 2 rows of coefficients", made("LinearRegressor", targets=2, **LINE)),
    "roots": ("expected one root of each tree", made("TreeEnsembleRegressor", **{
        **ensemble("target", [0]), "nodes_truenodeids": [1, 2, 1, 0, 0, 0, 0] * 3})),
    "mode": ("expected modes among", made("TreeEnsembleRegressor",
                                          **ensemble("target", [0], ("BRANCH_OR",)))),
    "map": ("options={'zipmap': False}", made("ZipMap", classlabels_int64s=[0, 1])),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_errors(name: str):
    message, given = WRONG[name]
    with pytest.raises(UnsupportedError, match=message.replace("{", r"\{")):
        compile_onnx(given)
