"""Ranges of their own for every group, negotiated in Python: the same answers and releases as on the command line."""

import json
import pickle
import random
import subprocess

import pytest

import incrowd as ic

N = 240


def records(seed=5):
    draw = random.Random(seed)
    return {
        "age": [20 + draw.randrange(60) for _ in range(N)],
        "city": [draw.choice(["Oslo", "Umea", "Rome", "Pisa"]) for _ in range(N)],
        "disease": [draw.choice(["flu", "cold", "gout"]) for _ in range(N)],
    }


CITIES = ic.tree({"North": ["Oslo", "Umea"], "South": ["Rome", "Pisa"]})


@pytest.fixture
def table():
    return ic.Table(records(), {"age": ic.flat(), "city": CITIES}, sensitive="disease")


def test_a_tree_answers_as_the_table_does(table):
    tree = table.annotate(local=True)
    assert tree.n_records == N and tree.n_nodes > tree.n_combinations
    wishes = {"k": 5, "l": 2, "max_suppressed": 0.02}
    answer = tree.negotiate(**wishes)
    assert answer == table.negotiate(local=True, **wishes)
    assert answer.outcome == "exact" and answer.offers is None
    offer = answer.exact
    assert offer.reached["k"] >= 5 and offer.reached["l"] >= 2 and offer.n_suppressed <= N * 0.02
    assert set(offer.loss_of) == {"age", "city"} and offer.loss_at_least <= offer.loss
    # As a document with the words of the flags.
    assert table.order("negotiate", local=True, k=5, l=2, max_suppressed="2%") == answer.to_dict()


def test_three_offers_and_each_is_published(table):
    answer = table.negotiate(local=True, k=10, max_suppressed=3, max_loss=0.08)
    # More lost records need not help: whoever is lost loses everything.
    assert answer.exact is None and {"loss", "privacy"} <= {offer._choice for offer in answer.offers}
    with pytest.raises(ic.Error, match="the request cannot be met"):
        table.publish(answer)
    for offer in answer.offers:
        release = table.publish(offer, steps=100)
        assert release.verify().holds
        assert release.n_suppressed == offer.n_suppressed
        assert release.certificate.to_dict()["method"] == "negotiated"
        assert release.account.to_dict()["loss"]["ncp"] <= offer.loss + 1e-6
    named = table.publish("loss", local=True, k=10, max_suppressed=3, max_loss=0.08, steps=100)
    assert named.to_arrow().equals(table.publish(answer.offers.loss, steps=100).to_arrow())
    assert named.certificate.to_dict()["choice"] == "loss"


def test_limits_of_attributes_are_kept(table):
    free = table.negotiate(local=True, k=6).exact
    # Just what the best groups lose, so that it binds while they are improved.
    most = free.loss_of["age"] + 1e-6
    answer = table.negotiate(local=True, k=6, max_loss={"*": 0.5, "age": most})
    assert answer.exact.loss_of["age"] <= most
    release = table.publish(local=True, k=6, max_loss={"*": 0.5, "age": most}, steps=500)
    ages = release.to_arrow()["age"].to_pylist()

    def extent(cell):
        low, _, high = str(cell).strip("[]").partition("-")
        return (int(high) - int(low)) / 59 if high else 0

    assert len(ages) == N and sum(extent(cell) for cell in ages) / N <= most + 1e-6


def test_frontiers_agree_with_answers(table):
    frontier = table.frontier(local=True)
    assert len(frontier) > 5 and frontier.over == "k"
    losses = [bargain.loss for bargain in frontier]
    assert losses == sorted(losses)
    some = frontier.bargains[3]
    assert table.negotiate(local=True, k=some.k).exact.loss == some.loss
    assert frontier.to_arrow().num_rows == len(frontier)
    assert table.annotate(local=True).frontier("l", k=3).over == "l"


def test_the_same_bytes_as_on_the_command_line(table, tmp_path, program):
    folder = table.save(tmp_path / "project")
    release = table.publish(local=True, k=5, max_suppressed=3, steps=50)
    mine = release.write(tmp_path / "mine.csv")
    flags = ["--local", "--k", "5", "--max-suppressed", "3", "--steps", "50", "-o", str(tmp_path / "theirs.csv")]
    subprocess.run([program, "publish", str(folder), *flags], check=True, capture_output=True)
    assert mine.read_bytes() == (tmp_path / "theirs.csv").read_bytes()


def test_people_are_counted():
    data = records(9)
    data["who"] = [i % 80 for i in range(N)]
    table = ic.Table(data, {"age": ic.flat(), "city": CITIES}, sensitive="disease", person="who")
    release = table.publish(local=True, k=4, max_suppressed=0.05, steps=50)
    assert release.verify().holds


def test_what_makes_no_sense_is_refused(table):
    for wrong in (
        lambda: table.negotiate(k=5, max_loss=0.1),
        lambda: table.negotiate(local=True, k=5, explain=True),
        lambda: table.frontier(max_loss=0.1),
        lambda: table.publish(local=True, k=5, levels={"age": 1}),
        lambda: table.publish(local=True, k=5, method="top-down"),
        lambda: table.publish(k=5, max_loss=0.1),
        lambda: table.publish(table.negotiate(k=5, max_suppressed=0.5), local=True),
        lambda: table.publish(table.negotiate(local=True, k=5).exact, k=6),
    ):
        with pytest.raises(TypeError):
            wrong()
    for wrong in (
        lambda: table.negotiate(local=True, k=5, max_loss=1.5),
        lambda: table.negotiate(local=True, k=5, max_loss={"size": 0.1}),
        lambda: table.negotiate(local=True, k=5, max_level={"age": 1}),
        lambda: table.negotiate(local=True, k=5, max_loss=None),
        lambda: table.publish("height", local=True, k=5),
        lambda: table.publish("loss", k=5, max_suppressed=0.5),
        lambda: ic.Table(records(), ["age"]).publish(table.negotiate(local=True, k=5).exact),
    ):
        with pytest.raises(ic.Error):
            wrong()


def test_objects_come_back_from_a_pickle_and_can_be_shown(table):
    answer = table.negotiate(local=True, k=5)
    back = pickle.loads(pickle.dumps(answer))
    assert back == answer and back.exact.n_groups == answer.exact.n_groups
    with pytest.raises(ic.Error, match="another table"):
        table.publish(back.exact)
    assert "loses" in answer._repr_html_() and "groups" in repr(answer)
    assert "nodes" in repr(table.annotate(local=True)) and "bargains" in repr(table.frontier(local=True))
    assert json.dumps(answer.to_dict())
