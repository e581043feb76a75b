"""People, not records, where a column says whose record it is."""

import json
import subprocess

import pytest
from conftest import FRAMES

import incrowd as ic


def patients():
    """Everybody has two records, the second a year later; ids can be recognized in a text."""
    people = [(f"Xp{i:02}", 20 + i * 7 % 40) for i in range(60)]
    records = [(who, age + later, "flu" if later else "cold") for who, age in people for later in (0, 1)]
    return dict(zip(("patient", "age", "ill"), map(list, zip(*records))))


QUASI = {"age": ic.intervals(5, 10, 20, origin=0)}


def table(frame=dict, **more):
    return ic.Table(frame(patients()), QUASI, **{"sensitive": "ill", "person": "patient", **more})


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_k_counts_people(frame):
    people, records = table(frame), table(frame, person=())
    asked = {"k": 20, "max_suppressed": "10%"}
    assert records.negotiate(**asked).exact.levels["age"] < people.negotiate(**asked).exact.levels["age"]
    offer = people.negotiate(**asked).exact
    assert offer.criteria == {"k": 20} and offer.n_people_lost >= 0
    release = people.publish(**asked)
    assert people.roles["patient"] == "person"
    assert release.certificate.to_dict()["person"] == ["patient"]
    assert release.columns == ["age", "ill"]
    assert release.verify().holds
    # Whoever has the release alone does not see people.
    assert ic.verify(release).answer == "not judged"
    assert "kept for records, not judged for people" in repr(ic.verify(release))
    assert "Xp" not in release.report + json.dumps(release.certificate.to_dict())


def test_a_crowd_of_one_is_none():
    mine = {"who": ["Xa"] * 9 + list("bcd"), "age": [30] * 9 + [30, 30, 30]}
    with pytest.raises(ic.Error):
        ic.Table(mine, QUASI, person="who").publish(k=5, levels={"age": 0})
    assert ic.Table(mine, QUASI, person="who").publish(k=4, levels={"age": 0}).verify().answer == "kept"
    assert ic.Table(mine, QUASI).publish(k=12, levels={"age": 0}).verify().answer == "kept"


def test_local_methods_count_people():
    release = table().publish(method="mondrian", k=4)
    assert release.certificate.to_dict()["person"] == ["patient"]
    assert release.verify().answer == "kept"
    assert ic.verify(release).answer == "not judged"


def test_several_columns_name_a_person_together():
    data = {"ward": list("AABB1") + ["12"], "no": ["1", "2", "1", "1", "23", "3"], "age": [30] * 6}
    with pytest.raises(ic.Error):
        ic.Table(data, QUASI, person=["ward", "no"]).publish(k=6, levels={"age": 0})
    release = ic.Table(data, QUASI, person=["ward", "no"]).publish(k=5, levels={"age": 0})
    assert release.certificate.to_dict()["person"] == ["ward", "no"]
    with pytest.raises(ic.Error, match="person"):
        ic.Table(data, QUASI, person="no", identifiers="no")


def test_the_same_bytes_as_on_the_command_line(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = patients()
    lines = [",".join(data), *(",".join(map(str, row)) for row in zip(*data.values()))]
    (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "incrowd.toml").write_text(
        '[data]\npath = "table.csv"\n[attributes.patient]\nrole = "person"\n[attributes.age]\nrole = "quasi-identifier"\n'
        'hierarchy = { intervals = [5, 10, 20], origin = 0 }\n[attributes.ill]\nrole = "sensitive"\n'
    )
    flags = ["--k", "5", "--max-suppressed", "20%"]
    subprocess.run([program, "--quiet", "publish", "-o", "theirs.csv", *flags], check=True)
    table(lambda _: "table.csv").publish(k=5, max_suppressed="20%").write("ours.csv")
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "theirs.csv").read_bytes()
    assert ic.verify("ours.csv").answer == "not judged"
    assert ic.verify("ours.csv", project=".").answer == "kept"


def test_a_pipeline_counts_people_and_drops_who_they_are():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(patients())
    hide = ic.Anonymizer(QUASI, person="patient", k=8)
    assert list(hide.fit_transform(X).columns) == ["age", "ill"]
    assert hide.release_.certificate.to_dict()["person"] == ["patient"]
