"""Cells that do not fit, and cells that are published coarser: as on the command line, by keywords."""

import warnings

import pandas as pd
import pytest

import incrowd as ic


def people(n=60):
    return {
        "age": ["unknown" if i == 7 else str(30 + i % 10) for i in range(n)],
        "city": ["Xanadu" if i % 20 == 3 else ["Oslo", "Rome"][i % 2] for i in range(n)],
        "income": [1003 + 10 * (i % 20) for i in range(n)],
    }


CITIES = {"Oslo": "North", "Rome": "South"}


def table(**given):
    quasi_identifiers = {"age": ic.intervals(5, 10), "city": ic.tree({"North": ["Oslo"], "South": ["Rome"]})}
    return ic.Table(people(), quasi_identifiers, sensitive="income", publish_telling="income", **given)


def test_what_does_not_fit_is_told_with_its_place():
    with pytest.raises(ic.Error, match="2 values|1 of|misses") as refused:
        table().count()
    assert "record 8" in str(refused.value) and "unreadable=\"missing\"" in str(refused.value)
    assert "unknown'" not in str(refused.value).replace("unknown=", "")
    shown = table().hierarchy("city")
    assert shown.absent == ["Xanadu"]
    assert shown.absent_at[0]["n_cells"] == 3 and shown.absent_at[0]["first"][0]["record"] == 4


def test_what_becomes_of_it_is_said_and_told():
    with pytest.warns(ic.Note, match="1 cell cannot be read"):
        release = table(unreadable="missing", unknown="other").publish(k=2, max_suppressed="50%")
    assert "other" in release.to_arrow()["city"].to_pylist() or "*" in release.to_arrow()["city"].to_pylist()
    assert release.certificate.to_dict()["unknown"] == {"city": "other"}
    assert release.verify().holds
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        counts = table(unreadable={"age": "missing"}, unknown={"city": "missing"}, missing_records="drop").count()
    assert counts.n_dropped == 4
    # A hierarchy that is written out here knows as little of other values as one of a file.
    for cities in (CITIES, pd.DataFrame([["Oslo", "North"], ["Rome", "South"]])):
        written_out = {"age": ic.intervals(5, 10), "city": cities}
        for unknown in ("other", {"city": "other"}):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = ic.Table(
                    people(), written_out, sensitive="income", publish_telling="income", unreadable="missing", unknown=unknown
                )
                release = made.publish(levels={"age": 1, "city": 0}, k=2, max_suppressed="50%")
            assert set(release.to_arrow()["city"].to_pylist()) == {"Oslo", "Rome", "other"}
            assert release.certificate.to_dict()["unknown"] == {"city": "other"}
    # Where nothing says which levels, the answer has a place for them too.
    for cities in (CITIES, [["Oslo", "North"], ["Rome", "South"]]):
        rows = ic.Table({"city": people()["city"]}, {"city": cities}, unknown="other")
        with pytest.warns(ic.Note, match="does not know 3 cells"):
            cells = set(rows.publish(k=2).to_arrow()["city"].to_pylist())
        assert "other" in cells and cells <= {"Oslo", "Rome", "other", "North", "South"}
    with pytest.raises(ic.Error, match="unknown value"):
        ic.Table(people(), {"city": CITIES}, unknown={"city": "others"})
    with pytest.raises(ic.Error, match="no attribute"):
        table(unknown={"town": "other"})
    with pytest.raises(ic.Error, match="unknown value"):
        table(unknown="others")


@pytest.mark.parametrize(
    "how, cells",
    [
        ({"round": 100}, {1000, 1100, 1200}),
        ({"top": 0.9}, {str(income) for income in range(1003, 1100, 10)} | {">=1100"}),
    ],
)
def test_what_is_published_can_be_coarser(how, cells):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = table(unreadable="missing", unknown="other", publish_as={"income": how})
        release = made.publish(k=2, max_suppressed="50%")
    assert set(release.to_arrow()["income"].to_pylist()) <= cells
    assert release.certificate.to_dict()["published_as"] == {"income": how}
    assert release.verify().holds
    assert len(release.to_pandas()) == len(release)


def test_other_data_in_place_of_the_projects(tmp_path):
    rows = [f"{30 + i % 5},{['a', 'b'][i % 2]}" for i in range(40)]
    (tmp_path / "first.csv").write_text("\n".join(["age,ill", *rows]) + "\n")
    (tmp_path / "second.csv").write_text("\n".join(["age,ill", *rows, *rows]) + "\n")
    (tmp_path / "incrowd.toml").write_text(
        '[data]\npath = "first.csv"\n[attributes.age]\nrole = "quasi-identifier"\n[attributes.ill]\nrole = "sensitive"\n'
    )
    assert ic.open(tmp_path).count().n_records == 40
    other = ic.open(tmp_path, data=tmp_path / "second.csv")
    assert other.count().n_records == 80 and other.profile().n_records == 80
    assert ic.open(tmp_path).order("count", data=str(tmp_path / "second.csv"))["n_records"] == 80
    release = other.publish(k=4)
    release.write(tmp_path / "release.csv")
    verdict = ic.verify(tmp_path / "release.csv", project=tmp_path, project_data=tmp_path / "second.csv")
    assert verdict.holds
    assert ic.attack(tmp_path / "release.csv", project=tmp_path, data=tmp_path / "second.csv", sensitive="ill")
