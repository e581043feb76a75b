"""Nothing needs to be installed beside the package: tables come from dicts, records, files, pandas or polars alone."""

import datetime
import json
import os
import pathlib
import pickle
import random
import subprocess
import sys
import textwrap
import zoneinfo
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import patients

import incrowd as ic
from incrowd import _native, _plain
from incrowd._frames import frame_of, to_pandas

PACKAGE = pathlib.Path(ic.__file__).parent
SITE = pathlib.Path(pd.__file__).parents[1]

# What every way must come to: the same records, the same certificate.
ASKED = """
    def asked(table):
        release = table.publish(k=3, max_suppressed=0.2)
        assert release.verify().holds
        return [release.to_dict(), release.certificate.to_dict()["levels"], len(release)]
"""

DATA = """
    columns = {
        "name": list("abcdefgh"), "age": [28, 31, 30, 32, 35, 33, 34, None], "ill": list("xyzxyzxy"),
        "seen": [datetime.date(2024, 1, day) for day in range(1, 9)], "odd": [1, "a", [], {}, None, 2.5, b"", object()],
    }
    roles = {"quasi_identifiers": {"age": ic.intervals(5, 10, origin=17)}, "sensitive": "ill", "identifiers": "name"}
"""


def run(code, *, libraries, path):
    """What a Python says that has these libraries and no others, as far as it can import them."""
    said = [
        "import sys",
        f"sys.path[:0] = [{str(PACKAGE.parent)!r}]",
        *([f"sys.path.append({str(SITE)!r})"] if libraries else []),
        # What is None here cannot be imported.
        *(f"sys.modules[{name!r}] = None" for name in ("pyarrow", "polars", "pandas") if name not in libraries),
        "import datetime, json, os, warnings",
        "import incrowd as ic",
        textwrap.dedent(ASKED),
        textwrap.dedent(DATA),
        textwrap.dedent(code),
    ]
    # -S: without what is installed.
    done = subprocess.run([sys.executable, "-S", "-c", "\n".join(said)], cwd=path, capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": ""})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


EXPECTED = [
    {"age": ["27-31"] * 3 + ["32-36"] * 4, "ill": ["x", "y", "z", "x", "x", "y", "z"]},
    {"age": 1},
    7,
]


def test_with_nothing_installed(tmp_path):
    found = run("""
        made = {"dict": asked(ic.Table(columns, **roles))}
        records = [dict(zip(columns, row)) for row in zip(*columns.values())]
        made["records"] = asked(ic.Table(records, **roles))
        with open("people.csv", "w") as file:
            for row in [columns, *({name: record[name] for name in columns} for record in records)]:
                cells = list(row)[:4] if row is columns else list(row.values())[:4]
                print(",".join("" if cell is None else str(cell) for cell in cells), file=file)
        made["csv"] = asked(ic.Table("people.csv", **roles))
        table = ic.Table(columns, **roles)
        release = table.publish(k=3, max_suppressed=0.2)
        release.write("release.parquet")
        made["kept"] = ic.verify("release.parquet").answer
        made["frame"] = release.to_frame() == release.to_dict()
        table.save("project")
        made["project"] = asked(ic.open("project"))
        import pickle
        made["pickled"] = asked(pickle.loads(pickle.dumps(table)))
        made["release"] = pickle.loads(pickle.dumps(release)).to_dict() == release.to_dict()
        hide = ic.Anonymizer(**roles, k=3, max_suppressed=0.2, other=())
        made["anonymizer"] = hide.fit_transform(columns)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            made["profile"] = [column.name for column in ic.profile(columns).columns]
            made["heard"] = [str(warning.message) for warning in heard if "odd" in str(warning.message)]
        made["risk"] = table.risk().n_unique
        made["html"] = len(table.annotate()._repr_html_()) > 100
        made["without"] = []
        for way in (release.to_arrow, release.to_pandas, release.to_polars, table.risk().to_pandas, lambda: ic.Table(columns, ["age"], other="odd")):
            try:
                way()
            except ic.Error as error:
                made["without"].append(str(error))
        print(json.dumps(made, default=str))
    """, libraries=(), path=tmp_path)
    for way in ("dict", "records", "csv", "project", "pickled"):
        assert found[way] == EXPECTED, way
    assert found["kept"] == "kept" and found["frame"] and found["release"] and found["html"]
    assert found["anonymizer"]["age"] == ["27-31"] * 3 + ["32-36"] * 4 + [None]
    assert found["profile"] == ["name", "age", "ill", "seen"] and len(found["heard"]) == 1 and found["risk"] == 8
    libraries = ("pyarrow", "pandas", "polars", "pandas")
    assert all(f"pip install {name}" in said for name, said in zip(libraries, found["without"])) and "'odd'" in found["without"][4]


METHODS = ["top-down", "bottom-up", "mondrian", "mondrian-relaxed", "cells", "deal", "per-record"]

ANONYMIZED = """
    methods = {methods}

    def hidden(X, names=("age", "town", "ill")):
        found = {{}}
        for method in methods:
            more = {{"utility_at_least": 0.5}} if method == "per-record" else {{"k": 3}}
            named = [(name if names else i) for i, name in enumerate(["age", "town", "ill"])]
            hide = ic.Anonymizer(dict.fromkeys(named[:2], ic.flat()), sensitive=named[2], method=method, **more)
            made = hide.fit_transform(X)
            rows = made.tolist() if hasattr(made, "tolist") else list(zip(*(list(made[name]) for name in names)))
            # New records come into the groups that they fit, whatever order they are in.
            again = hide.transform(X[::-1]) if hasattr(made, "tolist") else made
            n_again = len(again if hasattr(made, "tolist") else again[names[0]])
            found[method] = [[None if cell != cell else cell for cell in row] for row in rows], n_again
        return found
"""


def anonymized():
    chance = random.Random(7)
    rows = [[chance.randint(20, 60), chance.choice("abcd"), chance.choice("xyz")] for _ in range(60)]
    rows[5][0] = None
    return {name: [row[i] for row in rows] for i, name in enumerate(["age", "town", "ill"])}


@pytest.mark.parametrize("libraries", [(), ("numpy",), ("pandas",)])
def test_local_methods_in_a_pipeline_without_pyarrow(libraries, tmp_path):
    """What comes back is what comes back where pyarrow is installed, whatever the records were given as."""
    code = textwrap.dedent(ANONYMIZED.format(methods=METHODS))
    columns = anonymized()
    there = {"ic": ic}
    exec(code, there)
    expected = json.loads(json.dumps(there["hidden"](pa.table(columns)), default=lambda cell: cell.as_py()))
    assert all(n == 60 and any(row[0] != str(age) for row, age in zip(rows, columns["age"])) for rows, n in expected.values())
    given = {(): "hidden(columns)", ("pandas",): "hidden(library.DataFrame(columns))",
             ("numpy",): "hidden(library.array(list(zip(*columns.values())), dtype=object), names=())"}[libraries]
    library = f"import {libraries[0]} as library" if libraries else ""
    found = run(f"{library}\ncolumns = {columns!r}\n{code}\nprint(json.dumps({given}, default=str))", libraries=libraries, path=tmp_path)
    for method in METHODS:
        assert found[method] == expected[method], method


def test_an_array_without_pandas_comes_back_as_with_it(tmp_path):
    code = """
        import numpy
        X = numpy.array([[31, 1.5], [31, 2.5], [40, numpy.nan], [40, 4.0], [99, 5.0]])
        Y = numpy.array([[31, 1.5], [33, 2.5], [40, numpy.nan], [41, 4.0], [99, 5.0]])
        made = [ic.Anonymizer([0], k=2, max_suppressed=1), ic.Anonymizer({0: ic.intervals(10)}, k=2, max_suppressed=1)]
        shown = [hide.fit_transform(of) for hide, of in zip(made, (X, Y))]
        try:
            ic.Anonymizer([0], k=2).fit(X[:1])
        except ic.Error as error:
            refused = str(error)
        print(json.dumps([[repr(X.tolist()), X.shape, str(X.dtype)] for X in shown] + [refused]))
    """
    found = run(code, libraries=("numpy",), path=tmp_path)
    assert found == run(code, libraries=("numpy", "pandas", "pyarrow"), path=tmp_path)
    assert found[0][1:] == [[5, 2], "float64"] and found[1][1:] == [[5, 2], "object"] and "1 sample" in found[2]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_with_one_library_and_no_pyarrow(library, tmp_path):
    found = run(f"""
        import {library} as library
        plain = {{name: values for name, values in columns.items() if name != "odd" or {library!r} == "pandas"}}
        df = library.DataFrame(plain)
        table = ic.Table(df, **roles)
        made = {{"frame": asked(table)}}
        release = table.publish(k=3, max_suppressed=0.2)
        back = release.to_frame()
        made["type"] = type(back).__module__.split(".")[0]
        made["columns"] = {{name: back[name].to_list() for name in back.columns}}
        hide = ic.Anonymizer(**roles, k=3, max_suppressed=0.2, other="seen", publish_unique="seen")
        made["seen"] = [str(value)[:10] for value in hide.fit_transform(df)["seen"].to_list()]
        made["profile"] = [column.name for column in ic.profile(df).columns]
        print(json.dumps(made, default=str))
    """, libraries=(library,), path=tmp_path)
    assert found["frame"] == EXPECTED and found["columns"] == EXPECTED[0] and found["type"] == library
    assert found["seen"][:7] == [f"2024-01-0{day}" for day in range(1, 8)] and found["seen"][7] in ("None", "nan", "NaT")
    assert found["profile"] == ["name", "age", "ill", "seen"]


ZONES = [None, datetime.timezone.utc, zoneinfo.ZoneInfo("Europe/Rome"), datetime.timezone(datetime.timedelta(hours=-3))]


def columns_by_chance(seed):
    """Columns of every type, some with gaps."""
    chance = random.Random(seed)
    n = chance.randint(1, 30)
    gap = chance.choice([0.0, 0.3])

    def made(one):
        values = [None if chance.random() < gap else one() for _ in range(n)]
        return values if any(value is not None for value in values) else [one() for _ in range(n)]

    def time(zone):
        return datetime.datetime(1970, 1, 1, tzinfo=zone) + datetime.timedelta(microseconds=chance.randint(-(10**15), 10**16))

    zone = chance.choice(ZONES)
    return {
        "bool": made(lambda: chance.random() < 0.5),
        "int": made(lambda: chance.randint(-(2**63), 2**63 - 1)),
        "large": [2**64 - 1, *made(lambda: chance.randint(0, 2**64 - 1))][:n],
        "float": made(lambda: chance.choice([chance.gauss(0, 1e3), 0.0, -0.0, float("inf"), 1e300])),
        "both": [1.5, *made(lambda: chance.randint(-9, 9))][:n],
        "text": made(lambda: chance.choice(["", "a", "żółć", "𝄞", " b "])),
        "date": made(lambda: datetime.date.fromordinal(chance.randint(1, 3_000_000))),
        "time": made(lambda: time(zone)),
        "decimal": made(lambda: Decimal(chance.randint(-(10**9), 10**9)).scaleb(chance.randint(-6, 3))),
        "nothing": [None] * n,
    }


def test_plain_values_are_what_pyarrow_makes_of_them():
    for seed in range(200):
        columns = columns_by_chance(seed)
        for name, values in columns.items():
            ours = frame_of({name: values}, "ours")[0]
            # Numbers above those of 63 bits have to be told to pyarrow.
            known = pa.table({name: pa.array(values, pa.uint64() if name == "large" else None)})[name]
            theirs = _native.Frame(pa.table({name: known}), "theirs")
            assert ours.rows() == theirs.rows(), (seed, name)
            # Texts have long offsets here; everything else has the very same type.
            made = pa.table(ours)[name]
            assert name == "text" or made.type == known.type, (seed, name)
            assert _plain.values_of(ours, name) == known.to_pylist(), (seed, name)


def series_by_chance(seed):
    columns = columns_by_chance(seed)
    series = {name: pd.Series(values) for name, values in columns.items() if name != "large"}
    n = len(columns["int"])
    rng = np.random.default_rng(seed)
    for width in ("int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64", "float32", "float64"):
        series[width] = pd.Series(rng.integers(0, 100, n).astype(width))
    series["nan"] = pd.Series(np.where(rng.random(n) < 0.5, np.nan, rng.random(n)))
    series["Int64"] = pd.Series(columns["int"], dtype="Int64")
    series["boolean"] = pd.Series(columns["bool"], dtype="boolean")
    series["Float64"] = pd.Series([None, *range(n)][:n], dtype="Float64")
    series["string"] = pd.Series(columns["text"], dtype="string")
    series["category"] = pd.Series(columns["text"]).astype("category")
    series["ordered"] = pd.Series(pd.Categorical(rng.integers(0, 3, n), ordered=True))
    for unit in ("s", "ms", "us", "ns"):
        times = pd.Series(rng.integers(-(10**9), 10**9, n).astype(f"M8[{unit}]"))
        series[unit] = times.mask(pd.Series(rng.random(n) < 0.2))
        series[f"{unit} zone"] = times.dt.tz_localize("UTC").dt.tz_convert("Europe/Rome")
    return series


def test_pandas_without_pyarrow_is_pandas_with_it(monkeypatch):
    for seed in range(40):
        for name, series in series_by_chance(seed).items():
            df = pd.DataFrame({name: series})
            with_it, origin = frame_of(df, "frame")
            expected = to_pandas(with_it, origin, [name])
            with monkeypatch.context() as without:
                without.setattr("incrowd._frames._pyarrow", lambda: None)
                without_it, same = frame_of(df, "frame")
                assert without_it.rows() == with_it.rows() and same == origin, (seed, name)
                made = to_pandas(without_it, origin, [name])
                bare = to_pandas(without_it, origin, [])
            pd.testing.assert_frame_equal(made, expected)
            if series.dtype != "category" and str(series.dtype) not in ("Int64", "boolean", "Float64", "string"):
                known = to_pandas(with_it, origin, [])
                if "-03:00" in str(bare[name].dtype):
                    # pyarrow brings classes of its own for such zones.
                    bare[name], known[name] = bare[name].dt.tz_convert("UTC"), known[name].dt.tz_convert("UTC")
                pd.testing.assert_frame_equal(bare, known)


def test_arrays_of_numpy_in_a_dict():
    values = {"int": np.arange(5, dtype=">i4"), "bool": np.array([True, False] * 2 + [True]), "half": np.ones(5, "f2"),
              "text": np.array(list("abcde")), "day": np.array(["2024-01-01"] * 4 + ["NaT"], "M8[D]"),
              "ns": np.array(["2024-01-01T00:00:00.000000001"] * 5, "M8[ns]"), "scalars": list(np.arange(5.0))}
    frame, _ = frame_of(values, "frame")
    rows = frame.rows()
    assert [row[0] for row in rows] == list("01234") and rows[4][4] is None and rows[0][4] == "2024-01-01"
    assert rows[0][5] == "2024-01-01T00:00:00.000000001" and frame.columns == list(values)


@pytest.mark.parametrize("values", [[1, "a"], [[1]], [b"x"], [datetime.time(1)], ["\ud800"], [2**70], np.zeros((2, 2)), "ab", 3,
                                    [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 1, tzinfo=ZONES[1])],
                                    [Decimal("NaN")]])
def test_what_is_not_read_is_refused_by_name_or_no_obstacle(values):
    n = len(values) if isinstance(values, (list, np.ndarray)) else 2
    columns = {"age": [31] * n, "odd": values}
    assert ic.Table(columns, ["age"]).count().n_records == n
    with pytest.raises(ic.Error, match="'odd'"):
        ic.Table(columns, ["age", "odd"])


def test_a_dict_that_is_no_table():
    with pytest.raises(ic.Error, match="same length"):
        ic.Table({"age": [1, 2], "ill": ["a"]}, ["age"], sensitive="ill")
    with pytest.raises(ic.Error, match="not texts"):
        ic.Table({1: [1, 2]}, ["1"])


def test_a_pickle_has_every_type():
    data = pa.table({"list": pa.array([[1], [2, 3], None]), "age": [1, 1, 2], "cat": pa.array(["a", "b", "a"]).dictionary_encode(),
                     "view": pa.array(["x", "y", None], pa.string_view()), "b": pa.array([b"1", None, b"2"])})
    frame, _ = frame_of(data, "frame")
    assert pa.table(_native.Frame.unpacked(frame.packed(), "again")).equals(data)
    table = ic.Table(pa.table(patients()), ["age"], sensitive="ill")
    assert pickle.loads(pickle.dumps(table)).count() == table.count()
