"""From the notebook to the others and back: projects that are saved, and results as frames and pictures."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import urllib.request

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from conftest import patients, roles

import incrowd as ic

ASKED = {"k": 5, "max_suppressed": 0.2}
EVIL = 'a "quoted"; name.with = [odd] \x7f\\ ünïcode'


def test_a_saved_table_answers_as_before_here_and_on_the_command_line(table, program, tmp_path):
    folder = table.save(tmp_path / "project")
    opened = ic.open(folder)
    assert opened.roles == table.roles and opened.negotiate(**ASKED) == table.negotiate(**ASKED)
    asked = [program, "negotiate", folder, "--k", "5", "--max-suppressed", "20%", "--json"]
    said = subprocess.run(list(map(str, asked)), capture_output=True, text=True, timeout=60)
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout)["exact"]["levels"] == table.negotiate(**ASKED).exact.levels
    assert opened.publish(**ASKED).to_arrow().to_pydict() == table.publish(**ASKED).to_arrow().to_pydict()


def test_the_folder_has_what_was_named_and_no_more(tmp_path):
    columns = {**patients(), "diary": ["secret"] * 400}
    ic.Table(columns, **roles()).save(tmp_path)
    assert pa.parquet.read_table(tmp_path / "data.parquet").column_names == list(patients())
    beside = ic.Table({"age": [1, 1], "w": [2, 3], "x": [4, 5]}, ["age"], weight_of="w")
    beside.save(tmp_path / "beside")
    assert pa.parquet.read_table(tmp_path / "beside/data.parquet").column_names == ["age", "w"]


def test_nothing_is_replaced_unless_it_is_forced(table, tmp_path):
    (tmp_path / "incrowd.toml").write_text("mine")
    with pytest.raises(ic.Error, match="there already"):
        table.save(tmp_path)
    assert os.listdir(tmp_path) == ["incrowd.toml"] and (tmp_path / "incrowd.toml").read_text() == "mine"
    assert ic.open(table.save(tmp_path, force=True)).roles == table.roles
    with pytest.raises(ic.Error, match="project already"):
        ic.open(tmp_path).save(tmp_path / "again")


def test_names_rules_and_populations_of_every_kind(tmp_path):
    (tmp_path / "zip.csv").write_text("1;a;*\n2;a;*\n")
    columns = {EVIL: ["x;y", 'q"q', " s"], "zip": ["1", "2", "1"], "age": [1, 2, 3], "n": [1, 1, 1], "s": list("abc")}
    rules = {EVIL: {"x;y": "A", 'q"q': "A", " s": "B;"}, "zip": tmp_path / "zip.csv", "age": lambda age: "odd" if age % 2 else "even",
             "n": ic.tree({"N": ["1"]})}
    table = ic.Table(columns, rules, sensitive="s", population=columns,
                     weights={"zip": 2.0}, missing=["", "?"])
    opened = ic.open(table.save(tmp_path / "made"))
    for name in rules:
        assert opened.hierarchy(name).rows == table.hierarchy(name).rows
    assert opened.negotiate(k_map=1, k=3) == table.negotiate(k_map=1, k=3)


def test_a_table_is_served_until_it_is_stopped():
    code = """
        import incrowd as ic
        ic.serve(ic.Table({"age": [31, 31, 40]}, ["age"]), token="0123456789abcdef")
        print("ended")
    """
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(ic.__file__))}
    child = subprocess.Popen([sys.executable, "-uc", textwrap.dedent(code)], env=env, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
    try:
        line = child.stdout.readline()
        assert "incrowd is at http://" in line, line + child.stdout.read()
        address = line.split("incrowd is at ")[1].split("/#")[0]
        assert urllib.request.urlopen(address, timeout=30).status == 200
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=30) is not None
    finally:
        child.kill()
        child.stdout.close()
        child.wait()


def results():
    table = ic.Table(pa.table(patients()), **roles())
    release = table.publish(**ASKED)
    return {
        "lattice": (table.annotate(), "levels.age"),
        "frontier": (table.frontier(max_suppressed=0.1), "levels.age"),
        "compare": (table.compare(5, methods=["top-down"], queries=5), "loss.ncp"),
        "risk": (table.risk(), None),
        "counts": (table.count(), None),
        "groups": (release.groups(), "n_records"),
        "attack": (ic.attack(release), None),
        "study": (ic.study_deal([30, 20, 10], range(2, 4)), "k"),
    }


def test_results_are_frames():
    for name, (result, column) in results().items():
        frames = result.to_pandas(), result.to_polars(), result.to_arrow()
        assert [type(frame) for frame in frames] == [pd.DataFrame, pl.DataFrame, pa.Table]
        columns = [list(frames[0].columns), frames[1].columns, frames[2].column_names]
        assert columns[0] == columns[1] == columns[2] and len(columns[0]) > 0, name
        assert len(frames[0]) == len(frames[1]) == len(frames[2]) > 0, name
        assert column is None or column in columns[0], columns[0]
        assert "<table" in result._repr_html_() or "<svg" in result._repr_html_()


def test_frames_say_what_objects_say():
    found = results()
    frontier, groups = found["frontier"][0], found["groups"][0]
    frame = frontier.to_pandas()
    assert list(frame["k"]) == [bargain.k for bargain in frontier]
    assert list(frame["levels.age"]) == [bargain.levels["age"] for bargain in frontier]
    assert groups.to_pandas()["n_records"].min() >= 5
    lattice = found["lattice"][0]
    assert len(lattice.to_pandas(k=5)) == lattice.n_schemes and "n_suppressed" in lattice.to_pandas(k=5).columns
    assert lattice.pyramid(k=5).svg.startswith("<svg")
