"""An index of pandas that nobody named stays behind, whichever way the table comes in."""

import dask.dataframe
import duckdb
import narwhals as nw
import narwhals.stable.v1 as nw1
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from conftest import patients

import incrowd as ic


class MyFrame(pd.DataFrame):
    """As geopandas does it: what methods return is of the same class."""

    @property
    def _constructor(self):
        return MyFrame


class WithIndex(pd.DataFrame):
    """A frame with an idea of its own of what its columns are."""

    def reset_index(self, *words, **more):
        return super().reset_index()


class LikeModin:
    """Not pandas, but can be had as pandas."""

    def __init__(self, frame):
        self.frame = frame

    def to_pandas(self):
        return self.frame


class Streams:
    """Whatever speaks Arrow; the metadata of pandas are all that tells of an index."""

    def __init__(self, frame):
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema=None):
        return pa.Table.from_pandas(self.frame).__arrow_c_stream__(requested_schema)


def parquet(frame, tmp_path):
    path = tmp_path / "people.parquet"
    frame.to_parquet(path)
    return path


# By way of polars the metadata are lost, and with them which of the columns with a name was an index: `ssn` is a column
# there, as anyone can see. The name that pandas gives to a nameless one remains.
WAYS = {
    "pandas": lambda frame, _: frame,
    "subclass": lambda frame, _: MyFrame(frame),
    "odd subclass": lambda frame, _: WithIndex(frame),
    "narwhals": lambda frame, _: nw.from_native(frame),
    "narwhals v1": lambda frame, _: nw1.from_native(frame),
    "narwhals of a subclass": lambda frame, _: nw.from_native(MyFrame(frame)),
    "narwhals of pyarrow": lambda frame, _: nw.from_native(pa.Table.from_pandas(frame)),
    "lazy narwhals": lambda frame, _: nw.from_native(frame).lazy(),
    "pyarrow": lambda frame, _: pa.Table.from_pandas(frame),
    "pyarrow batches": lambda frame, _: pa.Table.from_pandas(frame).to_reader(),
    "something that streams": lambda frame, _: Streams(frame),
    "something like modin": lambda frame, _: LikeModin(frame),
    "dask": lambda frame, _: dask.dataframe.from_pandas(frame, npartitions=2),
    "lazy narwhals of dask": lambda frame, _: nw.from_native(dask.dataframe.from_pandas(frame, npartitions=2)),
    "read from Parquet": lambda frame, folder: pa.parquet.read_table(parquet(frame, folder)),
    "a Parquet file": parquet,
    "a folder of Parquet files": lambda frame, folder: parquet(frame, folder).parent,
    "duckdb": lambda frame, _: duckdb.from_df(frame),
}
NAMELESS = {
    "polars of a nameless index": lambda frame, folder: pl.read_parquet(parquet(frame, folder)),
    "lazy polars of a nameless index": lambda frame, folder: pl.scan_parquet(parquet(frame, folder)),
    "narwhals of lazy polars": lambda frame, folder: nw.from_native(pl.scan_parquet(parquet(frame, folder))),
    "duckdb over Parquet": lambda frame, folder: duckdb.read_parquet(str(parquet(frame, folder))),
}
SECRETS = [f"secret {i}" for i in range(400)]
INDEXES = {
    "named": pd.Index(SECRETS, name="ssn"),
    "nameless": pd.Index(SECRETS),
    "several": pd.MultiIndex.from_arrays([SECRETS, range(400)], names=["ssn", None]),
    "numbers": pd.Index(list(range(7000, 7800, 2)), name="ssn"),
}
# Dask has no index of several levels.
CASES = [(way, index) for way in WAYS for index in INDEXES if not ("dask" in way and index == "several")]
CASES += [(way, "nameless") for way in NAMELESS]
COLUMNS = ["age", "town", "ill", "pay"]


def people(index=None):
    return pd.DataFrame(patients(), index=index)[COLUMNS]


def came(way, index, folder):
    return {**WAYS, **NAMELESS}[way](people(INDEXES[index]), folder)


@pytest.mark.parametrize("way, index", CASES)
def test_an_index_that_nobody_named_stays_behind(way, index, tmp_path):
    data = came(way, index, tmp_path)
    release = ic.Table(data, ["age"], sensitive="ill", other="keep").publish(levels={"age": 1}, k=5)
    assert release.columns == COLUMNS
    assert release.to_arrow().column_names == COLUMNS and list(release.to_pandas().columns) == COLUMNS
    assert "secret" not in str(release.to_arrow().to_pydict())
    assert release.to_pandas().index.equals(pd.RangeIndex(400))


@pytest.mark.parametrize("way, index", [case for case in CASES if "arquet file" not in case[0]])
def test_looking_at_a_frame_and_suggesting_leave_it_behind_too(way, index, tmp_path):
    data = came(way, index, tmp_path)
    if "batches" not in way:
        assert [column.name for column in ic.profile(data, values=True).columns] == COLUMNS
        assert set(ic.init(data).table().roles) <= set(COLUMNS)
        made = ic.Anonymizer({"age": ic.intervals(40)}, k=5).fit(data)
        assert list(made.get_feature_names_out()) == COLUMNS and made.release_.columns == ["age"]
        assert list(pa.table(made.transform(data)).column_names)[:4] == COLUMNS


@pytest.mark.parametrize("way", [way for way in WAYS if way != "duckdb"])
def test_an_index_that_is_an_attribute_takes_part(way, tmp_path):
    frame = people().set_index("town")
    release = ic.Table(WAYS[way](frame, tmp_path), ["town"], sensitive="ill", other="keep").publish(k=5)
    assert sorted(release.columns) == sorted(COLUMNS)
    assert sorted(set(release.to_arrow()["town"].to_pylist())) == ["Lyon", "Milan", "Paris", "Rome"]
    out = release.to_pandas()
    assert ic.verify(out, certificate=release.certificate).holds, "also where the release has it as its index"
    (tmp_path / "out").mkdir()
    path = release.write(tmp_path / "out/release.csv")
    assert ic.verify(out, certificate=f"{path}.certificate.json").criteria["k"].holds


def test_a_column_called_as_an_index_is_called_is_one_where_it_is_declared():
    table = pa.Table.from_pandas(people(pd.Index(["a", "b"] * 200)))
    assert ic.Table(table, ["__index_level_0__"]).publish(k=5).columns == ["__index_level_0__"]
    strange = {"__index_level_x__": [1, 1], "__index_level___": [1, 1], "index": [1, 1], "a": [1, 1]}
    assert ic.Table(strange, ["a"], other="keep").publish(k=2).columns == list(strange), "only the name that pandas gives"


def test_metadata_that_say_nothing_sensible_are_no_index():
    for words in (b"", b"{", b"[]", b"{}", b'{"index_columns": 3}', b'{"index_columns": [null, {"kind": "range"}, "b"]}'):
        table = pa.table({"a": [1, 1], "b": [2, 2]}).replace_schema_metadata({b"pandas": words})
        expected = ["a"] if b'"b"' in words else ["a", "b"]
        assert ic.Table(table, ["a"], other="keep").publish(k=2).columns == expected
