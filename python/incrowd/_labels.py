"""What generalized columns say, as types of data frames: labels in their order, and ranges with two ends."""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Union

End = Union[float, datetime.date, None]

_NUMBER = r"-?\d+(?:\.\d+)?"
_DAY = r"\d{4}-\d\d-\d\d"


class Ends(NamedTuple):
    """The lowest and the highest value that a label stands for, None where it is open; whether the highest is one."""

    low: End
    high: End
    has_high: bool = True


def ends(label: str) -> Ends | None:
    """The ends of what a label says, as incrowd writes ranges of numbers and dates; nothing where it is no range."""
    for pattern, made in _PATTERNS:
        found = re.fullmatch(pattern, label)
        if found:
            return made(*found.groups())
    return None


def _number(text: str) -> float:
    return float(text) if "." in text else int(text)


def _both(low: str, high: str) -> Ends | None:
    return Ends(_number(low), _number(high)) if _number(low) <= _number(high) else None


def _below(high: str) -> Ends:
    return Ends(None, _number(high), has_high=False)


def _month(year: str, month: str) -> Ends:
    return _months(int(year), int(month), int(month))


def _quarter(year: str, quarter: str) -> Ends:
    return _months(int(year), 3 * int(quarter) - 2, 3 * int(quarter))


def _months(year: int, first: int, last: int, n_years: int = 1) -> Ends:
    to = year + n_years - 1
    return Ends(datetime.date(year, first, 1), datetime.date(to, last, calendar.monthrange(to, last)[1]))


def _days(first: str, last: str) -> Ends:
    return Ends(datetime.date.fromisoformat(first), datetime.date.fromisoformat(last))


# In this order: a year with its month is no range of numbers.
_PATTERNS: list[tuple[str, Callable[..., Ends | None]]] = [
    (r"(\d{4})-(0[1-9]|1[0-2])", _month),
    (r"(\d{4})-Q([1-4])", _quarter),
    (r"(\d{4})s", lambda year: _months(int(year), 1, 12, 10)),
    (rf"\[?({_DAY}) to ({_DAY})\]?", _days),
    (rf"({_DAY})", lambda day: _days(day, day)),
    (rf"\[({_NUMBER}), ({_NUMBER})\)", lambda low, high: Ends(_number(low), _number(high), has_high=False)),
    (rf"({_NUMBER})-({_NUMBER})", _both),
    (rf"({_NUMBER}) to ({_NUMBER})", _both),
    (rf"\[({_NUMBER})-({_NUMBER})\]", _both),
    (rf"\[({_NUMBER}) to ({_NUMBER})\]", _both),
    (rf"<({_NUMBER})", _below),
    (rf">=({_NUMBER})", lambda low: Ends(_number(low), None)),
    (rf"({_NUMBER})", lambda value: _both(value, value)),
]

# What hides a value altogether.
HIDDEN = "*"


def ranges(labels: Iterable[str], dates: bool = False) -> dict[str, Ends] | None:
    """The ends of every label but ``*``; nothing where one is no range, or where numbers stand beside dates.

    A year alone is a number, unless it is known that the column has ``dates``.
    """
    found: dict[str, Ends] = {}
    for label in labels:
        if label == HIDDEN:
            continue
        of_label = _year(label) if dates and re.fullmatch(r"\d{4}", label) else ends(label)
        if of_label is None:
            return None
        found[label] = of_label
    kinds = {isinstance(end, datetime.date) for of in found.values() for end in (of.low, of.high) if end is not None}
    return found if found and len(kinds) <= 1 else None


def _year(year: str) -> Ends:
    return _months(int(year), 1, 12)


def in_order(labels: Iterable[str], order: Sequence[str] | None, dates: bool = False) -> tuple[list[str], bool]:
    """The labels as categories, and whether their order means something: that of a hierarchy, or of ranges; ``*`` last."""
    there = sorted(set(labels))
    last = [label for label in there if label == HIDDEN]
    if order is not None and all(label in order for label in there if label != HIDDEN):
        return [label for label in order if label in there and label != HIDDEN] + last, True
    of_label = ranges(there, dates)
    if of_label is None:
        return there, False
    return sorted(of_label, key=lambda label: _place(of_label[label])) + last, True


def _place(of: Ends) -> tuple[Any, ...]:
    def number(end: End, where: float) -> float:
        return where if end is None else end.toordinal() if isinstance(end, datetime.date) else end

    return number(of.low, float("-inf")), number(of.high, float("inf"))


def orders_of_labels(rows: Sequence[Sequence[str]], ranks: Mapping[str, int]) -> list[list[str] | None]:
    """For every level above the values, its labels in the order of the values below them; None where they mix.

    ``rows`` have a value and its labels each, ``ranks`` are the values in their order.
    """
    known = sorted((row for row in rows if row[0] in ranks), key=lambda row: ranks[row[0]])
    made: list[list[str] | None] = []
    for level in range(1, max((len(row) for row in known), default=1)):
        labels = [row[level] if level < len(row) else HIDDEN for row in known]
        in_turn = [label for i, label in enumerate(labels) if i == 0 or labels[i - 1] != label]
        made.append(in_turn if len(set(in_turn)) == len(in_turn) else None)
    return made
