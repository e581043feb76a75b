"""Tables of combinations, and releases that are written once more: the same as from records, to the byte."""

import random

import pandas as pd
import pytest

import incrowd as ic


def tables(person=False):
    dice = random.Random(5)
    cells = [
        {"id": f"p{i % 17}", "age": dice.randint(20, 40), "city": dice.choice("AB"), "ill": dice.choice("xyz")}
        for i in range(60)
    ]
    rows = pd.DataFrame(cells)
    rows["n"] = [dice.randint(1, 4) for _ in cells]
    records = rows.loc[rows.index.repeat(rows["n"])].drop(columns="n").reset_index(drop=True)
    roles = {"quasi_identifiers": {"age": ic.intervals(5, 10), "city": ic.tree({"all": ["A", "B"]})}, "sensitive": "ill"}
    if person:
        roles["person"] = "id"
    return ic.Table(rows, counted="n", **roles), ic.Table(records, **roles)


@pytest.mark.parametrize("person", [False, True])
@pytest.mark.parametrize("wish", [{"max_suppressed": "100%"}, {"method": "top-down"}, {"method": "mondrian"}])
def test_a_frame_of_combinations_is_the_table_of_its_records(tmp_path, person, wish):
    made = [table.publish(k=4, **wish) for table in tables(person)]
    assert made[0].to_arrow().equals(made[1].to_arrow())
    assert made[0].verify().holds
    for kind in ["csv", "parquet"]:
        one, other = (release.write(tmp_path / f"{i}.{kind}") for i, release in enumerate(made))
        assert one.read_bytes() == other.read_bytes()


def test_numbers_that_are_none_are_refused():
    with pytest.raises(ic.Error, match="is 0 in row 2 of the table"):
        ic.Table({"age": [1, 2], "n": [3, 0]}, ["age"], counted="n").publish(k=2)
    with pytest.raises(ic.Error, match="is no whole number in row 1"):
        ic.Table({"age": [1, 2], "n": [2.5, 1.0]}, ["age"], counted="n").publish(k=2)
    rows = {"age": ["20-29", "30-39"], "n": [3, 2]}
    assert ic.verify(rows, ["age"], k=2, counted="n").holds
    assert not ic.verify(rows, ["age"], k=3, counted="n").holds


def test_a_release_of_a_file_that_changed_is_not_written_from_the_counts(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,ill\n" + "30,a\n30,b\n" * 5)
    made = ic.Table(path, ["age"], sensitive="ill").publish(k=5)
    first = made.write(tmp_path / "one.csv").read_bytes()
    assert made.write(tmp_path / "two.csv").read_bytes() == first
    path.write_text("age,ill\n" + "30,a\n31,b\n" * 5)
    with pytest.raises(ic.Error, match="changed while"):
        made.write(tmp_path / "three.csv")
    assert not list(tmp_path.glob("three*"))
