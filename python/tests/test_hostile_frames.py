"""Frames that were not made for this: what nobody names is no obstacle, and what is named is published or refused."""

import datetime
import io
import os
import subprocess
import sys
import textwrap
import uuid
import warnings

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import incrowd as ic

BASE = {"age": [31, 32, 41, 42], "ill": ["a", "b", "a", "b"]}
SECRET = "secret"
ARROW = {
    "list": pa.array([["secret"]] * 4),
    "time": pa.array([datetime.time(1)] * 4),
    "duration": pa.array([datetime.timedelta(1)] * 4),
    "binary": pa.array([b"secret"] * 4),
    "uuid": pa.array([uuid.UUID(int=7).bytes] * 4, pa.binary(16)),
    "null": pa.nulls(4),
    "struct": pa.array([{"a": "secret"}] * 4),
    "float16": pa.array([1.0] * 4, pa.float16()),
    "interval": pa.array([(1, 2, 3)] * 4, pa.month_day_nano_interval()),
    "decimal256": pa.array([1] * 4).cast(pa.decimal256(50, 2)),
    "map": pa.array([[("a", 1)]] * 4, pa.map_(pa.string(), pa.int32())),
}
PANDAS = {
    "mixed": [1, "secret", None, b"x"],
    "objects": [object()] * 4,
    "complex": [1j] * 4,
    "interval": pd.IntervalIndex.from_breaks([0, 1, 2, 3, 4]),
    "timedelta": pd.to_timedelta([1, 2, 3, 4], unit="h"),
    "dicts": [{"a": "secret"}] * 4,
}
FRAMES = {
    **{f"arrow {name}": (lambda column=column: pa.table({**BASE, "odd": column})) for name, column in ARROW.items()},
    **{f"pandas {name}": (lambda column=column: pd.DataFrame(BASE).assign(odd=column)) for name, column in PANDAS.items()},
    "polars int128": lambda: pl.DataFrame(BASE).with_columns(odd=pl.col("age").cast(pl.Int128)),
    "polars object": lambda: pl.DataFrame(BASE).with_columns(pl.Series("odd", [object()] * 4, dtype=pl.Object)),
    "narwhals": lambda: nw.from_native(pd.DataFrame(BASE).assign(odd=[1, "secret", None, b"x"])),
    "mostly null": lambda: pd.DataFrame(BASE).assign(odd=[None, None, None, "secret"]),
    "zones": lambda: pd.DataFrame(BASE).assign(odd=pd.to_datetime(["2024-01-01"] * 4).tz_localize("Asia/Tokyo")),
    "identifiers in the index": lambda: pd.DataFrame(BASE, index=pd.Index([f"secret {i}" for i in range(4)], name="odd")),
}
RULES = {"age": ic.intervals(10)}


def table(frame, **more):
    return ic.Table(frame, RULES, sensitive="ill", **more)


VERBS = {
    "count": lambda frame: table(frame).count(),
    "annotate": lambda frame: table(frame).annotate().schemes(k=2),
    "negotiate": lambda frame: table(frame).negotiate(k=2),
    "frontier": lambda frame: table(frame).frontier(),
    "publish": lambda frame: table(frame).publish(k=2).to_arrow().to_pydict(),
    "top-down": lambda frame: table(frame).publish(method="top-down", k=2).to_arrow().to_pydict(),
    "per-record": lambda frame: table(frame).publish(method="per-record", utility_at_least=0.1).to_arrow().to_pydict(),
    "risk": lambda frame: table(frame).risk(),
    "compare": lambda frame: table(frame).compare(2, methods=["top-down"], queries=5).rows[0].loss["ncp"],
    "verify": lambda frame: ic.verify(frame, ["age"], k=2),
    "attack": lambda frame: ic.attack(table(frame).publish(k=2), outside=frame, quasi_identifiers=["age"]),
}

@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", FRAMES)
def test_what_nobody_names_is_no_obstacle(kind, verb):
    said = VERBS[verb](FRAMES[kind]())
    plain = VERBS[verb](pa.table(BASE))
    assert str(said) == str(plain) and SECRET not in str(said)


@pytest.mark.parametrize("kind", FRAMES)
def test_what_is_named_is_published_as_it_is_or_refused_by_name(kind):
    try:
        release = table(FRAMES[kind](), other="odd", publish_unique="odd").publish(k=2)
    except ic.Error as error:
        assert "'odd'" in str(error) and SECRET not in str(error)
    else:
        assert "odd" in release.columns and len(release) == 4


@pytest.mark.parametrize("kind", FRAMES)
def test_what_is_looked_at_is_told_or_not_read_and_said_to_be(kind):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = ic.profile(FRAMES[kind]())
    columns = [column.name for column in found.columns]
    unread = any("not read because of its type: odd" in str(warning.message) for warning in heard)
    is_index = kind == "identifiers in the index"
    assert columns[:2] == ["age", "ill"] and ("odd" in columns) != (unread or is_index)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ic.PrivacyWarning)
        assert "age" in ic.init(FRAMES[kind]()).table().roles


@pytest.mark.parametrize("kind", FRAMES)
def test_a_transformer_leaves_it_where_it_is(kind):
    frame = FRAMES[kind]()
    if kind.startswith("polars"):
        with pytest.raises(ic.Error, match="'odd'"):
            ic.Anonymizer(RULES, k=2).fit_transform(frame)
        return
    made = ic.Anonymizer(RULES, k=2).fit(frame)
    assert made.release_.columns == ["age"]
    out = made.transform(frame)
    assert len(out) == 4 and (kind.startswith("identifiers") or "odd" in list(made.get_feature_names_out()))
    if kind == "pandas mixed":
        assert list(out["odd"]) == PANDAS["mixed"] and list(out.columns) == ["age", "ill", "odd"]


def test_names_that_nobody_can_say_and_names_that_are_there_twice():
    twice = pd.DataFrame([[31, 1, 2]] * 2, columns=["age", "x", "x"])
    assert ic.Table(twice, ["age"]).publish(k=2).columns == ["age"]
    with pytest.raises(ic.Error, match="several columns have the name 'x'"):
        ic.Table(twice, ["x"])
    with pytest.raises(ic.Error, match="several columns have the name 'x'"):
        ic.Table(twice, ["age"], other="keep")
    arrow = pa.Table.from_arrays([pa.array([31, 31])] * 3, names=["age", "x", "x"])
    assert ic.Table(arrow, ["age"]).publish(k=2).columns == ["age"]
    numbers = pd.DataFrame([[31, 1]] * 2, columns=["age", 7])
    assert ic.Table(numbers, ["age"]).publish(k=2).columns == ["age"]
    with pytest.raises(ic.Error, match="not texts"):
        ic.Table(numbers, ["age"], other="keep")
    levels = pd.DataFrame([[31, 1]] * 2, columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]))
    with pytest.raises(ic.Error, match="not texts"):
        ic.Table(levels, ["a"])


def test_tables_come_in_from_dicts_and_records():
    records = [{"age": 31, "ill": "a"}, {"age": 31}, {"age": 31, "ill": "b", "more": 1}]
    out = ic.Table(records, ["age"], sensitive="ill", other="more").publish(k=3).to_arrow()
    assert out.column_names == ["age", "ill", "more"] and sorted(map(str, out["ill"].to_pylist())) == ["None", "a", "b"]
    with pytest.raises(ic.Error, match="'x' holds values of different types"):
        ic.Table({"x": [1, "a"]}, ["x"])
    with pytest.raises(ic.Error, match="same length"):
        ic.Table({"x": [1], "y": [1, 2]}, ["x"])


def test_what_is_read_when_it_is_asked_for_reads_what_is_named(tmp_path):
    pa.parquet.write_table(pa.table({**BASE, "odd": ARROW["list"]}), tmp_path / "part.parquet")
    asked = []

    def watched(batch):
        asked.append(batch.columns)
        return batch

    lazy = pl.scan_parquet(tmp_path / "part.parquet").map_batches(watched, projection_pushdown=True)
    dataset = pa.dataset.dataset(tmp_path)
    relation = duckdb.read_parquet(str(tmp_path / "part.parquet"))
    expected = table(pa.table(BASE)).publish(k=2).to_arrow().to_pydict()
    for source in (lazy, dataset, dataset.scanner(columns=["age", "ill"]), relation, nw.from_native(lazy)):
        assert table(source).publish(k=2).to_arrow().to_pydict() == expected
    assert "odd" not in table(dataset)._columns and "odd" not in table(relation)._columns
    assert table(lazy)._columns == ["age", "ill"]


def test_hive_folders(tmp_path):
    pa.dataset.write_dataset(pa.table({**BASE, "year": [1, 1, 2, 2]}), tmp_path, format="parquet",
                             partitioning=pa.dataset.partitioning(pa.schema([("year", pa.int64())]), flavor="hive"))
    dataset = pa.dataset.dataset(tmp_path, partitioning="hive")
    assert table(dataset, other="year").publish(k=2).to_arrow()["year"].to_pylist() == [1, 1, 2, 2]


def test_hierarchies_as_pandas_has_them():
    series = pd.Series({31: "30s", 32: "30s", 41: "40s", 42: "40s"})
    file = pd.read_csv(io.StringIO("31;30s;*\n32;30s;*\n41;40s;*\n42;40s;*\n"), sep=";", header=None)
    rows = [[31, "30s"], [32, "30s"], (41, "40s"), (42, "40s")]
    for rule in (series, file, rows, tuple(rows)):
        assert ic.Table(BASE, {"age": rule}).hierarchy("age").rows[0] == ["31", "30s", "*"]
    for rule in ([], [31, 32], ["31", "32"], [[]]):
        with pytest.raises(ic.Error, match="a list gives each value a row"):
            ic.Table(BASE, {"age": rule})


def test_arrays_of_numpy():
    X = np.array([[31, 1.5], [32, 2.5], [41, 3.5], [42, 4.5], [99, 5.5]])
    made = ic.Anonymizer({0: ic.intervals(10)}, k=2, max_suppressed=1).fit(X)
    out = made.transform(X)
    assert out[:, 0].tolist() == ["30-39", "30-39", "40-49", "40-49", None] and out[4, 1] is None
    assert made.n_features_in_ == 2 and not hasattr(made, "feature_names_in_")
    assert list(made.get_feature_names_out()) == ["x0", "x1"]
    with pytest.raises(ValueError, match="X has 1 features, but Anonymizer is expecting 2"):
        made.transform(X[:, :1])
    plain = ic.Anonymizer([0], k=2).fit_transform(np.array([[1, 5], [1, 6]]))
    assert plain.tolist() == [[1, 5], [1, 6]] and plain.dtype.kind == "i"
    with pytest.raises(ic.Error, match="no column 7"):
        ic.Anonymizer([7], k=2).fit(X)


def test_dicts_come_in_without_pyarrow():
    code = """
        import sys
        sys.modules["pyarrow"] = None
        import pickle, incrowd as ic, polars as pl
        for data in ({"age": [31, 31, 40, 40]}, [{"age": age} for age in (31, 31, 40, 40)], pl.DataFrame({"age": [31, 31, 40, 40]})):
            release = pickle.loads(pickle.dumps(ic.Table(data, ["age"]))).publish(k=2)
            assert release.to_polars()["age"].to_list() == [31, 31, 40, 40] and release.verify().holds
    """
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(ic.__file__))}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
