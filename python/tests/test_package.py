"""What is given away to be built: all that the sources ask for is in it."""

import doctest
import importlib.util
import io
import re
import tarfile

import pytest
from conftest import ROOT

import incrowd as ic


def sdist():
    spec = importlib.util.spec_from_file_location("sdist", ROOT / "python/sdist.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_put_into_a_source_distribution(tmp_path):
    path = tmp_path / "incrowd-1.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo("incrowd-1/PKG-INFO")
        info.size = 4
        archive.addfile(info, io.BytesIO(b"text"))
    for _ in range(2):
        sdist().with_page(path)
        with tarfile.open(path) as archive:
            names = archive.getnames()
            assert archive.extractfile("incrowd-1/PKG-INFO").read() == b"text" and len(names) == len(set(names))
    sources = (ROOT / "workbench/src/serve/assets.rs").read_text()
    listed = sources.split("files![")[1].split("]")[0]
    asked = re.findall('"([^"]+)"', listed)
    assert len(asked) > 10 and {f"incrowd-1/web/{name}" for name in asked} <= set(names)
    topics = (ROOT / "workbench/src/cli/help.rs").read_text().split("= &topics![")[1].split("]")[0]
    asked = re.findall('"([^"]+)"', topics)
    assert len(asked) > 10 and {f"incrowd-1/docs/{name}.md" for name in asked} <= set(names)


def test_what_the_package_index_shows_stands_on_its_own(tmp_path, monkeypatch):
    """There are no other files beside it there, so that nothing may lead to one; and its example runs."""
    text = (ROOT / "python/PACKAGE.md").read_text()
    assert 'readme = "PACKAGE.md"' in (ROOT / "python/pyproject.toml").read_text()
    assert not re.findall(r"\]\((?!https?://|#)", text) and "../" not in text
    monkeypatch.chdir(tmp_path)
    failed, n_tried = doctest.testfile(str(ROOT / "python/PACKAGE.md"), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert failed == 0 and n_tried > 4


def test_licence_texts_are_those_of_the_repository():
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        assert (ROOT / "python" / name).read_bytes() == (ROOT / name).read_bytes()


def test_spark_is_asked_for_by_its_name():
    """Who has no Spark is told how to get it, or that a data frame of Spark is meant."""
    import incrowd.spark

    with pytest.raises(ic.Error, match="pyspark is not installed|data frame of Spark"):
        incrowd.spark.count({"age": [1]}, "project")
    with pytest.raises(ic.Error, match="pyspark is not installed|not of distinct rows"):
        incrowd.spark.verify({"age": [1]}, {"counted": None})
