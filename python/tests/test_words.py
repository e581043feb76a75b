"""Errors and notes speak Python: settings are keywords, never flags or lines of a project file."""

import re
import warnings

import pytest
from test_orders import ORDERS, folder  # noqa: F401 – a fixture

import incrowd as ic

# A flag, a section or a line of a project file, or a command.
FOREIGN = re.compile(r"--[a-z]|\[(data|request|attributes)|\b\w+ = \"|incrowd\.toml|incrowd [a-z]+ ")


def check(words):
    assert not FOREIGN.search(words), words


def test_no_refusal_and_no_note_of_any_order_speaks_of_flags(program, folder, monkeypatch):  # noqa: F811
    monkeypatch.chdir(folder)
    table = ic.open(".")
    n_refused = 0
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ic.Note)
        for order in (order for order in ORDERS if "table" not in order):
            try:
                table.order(order["verb"], **order["order"])
            except ic.Error as error:
                n_refused += 1
                check(f"{error.message} {error.hint}")
    assert n_refused > 10
    for note in told:
        check(str(note.message))


@pytest.mark.parametrize("order, words", [
    (("negotiate", {"k": 3, "not_extended": True, "full": True}), "not_extended= is about partial lattices"),
    (("negotiate", {"l": 2}), "for example l={\"disease\": 2}, or choose with sensitive=: disease, income"),
    (("publish", {"k": 3, "method": "top-down", "two_columns": True, "cells": "labels"}),
     "two_columns= would say more than cells=labels\nhint: leave it out, or take cells=ranges"),
    (("publish", {"k": 3, "method": "bottom-up", "plain": True}), "plain= is about near records in dealt groups"),
    (("map", {"lambda": 0.5}), "lambda_= has no effect on a map"),
    (("update", {"lattice": "gone.crowd", "append": "people.csv"}), "make a lattice with: table.order(\"annotate\", output=…)"),
    (("count", {"quasi_identifiers": ["disease"]}), "change its role in Table(…)"),
])
def test_settings_are_keywords(folder, monkeypatch, order, words):  # noqa: F811
    monkeypatch.chdir(folder)
    verb, wishes = order
    with pytest.raises(ic.Error) as refused:
        ic.open(".").order(verb, **wishes)
    assert words in str(refused.value)
    check(str(refused.value))


def test_what_a_table_lacks_is_asked_for_in_python(tmp_path):
    (tmp_path / "a.csv").write_text("age;job\n1;x\n2;y\n")
    for make, words in [
        (lambda: ic.Table(tmp_path / "a.csv", ["age", "job"], delimiter=",").annotate(), "name the separator with delimiter="),
        (lambda: ic.Table({"age": [1, 2]}, ["age"]).annotate().negotiate(k_map=2), "Table(…, population=…)"),
        (lambda: ic.Table({"age": [1, 2]}, ["age"]).annotate(l=2), "Table(…, sensitive=…)"),
        (lambda: ic.Table({"age": ["", ""]}, ["age"], missing_records="drop").annotate(), "check missing=, or keep such records with missing_records=\"keep\""),
        (lambda: ic.open(tmp_path), "make one with: incrowd.init(\"DATA.csv\")"),
    ]:
        with pytest.raises(ic.Error) as refused:
            make()
        assert words in str(refused.value)
        check(f"{refused.value.message} {refused.value.hint}")
