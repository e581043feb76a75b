"""The transformer, in scikit-learn's pipelines and without scikit-learn."""

import pathlib
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import FRAMES, patients
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import incrowd as ic


def anonymizer(**more):
    rules = {"age": ic.intervals(5, 10, 20, origin=17), "town": None}
    return ic.Anonymizer(rules, identifiers="name", other="pay", k=10, **more)


@pytest.mark.parametrize("library", FRAMES)
def test_records_stay_in_their_place(library):
    X = FRAMES[library](patients())
    made = anonymizer(max_suppressed=0.1).fit(X)
    out = made.transform(X)
    assert type(out) is type(X) and len(out) == 400
    assert list(made.get_feature_names_out()) == ["age", "town", "pay"]
    ages = pa.table(out)["age"].to_pylist() if library != "pandas" else list(out["age"])
    for age, label in zip(patients()["age"], ages):
        if isinstance(label, str) and label != "*":
            low, high = map(int, label.split("-"))
            assert low <= age <= high
    assert made.release_.verify().holds


def test_every_record_that_is_not_empty_has_company():
    X = pd.DataFrame(patients(), index=pd.Index(range(1000, 1400), name="row"))
    made = anonymizer(max_suppressed=0, max_level={"age": 1, "town": 0})
    out = made.set_params(settle="suppression").fit_transform(X)
    assert out.index.equals(X.index)
    empty = out.isna().all(axis=1)
    assert empty.sum() == made.offer_.n_suppressed > 0 and not out[~empty].isna().any().any()
    assert out[~empty].groupby(["age", "town"]).size().min() >= 10
    pd.testing.assert_frame_equal(out, made.transform(X))


def test_new_records_are_hidden_among_the_old_ones_or_empty():
    X = pd.DataFrame({"age": [31, 32, 33, 41, 42, 43], "town": ["a"] * 6})
    made = ic.Anonymizer({"age": ic.intervals(10), "town": {"a": "A", "b": "A"}}, k=3).fit(X)
    new = pd.DataFrame({"age": [35, 49, 50, 36], "town": ["a", "a", "a", "nowhere"]})
    out = made.transform(new)
    assert list(out["age"])[:2] == ["30-39", "40-49"] and out.iloc[2:].isna().all(axis=None)


def test_values_as_they_are_keep_their_type():
    X = pl.DataFrame({"age": [31, 31, 41, 41, 50], "n": [1, 2, 3, 4, 5]})
    out = ic.Anonymizer(["age"], k=2, max_suppressed=1).fit_transform(X)
    assert out.schema == X.schema and out.rows() == [(31, 1), (31, 2), (41, 3), (41, 4), (None, None)]


def test_pipeline_and_clone():
    X, y = pd.DataFrame(patients()), np.array([i % 2 for i in range(400)])
    texts = make_column_selector(dtype_include=[object, "string"])
    pipeline = make_pipeline(
        anonymizer(), make_column_transformer((OneHotEncoder(handle_unknown="ignore"), texts), remainder="passthrough"),
        DecisionTreeClassifier(max_depth=3))
    pipeline.fit(X, y)
    assert pipeline.predict(X).shape == (400,)
    again = clone(anonymizer(max_suppressed=0.5))
    assert again.get_params()["max_suppressed"] == 0.5 and not hasattr(again, "release_")
    with pytest.raises(ic.Error, match="fitted"):
        again.transform(X)


def test_wishes_that_cannot_be_met_are_told():
    with pytest.raises(ic.Error, match="not all wishes"):
        anonymizer(max_level={"age": 0}).fit(pd.DataFrame(patients()))


def test_without_scikit_learn():
    code = """
        import sys
        sys.modules["sklearn"] = sys.modules["sklearn.base"] = None
        import pyarrow as pa, incrowd as ic
        made = ic.Anonymizer(["age"], k=2, max_suppressed=1)
        assert made.get_params()["k"] == 2 and made.set_params(k=3).k == 3, made
        try:
            made.set_params(kk=3)
            raise SystemExit("kk was taken")
        except ValueError:
            pass
        assert made.fit_transform(pa.table({"age": [1, 1, 1, 2]}))["age"].to_pylist() == [1, 1, 1, None]
        assert "k=3" in repr(made)
    """
    package = str(pathlib.Path(ic.__file__).parents[1])
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, env={"PYTHONPATH": package})
