"""The table of orders that all fronts share: the same documents, bytes and refusals as on the command line."""

import json
import random
import subprocess

import pytest
from conftest import ROOT

import incrowd as ic

PROJECT = """
[data]
path = "people.csv"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20] }
[attributes.city]
role = "quasi-identifier"
hierarchy = { tree = { North = ["Oslo", "Umea"], South = ["Rome", "Pisa"] } }
[attributes.job]
role = "quasi-identifier"
[attributes.disease]
role = "sensitive"
[attributes.income]
role = "sensitive"
[attributes.note]
role = "other"
"""

PATIENTS = PROJECT + """[attributes.patient]
role = "person"
"""

ORDERS = json.loads((ROOT / "workbench/tests/orders.json").read_text())

KEY = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"


@pytest.fixture(scope="module")
def folder(tmp_path_factory, program):
    folder = tmp_path_factory.mktemp("orders")
    dice = random.Random(7)
    lines = ["age,city,job,disease,income,note"]
    for i in range(150):
        city, job = dice.choice(["Oslo", "Umea", "Rome", "Pisa"]), dice.choice(["cook", "smith", "clerk"])
        disease = dice.choice(["flu", "cold", "gout", "flu"])
        lines.append(f"{dice.randint(20, 74)},{city},{job},{disease},{dice.randint(0, 3)},n{i % 3}")
    return filled(program, folder, PROJECT, lines)


@pytest.fixture(scope="module")
def patients(tmp_path_factory, program):
    """People with several records each, most of them a year older in some."""
    folder = tmp_path_factory.mktemp("patients")
    dice = random.Random(7)
    lines = ["patient,age,city,job,disease,income,note"]
    for person in range(80):
        age, city = dice.randint(20, 74), dice.choice(["Oslo", "Umea", "Rome", "Pisa"])
        job = dice.choice(["cook", "smith", "clerk"])
        for i in range(dice.randint(1, 4)):
            disease = dice.choice(["flu", "cold", "gout", "flu"])
            lines.append(f"Xp{person},{age + i // 2},{city},{job},{disease},{dice.randint(0, 3)},n{i % 3}")
    return filled(program, folder, PATIENTS, lines)


@pytest.fixture(scope="module")
def delivery(tmp_path_factory, program):
    """Data with cells that cannot be read or are not known, written as in another country; and the next delivery."""
    folder = tmp_path_factory.mktemp("delivery")
    dice = random.Random(11)

    def written(n_records, cities):
        lines = ["age;city;code;disease;income;score;ward;note"]
        for i in range(n_records):
            age = "unknown" if i % 40 == 3 else dice.randint(18, 74)
            code = dice.choice(["250,1", "250,8", "428", "V45,2"])
            disease = dice.choice(["flu", "cold", "gout", "flu"])
            note = "?" if i % 20 == 5 else "n"
            score = f"{dice.randint(0, 40)},5"
            lines.append(f"{age};{dice.choice(cities)};{code};{disease};{dice.randint(900, 1400)};{score};w{i % 4};{note}")
        return "\n".join(lines) + "\n"

    cities = ["Oslo", "Umea", "Rome", "Århus", "Oslo", "Rome", "Pisa"]
    for name, n_records, known in [("next", 130, [*cities, "Bari"]), ("few", 12, cities)]:
        (folder / f"{name}.csv").write_bytes(written(n_records, known).encode("cp1252"))
    project = (ROOT / "workbench/tests/delivery.toml").read_text()
    return filled(program, folder, project, written(150, cities).rstrip("\n").split("\n"), "cp1252")


# Tables that are small, full of gaps, oddly named, counted by label or hidden in a population.
ODD = json.loads((ROOT / "workbench/tests/odd_tables.json").read_text())


@pytest.fixture(scope="module")
def folders(tmp_path_factory, program, folder, patients, delivery):
    """By the name of the table, where it lies."""
    folders = {"people": folder, "patients": patients, "delivery": delivery}
    for name, files in ODD.items():
        folders[name] = tmp_path_factory.mktemp("odd")
        for file, text in files.items():
            (folders[name] / file).write_bytes(text.encode())
        prepare(program, folders[name])
    return folders


def filled(program, folder, project, lines, encoding="utf-8"):
    (folder / "people.csv").write_bytes(("\n".join(lines) + "\n").encode(encoding))
    (folder / "incrowd.toml").write_text(project)
    (folder / "questions.txt").write_text("age in 30..39 and city = Oslo\njob = cook\n")
    prepare(program, folder)
    return folder


def prepare(program, folder):
    """What some orders are about; of some tables nothing can be made."""
    run(program, folder, "annotate", "--k", "2", "-o", "kept.crowd")
    run(program, folder, "publish", "--k", "3", "--max-suppressed", "20%", "-o", "given.csv")


def run(program, folder, *words):
    return subprocess.run([program, "--quiet", *words], capture_output=True, text=True, cwd=folder)


def without_measurements(words):
    """What differs from run to run is not compared."""
    if isinstance(words, dict):
        left_out = ("cpu_seconds", "seconds", "peak_bytes")
        return {name: without_measurements(value) for name, value in words.items() if name not in left_out}
    return [without_measurements(value) for value in words] if isinstance(words, list) else words


def name_of(order):
    return f"{order.get('table', 'people')}: {order['verb']} {' '.join(order['flags'])}"


def take_files(folder):
    """The files that orders write, by name, which are gone afterwards."""
    names = ["made.csv", "made.csv.certificate.json", "made.sav", "made.dta", "made.dta.certificate.json"]
    taken = {}
    for name in [*names, "risks.csv", "next.crowd", "new.toml"]:
        if (folder / name).exists():
            taken[name] = (folder / name).read_bytes()
            (folder / name).unlink()
    return taken


@pytest.mark.parametrize("order", ORDERS, ids=name_of)
def test_any_order_is_answered_as_by_the_command_line(program, folders, monkeypatch, order):
    folder = folders[order.get("table", "people")]
    monkeypatch.chdir(folder)
    command = order.get("command", order["verb"])
    told = json.loads(run(program, folder, command, "--json", *order["flags"]).stdout)
    made = take_files(folder)  # What one front wrote is away before the other writes it.
    table = ic.open(".")
    if "error" in told:
        with pytest.raises(ic.Error) as refused:
            table.order(order["verb"], **order["order"])
        assert refused.value.kind == told["error"]["kind"] or told["error"]["kind"] == "usage"
    else:
        given = table.order(order["verb"], **order["order"])
        assert without_measurements(given) == without_measurements(told)
        assert take_files(folder) == made, "other files, or other bytes"


PUBLISH = [
    (["--k", "4", "--max-suppressed", "10%"], {"k": 4, "max_suppressed": "10%"}),
    (["--k", "6", "--offer", "height"], {"k": 6, "offer": "height"}),
    (["--k", "6", "--offer", "suppression", "--on-demand"], {"k": 6, "offer": "suppression", "on_demand": True}),
    (["--k", "4", "--max-suppressed", "10%", "--partial", "30%"], {"k": 4, "max_suppressed": "10%", "partial": "30%"}),
    (["--k", "4", "--levels", "age=3,city=1,job=1"], {"k": 4, "levels": {"age": 3, "city": 1, "job": 1}}),
    (["--method", "top-down", "--k", "5", "--seed", "3", "--cells", "sets"],
     {"method": "top-down", "k": 5, "seed": 3, "cells": "sets"}),
    (["--method", "mondrian", "--k", "5", "--two-columns"], {"method": "mondrian", "k": 5, "two_columns": True}),
    (["--method", "deal", "--k", "6", "--plain"], {"method": "deal", "k": 6, "plain": True}),
    (["--method", "per-record", "--utility-at-least", "60%", "--also-k", "3"],
     {"method": "per-record", "utility_at_least": "60%", "also_k": 3}),
]


@pytest.mark.parametrize("flags, order", PUBLISH, ids=lambda given: " ".join(given) if isinstance(given, list) else "")
def test_releases_and_certificates_are_the_same_to_the_byte(program, folder, monkeypatch, flags, order):
    monkeypatch.chdir(folder)
    told = run(program, folder, "publish", "--key", KEY, "--force", "-o", "theirs.csv", *flags)
    assert told.returncode == 0, told.stderr
    release = ic.open(".").publish_order(key=KEY, **order)
    release.write("ours.csv", force=True)
    assert (folder / "ours.csv").read_bytes() == (folder / "theirs.csv").read_bytes()
    ours, theirs = (json.loads((folder / f"{name}.csv.certificate.json").read_text()) for name in ("ours", "theirs"))
    assert ours.pop("output")["sha256"] == theirs.pop("output")["sha256"]
    assert ours == theirs


def test_what_an_order_does_not_know_is_refused(folder, monkeypatch):
    monkeypatch.chdir(folder)
    with pytest.raises(ic.Error, match="unknown key 'kk'"):
        ic.open(".").order("negotiate", kk=5)
    with pytest.raises(ic.Error, match="verb"):
        ic.open(".").order("dance")


def test_python_has_what_the_table_of_fronts_says():
    rows = [line for line in (ROOT / "docs/fronts.md").read_text().splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 10
    for row in rows:
        for name in row.split("|")[4].split("`")[1::2]:
            owner, verb = name.split(".")
            assert callable(getattr(ic if owner == "incrowd" else ic.Table, verb)), name
