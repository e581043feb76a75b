"""What the command line tells beside its result, Python tells too: as warnings, and by what it returns."""

import json
import re
import subprocess
import warnings

import pandas as pd
import pyarrow as pa
import pytest
from conftest import patients, roles

import incrowd as ic

N_LACKING = 7


def lacking():
    columns = patients()
    for i in range(N_LACKING):
        columns[["age", "town", "ill", "pay"][i % 4]][i * 11] = None
    return columns


def table(**more):
    return ic.Table(pa.table(lacking()), **{**roles(), "missing_records": "drop", **more})


def told(act):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        made = act()
    # That much is lost is told too, and is not what these tests are about.
    notes = [warning for warning in heard if issubclass(warning.category, ic.Note)]
    return made, [note for note in notes if "of the detail is lost" not in str(note.message)]


ASKED = {"k": 2, "max_suppressed": 0.5}
VERBS = {
    "count": lambda table: table.count(),
    "annotate": lambda table: table.annotate(),
    "negotiate": lambda table: table.negotiate(**ASKED),
    "offers": lambda table: table.negotiate(k=100, max_level={"age": 0}),
    "frontier": lambda table: table.frontier(**ASKED),
    "publish": lambda table: table.publish(**ASKED),
    "levels": lambda table: table.publish(levels={"age": 4, "zip": 4, "seen": 3, "town": 2}, k=2),
    "local": lambda table: table.publish(method="mondrian", k=2),
    "per-record": lambda table: table.publish(method="per-record", utility_at_least=0.2),
    "risk": lambda table: table.risk(),
    "compare": lambda table: table.compare(2, methods=["top-down"], queries=10),
}


ORDERS = {
    "count": {},
    "annotate": {"k": 2},
    "negotiate": {"k": 2, "max_suppressed": "50%"},
    "frontier": {"k": 2},
    "compare": {"k": 2, "methods": ["top-down"], "n_queries": 10},
    "map": {"ks": [2], "methods": ["top-down"]},
    "risk": {},
    "study": {"study": "lattice", "k": 2},
}


@pytest.mark.parametrize("verb", ORDERS)
def test_orders_by_name_tell_it_too(verb):
    _, heard = told(lambda: table().order(verb, **ORDERS[verb]))
    assert sum("7 of 400 records lack a value" in str(note.message) for note in heard) == 1


@pytest.mark.parametrize("name", VERBS)
def test_records_that_are_left_out_are_told(name):
    made, heard = told(lambda: VERBS[name](table()))
    assert [str(note.message) for note in heard] == [
        '7 of 400 records lack a value and are left out (missing_records="drop")']
    assert all(note.filename == __file__ for note in heard), "at the line that asked"
    if name != "compare":
        assert made.n_dropped == N_LACKING
        assert re.search(rf"\b{N_LACKING} records left out|n_dropped={N_LACKING}", repr(made)), repr(made)
    if isinstance(made, (ic.Answer, ic.Release)):
        assert re.search(rf"\b{N_LACKING} records", made._repr_html_())


@pytest.mark.parametrize("name", VERBS)
def test_where_none_is_left_out_nothing_is_told(name):
    made, heard = told(lambda: VERBS[name](ic.Table(pa.table(patients()), **roles())))
    kept, heard_of_kept = told(lambda: VERBS[name](table(missing_records="keep")))
    assert not heard and not heard_of_kept
    assert "left out" not in repr(made) and "left out" not in repr(kept)


def test_missing_values_are_values_unless_one_asks_to_drop(tmp_path):
    columns = {"age": [31, 31, 31, None, None, None], "ill": ["flu", None, "gout", "flu", "gout", None]}
    pd.DataFrame(columns).astype({"age": "Int64"}).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "incrowd.toml").write_text(
        '[data]\npath = "people.csv"\n[attributes.age]\nrole = "quasi-identifier"\n[attributes.ill]\nrole = "sensitive"\n')
    for made in (ic.Table(pa.table(columns), ["age"], sensitive="ill"), ic.open(tmp_path)):
        release, heard = told(lambda made=made: made.publish(k=3))
        assert not heard and (release.n_dropped, release.n_suppressed, len(release)) == (0, 0, 6)
        assert release.verify().holds
    out = ic.Table(pa.table(columns), ["age"], sensitive="ill").publish(k=3).to_arrow().to_pylist()
    key = lambda record: tuple(map(str, record.values()))  # noqa: E731
    assert sorted(out, key=key) == sorted(pa.table(columns).to_pylist(), key=key), "as they are, who lacks an age among three"
    out, heard = told(lambda: ic.Anonymizer(["age"], sensitive="ill", k=3).fit_transform(pa.table(columns)))
    assert not heard and out.to_pydict() == columns


@pytest.mark.parametrize("named, n_dropped", [
    ({}, 1),
    ({"sensitive": "ill"}, 2),
    ({"identifiers": "name"}, 1),
    ({"other": "keep", "identifiers": "name"}, 3),
    ({"complete": ["name"]}, 2),
    ({"identifiers": "name", "complete": ["name", "pay"]}, 3),
])
def test_who_lacks_what_is_neither_counted_nor_published_stays_unless_it_must_be_complete(named, n_dropped):
    columns = {"age": [None, *[31] * 7], "ill": ["a", None, *"bcabca"[:6]], "name": ["a", "b", None, *"cdefg"],
               "pay": [1, 1, 1, None, 1, 1, 1, 1]}
    made = ic.Table(columns, ["age"], missing_records="drop", **named)
    (counts, release), heard = told(lambda: (made.count(), made.publish(k=2)))
    assert counts.n_dropped == release.n_dropped == n_dropped and len(release) == 8 - n_dropped
    assert len(heard) == 1 and f"{n_dropped} of 8 records" in str(heard[0].message), "a table tells it once"
    assert release.verify().holds and not set(named.get("complete", ())) & set(release.columns), "it is not published for that"


def test_an_anonymizer_tells_it_too():
    made = ic.Anonymizer({"age": ic.intervals(20)}, sensitive="ill", k=2, max_suppressed=0.5, missing_records="drop")
    frame = pd.DataFrame(lacking())
    out, heard = told(lambda: made.fit_transform(frame))
    assert len(heard) == 1 and heard[0].filename == __file__
    # Two lack an age and two what they have; what else is missing is in columns that nobody named.
    lacks = frame["age"].isna() | frame["ill"].isna()
    assert made.release_.n_dropped == made.answer_.n_dropped == lacks.sum() == 4
    # Ages are published as they are, and who is alone with theirs is suppressed, not dropped.
    alone = ~lacks & ~frame["age"].where(~lacks).duplicated(keep=False)
    assert made.offer_.levels == {"age": 0} and made.release_.n_suppressed == alone.sum() == 1
    assert list(out.isna().all(axis=1)) == list(lacks | alone)


def test_a_release_says_what_is_not_there():
    release, _ = told(lambda: table().publish("suppression", k=5, max_level={"zip": 3, "age": 3, "town": 1, "seen": 2}))
    assert release.n_dropped + release.n_suppressed + len(release) == 400 and release.n_suppressed > 0
    assert f"{release.n_suppressed:,} suppressed; 7 records left out" in repr(release)


def test_what_is_told_can_stop_the_work():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ic.Note)
        with pytest.raises(ic.Note, match="lack a value"):
            table().publish(**ASKED)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("ignore", ic.Note)
        table().publish(**ASKED)
    assert not heard


def test_an_error_comes_with_what_was_told_before_it():
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with pytest.raises(ic.Error, match="394"):
            table().publish(k=394)
    assert any("lack a value" in str(note.message) for note in heard)


def test_one_record_is_one():
    made, _ = told(lambda: ic.Table({"age": [1, 1, None]}, ["age"], missing_records="drop").negotiate(k=2))
    assert "1 record left out" in repr(made) and "1 record lacks a value and is left out" in made._repr_html_()


@pytest.mark.parametrize("verb, words", [
    ("count", ["count"]),
    ("negotiate", ["negotiate", "--k", "2"]),
    ("top-down", ["publish", "--method", "top-down", "--max-suppressed", "5", "--k", "2"]),
    ("per-record", ["publish", "--method", "per-record", "--utility-at-least", "20%"]),
    ("k-map", ["negotiate", "--k-map", "2"]),
])
def test_python_tells_what_the_command_line_tells(verb, words, program, tmp_path):
    columns = {name: lacking()[name] for name in ("age", "town", "ill")}
    pd.DataFrame(columns).to_csv(tmp_path / "people.csv", index=False)
    people = pd.DataFrame({name: patients()[name] for name in ("age", "town")})
    people.loc[0, "town"] = "Atlantis"
    people.to_csv(tmp_path / "population.csv", index=False)
    (tmp_path / "towns.csv").write_text("Paris;F;*\nLyon;F;*\nRome;I;*\nMilan;I;*\n")
    (tmp_path / "incrowd.toml").write_text(
        """
        [data]
        path = "people.csv"
        missing_records = "drop"
        population = "population.csv"
        [attributes.age]
        role = "quasi-identifier"
        [attributes.town]
        role = "quasi-identifier"
        hierarchy = "towns.csv"
        [attributes.ill]
        role = "sensitive"
        [request]
        k = 2
        max_suppressed = "100%"
        """
    )
    asked = [str(program), words[0], str(tmp_path), *words[1:], "--json"]
    asked += ["-o", str(tmp_path / "out.csv")] if words[0] == "publish" else []
    theirs = subprocess.run(asked, capture_output=True, text=True, timeout=60)
    assert theirs.returncode in (0, 1) and json.loads(theirs.stdout), theirs.stderr
    ours = {
        "count": lambda table: table.count(),
        "negotiate": lambda table: table.negotiate(k=2),
        "top-down": lambda table: table.publish(method="top-down", k=2, max_suppressed=5),
        "per-record": lambda table: table.publish(method="per-record", utility_at_least=0.2),
        "k-map": lambda table: table.negotiate(k_map=2),
    }[verb]
    _, heard = told(lambda: ours(ic.open(tmp_path)))
    numbers = lambda lines: sorted(set(re.findall(r"\d+ of \d+|hides no one|not promised|fit nobody|suppress", "\n".join(lines))))  # noqa: E731,E501
    expected = numbers(theirs.stderr.splitlines())
    assert expected and numbers([str(note.message) for note in heard]) == expected, theirs.stderr


def test_a_population_in_memory_is_one():
    """It was left out of the risk that a journalist sees, and of the records that are alone in it."""
    people = {"age": [31, 31, 40, 40, 40, 50], "town": ["a"] * 6}
    sample = {"age": [31, 40, 50], "town": ["a"] * 3}
    risk = ic.Table(sample, ["age"], population=people).risk()
    assert risk.n_unique_in_population == 1 and risk.to_dict()["population"] == "counted"
    assert ic.Table(sample, ["age"]).risk().n_unique_in_population is None


def test_a_verdict_says_what_it_is_about():
    verdict = ic.verify({"q": ["a"] * 4 + ["*"] * 2, "s": list("xyxyxy")}, ["q"], sensitive="s", t=0.5, k=2,
                        suppressed_as="absent")
    assert "its own distribution" in repr(verdict) and "its own distribution" in verdict._repr_html_()
    assert "2 marked as suppressed left out" in repr(verdict)
    people = ic.Table({"age": [31, 40, 50]}, ["age"], population={"age": [31, 31, 40, 40, 50, 50]})
    made = people.publish(k_map=2)
    unknown = ic.verify(made.to_pandas(), ["age"], k_map=2)
    assert not unknown and "k_map not judged" in repr(unknown)
