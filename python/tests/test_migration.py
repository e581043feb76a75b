"""You wrote this, write that: all that the table of the README says to write is run as it stands there."""

import re
import warnings

import pandas as pd
import pytest
from conftest import ROOT, patients
from pycanon import anonymity

import incrowd as ic

TEXT = (ROOT / "python/README.md").read_text().split("## You wrote this, write that")[1].split("\n## ")[0]
ROWS = [[cell.strip() for cell in line.strip("| \n").split(" | ")] for line in TEXT.splitlines() if line.startswith("| ") and "`" in line]
WRITE = [(f"{row[0]}: {row[1]}", code) for row in ROWS for code in re.findall(r"`([^`]+)`", row[2])]


@pytest.fixture
def names(tmp_path, monkeypatch):
    """What the snippets of the table speak of."""
    monkeypatch.chdir(tmp_path)
    df = pd.DataFrame(patients())[["name", "age", "town", "ill", "pay"]].assign(w=3.0, house=[i // 2 for i in range(400)])
    ages = sorted(set(df["age"]))
    (tmp_path / "age.csv").write_text("".join(f"{age};{age // 10}0s;*\n" for age in ages))
    country = {"Paris": "France", "Lyon": "France", "Rome": "Italy", "Milan": "Italy"}
    hierarchies = {
        "age": {0: list(df["age"]), 1: [f"{age // 10}0s" for age in df["age"]]},
        "town": {0: list(df["town"]), 1: [country[town] for town in df["town"]]},
    }
    names = {"ic": ic, "df": df, "ident": ["name"], "quasi_ident": ["age", "town"], "sens_att": "ill", "k": 3, "l_div": 2, "t": 0.5,
             "supp_level": 50, "hierarchies": hierarchies,
             "table": ic.Table(df, {"age": ic.intervals(5, 10, 20), "town": country}, sensitive="ill")}
    function = re.search(r">>> (def labels_of.*?)\n>>> ", TEXT, re.DOTALL)[1]
    exec(function.replace("\n... ", "\n"), names)
    return names


def test_every_row_has_something_to_write():
    assert len(ROWS) > 20 and all("`" in row[1] and re.search("`[^`]+`", row[2]) for row in ROWS)


@pytest.mark.parametrize("wrote, code", WRITE, ids=[code for _, code in WRITE])
def test_what_is_to_be_written_works(names, wrote, code):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ic.PrivacyWarning)
        made = eval(code, names)
    if isinstance(made, ic.Release):
        assert made.verify().holds and len(made) > 0
    elif isinstance(made, ic.Answer):
        assert (made.exact or made.offers) is not None
    elif isinstance(made, ic.Table):
        assert made.count().n_records == 400
    else:
        assert made is not None


def test_pycanon_says_the_same(names):
    """Where the other tool can be run here, what was written gives what is written instead."""
    df, quasi_ident = names["df"], names["quasi_ident"]
    coarse = df.assign(age=(df["age"] > 50).astype(str), town=df["town"].str[0])
    names["df"] = coarse
    by_wrote = {re.search("`([^`]+)`", wrote)[1]: eval(code, names) for wrote, code in WRITE if wrote.startswith("pycanon")}
    names["anonymity"] = anonymity
    assert len(by_wrote) == 2
    for wrote, ours in by_wrote.items():
        assert eval(wrote, names) == ours > 1, wrote
