"""What is published names files, and never where they lie on the machine."""

import json
import pathlib

import pandas as pd
import pytest
from conftest import patients

import incrowd as ic

LABELS = "Paris;France;*\nLyon;France;*\nRome;Italy;*\nMilan;Italy;*\n"


@pytest.fixture
def hidden(tmp_path):
    """A folder whose path nobody should see, with data and a hierarchy in it."""
    folder = tmp_path / "quimby" / "clients-of-doctor-zork"
    (folder / "labels").mkdir(parents=True)
    (folder / "labels/towns.csv").write_text(LABELS)
    frame = pd.DataFrame(patients())[["age", "town", "ill"]]
    frame.to_csv(folder / "people.csv", index=False)
    frame.to_parquet(folder / "people.parquet")
    return folder


def ways(folder, monkeypatch):
    file = folder / "labels/towns.csv"
    frame = pd.DataFrame(patients())
    rules = {
        "a path": file,
        "a text": str(file),
        "a detour": folder / "labels/../labels/towns.csv",
    }
    for name, rule in rules.items():
        yield name, ic.Table(frame, {"town": rule}, sensitive="ill")
        for data in ("people.csv", "people.parquet"):
            yield f"{name}, {data}", ic.Table(folder / data, {"town": rule}, sensitive="ill", population=folder / data)
    monkeypatch.chdir(folder / "labels")
    yield "a path up", ic.Table(frame, {"town": "../labels/towns.csv"}, sensitive="ill")
    yield "a path up and down", ic.Table(
        "../people.csv", {"town": "../../clients-of-doctor-zork/labels/towns.csv"}, sensitive="ill")
    monkeypatch.chdir(folder.parent)
    yield "a path down", ic.Table(frame, {"town": "clients-of-doctor-zork/labels/towns.csv"}, sensitive="ill")
    (folder / "incrowd.toml").write_text(
        f"""
        [data]
        path = "{folder}/people.csv"
        [attributes.town]
        role = "quasi-identifier"
        hierarchy = "{file}"
        [attributes.ill]
        role = "sensitive"
        """
    )
    yield "a project", ic.open(folder)
    yield "a project by its file", ic.open(folder / "incrowd.toml")


def shown(table, release):
    yield json.dumps(release.certificate.to_dict())
    yield release.report
    for thing in (table, release, table.annotate(), release.verify(), ic.attack(release), table.negotiate(k=5)):
        yield repr(thing)
        yield getattr(thing, "_repr_html_", str)()
        yield json.dumps(thing.to_dict()) if hasattr(thing, "to_dict") else ""
    yield from (repr(rule) for rule in table._hierarchies.values())


def test_no_path_of_the_machine_is_shown(hidden, monkeypatch):
    leading = {part for part in hidden.parent.parts if len(part) > 3}
    for name, table in ways(hidden, monkeypatch):
        # Who names the folder, from where they are or as the project, shows its name, and not what leads there.
        parts = leading if name == "a path down" or "project" in name else leading | {hidden.name}
        for method in ("global", "top-down"):
            release = table.publish(k=5, method=method)
            for text in shown(table, release):
                seen = {part for part in parts if part in text}
                assert not seen, (name, method, seen, text[:200])
            named = [entry["name"] for entry in release.certificate.hierarchies]
            assert any(entry.endswith("towns.csv") for entry in named), named


def test_a_release_does_not_replace_the_hierarchy_that_it_is_made_with(hidden):
    table = ic.Table(pd.DataFrame(patients()), {"town": hidden / "labels/towns.csv"}, sensitive="ill")
    with pytest.raises(ic.Error, match="would replace"):
        table.publish(k=5).write(hidden / "labels/towns.csv", force=True)
    assert pathlib.Path(hidden / "labels/towns.csv").read_text() == LABELS
