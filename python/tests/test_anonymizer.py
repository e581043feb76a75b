"""The transformer, in scikit-learn's pipelines and without scikit-learn."""

import copy
import pathlib
import pickle
import subprocess
import sys
import textwrap

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import FRAMES, patients
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

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
    with pytest.raises(ic.Error, match="the request cannot be met"):
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


METHODS = ["top-down", "bottom-up", "mondrian", "mondrian-relaxed", "cells", "deal", "deal-plain"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("library", FRAMES)
def test_groups_of_local_methods_come_back_in_place(library, method):
    X = FRAMES[library](patients())
    made = ic.Anonymizer(["age", "town"], sensitive="ill", identifiers="name", method=method, k=5)
    out = pa.table(made.fit_transform(X)) if library != "pandas" else pa.Table.from_pandas(made.fit_transform(X))
    shown = list(zip(out["age"].to_pylist(), out["town"].to_pylist()))
    published = made.release_.to_arrow()
    # As often as in the release, and with the same sensitive values: each is in its own group, and not in one like it.
    ours = sorted(zip(*(map(str, out[name].to_pylist()) for name in ("age", "town", "ill"))))
    assert ours == sorted(zip(*(map(str, published[name].to_pylist()) for name in ("age", "town", "ill"))))
    assert min(shown.count(cells) for cells in set(shown)) >= 5 and made.release_.verify().holds
    assert out["seen"].to_pylist() == patients()["seen"] and made.answer_ is None


def test_records_one_by_one_come_back_in_place():
    X = pa.table(patients())
    made = ic.Anonymizer({"age": ic.intervals(5, 10)}, method="per-record", utility_at_least=0.5).fit(X)
    assert sorted(made.transform(X)["age"].to_pylist()) == sorted(made.release_.to_arrow()["age"].to_pylist())


def test_new_records_come_into_the_groups_that_they_fit():
    X = pa.table({"age": [31, 33, 40, 44], "town": ["a", "b", "c", "c"]})
    made = ic.Anonymizer(["age", "town"], method="mondrian", cells="sets", k=2).fit(X)
    new = pa.table({"age": [33, 32, 42, 42, 50, None], "town": ["a", "b", "c", "a", "c", "c"]})
    of = dict(zip(X["age"].to_pylist(), made.transform(X)["age"].to_pylist()))
    assert made.transform(new)["age"].to_pylist() == [of[31], of[31], of[40], None, None, None]


@pytest.mark.parametrize("criterion", [{"l": 2}, {"entropy_l": 1.5}, {"recursive": (3, 2)}, {"t": 0.4}, {"delta": 3},
                                       {"beta": 3}, {"enhanced_beta": 3}, {"alpha": 0.8}])
@pytest.mark.parametrize("method", ["global", "top-down"])
def test_every_criterion(criterion, method):
    X = pd.DataFrame(patients())
    made = ic.Anonymizer({"age": ic.intervals(20, 40)}, sensitive="ill", method=method, k=2, **criterion).fit(X)
    assert set(criterion) < set(made.release_.certificate.criteria) and made.release_.verify().holds


def test_people_and_populations():
    visits = pd.DataFrame({"patient": ["p1", "p1", "p1", "p2", "p3", "p4"], "age": [31, 31, 31, 45, 45, 45]})
    out = ic.Anonymizer("age", person="patient", k=3, max_suppressed=3).fit_transform(visits)
    assert list(out.columns) == ["age"] and out["age"].isna().tolist() == [True] * 3 + [False] * 3
    people = {"age": [31, 31, 45, 45]}
    assert ic.Anonymizer("age", population=people, k_map=2).fit(pd.DataFrame({"age": [31, 45]})).offer_.levels == {"age": 0}


def test_what_is_not_fitted_says_it_as_scikit_learn_does():
    with pytest.raises(NotFittedError) as raised:
        anonymizer().transform(pd.DataFrame(patients()))
    assert isinstance(raised.value, ic.Error) and isinstance(raised.value, ValueError)
    with pytest.raises(NotFittedError):
        check_is_fitted(anonymizer())


def test_what_it_knows_of_its_columns():
    made = anonymizer(max_suppressed=0.1).fit(pd.DataFrame(patients()))
    assert made.n_features_in_ == 7 and list(made.feature_names_in_) == list(patients())


@pytest.mark.parametrize("method", ["global", "top-down"])
def test_a_fitted_one_comes_back_from_a_pickle(method, tmp_path):
    X = pd.DataFrame(patients())
    more = {"max_suppressed": 0.1} if method == "global" else {}
    made = anonymizer(method=method, **more).fit(X)
    joblib.dump(made, tmp_path / "made.joblib")
    for again in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made), joblib.load(tmp_path / "made.joblib")):
        pd.testing.assert_frame_equal(again.transform(X), made.transform(X))
        assert again.release_ == made.release_


def test_a_grid_is_searched_in_two_processes():
    X, y = pd.DataFrame(patients()), np.array([age > 50 for age in patients()["age"]])
    texts = make_column_selector(dtype_include=[object, "string"])
    coded = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), texts), remainder="drop")
    pipeline = Pipeline([("hide", anonymizer()), ("code", coded), ("tree", DecisionTreeClassifier(max_depth=3))])
    search = GridSearchCV(pipeline, {"hide__k": [5, 20], "hide__method": ["global", "mondrian"]}, n_jobs=2, cv=2,
                          error_score="raise").fit(X, y)
    assert search.best_params_["hide__k"] in (5, 20) and search.predict(X).shape == (400,)


def test_scikit_learns_own_checks():
    """All of them, but for those that subtract what comes back where that is text, as the README says."""
    for made in (ic.Anonymizer([0], k=2, max_suppressed=1.0), ic.Anonymizer([0], method="mondrian", k=2)):
        said = check_estimator(made, on_fail=None, on_skip=None)
        failed = {check["check_name"]: str(check["exception"]) for check in said if check["status"] == "failed"}
        subtracted = [name for name, why in failed.items() if "unsupported operand type(s) for -" in why]
        assert set(failed) == set(subtracted), [why[:200] for why in failed.values()]
        assert made.method != "global" or not failed
        n_passed = sum(check["status"] == "passed" for check in said)
        # No tag says that input is not looked at, so that scikit-learn checks that too.
        assert n_passed > (43 if made.method == "global" else 33) and not made.__sklearn_tags__().no_validation
