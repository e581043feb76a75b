"""Every verb, with a frame of every library."""

import datetime

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import FRAMES, patients, roles

import incrowd as ic


def groups_of(records, names):
    """The sizes of groups, counted in the plainest way."""
    sizes = {}
    for record in records:
        key = tuple(record[name] for name in names)
        sizes[key] = sizes.get(key, 0) + 1
    return sizes


def test_the_example_of_the_readme(frame):
    table = ic.Table(frame, **roles())
    lattice = table.annotate()
    answer = lattice.negotiate(k=10, l=3, max_suppressed=0.01, max_level={"age": 2})
    offer = answer.exact or answer.offers.height
    assert offer.k == 10 and offer.l == 3 and offer.criteria == {"k": 10, "l": 3}
    assert set(offer.levels) == {"age", "zip", "town", "seen"}
    assert 0 <= offer.loss["ncp"] <= 1 and offer.n_suppressed <= 4
    release = table.publish(offer)
    assert release.verify().holds
    records = release.to_arrow().to_pylist()
    assert len(records) == len(release) == 400 - offer.n_suppressed
    sizes = groups_of(records, offer.levels)
    assert min(sizes.values()) >= 10 and len(sizes) == offer.n_groups
    assert ic.verify(release.to_frame(), quasi_identifiers=list(offer.levels), sensitive="ill", k=10, l=3).holds
    assert not ic.verify(frame, quasi_identifiers=["age", "zip"], k=5).holds


def test_answers_do_not_depend_on_who_brings_the_frame():
    answers = [ic.Table(make(patients()), **roles()).negotiate(k=5, max_suppressed=0.05) for make in FRAMES.values()]
    relation = duckdb.from_arrow(pa.table(patients()))
    answers.append(ic.Table(relation, **roles()).negotiate(k=5, max_suppressed=0.05))
    assert all(answer == answers[0] for answer in answers)


def test_profile(frame, table):
    looked = table.profile()
    assert [column.name for column in looked.columns] == list(patients())
    assert looked.columns[0].n_distinct == 400 and looked.columns[0].role == "identifier"
    assert looked.uniqueness["n_unique"] > 300
    assert "least" not in looked.columns[1].to_dict()
    assert "least" in table.profile(values=True).columns[1].to_dict()
    alone = ic.profile(frame)
    assert {column.name: column.suggested_role for column in alone.columns}["age"] == "quasi-identifier"


def test_init(frame):
    suggested = ic.init(frame)
    assert "[attributes.age]" in suggested.text
    assert suggested.table().roles["age"] == "quasi-identifier"
    assert suggested.table().count().n_records == 400
    assert repr(suggested).startswith("Suggestion(400 records") and "age: quasi-identifier" in repr(suggested)
    shown = suggested._repr_html_()
    assert ">quasi-identifier</td>" in shown and "intervals" in shown


def test_count(table):
    counts = table.count()
    assert counts.n_records == 400 and counts.n_schemes == 5 * 5 * 3 * 4
    assert table.count(quasi_identifiers=["town"]).n_groups == 4


def test_hierarchy(table):
    age = table.hierarchy("age")
    assert [level.name for level in age.levels] == ["exact", "width 5", "width 10", "width 20", "*"]
    assert age.arx.splitlines()[0].count(";") == 4
    assert table.hierarchy("town").rows[0] == ["Lyon", "France", "*"]


def test_annotate(table):
    lattice = table.annotate()
    assert (lattice.n_records, lattice.n_schemes) == (400, 300)
    schemes = lattice.schemes(k=3)
    assert len(schemes) == 300 and schemes[0].levels == {"age": 0, "zip": 0, "town": 0, "seen": 0}
    assert schemes[-1].n_suppressed == 0 and schemes[-1].n_groups == 1
    heights = lattice.heights(k=3)
    assert [height.height for height in heights] == list(range(14))
    assert lattice.heights()[0].n_groups["max"] == schemes[0].n_groups
    assert table.annotate(quasi_identifiers=["age", "town"]).n_schemes == 15


def test_what_is_best_loses_the_least_detail_unless_one_asks_for_the_lowest(tmp_path):
    asked = {"k": 3, "max_suppressed": 0.1}
    table = ic.Table(pa.table(patients()), **roles())
    # All that do it, and which of them is best, in the plainest way.
    able = [scheme for scheme in table.annotate().schemes(k=3) if scheme.n_suppressed <= 40]
    lowest = table.negotiate(**asked, best_by="height").exact
    assert lowest.height == min(sum(scheme.levels.values()) for scheme in able)
    best = table.negotiate(**asked, best_by="ncp").exact
    assert best.levels != lowest.levels and best.loss["ncp"] < lowest.loss["ncp"]
    pd.DataFrame(patients()).to_csv(tmp_path / "patients.csv", index=False)
    (tmp_path / "incrowd.toml").write_text(
        """
        [data]
        path = "patients.csv"
        [attributes]
        age = { role = "quasi-identifier", hierarchy = { intervals = [5, 10, 20], origin = 17 } }
        zip = { role = "quasi-identifier", hierarchy = { mask = 4 } }
        town = { role = "quasi-identifier", hierarchy = { tree = { France = ["Paris", "Lyon"], Italy = ["Rome", "Milan"] } } }
        seen = { role = "quasi-identifier", hierarchy = { dates = ["quarter", "year"] } }
        ill = { role = "sensitive" }
        """
    )
    for answer in (table.negotiate(**asked), table.annotate().negotiate(**asked), ic.open(tmp_path).negotiate(**asked),
                   ic.Anonymizer(**roles(), **asked).fit(pa.table(patients())).answer_):
        assert answer.exact.levels == best.levels and answer.exact.loss["ncp"] == best.loss["ncp"]
        assert answer.to_dict()["request"]["best_by"] == "ncp"
    assert table.publish(**asked).to_arrow() == table.publish(best).to_arrow() != table.publish(lowest).to_arrow()
    assert table.frontier(**asked).best_by == "ncp"
    # The published search is by height.
    published = table.negotiate(**asked, as_published=True)
    assert published.exact.height == lowest.height and published.to_dict()["request"]["best_by"] == "height"


def test_negotiate_offers(table):
    answer = table.negotiate(k=50, max_level={"age": 1, "zip": 1, "town": 0, "seen": 0}, explain=True)
    assert answer.exact is None and answer.outcome == "offers"
    offers = answer.offers
    assert offers.suppression.n_suppressed > 0 and offers.height.n_suppressed == 0
    assert offers.privacy is None or offers.privacy.k < 50
    assert answer.explanation["by_attribute"][0]["attribute"] == "age"
    assert len(list(offers)) in (2, 3)
    for offer in offers:
        if offer.n_groups:
            assert table.publish(offer).certificate.choice in ("suppression", "height", "privacy")


@pytest.mark.parametrize(
    "criteria",
    [{"k": 5}, {"l": 2}, {"k": 3, "alpha": 0.7}, {"entropy_l": 2.5}, {"recursive": (3, 2)}, {"t": 0.2}, {"delta": 1.5},
     {"beta": 2}, {"enhanced_beta": 2}, {"l": {"ill": 3}, "k": 2}],
)
def test_every_criterion(criteria):
    table = ic.Table(pa.table(patients()), **roles())
    answer = table.negotiate(max_suppressed=0.2, **criteria)
    release = table.publish(answer.exact or answer.offers.height)
    verdict = release.verify()
    assert verdict.holds and set(verdict.criteria) == set(release.certificate.criteria)


def test_k_map():
    everyone = pa.table(patients(2000, seed=1))
    some = everyone.slice(0, 100)
    table = ic.Table(some, ["town"], population=everyone)
    answer = table.negotiate(k_map=300)
    assert answer.exact is not None and table.publish(answer).verify().holds


def test_several_sensitive_attributes(frame):
    given = {**roles(), "sensitive": ["ill", "pay"], "other": ()}
    table = ic.Table(frame, **given, distance={"pay": "ordered"})
    answer = table.negotiate(l={"ill": 2}, t={"pay": 0.3}, max_suppressed=0.1)
    offer = answer.exact or answer.offers.height
    assert set(offer.criteria) == {"ill:l", "pay:t"}
    assert table.publish(offer).verify().holds


def test_hierarchical_distance():
    kinds = {"flu": "infection", "cold": "infection", "cancer": "growth", "gout": "joints"}
    given = {**roles(), "sensitive": {"ill": kinds}, "other": ()}
    near = ic.Table(pa.table(patients()), **given, distance="hierarchical").publish("height", t=0.2, max_suppressed=0.1)
    assert near.certificate.original["ill"]["distance"] == "hierarchical" and near.verify().holds


def test_frontier(table):
    frontier = table.frontier(max_suppressed=0.05)
    assert len(frontier) > 2 and frontier.over == "k"
    ks = [bargain.k for bargain in frontier]
    assert ks == sorted(ks, reverse=True)
    bargain = frontier.bargains[len(frontier) // 2]
    release = table.publish(bargain)
    assert release.certificate.n_records_suppressed == bargain.n_suppressed
    assert release.certificate.criteria["k"]["promised"] == bargain.k
    held = table.frontier("l", k=5, max_suppressed=0.05).bargains[0]
    promised = table.publish(held).certificate.criteria
    assert promised["k"]["promised"] == 5 and promised["l"]["promised"] == held.l


def test_publish_by_keywords_and_by_levels(table):
    release = table.publish("height", k=10, max_level={"age": 0, "zip": 0, "town": 0, "seen": 0})
    assert release.certificate.choice in ("exact", "height")
    mine = table.publish(levels={"age": "width 20", "zip": 4, "seen": 3}, k=5, max_suppressed=0.5)
    assert mine.certificate.choice == "levels" and mine.certificate.levels["age"] == 3


def test_write_and_verify_files(table, tmp_path):
    release = table.publish(k=5, max_suppressed=0.1)
    for name in ("out.csv", "out.parquet"):
        path = release.write(tmp_path / name)
        assert path.exists() and ic.verify(path).holds and ic.verify(path).claims
        assert (tmp_path / f"{name}.report.html").read_text().startswith("<!")
    assert "incrowd" in release.report
    assert ic.verify(release).holds and ic.verify(release, certificate=release.certificate.to_dict()).holds
    assert pd.read_parquet(tmp_path / "out.parquet").shape == (len(release), 6)


def test_projects(philosophers):
    table = ic.open(philosophers)
    answer = table.negotiate()
    assert answer.exact.levels == {"age": 1, "work_class": 1, "education": 3}
    assert table.publish(answer).verify().holds
    assert table.roles["name"] == "identifier"


def test_files(tmp_path):
    path = tmp_path / "patients.csv"
    pd.DataFrame(patients()).to_csv(path, index=False)
    from_file = ic.Table(path, **roles()).negotiate(k=5, max_suppressed=0.05)
    assert from_file == ic.Table(pa.table(patients()), **roles()).negotiate(k=5, max_suppressed=0.05)
    made = ic.init(path, tmp_path)
    assert (tmp_path / "incrowd.toml").read_text() == made.text and made.table().count().n_records == 400
    assert ic.profile(path).n_records == 400


def test_demo(tmp_path):
    table = ic.demo(tmp_path / "hospital", records=500)
    assert (tmp_path / "hospital/incrowd.toml").exists()
    assert table.negotiate(k=2, max_suppressed=0.5).n_records <= 500


def labelled():
    return {"Paris": ["France", "Europe"], "Lyon": ["France", "Europe"], "Rome": ["Italy", "Europe"],
            "Milan": ["Italy", "Europe"]}


@pytest.mark.parametrize(
    "rule",
    [
        labelled(),
        ic.labels(labelled()),
        ic.tree({"France": ["Paris", "Lyon"], "Italy": ["Rome", "Milan"]}),
        pd.DataFrame([[town, *labels] for town, labels in labelled().items()]).rename(columns=str),
        pl.DataFrame({"town": list(labelled()), "country": ["France", "France", "Italy", "Italy"]}),
        lambda town: "France" if town in ("Paris", "Lyon") else "Italy",
        ic.function(lambda town: ["France" if town in ("Paris", "Lyon") else "Italy", "Europe"]),
    ],
)
def test_hierarchies_from_anything(rule):
    table = ic.Table(pa.table(patients()), {"town": rule})
    assert {tuple(row) for row in table.hierarchy("town").rows} == {
        ("Paris", "France", "*"), ("Lyon", "France", "*"), ("Rome", "Italy", "*"), ("Milan", "Italy", "*")}


def test_hierarchies_of_numbers_and_dates():
    data = pa.table({"x": [1.0, 2.5], "d": [datetime.date(2024, 1, 31), datetime.date(2025, 2, 1)], "b": [True, False]})
    table = ic.Table(data, {"x": {1.0: "low", 2.5: "high"}, "d": lambda day: day.year, "b": {True: "yes", False: "no"}})
    assert table.hierarchy("x").rows == [["1", "low", "*"], ["2.5", "high", "*"]]
    assert table.hierarchy("d").rows == [["2024-01-31", "2024", "*"], ["2025-02-01", "2025", "*"]]
    assert table.hierarchy("b").rows == [["false", "no", "*"], ["true", "yes", "*"]]


def test_arx_files(tmp_path):
    path = tmp_path / "town.csv"
    path.write_text("".join(f"{town};{';'.join(labels)};*\n" for town, labels in labelled().items()))
    table = ic.Table(pa.table(patients()), {"town": path})
    assert len(table.hierarchy("town").levels) == 4
    assert table.hierarchy("town").arx == "".join(sorted(path.read_text().splitlines(keepends=True)))


def cases():
    """A list of cases as it is published: days first, places that only a tree brings together, gaps."""
    days = [f"{1 + i % 28:02}-{3 + i % 2:02}-2020" for i in range(400)]
    places = ["North"] * 200 + ["South"] * 150 + [f"P{i % 10}" for i in range(50)]
    ages = [20 + i * 7 % 60 for i in range(400)]
    return {"case_id": list(range(400)), "date": days, "province": places, "age": ages}


def test_a_suggested_table_has_the_trees_and_dates_that_were_suggested(tmp_path):
    data = cases()
    # Of one year alone, a tree would have no level of years.
    data["date"] = [f"{day[:-1]}{i // 200}" for i, day in enumerate(data["date"])]
    (tmp_path / "cases.csv").write_text("\n".join(",".join(map(str, row)) for row in [tuple(data), *zip(*data.values())]) + "\n")
    of_file = ic.init(tmp_path / "cases.csv", output=tmp_path / "project").table()
    of_frame = ic.init(pd.DataFrame(data)).table()
    for name in ("date", "province", "age"):
        assert len(of_frame.hierarchy(name).rows[0]) == len(of_file.hierarchy(name).rows[0]) > 2, name


@pytest.mark.parametrize("kind", ["file", "pandas", "categories", "polars", "arrow", "dict"])
def test_dates_that_are_written_day_first_are_read_as_is_said(kind, tmp_path):
    data = cases()
    (tmp_path / "cases.csv").write_text("\n".join(",".join(map(str, row)) for row in [tuple(data), *zip(*data.values())]) + "\n")
    frame = pd.DataFrame(data)
    table = {"file": tmp_path / "cases.csv", "pandas": frame, "categories": frame.astype({"date": "category"}),
             "polars": pl.DataFrame(data), "arrow": pa.table(data), "dict": data}[kind]
    roles = {"date": ic.dates("month", format="31-12-2019"), "age": ic.intervals(20)}
    release = ic.Table(table, roles, identifiers="case_id").publish(k=5, levels={"date": 1, "age": 1})
    assert release.verify().holds and set(release.to_dict()["date"]) == {"2020-03", "2020-04"}
    with pytest.raises(ic.Error, match="format"):
        ic.dates("month", format="soon")

