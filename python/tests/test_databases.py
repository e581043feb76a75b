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


def test_labels_are_counted_in_place_of_values(clinic):
    table = ic.open(clinic, from_level={"age": 1})
    offer = table.publish(levels={"age": 1}, k=2, max_suppressed=1.0).certificate
    assert offer.to_dict()["from_level"] == {"age": {"level": 1, "name": "width 5"}}
    whole = ic.open(clinic).publish(levels={"age": 2}, k=2, max_suppressed=1.0)
    assert table.publish(levels={"age": 1}, k=2, max_suppressed=1.0).to_pandas().equals(whole.to_pandas())
    with pytest.raises(ic.Error, match="only a database"):
        ic.open(ic.Table({"age": [31, 31]}, ["age"]).save(clinic / "frame"), from_level={"age": 1})
