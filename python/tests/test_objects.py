"""Tables, lattices, answers and releases go where other objects of Python go: into pickles, copies and processes."""

import copy
import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor

import joblib
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import patients, roles

import incrowd as ic

ASKED = {"k": 5, "max_suppressed": 0.2}


def again(thing):
    return pickle.loads(pickle.dumps(thing))


def joblib_again(thing, folder):
    joblib.dump(thing, folder / "thing.joblib")
    return joblib.load(folder / "thing.joblib")


def test_a_table_comes_back_and_answers_as_before(table, tmp_path):
    answer = table.negotiate(**ASKED)
    for copied in (again(table), copy.copy(table), copy.deepcopy(table), joblib_again(table, tmp_path)):
        assert copied.roles == table.roles and copied.negotiate(**ASKED) == answer
        assert type(copied.publish(**ASKED).to_frame()) is type(table.publish(**ASKED).to_frame())


def test_functions_and_populations_come_back():
    columns = patients()
    people = ic.Table(columns, {"age": lambda age: "old" if age > 60 else "young", "town": None}, population=columns)
    copied = again(people)
    assert copied.hierarchy("age").rows == people.hierarchy("age").rows and "labels" in copied._repr_html_()
    assert copied.negotiate(k_map=3, max_suppressed=0.5) == people.negotiate(k_map=3, max_suppressed=0.5)


def test_an_index_that_is_an_attribute_comes_back():
    frame = pd.DataFrame(patients()).set_index("town")
    out = again(ic.Table(frame, ["town"], sensitive="ill")).publish(k=5).to_pandas()
    assert out.index.names == ["town"] and list(out.columns) == ["ill"]


def test_a_project_is_opened_again(philosophers, tmp_path, monkeypatch):
    table = ic.open(philosophers)
    kept = pickle.dumps(table)
    monkeypatch.chdir(tmp_path)
    assert pickle.loads(kept).count() == table.count()


def test_a_lattice_comes_back(table):
    lattice = table.annotate(k=5)
    for copied in (again(lattice), copy.deepcopy(lattice)):
        assert repr(copied) == repr(lattice)
        answer = copied.negotiate(**ASKED)
        assert answer == lattice.negotiate(**ASKED) and len(copied.table.publish(answer)) > 0


def test_an_answer_comes_back_without_the_records(table):
    answer = table.negotiate(**ASKED)
    kept = pickle.dumps(answer)
    assert pickle.loads(kept) == answer and b"person 1" not in kept
    with pytest.raises(ic.Error, match="another table"):
        table.publish(pickle.loads(kept))


SECRET = "only a suppressed record has this"


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_pickle_of_a_release_has_what_is_published_and_no_more(make):
    columns = {"age": [30, 30, 30, 77], "ill": ["flu", "gout", "flu", SECRET], "name": ["Ann", "Bob", "Cid", SECRET]}
    frame = make(columns)
    if make is pd.DataFrame:
        frame["ill"] = frame["ill"].astype("category")
    elif make is pl.DataFrame:
        frame = frame.with_columns(pl.col("ill").cast(pl.Enum(["flu", "gout", SECRET])))
    release = ic.Table(frame, ["age"], sensitive="ill", identifiers="name").publish(k=3, max_suppressed=1)
    kept = pickle.dumps(release)
    assert SECRET.encode() not in kept and b"Ann" not in kept and release.account.key.encode() not in kept
    copied = pickle.loads(kept)
    assert copied == release and copied.verify().holds
    assert copied.to_arrow().equals(release.to_arrow()) and type(copied.to_frame()) is type(release.to_frame())
    assert SECRET not in str(copied.to_frame()) and SECRET not in repr(getattr(copied.to_frame(), "dtypes", ""))
    assert ic.verify(copied).holds and copy.deepcopy(release) is release
    for ask in (lambda: copied.account, lambda: copied.report, lambda: copied.write("never.csv")):
        with pytest.raises(ic.Error, match="was pickled"):
            ask()


def n_schemes(table):
    return table.annotate().n_schemes


def level_of(table):
    return table.negotiate(**ASKED).exact.levels


def test_processes_that_are_spawned():
    table = ic.Table(pa.table(patients()), **roles())
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply_async(n_schemes, [table]).get(timeout=120) == n_schemes(table)
        release = pool.apply_async(ic.Table.publish, [table], ASKED).get(timeout=120)
    assert release.verify().holds and len(release) == len(table.publish(**ASKED))


def test_threads_and_joblib():
    table = ic.Table(pa.table(patients()), **roles())
    expected = level_of(table)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(level_of, [table] * 8)) == [expected] * 8
    assert joblib.Parallel(n_jobs=2)(joblib.delayed(level_of)(table) for _ in range(2)) == [expected] * 2


def test_errors_are_value_errors():
    with pytest.raises(ValueError, match="multiple|no multiple|whole") as raised:
        ic.intervals(5, 7)
    assert isinstance(raised.value, ic.Error) and again(raised.value).hint == raised.value.hint


def test_what_is_worth_knowing_is_a_privacy_warning_and_told_once():
    table = ic.Table({"age": [31, 31, None]}, ["age"], missing_records="drop")
    assert issubclass(ic.PrivacyWarning, UserWarning) and ic.Note is ic.PrivacyWarning
    with pytest.warns(ic.PrivacyWarning) as heard:
        table.count()
        table.publish(k=2)
    assert [str(warning.message) for warning in heard] == [
        '1 of 3 records lack a value and are left out (missing_records="drop")']
