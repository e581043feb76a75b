"""The same answers and the same bytes as the command line."""

import json
import subprocess

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from conftest import ROOT, patients

import incrowd as ic

PROJECT = """
[data]
path = "patients.csv"
other = "drop"

[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20], origin = 17 }
weight = 2.0

[attributes.zip]
role = "quasi-identifier"
hierarchy = { mask = 4 }

[attributes.town]
role = "quasi-identifier"
hierarchy = "town.csv"

[attributes.seen]
role = "quasi-identifier"
hierarchy = { dates = ["quarter", "year"] }

[attributes.ill]
role = "sensitive"

[attributes.name]
role = "identifier"

[attributes.pay]
role = "other"
"""


@pytest.fixture
def project(tmp_path):
    pd.DataFrame(patients()).to_csv(tmp_path / "patients.csv", index=False)
    (tmp_path / "town.csv").write_text("Paris;France\nLyon;France\nRome;Italy\nMilan;Italy\n")
    (tmp_path / "incrowd.toml").write_text(PROJECT)
    return tmp_path


def table(folder):
    return ic.Table(
        pa.table(patients()),
        {"age": ic.intervals(5, 10, 20, origin=17), "zip": ic.mask(4), "town": folder / "town.csv",
         "seen": ic.dates("quarter", "year")},
        sensitive="ill", identifiers="name", other="pay", weights={"age": 2},
    )


def run(program, *words, codes=(0, 1)):
    done = subprocess.run([program, "--quiet", *map(str, words)], capture_output=True, text=True)
    assert done.returncode in codes, done.stderr
    return done.stdout


REQUESTS = [
    ({"k": 5, "max_suppressed": 0.05}, ["--k", "5", "--max-suppressed", "5%"]),
    ({"k": 40, "max_level": {"age": 1}}, ["--k", "40", "--max-level", "age=1"]),
    ({"k": 5, "l": 3, "t": 0.3, "max_suppressed": 40}, ["--k", "5", "--l", "3", "--t", "0.3", "--max-suppressed", "40"]),
    ({"recursive": (3, 2), "best_by": "ncp"}, ["--recursive", "3,2", "--best-by", "ncp"]),
    ({"entropy_l": 2.25, "alpha": 0.6, "best_by": {"entropy": 1}}, ["--entropy-l", "2.25", "--alpha", "0.6", "--best-by", "entropy=1"]),
]


@pytest.mark.parametrize("asked, flags", REQUESTS)
def test_negotiate(program, project, asked, flags):
    theirs = json.loads(run(program, "negotiate", project, *flags, "--explain", "--json"))
    ours = table(project).annotate().negotiate(**asked, explain=True).to_dict()
    # How long it took is another number in every run.
    assert ours.pop("search")["n_looked_at"] == theirs.pop("search")["n_looked_at"]
    assert ours == theirs
    from_file = ic.open(project).negotiate(**asked)
    assert from_file.to_dict() == {name: said for name, said in theirs.items() if name != "explanation"}


def test_other_verbs(program, project):
    ours = table(project)
    for said, theirs in [
        (ours.count().to_dict(), ["count", project]),
        (ours.frontier(max_suppressed=0.05).to_dict(), ["frontier", project, "--max-suppressed", "5%"]),
        (ours.frontier("t", k=3).to_dict(), ["frontier", project, "--over", "t", "--k", "3"]),
        (ours.profile().to_dict()["uniqueness"], ["profile", project]),
    ]:
        found = json.loads(run(program, *theirs, "--json"))
        assert said == (found["uniqueness"] if "uniqueness" in found else found)
    found = json.loads(run(program, "annotate", project, "--k", "3", "--per-scheme", "--json"))
    assert [scheme.to_dict() for scheme in ours.annotate().schemes(k=3)] == found["schemes"]
    assert [height.to_dict() for height in ours.annotate().heights(k=3)] == found["heights"]
    assert ours.hierarchy("age").arx == run(program, "hierarchy", "export", "age", project)
    assert ours.negotiate(k=9, as_published=True).to_dict() == json.loads(
        run(program, "negotiate", project, "--k", "9", "--as-published", "--json"))


@pytest.mark.parametrize("asked, flags", REQUESTS[:3])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_publish(program, project, asked, flags, ending):
    theirs, ours = project / f"theirs.{ending}", project / f"ours.{ending}"
    run(program, "publish", project, *flags, "--offer", "height", "-o", theirs, codes=(0,))
    source = project / "patients.parquet"
    if ending == "parquet":
        # Types of a CSV file are guessed from its texts; a Parquet file has its own, as a frame does.
        pa.parquet.write_table(pa.table(patients()), source)
        (project / "incrowd.toml").write_text(PROJECT.replace("patients.csv", "patients.parquet"))
        run(program, "publish", project, *flags, "--offer", "height", "-o", theirs, "--force", codes=(0,))
    table(project).publish("height", **asked).write(ours)
    assert ours.read_bytes() == theirs.read_bytes()
    words = [json.loads((project / f"{path.name}.certificate.json").read_text()) for path in (ours, theirs)]
    for certificate in words:
        # Where it came from has another name.
        certificate["output"].pop("name")
        certificate.pop("hierarchies")
        # Their keys differ.
        certificate.pop("input")
    assert words[0] == words[1]
    # The certificate does not always tell what t compares with.
    assert "yes, the promise is kept" in run(program, "verify", ours, "--project", project, codes=(0,))
    assert ic.verify(theirs, project=project).to_dict()["holds"]
    assert ic.verify(theirs).answer == json.loads(run(program, "verify", theirs, "--json", codes=(0, 2)))["answer"]


def test_verify(program, project):
    flags = ["--quasi-identifiers", "town,age", "--sensitive", "ill", "--k", "2", "--t", "0.4", "--json"]
    theirs = json.loads(run(program, "verify", project / "patients.csv", *flags))
    ours = ic.verify(pa.table(patients()), ["town", "age"], sensitive="ill", k=2, t=0.4).to_dict()
    assert ours.pop("compared_with_itself") is True
    assert ours == theirs


def test_the_hash_of_a_frame_is_that_of_its_csv(project):
    import hashlib
    import hmac

    release = table(project).publish(k=5, max_suppressed=0.1)
    hashed = hashlib.sha256((project / "patients.csv").read_bytes()).hexdigest()
    assert release.account.files[0]["sha256"] == hashed
    mark = hmac.new(bytes.fromhex(release.account.key), hashed.encode(), "sha256").hexdigest()
    assert release.certificate.input[0] == {"name": release.certificate.input[0]["name"], "hmac_sha256": mark}


def test_the_philosophers(program, philosophers):
    theirs = json.loads(run(program, "negotiate", philosophers, "--k", "4", "--json"))
    assert ic.open(philosophers).negotiate(k=4).to_dict() == theirs


def test_adult(program, adult):
    theirs = json.loads(run(program, "negotiate", ROOT / "examples/adult", "--json"))
    folder = ROOT / "examples/adult/hierarchies"
    names = ["age", "education", "marital-status", "occupation", "race", "workclass"]
    frame = pd.read_csv(adult / "adult.csv")
    adults = ic.Table(frame, {name: folder / f"{name}.csv" for name in names}, sensitive="hours-per-week", missing="?",
                      missing_records="drop", complete="native-country")
    levels = {"age": 2, "education": 2, "marital-status": 2, "occupation": 1, "race": 1, "workclass": 2}
    assert adults.negotiate(k=10, max_suppressed=321, max_level=levels, best_by="height").to_dict() == theirs
    assert (theirs["n_records"], theirs["n_dropped"]) == (30_162, 2_399), "those of the papers"


