"""A table of a database is published beside itself, from Python as from the command line."""

import sqlite3
import subprocess

import pandas as pd
import pytest
from conftest import patients

import incrowd as ic

pytest.importorskip("adbc_driver_sqlite")

PROJECT = """
[data]
database = "sqlite:clinic.sqlite"
table = "discharges"
[attributes.name]
role = "identifier"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20] }
[attributes.town]
role = "quasi-identifier"
[attributes.ill]
role = "sensitive"
"""


@pytest.fixture
def clinic(tmp_path):
    columns = {name: patients()[name] for name in ("name", "age", "town", "ill")}
    with sqlite3.connect(tmp_path / "clinic.sqlite") as database:
        pd.DataFrame(columns).to_sql("discharges", database, index=False)
    (tmp_path / "incrowd.toml").write_text(PROJECT)
    return tmp_path


def rows(clinic, table):
    with sqlite3.connect(clinic / "clinic.sqlite") as database:
        return database.execute(f"SELECT * FROM {table}").fetchall()


def tables(clinic):
    with sqlite3.connect(clinic / "clinic.sqlite") as database:
        return {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def test_what_is_published_into_a_database_is_what_the_command_line_publishes(clinic, program):
    import adbc_driver_sqlite

    table = ic.open(clinic)
    certificate = table.publish_into("public_here", k=10, max_suppressed=0.05)
    made = rows(clinic, "public_here")
    assert len(made) == certificate.n_records_published > 300 and certificate.columns == ["age", "town", "ill"]
    driver = {"INCROWD_SQLITE_DRIVER": adbc_driver_sqlite._driver_path()}
    done = subprocess.run([program, "publish", "--k", "10", "--max-suppressed", "5%", "--into", "public_there"], cwd=clinic,
                          env=driver, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert made == rows(clinic, "public_there")
    frame = pd.DataFrame(made, columns=["age", "town", "ill"])
    assert ic.verify(frame, certificate=certificate).holds
    # The same order, as a release in memory.
    release = table.publish(k=10, max_suppressed=0.05).to_pandas()
    assert sorted(map(tuple, release.astype(str).values)) == sorted(tuple(map(str, row)) for row in made)


def test_nothing_is_there_where_nothing_is_published(clinic):
    table = ic.open(clinic)
    with pytest.raises(ic.Error):
        table.publish_into("public", k=10, max_suppressed=0, max_level={"age": 0, "town": 0})
    assert tables(clinic) == {"discharges"}
    table.publish_into("public", k=10, max_suppressed=0.05)
    with pytest.raises(ic.Error):
        table.publish_into("public", k=20, max_suppressed=0.05)
    n_before = len(rows(clinic, "public"))
    assert table.publish_into("public", k=20, max_suppressed=0.05, force=True).criteria["k"]["promised"] == 20
    assert tables(clinic) == {"discharges", "public"} and n_before > 300


def test_a_frame_is_in_no_database():
    with pytest.raises(ic.Error, match="database"):
        ic.Table({"age": [31, 31]}, ["age"]).publish_into("public", k=2)


def of_a_frame():
    """A frame with a column for each type that a notebook has, and one that is called as the number of a row might be."""
    frame = pd.DataFrame({name: patients()[name] for name in ("age", "town", "ill")})
    every_other = [i % 2 for i in range(len(frame))]
    frame["n"] = [i % 3 for i in range(len(frame))]
    frame["price"] = [1.5 * odd for odd in every_other]
    frame["seen"] = pd.Timestamp("2024-02-29") + pd.to_timedelta(every_other, unit="h")
    frame["when"] = frame["seen"].dt.tz_localize("Europe/Rome")
    frame["is"] = [odd == 0 for odd in every_other]
    frame["word"] = frame["ill"].astype("category")
    others = ["n", "price", "seen", "when", "is", "word"]
    return ic.Table(frame, {"age": ic.intervals(5, 10, 20), "town": None}, sensitive="ill", other=others,
                    publish_telling=["ill", *others])


def test_a_release_of_a_frame_becomes_a_table(clinic, monkeypatch):
    monkeypatch.chdir(clinic)
    address = "sqlite:clinic.sqlite"
    table = of_a_frame()
    answer = table.negotiate(k=10, max_suppressed=0.05)
    release = table.publish(answer, into="shared", database=address)
    made = rows(clinic, "shared")
    expected = release.to_pandas()
    assert [row[:4] for row in made] == [tuple(row[:4]) for row in expected.astype(object).values.tolist()]
    checked = ic.open(clinic).order("verify", table="shared", database=address, certificate="shared.certificate.json")
    assert checked["answer"] == "kept" and tables(clinic) == {"discharges", "shared"}
    assert (clinic / "shared.report.html").exists()
    # Local methods too; nothing is replaced unasked, and what is no release never is.
    local = table.publish(method="mondrian", k=10)
    assert local.write_into("local", address).name == "local.certificate.json" and len(rows(clinic, "local")) == len(local)
    with pytest.raises(ic.Error, match="already"):
        local.write_into("shared", address)
    local.write_into("shared", address, force=True)
    with pytest.raises(ic.Error, match="no certificate"):
        local.write_into("discharges", address, force=True)
    assert len(rows(clinic, "shared")) == len(local) and len(rows(clinic, "discharges")) == 400
    # A table may be counted and written at once, too.
    certificate = table.publish_into("by_order", database=address, k=10, max_suppressed=0.05)
    assert certificate.n_records_published == len(made) and rows(clinic, "by_order") == made


def test_what_is_no_table_of_a_database_is_refused(clinic, monkeypatch):
    monkeypatch.chdir(clinic)
    table = ic.Table({"age": [31, 31]}, ["age"])
    for asked, said in [
        ({"into": "postgresql://curator@db/clinic"}, "called"),
        ({"database": "sqlite:clinic.sqlite"}, "called"),
        ({"into": "shared"}, "which database"),
        ({"into": "shared", "database": "sqlite:nosuch.sqlite"}, "nosuch"),
        ({"into": "shared", "database": "postgresql://a:secret@db/clinic"}, "password"),
        ({"into": "shared", "database": "mysql://db/clinic"}, "no database"),
        ({"into": "", "database": "sqlite:clinic.sqlite"}, "no name"),
    ]:
        with pytest.raises(ic.Error, match=said) as raised:
            table.publish(k=2, **asked)
        assert "secret" not in str(raised.value)
    with pytest.raises(TypeError, match="force"):
        table.publish(k=2, force=True)
    # A release of another moment is not written beside the table that it is made of.
    with pytest.raises(ic.Error, match="made of is in that database"):
        ic.open(clinic).publish(k=10, max_suppressed=0.05).write_into("shared", "sqlite:clinic.sqlite")
    assert tables(clinic) == {"discharges"}


def test_labels_are_counted_in_place_of_values(clinic):
    table = ic.open(clinic, from_level={"age": 1})
    offer = table.publish(levels={"age": 1}, k=2, max_suppressed=1.0).certificate
    assert offer.to_dict()["from_level"] == {"age": {"level": 1, "name": "width 5"}}
    whole = ic.open(clinic).publish(levels={"age": 2}, k=2, max_suppressed=1.0)
    assert table.publish(levels={"age": 1}, k=2, max_suppressed=1.0).to_pandas().equals(whole.to_pandas())
    with pytest.raises(ic.Error, match="only a database"):
        ic.open(ic.Table({"age": [31, 31]}, ["age"]).save(clinic / "frame"), from_level={"age": 1})
