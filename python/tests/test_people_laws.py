"""Laws of people, by every method: those of workbench/tests/people_laws.rs, in Python."""

import csv
import random
from collections import defaultdict

import pytest

import incrowd as ic

K = 4
QUASI = {
    "age": ic.intervals(5, 10, 20, origin=0),
    "city": ic.tree({"North": ["Oslo", "Umea"], "South": ["Rome", "Pisa"]}),
}
WAYS = [
    {"k": K, "levels": {"age": 2, "city": 1}, "max_suppressed": "100%"},
    {"k": K, "max_suppressed": "60%"},
    *({"k": K, "method": method} for method in ("top-down", "bottom-up", "mondrian", "mondrian-relaxed", "deal")),
    {"k": K, "method": "deal", "exchanges": 7, "seed": 3},
    {"k": K, "method": "deal-plain"},
    {"method": "per-record", "utility_at_least": "30%", "also_k": K},
]


def records():
    """People with one to three records each, a year older in some."""
    chance = random.Random(23)
    made = []
    for who in range(60):
        age, city = chance.randint(20, 59), chance.choice(["Oslo", "Umea", "Rome", "Pisa"])
        for i in range(chance.randint(1, 3)):
            made.append((f"p{who}", age + i // 2, city, chance.choice(["flu", "cold", "gout", "mumps"])))
    return made


def table(rows, **more):
    """Every record has a tag that is published, so that a test can tell whose record each row is."""
    data = dict(zip(("patient", "age", "city", "ill"), map(list, zip(*rows))))
    data["tag"] = [f"t{i}" for i in range(len(rows))]
    more = {"person": "patient", **more}
    return ic.Table(data, QUASI, sensitive="ill", other="tag", publish_unique="tag", **more)


def written(made, way, folder):
    """What is published of a table, as it is written."""
    release = made.publish_order(**way)
    assert release.verify().answer == "kept"
    release.write(folder / "release.csv", force=True)
    return (folder / "release.csv").read_text()


def people(rows, way, folder):
    """Who is in each group of a release."""
    groups = defaultdict(set)
    for row in csv.DictReader(written(table(rows), way, folder).splitlines()):
        groups[row["age"], row["city"]].add(rows[int(row["tag"][1:])][0])
    return groups


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_splitting_a_record_changes_no_people_and_no_verdict(way, tmp_path):
    rows = records()
    split = [row for i, row in enumerate(rows) for _ in range(1 + i % 3)]
    before, after = people(rows, way, tmp_path), people(split, way, tmp_path)
    assert all(len(who) >= K for groups in (before, after) for who in groups.values())
    assert len(before) > 1
    if "levels" in way:
        assert before == after


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_people_with_one_record_each_are_records(way, tmp_path):
    rows = [(f"p{i}", *row[1:]) for i, row in enumerate(records())]
    of_people, of_records = table(rows), table(rows, person=(), identifiers="patient")
    assert written(of_people, way, tmp_path) == written(of_records, way, tmp_path)


@pytest.mark.parametrize("n_more", [1, 3, 9])
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_more_records_of_too_few_people_are_no_group(way, n_more, tmp_path):
    odd = [(f"q{i % (K - 1)}", 97, "Umea", ["flu", "cold", "gout"][i % 3]) for i in range(K - 1 + n_more)]
    assert all(len(who) >= K for who in people(records() + odd, way, tmp_path).values())
