"""What a notebook shows: well-formed, and nothing of the data can become markup."""

import xml.etree.ElementTree as ElementTree

import pyarrow as pa
from conftest import patients, roles

import incrowd as ic

EVIL = "<script>alert('x')</script>&\""


def shown(thing):
    markup = thing._repr_html_()
    ElementTree.fromstring(f"<div>{markup}</div>".replace("&nbsp;", " "))
    assert "<script" not in markup
    return markup


def test_everything_can_be_shown():
    table = ic.Table(pa.table(patients()), **roles())
    lattice = table.annotate(k=5)
    answer = lattice.negotiate(k=50, max_level={"age": 1, "zip": 1})
    assert "sensitive" in shown(table) and "<svg" in shown(lattice)
    assert "settle for less" in shown(answer) or answer.offers.privacy is None
    assert "lose more records" in shown(answer.offers) and "records lost" in shown(answer.offers.suppression)
    assert "the request is met" in shown(lattice.negotiate(k=2))
    assert "polyline" in shown(lattice.frontier(max_suppressed=0.1))
    assert "green" not in shown(lattice.pyramid(k=5, max_suppressed=0.01))
    release = table.publish(answer.offers.height)
    assert "<td" in shown(release) and "kept" in shown(release.verify())
    assert "broken" in shown(ic.verify(pa.table(patients()), ["age"], k=50))
    assert "unique" in shown(table.profile()) and "width 5" in shown(table.hierarchy("age"))


def results():
    """Everything that is shown with a chart."""
    table = ic.Table(pa.table(patients()), **roles())
    release = table.publish(k=5, max_suppressed=0.2)
    return {
        "lattice": table.annotate(k=5), "frontier": table.frontier(max_suppressed=0.1), "risk": table.risk(),
        "local": table.frontier(local=True), "compare": table.compare([5, 10], queries=5, methods=["top-down", "global:ncp"]),
        "groups": release.groups(), "attack": ic.attack(release, outside={"age": [30, 40], "town": ["Paris", "Rome"]}),
    }


def test_results_are_charts_that_can_be_read_on_any_ground():
    for name, result in results().items():
        markup = shown(result)
        assert "<svg" in markup and "currentColor" in markup, name
        # No colour of text or ground that a dark notebook would swallow.
        assert not any(colour in markup.lower() for colour in ("black", "white", "#000", "#fff", "background")), name
        assert "href" not in markup and "url(" not in markup and "NaN" not in markup, name
        picture = result.pyramid(k=5) if name == "lattice" else result.picture
        assert ElementTree.fromstring(picture.svg).tag.endswith("svg"), name


def test_charts_show_the_numbers():
    made = results()
    for row in made["compare"]:
        assert f"{row.method}, k = {row.k}: {row.loss['ncp']:.3f}" in shown(made["compare"])
    sizes = [row["n_records"] for row in made["groups"].to_dict()["rows"]]
    n_of_eight = sum(8 <= size < 16 for size in sizes)
    assert n_of_eight and f"8 to 15 records: {n_of_eight} groups" in shown(made["groups"])
    attributes = made["risk"].to_dict()["attributes"]
    assert all(f"{row['n_unique_alone']:,} alone" in shown(made["risk"]) for row in attributes) and len(attributes) == 4
    guess = made["attack"].to_dict()["releases"][0]["sensitive"][0]["skewness"]
    assert f"{guess['best_guess'] * 100:.2f}".rstrip("0").rstrip(".") + " %" in shown(made["attack"])
    widths = [float(bar.get("width")) for bar in ElementTree.fromstring(made["risk"].picture.svg).iter() if bar.tag.endswith("rect")]
    assert widths == [max(round(380 * row["average_alone"], 1), 1.0) for row in attributes]


def test_values_and_names_are_escaped():
    table = ic.Table({EVIL: ["a", "a", EVIL], "s": [EVIL] * 3}, {EVIL: {"a": EVIL, EVIL: EVIL}}, sensitive="s", name=EVIL)
    lattice = table.annotate(k=2)
    answer = lattice.negotiate(k=3, max_level={EVIL: 0})
    for thing in (table, lattice, answer, answer.offers.suppression, lattice.frontier(max_suppressed=1.0), table.profile(),
                  table.hierarchy(EVIL), table.publish(levels={EVIL: 1}, k=3), table.risk(), table.frontier(local=True),
                  table.compare(2, queries=2, methods=["top-down"]), table.publish(levels={EVIL: 1}, k=3).groups(),
                  ic.attack(table.publish(levels={EVIL: 1}, k=3))):
        shown(thing)
    shown(ic.verify({EVIL: [EVIL] * 3}, [EVIL], k=3))


def test_texts_say_it_too():
    table = ic.Table(pa.table(patients()), **roles())
    for thing in (table, table.annotate(), table.negotiate(k=5), table.profile(), table.frontier(), table.count(),
                  table.publish(k=5, max_suppressed=0.5)):
        assert type(thing).__name__ in repr(thing) and "object at" not in repr(thing)
