"""How the values of one attribute get coarser, level by level, up to ``*``."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Union

from . import _native
from ._error import Error
from ._frames import Origin, frame_of, is_frame, is_series, ordered_categories, with_text_names
from ._labels import orders_of_labels
from ._wishes import takes, to_json

Labels = Union[str, int, float, Iterable[Any]]


@dataclass(frozen=True)
class Hierarchy:
    """A rule that says how values get coarser; made by :func:`intervals`, :func:`mask` and the like.

    >>> import incrowd as ic
    >>> ic.intervals(5, 10)
    <hierarchy by {'intervals': [5, 10]}>
    >>> ic.labels({"Paris": "France", "Rome": "Italy"})
    <hierarchy of 2 values>
    """

    words: Mapping[str, Any] | str | None = None
    rows: Sequence[Sequence[str]] | None = None
    function: Callable[[Any], Labels] | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        if self.rows is not None:
            return f"<hierarchy of {len(self.rows)} values>"
        return f"<hierarchy by {self.file or self.words or self.function}>"

    @property
    def file(self) -> str | None:
        """The name of its file, without the path, which is about the machine."""
        return os.path.basename(self.words) if isinstance(self.words, str) else None


Rule = Union[
    Hierarchy, str, "os.PathLike[str]", Mapping[Any, Labels], Sequence[Sequence[Any]], Callable[[Any], Labels], None, Any
]


@takes()
def intervals(
    *widths: float,
    origin: float = 0,
    below: float | None = None,
    above: float | None = None,
    names: Sequence[str] | None = None,
) -> Hierarchy:
    """One level per width; each is a multiple of the one before. ``39`` → ``37-41`` → ``37-46`` → … → ``*``.

    ``below`` and ``above`` give all lower numbers one label, and all from ``above`` on: ``<18``, ``>=80``.
    ``names`` are those of the levels between the values and ``*``.

    >>> import incrowd as ic
    >>> ages = ic.Table({"age": [39, 41, 55]}, {"age": ic.intervals(5, 10, origin=17)})
    >>> ages.hierarchy("age").rows
    [['39', '37-41', '37-46', '*'], ['41', '37-41', '37-46', '*'], ['55', '52-56', '47-56', '*']]
    """
    words: dict[str, Any] = {"intervals": list(widths)}
    words |= {"origin": origin} if origin else {}
    words |= {"below": below} if below is not None else {}
    words |= {"above": above} if above is not None else {}
    return _checked(_named(words, names))


@takes()
def cuts(*levels: Sequence[float], names: Sequence[str] | None = None) -> Hierarchy:
    """One level per list of cut points, each a part of the one before. ``25`` → ``18-29`` → ``18-64`` → ``*``.

    >>> import incrowd as ic
    >>> ages = ic.Table({"age": [12, 25]}, {"age": ic.cuts([18, 30, 65], [18, 65])})
    >>> ages.hierarchy("age").rows
    [['12', '<18', '<18', '*'], ['25', '18-29', '18-64', '*']]
    """
    return _checked(_named({"cuts": [list(level) for level in levels]}, names))


@takes()
def mask(
    hidden: int | Sequence[int] | None = None,
    *,
    keep: int | Sequence[int] | None = None,
    side: str = "right",
    names: Sequence[str] | None = None,
) -> Hierarchy:
    """One more hidden character per level (``mask(5)``), or so many at each level below ``*`` (``mask([1, 3])``).

    ``mask(keep=3)`` leaves the first three characters: ``250.83`` → ``250``.
    ``side`` is the end that is hidden first, ``"right"`` or ``"left"``.

    >>> import incrowd as ic
    >>> places = ic.Table({"zip": ["04007", "04109"]}, {"zip": ic.mask([1, 3])})
    >>> places.hierarchy("zip").rows
    [['04007', '0400*', '04***', '*'], ['04109', '0410*', '04***', '*']]
    """
    if (hidden is None) == (keep is None):
        raise Error("a mask hides some characters or keeps some", kind="hierarchy", hint="mask(5), or mask(keep=3)")
    given = hidden if keep is None else keep
    numbers = given if isinstance(given, int) else list(given or [])
    words: dict[str, Any] = {"mask": numbers if keep is None else {"keep": numbers}}
    return _checked(_named(words if side == "right" else {**words, "from": side}, names))


@takes()
def dates(*units: str, format: str | None = None, names: Sequence[str] | None = None) -> Hierarchy:
    """One level per unit of the calendar: ``"month"``, ``"quarter"``, ``"year"``, ``"decade"``; default: all.

    ``format`` says how texts write their dates, as an example with a day after the 12th (``"31/12/2019"``) or a pattern
    (``"%d/%m/%Y"``); the default is ``2019-12-31``.

    >>> import incrowd as ic, datetime
    >>> born = ic.Table({"born": [datetime.date(1984, 3, 31)]}, {"born": ic.dates("quarter", "year")})
    >>> born.hierarchy("born").rows
    [['1984-03-31', '1984-Q1', '1984', '*']]
    """
    words = {"dates": list(units) if units else True, **({} if format is None else {"format": format})}
    return _checked(_named(words, names))


@takes()
def flat() -> Hierarchy:
    """Two levels: the value, and ``*``.

    >>> import incrowd as ic
    >>> ic.Table({"sex": ["f", "m"]}, {"sex": ic.flat()}).hierarchy("sex").rows
    [['f', '*'], ['m', '*']]
    """
    return Hierarchy({"flat": True})


@takes()
def tree(branches: Mapping[str, Any]) -> Hierarchy:
    """Labels with what is below them: dicts are branches, lists are values.

    >>> import incrowd as ic
    >>> towns = ic.Table({"town": ["Oslo", "Rome"]},
    ...                  {"town": ic.tree({"North": ["Oslo", "Umea"], "South": ["Rome"]})})
    >>> towns.hierarchy("town").rows
    [['Oslo', 'North', '*'], ['Rome', 'South', '*']]
    """

    def texts(below: Any) -> Any:
        if isinstance(below, Mapping):
            return {str(label): texts(deeper) for label, deeper in below.items()}
        return [text_of(value) for value in below]

    return _checked({"tree": texts(branches)})


@takes()
def parents(path: str | os.PathLike[str], *, names: Sequence[str] | None = None) -> Hierarchy:
    """A file with a line per label and the one above it, ``child,parent``, as thesauri and code lists have it.

    >>> import incrowd as ic
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp(), "towns.csv")
    >>> _ = file.write_text("child,parent\\nOslo,North\\nRome,South\\n")
    >>> ic.Table({"town": ["Oslo", "Rome"]}, {"town": ic.parents(file)}).hierarchy("town").rows
    [['Oslo', 'North', '*'], ['Rome', 'South', '*']]
    """
    return _checked(_named({"parents": os.fspath(path)}, names))


@takes()
def labels(of_value: Mapping[Any, Labels]) -> Hierarchy:
    """Every value with its labels, from fine to coarse; a plain dict means the same.

    >>> import incrowd as ic
    >>> towns = ic.Table({"town": ["Paris", "Rome"]},
    ...                  {"town": {"Paris": ["France", "Europe"], "Rome": ["Italy", "Europe"]}})
    >>> [level.name for level in towns.hierarchy("town").levels]
    ['exact', 'level 1', '*']
    """
    if any(isinstance(label, Mapping) for label in of_value.values()):
        raise Error(
            "a dict gives each value its labels, from fine to coarse",
            kind="hierarchy",
            hint='{"Paris": ["France", "Europe"]}; for labels with what is below them use incrowd.tree',
        )
    return Hierarchy(rows=[[text_of(value), *_texts(of)] for value, of in of_value.items()])


@takes()
def function(of_value: Callable[[Any], Labels]) -> Hierarchy:
    """A function from a value to its labels, from fine to coarse; a plain function means the same.

    It gets numbers as numbers, dates as dates, and everything else as text.

    >>> import incrowd as ic
    >>> ages = ic.Table({"age": [7, 39]}, {"age": lambda age: "minor" if age < 18 else "adult"})
    >>> ages.hierarchy("age").rows
    [['7', 'minor', '*'], ['39', 'adult', '*']]
    """
    return Hierarchy(function=of_value)


def _named(words: dict[str, Any], names: Sequence[str] | None) -> dict[str, Any]:
    return words if names is None else {**words, "names": list(names)}


def _checked(words: Mapping[str, Any]) -> Hierarchy:
    """Refuses at once what the engine would refuse later."""
    attribute = {"role": "quasi-identifier", "hierarchy": words}
    try:
        _native.Table(to_json({"data": {"path": "-"}, "attributes": {"x": attribute}}), [])
    except Error as error:
        raise Error(error.message, kind="hierarchy", hint=error.hint) from None
    return Hierarchy(words)


def hierarchy_of(rule: Rule) -> Hierarchy:
    """What was given for an attribute, as a hierarchy."""
    if rule is None:
        return Hierarchy()
    if isinstance(rule, Hierarchy):
        return rule
    if isinstance(rule, (str, os.PathLike)):
        return Hierarchy(os.fspath(rule))
    if isinstance(rule, Mapping):
        return labels(rule)
    if isinstance(rule, (list, tuple)):
        return _of_rows(rule)
    if is_series(rule):
        series: Any = rule
        return labels(dict(zip(series.index, series.array)))
    if is_frame(rule):
        frame, _ = frame_of(with_text_names(rule), "hierarchy")
        return Hierarchy(rows=[["" if cell is None else cell for cell in row] for row in frame.rows()])
    if callable(rule):
        return function(rule)
    raise Error(
        f"{type(rule).__name__} is not a hierarchy",
        kind="hierarchy",
        hint="give a path, intervals(…), cuts(…), mask(…), dates(…), tree(…), a dict, a list of rows, a Series, a data frame "
        "or a function",
    )


def _of_rows(rows: Sequence[Any]) -> Hierarchy:
    """A row per value, with its labels from fine to coarse behind it."""
    if not rows or not all(isinstance(row, (list, tuple)) and row for row in rows):
        raise Error(
            "a list gives each value a row, with its labels from fine to coarse behind it",
            kind="hierarchy",
            hint='[["Paris", "France", "Europe"], ["Rome", "Italy", "Europe"]]',
        )
    return Hierarchy(rows=[_texts(row) for row in rows])


def rows_of_function(of_value: Callable[[Any], Labels], kind: str, values: Sequence[str]) -> list[list[str]]:
    """What a function says about the values that the data have."""
    return [[value, *_texts(of_value(_typed(kind, value)))] for value in values]


def _typed(kind: str, value: str) -> Any:
    if kind == "integer":
        return int(value)
    if kind == "number":
        return float(value)
    if kind == "boolean":
        return value == "true"
    if kind == "date":
        return datetime.date.fromisoformat(value) if len(value) == 10 else datetime.datetime.fromisoformat(value)
    return value


def with_orders(origin: Origin, rules: Mapping[str, Hierarchy], rows: Mapping[str, Sequence[Sequence[str]]]) -> Origin:
    """What labels say of the order of categories, where those had one, and which attributes become months and years."""
    dates = frozenset(name for name, rule in rules.items() if isinstance(rule.words, Mapping) and "dates" in rule.words)
    orders = {}
    for name, rule in rules.items():
        categories = ordered_categories(origin.dtypes.get(name))
        if categories is None:
            continue
        branches = rule.words.get("tree") if isinstance(rule.words, Mapping) else None
        of_name = rows.get(name) or ([] if branches is None else list(_rows_of_tree(branches)))
        orders[name] = orders_of_labels(of_name, {text_of(value): i for i, value in enumerate(categories)})
    return replace(origin, orders=orders, dates=dates)


def _rows_of_tree(below: Any, above: tuple[str, ...] = ()) -> Iterable[list[str]]:
    if isinstance(below, Mapping):
        for label, deeper in below.items():
            yield from _rows_of_tree(deeper, (label, *above))
    else:
        yield from ([value, *above] for value in below)


def _texts(of: Labels) -> list[str]:
    if isinstance(of, str) or not isinstance(of, Iterable):
        return [text_of(of)]
    return [text_of(label) for label in of]


def text_of(value: Any) -> str:
    """A value as incrowd writes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    if isinstance(value, float):
        return "" if value != value else _native.text_of(value)
    if isinstance(value, (datetime.date, datetime.datetime)):
        written = value.isoformat()
        return written[:-3] if written.endswith("000") and "." in written else written
    return str(value)
