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
    assert "all wishes are met" in shown(lattice.negotiate(k=2))
    assert "polyline" in shown(lattice.frontier(max_suppressed=0.1))
    assert "green" not in shown(lattice.pyramid(k=5, max_suppressed=0.01))
    release = table.publish(answer.offers.height)
    assert "<td" in shown(release) and "kept" in shown(release.verify())
    assert "broken" in shown(ic.verify(pa.table(patients()), ["age"], k=50))
    assert "unique" in shown(table.profile()) and "width 5" in shown(table.hierarchy("age"))


def test_values_and_names_are_escaped():
    table = ic.Table({EVIL: ["a", "a", EVIL], "s": [EVIL] * 3}, {EVIL: {"a": EVIL, EVIL: EVIL}}, sensitive="s", name=EVIL)
    lattice = table.annotate(k=2)
    answer = lattice.negotiate(k=3, max_level={EVIL: 0})
    for thing in (table, lattice, answer, answer.offers.suppression, lattice.frontier(max_suppressed=1.0), table.profile(),
                  table.hierarchy(EVIL), table.publish(levels={EVIL: 1}, k=3)):
        shown(thing)
    shown(ic.verify({EVIL: [EVIL] * 3}, [EVIL], k=3))


def test_texts_say_it_too():
    table = ic.Table(pa.table(patients()), **roles())
    for thing in (table, table.annotate(), table.negotiate(k=5), table.profile(), table.frontier(), table.count(),
                  table.publish(k=5, max_suppressed=0.5)):
        assert type(thing).__name__ in repr(thing) and "object at" not in repr(thing)
