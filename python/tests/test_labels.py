"""Generalized columns are of the frame's own backend, in their order, and intervals on request."""

import datetime
import pickle
import random

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import patients, roles

import incrowd as ic
from incrowd import _labels

RULES = {
    "whole": (lambda chance: chance.randint(-60, 200), [ic.intervals(5, 10, below=-20, above=90), ic.cuts([-3, 18, 65], [18])]),
    "real": (lambda chance: round(chance.uniform(-9, 9), 2), [ic.intervals(0.5, 2, below=-2.5), ic.cuts([1.5, 4])]),
    "date": (lambda chance: datetime.date(1970, 1, 1) + datetime.timedelta(days=chance.randint(-9000, 29000)), [ic.dates()]),
}


@pytest.mark.parametrize("kind", RULES)
def test_labels_are_read_as_the_engine_reads_them(kind):
    """The two ends of a label are those that the engine writes as two columns, for every level of every rule."""
    one, rules = RULES[kind]
    chance = random.Random(1)
    n_looked_at = 0
    for rule in rules:
        values = [one(chance) for _ in range(60)] * 2
        table = ic.Table({"x": values}, {"x": rule})
        n_levels = len(table.hierarchy("x").levels)
        for level in range(1, n_levels - 1):
            release = table.publish(levels={"x": level}, k=2)
            two = table.publish(levels={"x": level}, k=2, two_columns=True).to_dict()
            labels = release.to_dict()["x"]
            found = _labels.ranges(labels, dates=kind == "date")
            ends = {found[label] for label in labels}
            assert len(ends) > 1
            shown = {(low, high) for low, high in zip(two["x_low"], two["x_high"])}
            # Whole numbers below 18 are those up to 17.
            is_whole = kind == "whole"
            assert {(of.low, of.high - 1 if is_whole and not of.has_high and of.high is not None else of.high) for of in ends} == shown
            n_looked_at += len(ends)
            frame = release.to_pandas(generalized="interval")
            assert frame["x"].dtype.name.startswith("interval") and frame["x"].dtype.closed == ("left" if kind == "real" else "both")
            assert all(any(value_in(value, interval) for interval in frame["x"].unique()) for value in values)
            ordered = release.to_pandas(generalized="categorical")["x"]
            assert ordered.cat.ordered and list(frame["x"].drop_duplicates().sort_values()) == list(
                pd.Series([frame["x"][list(ordered).index(label)] for label in ordered.cat.categories])
            )
            enum = release.to_polars(generalized="categorical")["x"]
            assert isinstance(enum.dtype, pl.Enum) and list(enum.dtype.categories) == list(ordered.cat.categories)
    assert n_looked_at > 20


def value_in(value, interval):
    return (pd.Timestamp(value) if isinstance(value, datetime.date) else value) in interval


@pytest.mark.parametrize("dtype, expected", [
    ("int64", "object"), ("Int64", "string"), (pd.ArrowDtype(pa.int64()), pd.ArrowDtype(pa.string())), ("Float64", "string"),
])
def test_labels_are_of_the_backend_that_numbers_had(dtype, expected):
    df = pd.DataFrame({"age": pd.Series(patients()["age"]).astype(dtype)})
    made = ic.Table(df, {"age": ic.intervals(20, 40)}).publish(levels={"age": 1}, k=2, max_suppressed=0.1).to_pandas()
    assert made["age"].dtype == pd.Series(["a"], dtype=expected).dtype and "-" in made["age"][0]
    hide = ic.Anonymizer({"age": ic.intervals(20, 40)}, k=2, max_suppressed=0.1, max_level={"age": 2}).fit(df)
    assert hide.offer_.levels["age"] == 0 or hide.transform(df)["age"].dtype == made["age"].dtype


def graded(ordered, labels, library="pandas"):
    grades = ["D", "B", "A", "E", "C"] * 4
    if library == "polars":
        data = pl.DataFrame({"grade": grades}, schema={"grade": pl.Enum(["E", "D", "C", "B", "A"]) if ordered else pl.Categorical()})
    else:
        data = pd.DataFrame({"grade": pd.Categorical(grades, ["E", "D", "C", "B", "A"], ordered=ordered)})
    return ic.Table(data, {"grade": labels}).publish(levels={"grade": 1}, k=4)


PASSED = {"A": "good", "B": "good", "C": "fair", "D": "poor", "E": "poor"}


def test_labels_of_ordered_categories_are_ordered_where_the_hierarchy_keeps_the_order():
    made = graded(True, PASSED)
    column = made.to_pandas()["grade"]
    assert column.cat.ordered and list(column.cat.categories) == ["poor", "fair", "good"]
    tree = ic.tree({"good": ["A", "B"], "fair": ["C"], "poor": ["D", "E"]})
    pd.testing.assert_series_equal(graded(True, tree).to_pandas()["grade"], column)
    pd.testing.assert_series_equal(graded(True, lambda grade: PASSED[grade]).to_pandas()["grade"], column)
    pd.testing.assert_series_equal(pickle.loads(pickle.dumps(made)).to_pandas()["grade"], column)
    enum = graded(True, PASSED, "polars").to_polars()["grade"]
    assert list(enum.dtype.categories) == ["poor", "fair", "good"] and isinstance(enum.dtype, pl.Enum)
    assert made.to_pandas(generalized="text")["grade"].dtype == object
    # Labels that mix the order have none, and neither have those of categories without one.
    mixed = graded(True, {**PASSED, "C": "good", "B": "fair"}).to_pandas()["grade"]
    assert mixed.dtype == "category" and not mixed.cat.ordered
    assert not graded(False, PASSED).to_pandas()["grade"].cat.ordered
    assert graded(False, PASSED, "polars").to_polars()["grade"].dtype == pl.Categorical


def test_a_pickle_does_not_tell_labels_that_are_not_published():
    grades = ["A"] * 4 + ["E"]
    data = pd.DataFrame({"grade": pd.Categorical(grades, ["E", "A"], ordered=True)})
    release = ic.Table(data, {"grade": {"A": "good", "E": "SECRET"}}).publish(levels={"grade": 1}, k=2, max_suppressed=1)
    assert list(release.to_pandas()["grade"].cat.categories) == ["good"]
    assert b"SECRET" not in pickle.dumps(release)


def test_local_ranges_are_intervals_and_other_labels_stay_texts():
    release = ic.Table(pa.table(patients()), **roles()).publish(method="top-down", k=5)
    frame = release.to_pandas(generalized="interval")
    assert frame["age"].dtype.name.startswith("interval") and str(frame["seen"].dtype).startswith("interval[datetime64")
    assert frame["town"].dtype == object and frame["pay"].dtype == "int64"
    hidden = release.to_pandas(generalized="text")["age"] == "*"
    assert (frame["age"].isna() == hidden).all()


@pytest.mark.parametrize("label", ["a", "", "*", "1-", "x-3", "{a,b}", "[1-2", "2024-13", "1 - 2", "<", ">5"])
def test_what_is_no_range_is_none(label):
    assert _labels.ends(label) is None
