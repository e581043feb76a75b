"""A table as a project: a folder with an ``incrowd.toml`` that the command line and the page open."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _native
from ._error import Error

FILE = "incrowd.toml"
DATA = "data.parquet"
POPULATION = "population.parquet"
HIERARCHIES = "hierarchies"


def write_project(
    folder: Path,
    document: Mapping[str, Any],
    rows: Sequence[tuple[str, Sequence[Sequence[str]]]],
    frame: _native.Frame | None,
    population: _native.Frame | None,
    force: bool,
) -> None:
    """Writes all of it, or says what is there already and writes nothing."""
    data = dict(document["data"])
    attributes = {name: dict(words) for name, words in document["attributes"].items()}
    files: dict[Path, Any] = {}
    if frame is None:
        data["path"] = os.path.abspath(data["path"])
    else:
        files[folder / DATA] = _named_columns(frame, data, attributes)
        data["path"] = DATA
    if population is not None:
        files[folder / POPULATION] = population
        data["population"] = POPULATION
    elif "population" in data:
        data["population"] = os.path.abspath(data["population"])
    of_rows = dict(rows)
    for i, (name, words) in enumerate(attributes.items()):
        file = f"{HIERARCHIES}/{i + 1}.csv"
        rule = words.get("hierarchy")
        if name in of_rows:
            files[folder / file] = _lines(of_rows[name])
            words["hierarchy"] = file
        elif isinstance(rule, str):
            files[folder / file] = Path(rule)
            words["hierarchy"] = file
        elif isinstance(rule, Mapping) and "parents" in rule:
            files[folder / file] = Path(rule["parents"])
            words["hierarchy"] = {**rule, "parents": file}
    files[folder / FILE] = to_toml({"data": data, "attributes": attributes})
    _write(files, force)


def _named_columns(frame: _native.Frame, data: Mapping[str, Any], attributes: Mapping[str, Any]) -> _native.Frame:
    """What somebody named, and nothing else: a folder holds no more than the project is about."""
    if data["other"] == "keep":
        return frame
    beside = [data.get("weight_of"), data.get("counted"), *data.get("household", ()), *data.get("complete", ())]
    return frame.select([name for name in frame.columns if name in attributes or name in beside])


def _lines(rows: Sequence[Sequence[str]]) -> str:
    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if any(c in text for c in ';"\n\r') or text != text.strip() else text

    return "".join(";".join(map(cell, row)) + "\n" for row in rows)


def _write(files: Mapping[Path, Any], force: bool) -> None:
    there = [path for path in files if path.exists()]
    if there and not force:
        raise Error(f"{there[0].name} is there already", kind="io", position=str(there[0].parent),
                    hint="force=True replaces it, or choose another folder")
    try:
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, str):
                path.write_text(content, encoding="utf-8")
            elif isinstance(content, Path):
                shutil.copyfile(content, path)
            else:
                content.write_parquet(os.fspath(path))
    except OSError as error:
        raise Error(f"could not be written: {error.strerror}", kind="io", position=str(path)) from None


def to_toml(document: Mapping[str, Any]) -> str:
    """Sections of keys, and sections within ``attributes``."""
    lines = []
    for section, words in document.items():
        nested = section == "attributes"
        for name, keys in words.items() if nested else [("", words)]:
            lines.append(f"[{section}.{_text(name)}]" if nested else f"[{section}]")
            lines += [f"{key} = {_value(value)}" for key, value in keys.items()]
            lines.append("")
    return "\n".join(lines)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_text(str(key))} = {_value(of)}" for key, of in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    return _text(str(value))


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
