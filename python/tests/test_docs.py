"""What is written down is true: examples run, types hold, notebooks work from top to bottom."""

import doctest
import importlib
import inspect
import json
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


def test_every_public_name_has_an_example_and_every_method_its_words():
    for name in ic.__all__:
        thing = getattr(ic, name)
        # A server runs until it is stopped; its example is not one that could be run here.
        assert name == "__version__" or ">>>" in thing.__doc__ or (name == "serve" and "ic.serve(" in thing.__doc__), name
        for method, of in vars(thing).items() if inspect.isclass(thing) else ():
            if method.startswith("_") or not (callable(of) or isinstance(of, (property, classmethod))):
                continue
            assert inspect.getdoc(of.fget if isinstance(of, property) else of), (name, method)


def test_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, n_tried = doctest.testfile(str(ROOT / "python/README.md"), module_relative=False,
                                       optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert failed == 0 and n_tried > 5


DOCUMENTS = [path for folder in ("", "docs", "docs/tutorials", "examples") for path in sorted((ROOT / folder).glob("*.md"))]
DOCUMENTS.append(ROOT / "python/PACKAGE.md")


def blocks(path):
    """The blocks of a document that are Python, each with the line that it begins in."""
    found, block, start = [], None, 0
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if block is None and line == "```python":
            block, start = [], number
        elif block is not None and line == "```":
            found.append((start, "\n".join(block) + "\n"))
            block = None
        elif block is not None:
            block.append(line)
    return found


def write_csv(path, columns):
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values()))]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def world(tmp_path, monkeypatch):
    """What the documents speak of: two workbooks, a table with its project, a survey, questions, a kept lattice."""
    monkeypatch.chdir(tmp_path)
    for book in (ROOT / "examples/patients").glob("*.xlsx"):
        shutil.copy(book, tmp_path)
    n = 400
    people = {"age": [20 + i * 7 % 50 for i in range(n)], "sex": [("female", "male")[i % 2] for i in range(n)],
              "town": [("Oslo", "Rome")[i // 5 % 2] for i in range(n)], "job": [("cook", "clerk")[i // 3 % 2] for i in range(n)],
              "ill": [("flu", "gout", "cold")[i % 3] for i in range(n)]}
    write_csv(tmp_path / "people.csv", people)
    table = ic.Table("people.csv", {"age": ic.intervals(5, 10, 20), "sex": ic.flat(), "town": ic.flat(), "job": ic.flat()},
                     sensitive="ill")
    (tmp_path / "questions.txt").write_text("sex = female and age in 20..40\n")
    (tmp_path / "new.csv").write_text("age,sex,town,job,ill\n34,female,Oslo,cook,flu\n")
    survey = {"age": people["age"], "pb220a": people["sex"], "pl030": people["ill"], "rb090": people["sex"],
              "hsize": [1 + i % 4 for i in range(n)], "rb050": [250.5] * n, "db030": [i // 2 for i in range(n)]}
    write_csv(tmp_path / "eusilc.csv", survey)
    return {"ic": ic, "table": table}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", [path for path in DOCUMENTS if blocks(path)], ids=lambda path: path.name)
def test_blocks_of_the_documents(path, world):
    if "adult.crowd" in path.read_text() and path.name == "fronts.md":
        world["table"].order("annotate", output="adult.crowd")
    for start, block in blocks(path):
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, world, path.name, str(path), start)
            assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed == 0
        else:
            exec(compile("\n" * start + block, str(path), "exec"), world)


def test_there_are_blocks_to_run():
    assert sum(len(blocks(path)) for path in DOCUMENTS) >= 3


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


STRICT = """# pyright: strict
import incrowd as ic

table = ic.Table({"age": [31, 31, 40], "ill": ["a", "b", "a"]}, {"age": ic.intervals(5, 10)}, sensitive="ill")
answer = table.annotate().negotiate(k=2, max_suppressed=0.5, max_level={"age": 1})
offer = answer.exact
if offer is not None:
    n: int = offer.n_suppressed
    held: bool = table.publish(offer).verify().holds
local = table.negotiate(local=True, k=2, max_loss=0.5)
if local.exact is not None:
    loss: float = local.exact.loss
for bargain in table.frontier("k", max_suppressed=0.1):
    print(bargain.k, bargain.loss)
made = ic.Anonymizer({"age": ic.intervals(5)}, k=2, method="top-down", settle="height")
print(ic.verify("release.csv", ["age"], k=2).criteria["k"].reached, table.risk().picture.svg)
table.publish(method="mondrian", k=2, cells="ranges").write("x.csv")
"""

WRONG = {
    "table.negotiate(k='many')": "reportArgumentType",
    "table.negotiate(max_supressed=1)": "reportCallIssue",
    "table.publish(method='top-dwon', k=2)": "reportArgumentType",
    "table.frontier('kk')": "reportArgumentType",
    "table.publish('heigth', k=2)": "reportArgumentType",
    "print(answer.exact.n_suppressed)": "reportOptionalMemberAccess",
    "print(table.publish(k=2).n_supressed)": "reportAttributeAccessIssue",
    "text: str = table.risk().n_unique": "reportAssignmentType",
    "ic.Anonymizer('age', settle='hight')": "reportArgumentType",
}


def pyright(*words, cwd):
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    return subprocess.run([sys.executable, "-m", "pyright", *map(str, words)], cwd=cwd, env=environment, capture_output=True, text=True)


def test_types_for_pyright(tmp_path):
    pytest.importorskip("pyright")
    # What pyright runs on is brought when it is first asked, and cannot be had everywhere.
    if pyright("--version", cwd=tmp_path).returncode != 0:
        pytest.skip("pyright cannot be run here")
    (tmp_path / "right.py").write_text(STRICT)
    for i, line in enumerate(WRONG):
        (tmp_path / f"wrong{i}.py").write_text(f"{STRICT}{line}\n")
    done = pyright("--outputjson", ".", cwd=tmp_path)
    found = {}
    for said in json.loads(done.stdout)["generalDiagnostics"]:
        found.setdefault(pathlib.Path(said["file"]).stem, set()).add(said.get("rule"))
    assert "right" not in found, found["right"]
    for i, (line, rule) in enumerate(WRONG.items()):
        assert rule in found.get(f"wrong{i}", ()), line
    # Every name that the package exports has a type that all of its parts have.
    done = pyright("--verifytypes", "incrowd", "--ignoreexternal", cwd=tmp_path)
    assert "Type completeness score: 100%" in done.stdout, done.stdout[-2000:]


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
