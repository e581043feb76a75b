"""Whose record it is: what is noticed without being told, and how many records of a person are kept."""

import warnings

import pytest

import incrowd as ic


def events():
    subjects = [subject for subject in range(60) for _ in range(1 + subject % 8)]
    return {
        "USUBJID": [f"01-{subject:04}" for subject in subjects],
        "age": [20 + subject % 40 for subject in subjects],
        "term": [["rash", "pain", "flu"][i % 3] for i in range(len(subjects))],
    }


def table(**more):
    return ic.Table(events(), {"age": ic.intervals(10, 20)}, sensitive="term", identifiers="USUBJID", **more)


def test_an_identifier_that_repeats_is_asked_about():
    asked = "262 records of 60 different USUBJID"
    profile = table().profile()
    assert profile.repeating["in_words"] == f"{asked}: count people?"
    with pytest.warns(ic.Note, match=f"{asked}: count people\\? \\(person= does; records=\"independent\""):
        table().count()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ic.Error, match=asked) as refused:
            table().publish(k=3)
    assert "records=\"independent\"" in refused.value.hint and "person=" in refused.value.hint
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert table(records="independent").profile().repeating is None
        assert table(records="independent").publish(k=3).verify().holds


def test_what_is_said_of_records_is_checked():
    with pytest.raises(ic.Error, match="data.records"):
        table(records="dependent")
    with pytest.raises(ic.Error, match="needs to know whose record it is"):
        table(max_records_per_person=2)
    with pytest.raises(ic.Error, match="records_seed"):
        table(records_seed=2)


def test_records_beyond_what_is_kept_of_a_person_are_told(tmp_path):
    columns = events()
    lines = [",".join(map(str, record)) for record in zip(*columns.values())]
    (tmp_path / "events.csv").write_text("\n".join([",".join(columns), *lines]) + "\n")
    (tmp_path / "incrowd.toml").write_text(
        '[data]\npath = "events.csv"\nmax_records_per_person = 2\n'
        '[attributes.USUBJID]\nrole = "person"\n'
        '[attributes.age]\nrole = "quasi-identifier"\nhierarchy = { intervals = [10, 20] }\n'
    )
    n_kept = sum(min(2, 1 + subject % 8) for subject in range(60))
    with pytest.warns(ic.Note, match=f"{262 - n_kept} records beyond max_records_per_person=2 are left out"):
        release = ic.Table.open(tmp_path).publish(k=3)
    certificate = release.certificate
    assert certificate.n_records_left_out == 262 - n_kept and certificate.n_records_read == 262
    assert certificate.n_records_published + certificate.n_records_suppressed == n_kept
