"""What comes in goes out: types and index survive, buffers stay where they are, nothing else slips through."""

import datetime

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import patients, roles

import incrowd as ic
from incrowd import _native


def addresses(table):
    return [buffer.address for column in table.columns for chunk in column.chunks for buffer in chunk.buffers() if buffer]


def test_buffers_are_not_copied():
    table = pa.table({"a": list(range(1000)), "b": [0.5] * 1000, "c": ["x"] * 1000})
    assert addresses(pa.table(_native.Frame(table, "t"))) == addresses(table)
    frame = pl.DataFrame({"a": list(range(1000))})
    assert addresses(pa.table(_native.Frame(frame, "t"))) == addresses(frame.to_arrow())


def test_a_release_is_exported_without_copies():
    release = ic.Table(pa.table(patients()), **roles()).publish(k=5, max_suppressed=0.1)
    assert addresses(pa.table(release)) == addresses(pa.table(release))


def typed():
    n = 60
    return pd.DataFrame(
        {
            "age": np.array([30 + i % 2 for i in range(n)], dtype="int8"),
            "size": pd.Categorical(["S", "M", "L"] * (n // 3), categories=["S", "M", "L", "XL"], ordered=True),
            "colour": pd.Categorical(["red", "blue"] * (n // 2)),
            "visits": pd.array([1, 2, 3] * (n // 3), dtype="Int64"),
            "day": pd.to_datetime(["2024-01-01", "2024-06-30"] * (n // 2)),
            "date": [datetime.date(2024, 1, 1), datetime.date(2024, 6, 30)] * (n // 2),
            "when": pd.to_datetime(["2024-01-01T10:00:00.5"] * n).tz_localize("Europe/Paris"),
            "is": [True, False] * (n // 2),
            "share": np.array([0.25, 0.75] * (n // 2), dtype="float32"),
            "note": pd.array(["a", "b"] * (n // 2), dtype="string"),
            "text": ["x", "y"] * (n // 2),
        }
    )


def test_pandas_types_survive():
    frame = typed()
    release = ic.Table(frame, ["age"], other="keep").publish(k=5)
    out = release.to_pandas()
    expected = frame.assign(size=frame["size"].cat.remove_unused_categories())
    assert dict(out.dtypes) == dict(expected.dtypes)
    assert list(out.columns) == list(frame.columns)
    key = ["age", "size", "colour", "visits", "day", "is", "share", "note", "text"]
    by_key = lambda df: df.sort_values(key, kind="stable").reset_index(drop=True)  # noqa: E731
    pd.testing.assert_frame_equal(by_key(out), by_key(expected))
    assert isinstance(out.index, pd.RangeIndex) and out["size"].cat.ordered


def test_missing_values_and_nullable_types_survive():
    frame = pd.DataFrame({"q": ["a"] * 6, "n": pd.array([1, None, 2**60 + 1] * 2, dtype="Int64"),
                          "b": pd.array([True, None, False] * 2, dtype="boolean")})
    out = ic.Table(frame, ["q"], other="keep", missing_records="keep").publish(k=6).to_pandas()
    assert dict(out.dtypes) == dict(frame.dtypes)
    assert sorted(out["n"].dropna()) == [1, 1, 2**60 + 1, 2**60 + 1] and out["n"].isna().sum() == 2
    assert len(ic.Table(frame, ["q"], other="keep", missing_records="drop").publish(k=4).to_pandas()) == 4, "records without a value are dropped"


def test_generalized_columns_become_labels():
    frame = typed()
    release = ic.Table(frame, {"size": {"S": "small", "M": "big", "L": "big", "XL": "big"}, "age": ic.intervals(5)},
                       other="keep").publish(levels={"size": 1, "age": 1}, k=5)
    out = release.to_pandas()
    assert sorted(set(out["size"])) == ["big", "small"] and set(out["age"]) == {"30-34"}
    # Sizes had an order that the labels keep; ages had none.
    assert list(out["size"].cat.categories) == ["small", "big"] and out["size"].cat.ordered
    assert release.to_pandas(generalized="text")["size"].dtype == object
    assert not isinstance(out["age"].dtype, pd.CategoricalDtype)


def test_polars_types_survive():
    frame = pl.DataFrame(
        {"age": [30, 31] * 20, "size": ["S", "M"] * 20, "colour": ["red", "blue"] * 20, "day": [datetime.date(2024, 1, 1)] * 40,
         "when": [datetime.datetime(2024, 1, 1, 12)] * 40, "n": [1, None] * 20},
        schema_overrides={"age": pl.UInt8, "size": pl.Enum(["S", "M", "XL"]), "colour": pl.Categorical, "n": pl.Int16},
    )
    out = ic.Table(frame, ["age"], other="keep", missing_records="keep").publish(k=5).to_polars()
    kept = {**frame.schema, "size": pl.Enum(["S", "M"])}
    assert dict(out.schema) == kept
    assert out.sort("age", "n")["n"].to_list() == frame.sort("age", "n")["n"].to_list()


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()),
                                  pa.dictionary(pa.uint32(), pa.large_string())])
def test_arrow_types_survive(kind):
    table = pa.table({"q": pa.array([1, 1, 2, 2], pa.uint16()), "s": pa.array(["b", "a", "b", "a"]).cast(kind) if not
                      pa.types.is_dictionary(kind) else pa.array(["b", "a", "b", "a"], kind),
                      "d": pa.array([0, 86400000, 0, 0], pa.date64())})
    out = ic.Table(table, ["q"], other="keep").publish(k=2).to_arrow()
    assert out.schema.types == table.schema.types
    assert sorted(out["s"].to_pylist()) == ["a", "a", "b", "b"]


def test_duckdb_relations():
    relation = duckdb.from_arrow(pa.table(patients()))
    release = ic.Table(relation, **roles()).publish(k=5, max_suppressed=0.1)
    assert duckdb.from_arrow(release.to_arrow()).count("*").fetchall() == [(len(release),)]


@pytest.mark.parametrize("index", [pd.RangeIndex(100, 500), pd.Index([f"secret {i}" for i in range(400)], name="patient"),
                                   pd.MultiIndex.from_product([range(20), range(20)])])
def test_an_index_that_nobody_named_stays_behind(index):
    frame = pd.DataFrame(patients(), index=index)
    out = ic.Table(frame, **roles()).publish(k=5, max_suppressed=0.1).to_pandas()
    assert list(out.columns) == ["age", "zip", "town", "seen", "ill", "pay"], "no column is added"
    assert out.index.equals(pd.RangeIndex(len(out)))


def test_an_index_that_is_an_attribute_is_one():
    frame = pd.DataFrame(patients()).set_index(["town", "name"])
    release = ic.Table(frame, ["town"], sensitive="ill").publish(k=5)
    out = release.to_pandas()
    assert out.index.names == ["town"] and list(out.columns) == ["ill"]
    assert "name" not in release.columns


def test_types_come_through_dropped_columns_of_odd_types():
    table = pa.table({"q": ["a", "a"], "list": [[1], [2]], "raw": [b"x", b"y"]})
    assert ic.Table(table, ["q"]).publish(k=2).columns == ["q"]


def test_many_batches_and_slices():
    whole = pa.table(patients(5000))
    parts = pa.concat_tables([whole.slice(0, 10), whole.slice(10, 0), whole.slice(10, 4000), whole.slice(4010)])
    asked = {"k": 5, "max_suppressed": 0.05}
    assert ic.Table(parts, **roles()).negotiate(**asked) == ic.Table(whole, **roles()).negotiate(**asked)


def test_large_frames_are_read_in_pieces():
    n = 300_000
    table = ic.Table(pa.table({"a": [i % 7 for i in range(n)], "b": [i % 2 for i in range(n)]}), ["a"], sensitive="b")
    assert table.count().n_records == n and table.count().n_groups == 7
    assert len(table.publish(k=10)) == n
