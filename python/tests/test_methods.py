"""Local methods, comparing and attacking: the same as on the command line, and what breaks a promise."""

import csv
import json
import subprocess

import pytest
from conftest import FRAMES, patients, roles

import incrowd as ic

LOCAL = ["top-down", "bottom-up", "mondrian", "mondrian-relaxed", "deal", "deal-plain"]


@pytest.mark.parametrize("method", LOCAL)
@pytest.mark.parametrize("library", FRAMES)
def test_local_releases_keep_k(method, library):
    table = ic.Table(FRAMES[library](patients()), **roles())
    release = table.publish(method=method, k=5)
    assert len(release) == 400 and release.verify().holds
    assert release.certificate.method == method and release.certificate.levels is None
    frame = release.to_arrow()
    cells = list(zip(*(frame[name].to_pylist() for name in ("age", "zip", "town", "seen")), strict=True))
    assert min(cells.count(cell) for cell in set(cells)) >= 5
    assert "name" not in frame.column_names
    # What was not generalized has the type that it had.
    assert frame["pay"].type == ic.Table(FRAMES[library](patients()), **roles()).publish(k=5).to_arrow()["pay"].type


def test_the_same_bytes_as_the_command_line(program, tmp_path):
    columns = patients()
    with open(tmp_path / "patients.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    project = """
[data]
path = "patients.csv"
[attributes.name]
role = "identifier"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20], origin = 17 }
[attributes.zip]
role = "quasi-identifier"
hierarchy = { mask = 4 }
[attributes.ill]
role = "sensitive"
"""
    (tmp_path / "incrowd.toml").write_text(project)
    table = ic.open(tmp_path)
    for method, more in (("top-down", ["--seed", "4"]), ("deal", ["--exchanges", "5", "--seed", "4"])):
        options = {"seed": 4} if method == "top-down" else {"seed": 4, "exchanges": 5}
        release = table.publish(method=method, k=6, **options)
        release.write(tmp_path / "python.csv", force=True)
        command = [program, "publish", tmp_path, "--method", method, "--k", "6", *more, "--force", "-o"]
        subprocess.run([*command, tmp_path / "program.csv"], check=True, capture_output=True)
        assert (tmp_path / "python.csv").read_bytes() == (tmp_path / "program.csv").read_bytes()


def test_records_one_by_one_as_on_the_command_line(program, tmp_path):
    table = ic.Table(patients(), **roles())
    release = table.publish(method="per-record", utility_at_least=0.5, weights_seed=3)
    assert len(release) == 400 and release.verify().holds
    facts = release.account.per_record
    assert "not k-anonymous" in release.certificate.per_record["statement"] and release.certificate.criteria == {}
    assert facts["utility"]["least"] >= facts["greatest_utility"] / 2
    assert "No k is promised" in release.report
    release.write(tmp_path / "python.csv")
    found = subprocess.run([program, "verify", tmp_path / "python.csv"], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
    grouped = table.publish(method="per-record", utility_at_least="50%", also_k=5)
    assert grouped.certificate.criteria["k"]["promised"] == 5 and grouped.verify().holds
    least = table.publish(method="per-record", risk="identity", risk_at_most=0.2).account.per_record
    assert least["risk"]["greatest"] <= 0.2
    with pytest.raises(ic.Error, match="records cannot have as much utility"):
        table.publish(method="per-record", utility_at_least=99)
    with pytest.raises(ic.Error, match="nothing says what is wanted"):
        table.publish(method="per-record")
    with pytest.raises(TypeError, match="k cannot be had"):
        table.publish(method="per-record", utility_at_least=0.5, k=5)
    with pytest.raises(TypeError, match="utility_at_least is about"):
        table.publish(method="top-down", k=5, utility_at_least=0.5)


def test_risk_as_on_the_command_line(program, tmp_path):
    table = ic.Table(patients(), **roles())
    risk = table.risk(0.3, sampled=0.1)
    assert risk.n_records == 400 and risk.prosecutor["highest"] == 1.0 and len(risk.attributes) == 4
    table.publish(method="per-record", utility_at_least=1.0).write(tmp_path / "all.csv")
    command = [program, "risk", tmp_path / "all.csv", "--threshold", "0.3", "--sampled", "0.1", "--json"]
    said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert said["prosecutor"] == risk.prosecutor and said["n_unique"] == risk.n_unique
    assert said["n_unique_in_population_estimated"] == risk.n_unique_in_population_estimated
    with pytest.raises(ic.Error, match="no probability"):
        table.risk(2.0)


def test_risk_of_a_sample_with_households(tmp_path):
    people = {
        "age": [31, 42, 42, 53, 53, 64],
        "weight": [215, 100.5, 259.5, 76, 76, 186],
        "home": ["a", "a", "b", "b", "c", "c"],
        "house": [1, 1, 2, 2, 3, 3],
    }
    table = ic.Table(people, ["age"], weight_of="weight", household="home")
    risk = table.risk(output=tmp_path / "risk.csv", special_uniques=True)
    records = [0.02509644, 0.00542452, 0.00542452, 0.01256342, 0.01256342, 0.02824728]
    assert risk.individual["expected_reidentifications"] == pytest.approx(sum(records), abs=1e-6)
    assert risk.household["n_households"] == 3 and risk.population == "estimated from sampling weights"
    lines = (tmp_path / "risk.csv").read_text().splitlines()
    assert [float(line.split(",")[3]) for line in lines[1:]] == pytest.approx(records, abs=1e-8)
    assert risk.per_record == "risk.csv" and risk.special_uniques["n_sets_of_size"] == [2]
    assert risk.special_uniques["attributes"] == [{"attribute": "age", "percent": 100.0, "n_values": 2}]
    with pytest.raises(ic.Error, match="is there already"):
        table.risk(output=tmp_path / "risk.csv")
    # The same, said when it is asked.
    same = ic.Table(people, ["age"]).risk(weight_of="weight", household=["home", "house"], special_uniques=1)
    assert (same.individual, same.household) == (risk.individual, risk.household)
    assert "values" in table.risk(special_uniques=True, show_values=True).special_uniques["attributes"][0]
    with pytest.raises(ic.Error, match="sampling weights say already"):
        table.risk(sampled=0.1)
    with pytest.raises(ic.Error, match="record 2, column 'weight': is no number above 0"):
        ic.Table({**people, "weight": [1, -1, 1, 1, 1, 1]}, ["age"], weight_of="weight").risk()


def test_a_dealt_release_says_how_even_it_is():
    release = ic.Table(patients(), **roles()).publish(method="deal", k=8)
    dealt = release.certificate.dealt
    assert dealt["n_classes"] == 50 and dealt["attributes"][0]["most_differ"] == 1
    claims = {claim.claim: claim.holds for claim in release.verify().claims}
    assert claims["counts of ill differ by"]


def test_what_a_method_cannot_do_is_told():
    table = ic.Table(patients(), **roles())
    with pytest.raises(ic.Error, match="unknown method"):
        table.publish(method="magic", k=5)
    with pytest.raises(TypeError, match="local methods"):
        table.publish(k=5, cells="sets")
    with pytest.raises(TypeError, match="global"):
        table.publish("exact", method="top-down", k=5)
    with pytest.raises(ic.Error, match="needs k or l"):
        table.publish(method="top-down")
    # What is hard to keep is kept by larger groups; what no group can keep is refused.
    assert table.publish(method="mondrian", k=2, t=0.01).verify().holds
    with pytest.raises(ic.Error, match="less than an even share") as refused:
        table.publish(method="mondrian", k=2, alpha=0.01)
    assert refused.value.kind == "request" and refused.value.hint


def test_methods_are_compared():
    rows = ic.Table(patients(), **roles()).compare([4, 8], queries=20, max_suppressed=0.1)
    assert len(rows) == 2 * 10
    assert {row.method for row in rows} >= {"global:ncp", *LOCAL}
    assert all(0 <= row.loss["ncp"] <= 1 for row in rows)


@pytest.mark.parametrize("library", FRAMES)
def test_attacks(library):
    columns = {"zip": ["47677", "47602", "47678", "47905", "47909", "47906"], "ill": ["flu"] * 3 + ["ulcer", "cold", "gout"]}
    table = ic.Table(FRAMES[library](columns), {"zip": ic.mask(3)}, sensitive="ill")
    release = table.publish(k=3, max_level={"zip": 2})
    people = FRAMES[library]({"zip": ["47677", "47905", "10115"], "name": ["Bob", "Ann", "Eve"]})
    found = ic.attack(release, outside=people)
    assert found.is_certain
    assert found.releases[0]["sensitive"][0]["homogeneity"]["n_records"] == 3
    linkage = found.linkage[0]
    assert (linkage["n_outside"], linkage["n_without"], linkage["n_certain"]) == (3, 1, 1)
    assert "flu" not in str(found.to_dict()) and "flu" in str(ic.attack(release, show_values=True).to_dict())


def test_a_study_of_frequencies():
    rows = ic.study_deal([167, 153, 127, 103, 91, 89], range(2, 22)).rows
    dealt = {row["k"]: row["fewest_distinct"] for row in rows if row["made"] == "dealt"}
    assert [k for k, n in dealt.items() if n == 6] == list(range(9, 22))
    with pytest.raises(ic.Error):
        ic.study_deal([5, 5], 99)


@pytest.mark.parametrize(
    "order",
    [{"method": "top-down", "k": 5}, {"k": 3, "max_suppressed": 0.5}, {"levels": {"age": 3, "zip": 4, "town": 1, "seen": 2}, "k": 2},
     {"local": True, "k": 5, "max_loss": 0.9}],
    ids=["local", "negotiated", "levels", "ranges"],
)
@pytest.mark.parametrize("target", ["ill", "town", "pay"])
def test_a_target_is_in_the_report_and_changes_nothing_else(order, target):
    table = ic.Table(patients(), **roles())
    plain, told = table.publish(**order), table.publish(**order, target=target)
    assert told.to_arrow().equals(plain.to_arrow())
    assert "A classifier" in told.report and "A classifier" not in plain.report
    with pytest.raises(ic.Error):
        table.publish(**order, target="nothing")
