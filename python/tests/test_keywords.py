"""What a verb is asked for: nothing that it does not know, and None where something was looked for in vain."""

import inspect

import pyarrow as pa
import pytest
from conftest import patients, roles

import incrowd as ic
from incrowd._wishes import NOT_GIVEN


def table():
    return ic.Table(pa.table(patients()), **roles())


@pytest.fixture
def standing(tmp_path):
    """A project whose standing request is far weaker than what is negotiated."""
    rows = "".join(f"{age},{ill}\n" for age, ill in zip(patients()["age"], patients()["ill"]))
    (tmp_path / "people.csv").write_text("age,ill\n17,flu\n" + rows)
    (tmp_path / "incrowd.toml").write_text(
        """
        [data]
        path = "people.csv"
        [attributes.age]
        role = "quasi-identifier"
        hierarchy = { intervals = [5, 10, 20, 40] }
        [attributes.ill]
        role = "sensitive"
        [request]
        k = 2
        max_suppressed = "100%"
        """
    )
    return ic.open(tmp_path)


def test_an_offer_that_is_not_there_is_not_published(standing):
    answer = standing.negotiate(k=100, l=2, max_level={"age": 0}, max_suppressed=0)
    assert answer.exact is None and answer.offers.privacy is None
    for publish in (lambda: standing.publish(answer.exact), lambda: standing.publish(answer.offers.privacy),
                    lambda: standing.publish(offer=None)):
        with pytest.raises(ic.Error, match="no such offer") as raised:
            publish()
        assert raised.value.hint
    assert standing.publish().certificate.criteria["k"]["promised"] == 2, "who gives nothing gets the standing request"
    with pytest.raises(ic.Error, match="unknown offer"):
        standing.publish("")
    for offer in ("exakt", "heigth"):
        with pytest.raises(ic.Error, match="unknown offer"):
            standing.publish(offer, k=2)
    for thing in (3, answer.offers, answer.offers.suppression.levels):
        with pytest.raises(TypeError, match="is no offer"):
            standing.publish(thing)


def asking(function):
    """The keywords of a verb that None is no value of."""
    return [name for name, p in inspect.signature(function).parameters.items() if p.default is NOT_GIVEN]


def verbs():
    """Every verb of the package, with what it takes to call it."""
    made = table()
    lattice, release, anonymizer = made.annotate(), made.publish(k=2, max_suppressed=0.5), ic.Anonymizer(["age"], k=2)
    for name in ic.__all__:
        verb = getattr(ic, name)
        if inspect.isfunction(verb) or verb in (ic.Table, ic.Anonymizer):
            yield f"ic.{name}", verb
    for thing in (made, lattice, release, anonymizer):
        for name, verb in inspect.getmembers(thing, inspect.ismethod):
            if not name.startswith("_") and verb.__func__.__module__.startswith("incrowd"):
                yield f"{type(thing).__name__}.{name}", verb


# Orders take the flags of the command line as keywords, and are refused below Python: see test_orders.py.
ORDERS = ("Table.order", "Table.publish_order", "Table.publish_into")
VERBS = {name: verb for name, verb in verbs() if name not in ORDERS}


def test_every_verb_is_here():
    some = ["ic.Table", "ic.open", "ic.verify", "ic.attack", "ic.intervals", "Table.open", "Table.annotate",
            "Table.publish", "Lattice.pyramid", "Release.write", "Anonymizer.fit_transform", "ic.Anonymizer", "ic.serve"]
    assert set(some) <= set(VERBS) and len(VERBS) > 40, sorted(VERBS)


@pytest.mark.parametrize("verb, order", [
    ("annotate", 'order("annotate", partial=…)'), ("negotiate", 'order("negotiate", partial=…)'),
    ("publish", "publish_order(partial=…)"),
])
def test_what_orders_take_is_shown_the_way(verb, order):
    with pytest.raises(TypeError) as refused:
        getattr(table(), verb)(k=2, partial="50%")
    assert str(refused.value).endswith(f"take Table.{order}")


@pytest.mark.parametrize("name", VERBS)
def test_unknown_keywords_are_refused_by_every_verb(name):
    with pytest.raises(TypeError, match="'foo'") as raised:
        # What scikit-learn puts around a transformer wants the data first.
        VERBS[name](*([None] if name.startswith("Anonymizer.") else []), foo=1)
    known = [p.name for p in inspect.signature(VERBS[name]).parameters.values()
             if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    assert not known or any(f"nearest is '{keyword}'" in str(raised.value) for keyword in known)


@pytest.mark.parametrize("typed, meant", [("max_supressed", "max_suppressed"), ("kk", "k"), ("entropyl", "entropy_l"),
                                          ("max_levels", "max_level")])
def test_the_nearest_keyword_is_named(typed, meant):
    with pytest.raises(TypeError, match=f"'{typed}'; the nearest is '{meant}'"):
        table().publish(**{typed: 1})


@pytest.mark.parametrize("name", [name for name, verb in VERBS.items() if asking(verb)])
def test_none_is_no_value_of_what_decides_how_private_a_release_is(name):
    for keyword in asking(VERBS[name]):
        with pytest.raises(ic.Error, match="is None|no such offer") as raised:
            VERBS[name](**{keyword: None})
        assert raised.value.kind == "request" and raised.value.hint, keyword


def test_what_decides_how_private_a_release_is_is_never_none():
    criteria = {"k", "k_map", "l", "alpha", "entropy_l", "recursive", "t", "delta", "beta", "enhanced_beta"}
    request = criteria | {"max_suppressed", "max_level", "best_by"}
    assert request | {"offer", "levels", "also_k", "risk_at_most", "dictionary"} <= set(asking(ic.Table.publish))
    for verb in (ic.Table.negotiate, ic.Table.frontier, ic.Lattice.negotiate, ic.Lattice.frontier):
        assert request <= set(asking(verb))
    for verb in (ic.Table.annotate, ic.Lattice.schemes, ic.Lattice.heights, ic.verify):
        assert criteria <= set(asking(verb))
    assert {"certificate", "quasi_identifiers", "project"} <= set(asking(ic.verify))
    assert {"outside", "project"} <= set(asking(ic.attack))


@pytest.mark.parametrize("act", [
    lambda: ic.verify(None, ["age"], k=2),
    lambda: ic.Table(None, ["age"]),
    lambda: ic.Table(pa.table(patients()), None),
    lambda: ic.Table(pa.table(patients()), ["age"], identifiers=None),
    lambda: ic.Table(pa.table(patients()), ["age"], sensitive=None),
    lambda: ic.Table(pa.table(patients()), ["age"], other=None),
    lambda: ic.open(None),
    lambda: ic.attack(None),
    lambda: ic.profile(None),
    lambda: table().publish(k=2, max_suppressed=1.0).write(None),
    lambda: table().publish(k=2, method=None),
    lambda: ic.Anonymizer(["age"], k=None).fit(pa.table(patients())),
    lambda: ic.Anonymizer(["age"], k=2, settle=None).fit(pa.table(patients())),
    lambda: ic.Anonymizer(None, k=2).fit(pa.table(patients())),
])
def test_none_stands_for_nothing_else_either(act):
    with pytest.raises((ic.Error, TypeError)):
        act()
