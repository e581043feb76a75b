"""Which group of a release a record belongs to, where a method gives groups or records ranges of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# What a group says of an attribute that it hides.
HIDDEN = "*"


@dataclass(frozen=True)
class Group:
    """What a release says of some records, and what those have: numbers from lowest to highest, other values as a set."""

    cells: tuple[str | None, ...]
    lowest: tuple[float | None, ...]
    highest: tuple[float | None, ...]
    values: tuple[frozenset[Any], ...]

    def fits(self, record: Sequence[Any]) -> bool:
        """Whether all of a record lies within what the records of the group have, or within what is hidden."""
        return all(self._fits(i, value) for i, value in enumerate(record))

    def _fits(self, i: int, value: Any) -> bool:
        if self.cells[i] == HIDDEN or value in self.values[i]:
            return True
        low, high = self.lowest[i], self.highest[i]
        return low is not None and high is not None and is_number(value) and low <= value <= high


class Groups:
    """What a release says of every record that it was made of, and where records fit that it was not made of."""

    def __init__(self, records: Sequence[tuple[Any, ...]], cells: Sequence[tuple[str | None, ...] | None]) -> None:
        members: dict[tuple[str | None, ...], list[tuple[Any, ...]]] = {}
        for record, said in zip(records, cells):
            if said is not None:
                members.setdefault(said, []).append(record)
        made = [_group(said, of_group) for said, of_group in members.items()]
        # The narrowest first, so that a record that fits several goes where most is said of it.
        self._groups = sorted(made, key=_breadth)
        # Records that are alike may be in several groups: how the release speaks of each, in the order of the table.
        self._of_known: dict[tuple[Any, ...], list[tuple[str | None, ...] | None]] = {}
        for record, said in zip(records, cells):
            self._of_known.setdefault(record, []).append(said)

    def cells_of(self, records: Sequence[tuple[Any, ...]]) -> list[tuple[str | None, ...] | None]:
        """What the release says of each record; nothing where it fits no group.

        The records that the release was made of, in their order, come into the groups that they have there.
        """
        n_seen: dict[tuple[Any, ...], int] = {}
        found: list[tuple[str | None, ...] | None] = []
        for record in records:
            said = self._of_known.get(record)
            if said is None:
                fitting = next((group.cells for group in self._groups if group.fits(record)), None)
                said = self._of_known[record] = [fitting]
            n_before = n_seen.get(record, 0)
            n_seen[record] = n_before + 1
            found.append(said[n_before % len(said)])
        return found


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


def _group(cells: tuple[str | None, ...], members: Sequence[tuple[Any, ...]]) -> Group:
    lowest: list[float | None] = []
    highest: list[float | None] = []
    columns = list(zip(*members))
    for column in columns:
        numbers = [value for value in column if is_number(value)]
        lowest.append(min(numbers) if numbers else None)
        highest.append(max(numbers) if numbers else None)
    return Group(cells, tuple(lowest), tuple(highest), tuple(frozenset(column) for column in columns))


def _breadth(group: Group) -> tuple[int, int, tuple[str, ...]]:
    n_hidden = sum(cell == HIDDEN for cell in group.cells)
    return n_hidden, sum(len(values) for values in group.values), tuple(cell or "" for cell in group.cells)
