"""What is written down is true: examples run, types hold, notebooks work from top to bottom."""

import doctest
import importlib
import inspect
import os
import pathlib
import pkgutil
import shutil
import subprocess
import sys

import nbformat
import pytest
from conftest import ADULT, ROOT
from nbclient import NotebookClient

import incrowd as ic

PACKAGE = pathlib.Path(ic.__file__).parent
MODULES = ["incrowd", *(f"incrowd.{module.name}" for module in pkgutil.iter_modules([str(PACKAGE)]))]
NOTEBOOKS = sorted((ROOT / "python/notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder()
    # A verb is wrapped by what checks its keywords, in another module; its examples are those of what is wrapped.
    is_from = finder._from_module
    finder._from_module = lambda module, thing: is_from(module, inspect.unwrap(thing))
    runner = doctest.DocTestRunner()
    for test in finder.find(module):
        runner.run(test)
    assert runner.failures == 0
    lines = pathlib.Path(module.__file__).read_text().splitlines() if module.__file__.endswith(".py") else []
    n_written = sum(line.strip().startswith(">>>") for line in lines)
    assert runner.tries == n_written, "every example is run"


def test_every_verb_has_an_example():
    for verb in (ic.Table, ic.Table.profile, ic.Table.count, ic.Table.annotate, ic.Table.publish, ic.Lattice.negotiate,
                 ic.Lattice.frontier, ic.verify, ic.profile, ic.init, ic.demo, ic.intervals, ic.cuts, ic.mask, ic.dates,
                 ic.tree, ic.labels, ic.function, ic.Anonymizer, ic.Error):
        assert ">>>" in verb.__doc__, verb


def test_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, n_tried = doctest.testfile(str(ROOT / "python/README.md"), module_relative=False,
                                       optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert failed == 0 and n_tried > 5


def mypy(*words, cwd):
    return subprocess.run([sys.executable, "-m", "mypy", *map(str, words)], cwd=cwd, capture_output=True, text=True)


def test_types(tmp_path):
    settings = ["--config-file", ROOT / "python/pyproject.toml", "--cache-dir", ROOT / "target/mypy"]
    done = mypy(*settings, ROOT / "python/incrowd", cwd=ROOT / "python")
    assert done.returncode == 0, done.stdout
    right = "import incrowd as ic\ntable = ic.Table({'a': [1]}, ['a'])\noffer = table.negotiate(k=2, t=0.2).exact\n"
    wrong = right + "table.negotiate(k='many', max_supressed=1)\nx: str = offer.n_suppressed\ntable.publish(offer)\n"
    typos = "from incrowd import Offer, Release\ndef f(offer: Offer, release: Release) -> None:\n"
    typos += "    offer.n_supressed\n    release.certificate.n_group\n    offer.levels\n"
    choices = right + "table.publish(method='top-dwon', k=2)\ntable.frontier('kk')\ntable.publish('heigth', k=2)\n"
    for text, n_errors in ((right, 0), (wrong, 4), (typos, 2), (choices, 3)):
        (tmp_path / "use.py").write_text(text)
        done = mypy(*settings, tmp_path / "use.py", cwd=PACKAGE.parent)
        assert done.stdout.count("error:") >= n_errors and (done.returncode == 0) == (n_errors == 0), done.stdout


def test_the_stub_names_everything_that_is_there():
    from incrowd import _native

    stub = (ROOT / "python/incrowd/_native.pyi").read_text()
    for name in dir(_native):
        assert name.startswith("__") or f"class {name}" in stub or f"def {name}" in stub, name
        for method in dir(getattr(_native, name)) if f"class {name}" in stub else ():
            assert method.startswith("__") or f"def {method}" in stub, (name, method)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks(path, tmp_path, monkeypatch):
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "notebooks are kept without output"
    if "ADULT" in "".join(cell.source for cell in notebook.cells) and not (ADULT / "adult.csv").exists():
        pytest.skip(f"the Adult data are absent: {ADULT} has no adult.csv")
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE.parent))
    monkeypatch.setenv("ADULT", str(ADULT))
    monkeypatch.setenv("ADULT_HIERARCHIES", str(ROOT / "examples/adult/hierarchies"))
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ()) if "data" in output]
    assert any("<svg" in output["data"].get("text/html", "") for output in shown)
    kept = os.environ.get("KEEP_NOTEBOOKS")
    if kept:
        nbformat.write(notebook, tmp_path / path.name)
        shutil.copy(tmp_path / path.name, kept)
