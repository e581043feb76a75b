"""What works in a process works in those that are forked from it, where none of its threads are."""

import multiprocessing
import os
import subprocess
import sys
import textwrap

import pyarrow as pa
import pytest
from conftest import patients, roles

import incrowd as ic

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

# Long for the work, short for whoever waits for what will never end.
SECONDS = 60


def table():
    return ic.Table(pa.table(patients()), **roles())


def forked(work):
    """What work returns in a forked process, or how that ended."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)

    def run():
        try:
            send.send(work())
        except BaseException as error:  # noqa: BLE001
            send.send(error)

    child = context.Process(target=run)
    child.start()
    try:
        assert receive.poll(SECONDS), "it hangs"
        return receive.recv()
    finally:
        child.kill()
        child.join()


def said(release):
    """The certificate without the marks of files, whose key is another one each time."""
    return {**release.certificate.to_dict(), "input": None, "hierarchies": None}


TABLE = table()
ASKED = {"k": 5, "max_suppressed": 0.2}
VERBS = {
    "count": lambda table: table.count(),
    "profile": lambda table: table.profile(),
    "hierarchy": lambda table: table.hierarchy("age").rows,
    "annotate": lambda table: table.annotate().n_schemes,
    "annotate with t": lambda table: table.annotate(t=0.3).n_schemes,
    "negotiate": lambda table: table.negotiate(**ASKED),
    "frontier": lambda table: table.frontier(max_suppressed=0.2),
    "publish": lambda table: said(table.publish(**ASKED)),
    "levels": lambda table: said(table.publish(levels={"age": 3, "zip": 3, "seen": 2, "town": 1}, k=2)),
    "top-down": lambda table: said(table.publish(method="top-down", k=5)),
    "bottom-up": lambda table: said(table.publish(method="bottom-up", k=5)),
    "mondrian": lambda table: said(table.publish(method="mondrian", k=5)),
    "deal": lambda table: said(table.publish(method="deal", k=5)),
    "per-record": lambda table: said(table.publish(method="per-record", utility_at_least=0.5)),
    "verify": lambda table: table.publish(**ASKED).verify(),
    "risk": lambda table: table.risk(),
    "compare": lambda table: [row.loss for row in table.compare(5, methods=["top-down", "global:ncp"], queries=10)],
    "attack": lambda table: ic.attack(table.publish(**ASKED)).is_certain,
    "study": lambda _: ic.study_deal([30, 20, 10], range(2, 4)),
    "Anonymizer": lambda _: ic.Anonymizer(["age"], k=5, max_suppressed=0.5).fit_transform(pa.table(patients())),
}


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_works_after_a_fork(name):
    here = VERBS[name](table())
    assert forked(lambda: VERBS[name](table())) == here, "a table of the child"
    assert forked(lambda: VERBS[name](TABLE)) == here, "a table that the parent made"


def test_what_the_parent_knows_the_child_can_publish():
    answer = TABLE.negotiate(**ASKED)
    release = said(TABLE.publish(answer))
    assert forked(lambda: said(TABLE.publish(answer))) == release
    assert forked(lambda: forked(lambda: said(TABLE.publish(answer)))) == release, "and its child"
    assert said(TABLE.publish(answer)) == release, "and the parent as before"


def k_of(k):
    return TABLE.negotiate(k=k, max_suppressed=0.5).exact.n_suppressed


def test_a_pool_of_processes():
    TABLE.annotate()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        said = pool.map_async(k_of, range(2, 12)).get(timeout=SECONDS)
    assert said == [k_of(k) for k in range(2, 12)]


def script(text):
    package = os.path.dirname(os.path.dirname(ic.__file__))
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], env={**os.environ, "PYTHONPATH": package},
                          capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_was_done_before_the_fork():
    """Then the first threads are the child's, and those of its parent come later."""
    said = script("""
        import os, incrowd as ic
        work = lambda: ic.Table({"age": list(range(100))}, {"age": ic.intervals(10)}).annotate().n_schemes
        for _ in range(2):
            child = os.fork()
            if child == 0:
                print(work(), work(), flush=True)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            print(work(), flush=True)
    """)
    assert said == "3 3\n3\n" * 2


def test_the_page_says_at_once_that_it_cannot_be_served():
    TABLE.annotate()
    said = forked(lambda: ic.serve())
    assert isinstance(said, ic.Error) and "fork" in str(said) and "spawn" in said.hint
