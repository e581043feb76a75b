"""A table with the roles of its columns, and what can be done with it: one method per verb of the command line."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Union, overload

from . import _display, _native, _wishes
from ._charts import Picture
from ._error import Error
from ._frames import As, Origin, frame_of, readable, to_arrow, to_dict, to_pandas, to_polars
from ._hierarchies import Hierarchy, Rule, hierarchy_of, rows_of_function, with_orders
from ._objects import (
    Attack,
    Comparison,
    Study,
    Answer,
    Bargain,
    Account,
    Certificate,
    Counts,
    Frontier,
    Groups,
    Height,
    Offer,
    Profile,
    Risk,
    Rows,
    Scheme,
    ShownHierarchy,
    Verdict,
    left_out,
)
from ._plain import values_of
from ._progress import bar
from ._project import write_project
from ._ranges import LocalAnswer, LocalFrontier, LocalOffer, MaxLoss, Tree, order_to_publish
from ._wishes import CRITERIA, NOT_GIVEN, Cells, Criteria, Method, Number, Over, Settle, PerAttribute, Request, names, takes, to_json, wish

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from typing_extensions import Unpack

Named = Union[str, Sequence[str]]
PathLike = Union[str, "os.PathLike[str]"]
_REQUEST = (*CRITERIA, "max_suppressed", "max_level", "best_by")


@dataclass(frozen=True)
class _Asked:
    """Whom an offer is from: the table and the wish."""

    table: _native.Table
    wish: Mapping[str, Any]


@dataclass(frozen=True)
class _Made:
    """What a table is made of."""

    document: str
    rows: list[tuple[str, list[list[str]]]]
    frame: _native.Frame | None
    population: _native.Frame | None

    def again(self) -> _native.Table:
        return _native.Table(self.document, self.rows, self.frame, self.population)

    def __getstate__(self) -> tuple[Any, ...]:
        frames = [None if frame is None else frame.packed() for frame in (self.frame, self.population)]
        return (self.document, self.rows, *frames)

    def __setstate__(self, kept: tuple[Any, ...]) -> None:
        document, rows, *frames = kept
        frame, population = (None if frame is None else _native.Frame.unpacked(frame, name)
                             for frame, name in zip(frames, ("data frame", "population")))
        for name, value in (("document", document), ("rows", rows), ("frame", frame), ("population", population)):
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class _Opened:
    """The project that a table was opened from, and the data in place of its own."""

    path: str
    data: str | None
    counted: str | None = None
    from_level: tuple[tuple[str, str], ...] = ()
    identifiers: tuple[tuple[str, int, int, int], ...] = ()

    def again(self) -> _native.Table:
        return _native.Table.open(self.path, self.data, self.counted, list(self.from_level), list(self.identifiers))


class Table:
    """A table and the roles of its columns.

    ``data`` is a data frame of pandas, polars, pyarrow or DuckDB, anything else that speaks the Arrow PyCapsule
    interface, a dict of lists, or the path of a CSV or Parquet file. A frame is not copied: do not change it in place
    while the table is in use.

    ``quasi_identifiers`` are what others may know about a person, with their hierarchies: a path to an ARX file,
    :func:`intervals`, :func:`cuts`, :func:`mask`, :func:`dates`, :func:`tree`, a dict from each value to its labels, a
    list or a data frame with a row per value, a Series, a function, or None for ``*`` alone. ``sensitive`` attributes are published as they
    are, within a crowd; ``identifiers`` never, and ``person`` neither; ``other`` columns as they are, all that are not named where it is
    ``"keep"``. Columns that nobody names are left out. A sensitive or other column in which most records have a value of
    their own would find people, and is refused unless ``publish_unique`` names it. One that tells what a quasi-identifier
    hides, so that people stand among fewer than k, is refused unless ``publish_telling`` or ``publish_unique`` names it.

    An index of pandas takes part where its name is among the attributes, also where it has become a column of an Arrow
    table or a Parquet file; any other index stays behind. A missing value is a value of
    its own, unless ``missing_records="drop"``: then records that lack one in a column that is counted or published, or
    that ``complete`` names, are left out; how many is told as a warning (:class:`Note`) and by ``n_dropped``.
    ``unreadable="missing"`` reads cells that are no numbers or no dates, where such are needed, as missing, and
    ``unknown="other"`` or ``"missing"`` what a hierarchy does not know; for all attributes, or by attribute in a dict.
    ``publish_as={"income": {"round": 100}}`` publishes a sensitive or other attribute coarser, also as ``{"top": 0.99}``
    or ``{"level": 1}`` of its hierarchy; criteria count what is published.
    ``node_weights={"status": {"Married": 2.0}}`` makes a label cost twice its share of the values in the loss.

    Where people have several records, ``person`` is the column that says whose record it is, or several columns that say
    it together. Every criterion is then about people: k = 5 means five different people, however many records they have.
    A release does not show people: :meth:`Release.verify` counts them in the table that it was made from, and
    :func:`verify` answers ``"not judged"`` unless ``project`` names it.

    Where the table is a sample, ``weight_of`` is the column that says for how many people of the population a record
    stands, and ``household`` names those that belong together: :meth:`risk` asks for both.
    Where an identifier repeats, nothing is published until ``records="independent"`` says that records are meant, or a
    person column whose records they are. ``max_records_per_person`` keeps so many records of each person and no more;
    ``records_seed`` decides which. Where rows are combinations, ``counted`` is the column that says how many records each
    stands for.

    >>> import incrowd as ic
    >>> table = ic.Table({"name": list("abcdef"), "age": [28, 31, 30, 32, 35, 33], "ill": list("xyzxyz")},
    ...                  quasi_identifiers={"age": ic.intervals(5, 10, origin=17)}, sensitive="ill", identifiers="name")
    >>> answer = table.annotate().negotiate(k=3, max_level={"age": 1})
    >>> answer.exact.levels
    {'age': 1}
    >>> release = table.publish(answer.exact)
    >>> release.to_dict()
    {'age': ['27-31', '27-31', '27-31', '32-36', '32-36', '32-36'], 'ill': ['x', 'y', 'z', 'x', 'y', 'z']}
    >>> release.verify().holds
    True

    Three records of one person are not three people:

    >>> visits = {"patient": ["p1", "p1", "p1", "p2", "p3", "p4"], "age": [31, 31, 31, 45, 45, 45]}
    >>> ic.Table(visits, "age").publish(k=3).to_dict()["age"]
    [31, 31, 31, 45, 45, 45]
    >>> people = ic.Table(visits, "age", person="patient")
    >>> release = people.publish(k=3, max_suppressed=3)
    >>> release.to_dict()["age"], release.verify().answer
    ([45, 45, 45], 'kept')
    """

    @takes()
    def __init__(
        self,
        data: Any,
        quasi_identifiers: Mapping[str, Rule] | Named,
        *,
        sensitive: Named | Mapping[str, Rule] = (),
        identifiers: Named = (),
        person: Named = (),
        other: Named = (),
        publish_unique: Named = (),
        publish_telling: Named = (),
        weights: Mapping[str, float] | None = None,
        node_weights: Mapping[str, Mapping[str, float]] | None = None,
        distance: str | Mapping[str, str] | None = None,
        count_at: Mapping[str, int | str] | None = None,
        population: Any = None,
        missing: Named = ("",),
        missing_records: Literal["keep", "drop"] = "keep",
        complete: Named = (),
        unreadable: str | Mapping[str, str] | None = None,
        unknown: str | Mapping[str, str] | None = None,
        publish_as: Mapping[str, Mapping[str, Any]] | None = None,
        delimiter: str | None = None,
        weight_of: str | None = None,
        household: Named = (),
        records: Literal["ask", "independent"] = "ask",
        max_records_per_person: int | None = None,
        records_seed: int | None = None,
        counted: str | None = None,
        name: str = "data frame",
    ) -> None:
        keep_all = other == "keep"
        roles = {
            "quasi-identifier": names(quasi_identifiers),
            "sensitive": names(sensitive),
            "identifier": names(identifiers),
            "person": names(person),
            "other": [] if keep_all else names(other),
        }
        said = {"publish_unique": names(publish_unique), "publish_telling": names(publish_telling)}
        if keep_all:
            # What is said of a column names it.
            said_of = dict.fromkeys(column for columns in said.values() for column in columns)
            roles["other"] = [column for column in said_of if column not in roles["sensitive"]]
        rules = {**_rules(quasi_identifiers), **_rules(sensitive)}
        attributes = _attributes(roles, rules, weights, distance, count_at, said)
        by_key = [("unreadable", unreadable), ("unknown", unknown), ("publish_as", publish_as), ("node_weights", node_weights)]
        for key, by_attribute in by_key:
            if isinstance(by_attribute, Mapping):
                _said_of(attributes, key, by_attribute)
        self.name: str = os.fspath(data) if isinstance(data, (str, os.PathLike)) else name
        self._origin = Origin()
        # Those of the frame, in order; of a file they are not known before it is read.
        self._columns: list[str] | None = None
        # A folder that is there as long as the table is.
        self._folder: Any = None
        frame = None
        if not isinstance(data, (str, os.PathLike)):
            beside = [*names(complete), *names(household), *(each for each in (weight_of, counted) if each is not None)]
            needed = None if keep_all else [*attributes, *beside]
            frame, self._origin = frame_of(data, name, declared=list(attributes), needed=needed)
            self._columns = frame.columns
            if keep_all and "keep" in frame.columns:
                raise Error(
                    "other=\"keep\" could mean all columns, or the one that is called so",
                    kind="project",
                    position=name,
                    hint="name the columns, also where it is one: other=[\"keep\"]",
                )
        section: dict[str, Any] = {
            "path": self.name,
            "missing": names(missing),
            "missing_records": missing_records,
            "other": "keep" if keep_all else "drop",
        }
        if names(complete):
            section["complete"] = names(complete)
        if isinstance(unreadable, str):
            section["unreadable"] = unreadable
        if isinstance(unknown, str):
            section["unknown"] = unknown
        if delimiter is not None:
            section["delimiter"] = delimiter
        if weight_of is not None:
            section["weight_of"] = weight_of
        if names(household):
            section["household"] = names(household)
        if records != "ask":
            section["records"] = records
        if max_records_per_person is not None:
            section["max_records_per_person"] = max_records_per_person
        if records_seed is not None:
            section["records_seed"] = records_seed
        if counted is not None:
            section["counted"] = counted
        people = None
        if isinstance(population, (str, os.PathLike)):
            section["population"] = os.fspath(population)
        elif population is not None:
            people, _ = frame_of(population, "population", declared=roles["quasi-identifier"])
        self._hierarchies = {attribute: words.pop("rule") for attribute, words in attributes.items()}
        document = to_json({"data": section, "attributes": attributes})
        rows = [(name, [list(row) for row in rule.rows]) for name, rule in self._hierarchies.items() if rule.rows is not None]
        functions = {name: rule.function for name, rule in self._hierarchies.items() if rule.function is not None}
        self._native = _native.Table(document, rows, frame, people)
        if functions:
            # What a function says is known when the values are.
            for attribute, function in functions.items():
                kind, values = self._native.values(attribute)
                rows.append((attribute, rows_of_function(function, kind, values)))
            self._native = _native.Table(document, rows, frame, people)
        self._made: _Made | _Opened = _Made(document, rows, frame, people)
        self._origin = with_orders(self._origin, self._hierarchies, dict(rows))

    @classmethod
    @takes()
    def open(
        cls, path: PathLike, *, data: PathLike | None = None, from_level: Mapping[str, int | str] | None = None
    ) -> Table:
        """The table of a project, by its folder or its ``incrowd.toml``; its standing request is asked where no other is.

        ``data`` is a file that is read instead of the one that the project names, such as the next delivery.
        ``from_level={"age": 1}`` lets a database count labels of these levels in place of values.
        """
        return cls._of_combinations(path, data, None, from_level)

    @classmethod
    def _of_combinations(
        cls,
        path: PathLike,
        data: PathLike | None,
        counted: str | None,
        from_level: Mapping[str, int | str] | None = None,
        identifiers: Sequence[tuple[str, int, int, int]] = (),
    ) -> Table:
        """The table of a project, of combinations where ``counted`` is the column that says how many records a row is.

        ``identifiers`` are what was seen elsewhere of those that combinations do not have: the name, records with a value,
        different values, and how many of these several records have.
        """
        table = cls.__new__(cls)
        table.name = os.fspath(path)
        levels = tuple((name, str(level)) for name, level in (from_level or {}).items())
        table._native = _native.Table.open(os.fspath(path), _path(data), counted, list(levels), list(identifiers))
        table._origin = Origin()
        table._columns = None
        table._hierarchies = {}
        place = None if data is None else os.path.abspath(data)
        table._made = _Opened(os.path.abspath(path), place, counted, levels, tuple(identifiers))
        return table

    def __getstate__(self) -> dict[str, Any]:
        """For another process or for later: what it was made of, with its records, and nothing that was found out."""
        kept = {name: value for name, value in self.__dict__.items() if name != "_native"}
        # A function cannot be kept, but what it said of every value can.
        said = dict(self._made.rows) if isinstance(self._made, _Made) else {}
        rules = self._hierarchies.items()
        kept["_hierarchies"] = {
            name: rule if rule.function is None else Hierarchy(rows=said[name]) for name, rule in rules
        }
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._native = self._made.again()

    def __copy__(self) -> Table:
        return self

    def __deepcopy__(self, _: Any) -> Table:
        # It does not change, and neither may the frame that it is about.
        return self

    @takes()
    def save(self, folder: PathLike, *, force: bool = False) -> Path:
        """Writes a project that the command line, :func:`open` and :func:`serve` open; returns its folder.

        A frame is written as ``data.parquet``, with the columns that were named and no others; what a file holds stays
        there, and the project names it. **The folder has the records as they are**: it is as secret as they are.
        Nothing is replaced without ``force``.

        >>> import incrowd as ic, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> table = ic.Table({"age": [31, 32, 40]}, {"age": ic.intervals(5, 10)})
        >>> saved = table.save(folder.name)
        >>> ic.open(saved).count() == table.count()
        True
        >>> folder.cleanup()
        """
        if isinstance(self._made, _Opened):
            raise Error("the table is that of a project already", kind="project", hint="copy its folder")
        made = self._made
        write_project(Path(folder), json.loads(made.document), made.rows, made.frame, made.population, force)
        return Path(folder)

    @property
    def roles(self) -> dict[str, str]:
        """The role of each attribute, in order."""
        return dict(self._native.roles())

    @takes()
    def profile(self, *, values: bool = False) -> Profile:
        """What each column looks like, and how many records are unique; no value is shown unless ``values=True``.

        >>> import incrowd as ic
        >>> ic.Table({"age": [31, 31, 40]}, ["age"]).profile().uniqueness["n_unique"]
        1
        """
        return Profile(self._native.profile(values, bar()))

    @takes()
    def hierarchy(self, attribute: str) -> ShownHierarchy:
        """One attribute's hierarchy over the values that the data have; ``.arx`` is the text of an ARX file.

        Where it does not fit all values, only ``.absent`` can be looked at: the values that its file or dict misses, or that
        are no numbers or no dates where it needs them. With ``unknown=`` or ``unreadable=`` both can. ``.absent_at`` has each
        of these values with how many cells have it (``n_cells``) and where the first are.
        """
        unfit = self._native.absent(attribute)
        found = {"absent": unfit["absent"], "absent_at": unfit["values"]}
        try:
            return ShownHierarchy({**self._native.hierarchy(attribute), **found})
        except Error:
            if not unfit["absent"]:
                raise
            return ShownHierarchy({"attribute": attribute, "levels": [], **found})

    @takes()
    def count(self, *, quasi_identifiers: Named | None = None, threads: int = 0) -> Counts:
        """Reads the records once and says how many distinct combinations there are.

        >>> import incrowd as ic
        >>> ic.Table({"age": [31, 31, 40]}, ["age"]).count().n_groups
        2
        """
        asked = wish({}, known=(), quasi_identifiers=_some(quasi_identifiers), threads=threads)
        return Counts(self._native.count(asked, bar()))

    @overload
    def annotate(
        self,
        *,
        local: Literal[False] = False,
        quasi_identifiers: Named | None = None,
        sensitive: str | None = None,
        threads: int = 0,
        memory: str | None = None,
        **criteria: Unpack[Criteria],
    ) -> Lattice: ...

    @overload
    def annotate(
        self,
        *,
        local: Literal[True],
        quasi_identifiers: Named | None = None,
        sensitive: str | None = None,
        threads: int = 0,
        memory: str | None = None,
        **criteria: Unpack[Criteria],
    ) -> Tree: ...

    @takes(Criteria)
    def annotate(
        self,
        *,
        local: bool = False,
        quasi_identifiers: Named | None = None,
        sensitive: str | None = None,
        threads: int = 0,
        memory: str | None = None,
        **criteria: Unpack[Criteria],
    ) -> Lattice | Tree:
        """Annotates every scheme with what its groups look like, so that requests are answered at once.

        k and l are measured always; another criterion when it is given here, or when it is first asked for.
        ``quasi_identifiers`` restricts the lattice to some of them; ``sensitive`` is what criteria are about that do not
        say it, where there are several sensitive attributes; ``memory`` limits what it may take, such as ``"4GB"``.
        ``local`` makes the tree of groups instead, over which ranges of their own for every group are negotiated.

        >>> import incrowd as ic
        >>> ic.Table({"age": [31, 31, 40]}, {"age": ic.intervals(5, 10)}).annotate().n_schemes
        4
        >>> ic.Table({"age": [31, 31, 40]}, ["age"]).annotate(local=True).n_nodes
        3
        """
        settings = {
            "quasi_identifiers": _some(quasi_identifiers),
            "sensitive": sensitive,
            "threads": threads,
            "memory": memory,
        }
        return Tree(self, settings, criteria) if local else Lattice(self, settings, criteria)

    @overload
    def negotiate(
        self,
        *,
        local: Literal[False] = False,
        explain: bool = False,
        as_published: bool = False,
        **request: Unpack[Request],
    ) -> Answer: ...

    @overload
    def negotiate(
        self, *, local: Literal[True], max_loss: MaxLoss = NOT_GIVEN, **request: Unpack[Request]
    ) -> LocalAnswer: ...

    @takes(Request)
    def negotiate(
        self,
        *,
        local: bool = False,
        max_loss: MaxLoss = NOT_GIVEN,
        explain: bool = False,
        as_published: bool = False,
        **request: Unpack[Request],
    ) -> Answer | LocalAnswer:
        """``annotate`` and ``negotiate`` in one; see :meth:`Lattice.negotiate`, and :meth:`Tree.negotiate` for ``local``.

        Where the whole lattice would be too large, or take minutes, schemes are evaluated on demand: a note says so, and
        ``answer["on_demand"]`` what is proved.

        >>> import incrowd as ic
        >>> ic.Table({"age": [31, 32, 40, 45]}, ["age"]).negotiate(local=True, k=2, max_loss=0.3).exact.loss
        0.214286
        """
        if local:
            _only_of_levels({"explain": explain, "as_published": as_published})
            return Tree(self, {}, {}).negotiate(**({} if max_loss is NOT_GIVEN else {"max_loss": max_loss}), **request)
        _only_of_ranges(max_loss)
        asked = wish(request, known=_REQUEST)
        words = self._native.negotiate(asked, explain, as_published, bar())
        return Answer(words, _Asked(self._native, asked))

    @overload
    def frontier(self, over: Over = "k", *, local: Literal[False] = False, **request: Unpack[Request]) -> Frontier: ...

    @overload
    def frontier(
        self, over: Over = "k", *, local: Literal[True], max_loss: MaxLoss = NOT_GIVEN, **request: Unpack[Request]
    ) -> LocalFrontier: ...

    @takes(Request)
    def frontier(
        self, over: Over = "k", *, local: bool = False, max_loss: MaxLoss = NOT_GIVEN, **request: Unpack[Request]
    ) -> Frontier | LocalFrontier:
        """``annotate`` and ``frontier`` in one; see :meth:`Lattice.frontier`, and :meth:`Tree.frontier` for ``local``."""
        if local:
            limits = {} if max_loss is NOT_GIVEN else {"max_loss": max_loss}
            return Tree(self, {}, {}).frontier(over, **limits, **request)
        _only_of_ranges(max_loss)
        return Lattice(self, {}, request).frontier(over, **request)

    @takes(Request)
    def publish(
        self,
        offer: Offer | Answer | Bargain | LocalOffer | LocalAnswer | Settle = NOT_GIVEN,
        *,
        levels: Mapping[str, int | str] = NOT_GIVEN,
        local: bool = False,
        max_loss: MaxLoss = NOT_GIVEN,
        method: Method = "global",
        cells: Cells | None = None,
        two_columns: bool = False,
        seed: int | None = None,
        exchanges: int | None = None,
        steps: int | None = None,
        time: float | None = None,
        utility_at_least: Number = NOT_GIVEN,
        risk_at_most: float = NOT_GIVEN,
        lambda_: float = NOT_GIVEN,
        utility: str | None = None,
        risk: str | None = None,
        dictionary: PathLike = NOT_GIVEN,
        similarity: float = NOT_GIVEN,
        weights: PathLike = NOT_GIVEN,
        weights_seed: int | None = None,
        also_k: int = NOT_GIVEN,
        as_published: bool = False,
        search: str | None = None,
        target: str | None = None,
        into: str = NOT_GIVEN,
        database: str = NOT_GIVEN,
        force: bool = False,
        **request: Unpack[Request],
    ) -> Release:
        """Makes a release: of an offer, of the answer to a request, at levels of your choice, or by another method.

        ``offer`` is an offer or an answer that was negotiated, a bargain of a frontier, or the name of the one to take of
        the answer to ``request``: ``"exact"`` (the default), ``"suppression"``, ``"height"`` or ``"privacy"``. None
        is no offer: where an answer has none of a kind, nothing is published.
        The release has been verified when you get it. Its records are sorted by what is published, so that their order
        says nothing about that of the table.

        Local methods give every group ranges of its own and lose no record: ``"top-down"``, ``"bottom-up"``,
        ``"mondrian"``, ``"mondrian-relaxed"``, ``"negotiated"``, ``"cells"``, which hides single cells and nothing else, and ``"deal"`` or
        ``"deal-plain"``, whose groups have every sensitive value as often as the table, to one record. ``cells`` says how
        they are written (``"ranges"``, ``"labels"``, ``"sets"``, ``"midpoints"``, ``"rounded"``, ``"stars"``),
        ``seed`` decides random choices, and ``exchanges`` how often ``"deal"`` looks for nearer records. The groups of the
        others are improved for ``time`` seconds, or by ``steps``; ``certificate.steps`` says how many it took.

        ``local`` publishes an answer over ranges of their own for every group, as ``negotiate(local=True)`` finds it, within
        ``max_loss``; ``offer`` names one of ``"exact"``, ``"suppression"``, ``"loss"`` and ``"privacy"``, or is one that was
        negotiated. Its groups are improved, by four steps for each of them where neither ``steps`` nor ``time`` says
        otherwise: never worse, and within what was agreed on.

        ``two_columns`` writes ranges of numbers and dates as two columns, the lowest and the highest value, whatever the
        method.

        ``"per-record"`` gives every record the least risk that leaves ``utility_at_least`` (a share such as ``0.6`` of its
        utility as it is, or a number), or the most utility with ``risk_at_most``, or the least risk − ``lambda_`` · utility.
        Such a release is *not* k-anonymous; ``also_k`` groups the records afterwards. ``utility`` and ``risk`` name the
        models, ``dictionary`` is a file with the people whom an attacker knows (``similarity``: texts that are alike fit),
        ``weights`` a file of how sensitive values are, and ``weights_seed`` draws them.

        ``as_published`` takes the method as its paper prints it, for comparison: ``"top-down"``, ``"bottom-up"``, ``"deal"``,
        and ``"per-record"``, of which ``search`` names one of two searches, ``"best-first"`` or ``"walk"``.

        ``target`` names a published column that analysts want to predict or explain; the report says how well that goes with
        the release and with the table. It changes nothing else.

        ``into`` is the name of a table that the release becomes too, in the ``database`` of an address such as
        ``"postgresql://curator@db/clinic"``: see :meth:`Release.write_into`, which ``force`` is for.

        >>> import incrowd as ic
        >>> ages = ic.Table({"age": [31, 32, 40, 45]}, ["age"])
        >>> ages.publish(method="per-record", utility_at_least=1.0).account.per_record["greatest_utility"]
        1.0
        >>> ages.publish(method="top-down", k=2).to_dict()["age"]
        ['[31-32]', '[31-32]', '[40-45]', '[40-45]']
        >>> ages.publish(local=True, k=2, max_loss=0.5).to_dict()["age"]
        ['[31-32]', '[31-32]', '[40-45]', '[40-45]']
        >>> table = ic.Table({"age": [31, 31, 40]}, ["age"])
        >>> table.publish(k=2, max_suppressed=1).to_dict()["age"]
        [31, 31]
        >>> table.publish(levels={"age": 1}, k=3).to_dict()["age"]
        ['*', '*', '*']
        >>> fives = ic.Table({"age": [31, 32, 40]}, {"age": ic.intervals(5)})
        >>> fives.publish(levels={"age": 1}, k=2, max_suppressed=1, two_columns=True).to_dict()
        {'age_low': [30, 30], 'age_high': [34, 34]}
        """
        place = _place(into, database, force)
        if method not in _METHODS:
            raise Error(f"unknown method '{method}'", hint=f"there are: {', '.join(_METHODS)}")
        options: dict[str, Any] = {"cells": cells, "two_columns": two_columns, "seed": seed, "exchanges": exchanges}
        options |= {"steps": steps, "time": time}
        given = [name for name, value in options.items() if value not in (None, False)]
        single = {
            "utility_at_least": NOT_GIVEN if utility_at_least is NOT_GIVEN else _wishes.utility(utility_at_least),
            "risk_at_most": risk_at_most,
            "lambda_": lambda_,
            "utility": utility,
            "risk": risk,
            "dictionary": dictionary,
            "similarity": similarity,
            "weights": weights,
            "weights_seed": weights_seed,
            "also_k": also_k,
            "search": search,
        }
        single = {name: None if value is NOT_GIVEN else value for name, value in single.items()}
        of_single = [name for name, value in single.items() if value is not None]
        single["as_published"] = as_published
        if method == "per-record":
            chosen = {"levels": levels, "offer": offer}
            wrong = [*request, *given, *(name for name, value in chosen.items() if value is not NOT_GIVEN)]
            if wrong:
                raise TypeError(f"{wrong[0]} cannot be had with method='per-record', which looks at one record at a time")
            made = self._native.publish_one_by_one(wish({}, known=()), single, target, bar())
            return place(Release(made, self._origin))
        if of_single:
            raise TypeError(f"{of_single[0]} is about method='per-record'")
        if local or isinstance(offer, (LocalOffer, LocalAnswer)):
            if method not in ("global", "negotiated"):
                raise TypeError(f"local=True is about groups that were negotiated, and method={method!r} makes others")
            _only_of_levels({"levels": levels is not NOT_GIVEN, "as_published": as_published})
            taken = "exact" if offer is NOT_GIVEN else offer
            if not isinstance(taken, (str, LocalOffer, LocalAnswer)):
                raise TypeError(f"{type(taken).__name__} is about one level for all; leave out local=True")
            order = order_to_publish(self, taken, max_loss, request, options | {"target": target})
            made = self._native.publish_order(to_json(order.order), order.threads, order.memory, bar())
            return place(Release(made, self._origin))
        _only_of_ranges(max_loss)
        if method != "global":
            if offer is not NOT_GIVEN or levels is not NOT_GIVEN:
                raise TypeError("an offer and levels are about method='global'; a local method takes criteria")
            options |= {"method": method, "as_published": as_published}
            made = self._native.publish_locally(wish(request, known=_REQUEST), options, target, bar())
            return place(Release(made, self._origin))
        given = [name for name in given if name != "two_columns"]
        if as_published:
            given.append("as_published")
        if given:
            raise TypeError(f"{given[0]} is about local methods; choose one with method='top-down'")
        return place(_publish_global(self, offer, levels, request, two_columns, target))

    def order(self, verb: str, /, *, threads: int = 0, memory: str | None = None, **order: Any) -> dict[str, Any]:
        """Any verb of the command line: its flags as keywords, with ``_`` for ``-``, and what ``--json`` says as a dict.

        ``verb`` is ``"count"``, ``"annotate"``, ``"update"`` (``annotate --append`` and ``--remove``), ``"negotiate"``,
        ``"frontier"``, ``"compare"``, ``"map"``, ``"verify"``, ``"attack"``, ``"risk"``, ``"histogram"`` or ``"study"``. A criterion about one of several
        sensitive attributes is written ``**{"income:t": 0.2}``. So partial and kept lattices, searches with a time, maps and
        own queries can be had; the methods of this class say the same more conveniently where they have it.

        >>> import incrowd as ic
        >>> table = ic.Table({"age": [31, 32, 40, 45]}, {"age": ic.intervals(5, 10)})
        >>> table.order("negotiate", k=2, on_demand=True)["on_demand"]["is_proved"]
        True
        >>> [point["name"] for point in table.order("map", ks=[2], methods=["top-down"])["points"]][-1]
        'k = 2'
        """
        return self._native.order(verb, to_json(order), threads, memory, bar())

    def publish_order(self, *, threads: int = 0, memory: str | None = None, **order: Any) -> Release:
        """Publishes what the flags of ``incrowd publish`` would, as keywords with ``_`` for ``-``.

        Beside what :meth:`publish` takes: ``offer`` by name, ``partial``, ``on_demand`` and ``time`` for a search, ``plain``
        dealing, and ``key``, the signer's key, with which the same order gives the same certificate.

        >>> import incrowd as ic
        >>> table = ic.Table({"age": [31, 31, 40]}, ["age"])
        >>> len(table.publish_order(k=2, max_suppressed=1, on_demand=True))
        2
        """
        return Release(self._native.publish_order(to_json(order), threads, memory, bar()), self._origin)

    def publish_into(
        self,
        table: str,
        *,
        database: str | None = None,
        force: bool = False,
        threads: int = 0,
        memory: str | None = None,
        **order: Any,
    ) -> Certificate:
        """Publishes a table of the database that the project's own is in, in one transaction, and returns its certificate.

        It is for tables that :func:`open` opened and whose project names a database; any other table is published into the
        ``database`` of an address. ``table`` is the name of the new one; what is published is what the flags of ``incrowd
        publish`` say, as keywords with ``_`` for ``-``. Counted, written, verified there and committed, or nothing;
        certificate and report stand beside the project. Nothing is replaced without ``force``.
        """
        words = to_json(_wishes.in_numbers(order))
        return Certificate(self._native.publish_into(words, table, database, force, threads, memory, bar()))

    @takes()
    def risk(
        self,
        threshold: float = 0.2,
        *,
        sampled: float | str | None = None,
        weight_of: str | None = None,
        household: Named | None = None,
        special_uniques: bool | int = False,
        show_values: bool = False,
        output: PathLike | None = None,
        force: bool = False,
    ) -> Risk:
        """How likely people are to be found in the table, by its quasi-identifiers as they are.

        Records above ``threshold`` are at risk. Where the table has no population, ``sampled`` is the share of it that is
        in the table, or ``weight_of`` the column of sampling weights: then how many people look the same is estimated, and
        with it what a journalist finds, the risk of each record and how many are expected to be found. ``household`` names
        the columns of a household, which is found with any of its members. ``special_uniques`` looks for the smallest sets
        of quasi-identifiers on which records stand alone, with at most so many of them where it is a number;
        ``show_values`` tells which values do it. ``output`` is a CSV file for the risk of every record.

        >>> import incrowd as ic
        >>> ic.Table({"age": [31, 31, 40]}, ["age"]).risk()
        Risk(highest 1.0, average 0.666667, 1 of 3 records alone)
        >>> table = ic.Table({"age": [31, 31, 40], "w": [100, 260, 215]}, ["age"], weight_of="w")
        >>> table.risk().individual
        {'highest': 0.025096, 'average': 0.011982, 'n_at_risk': 0, 'expected_reidentifications': 0.035945}
        """
        order = {
            "threshold": threshold,
            "sampled": sampled,
            "weight_of": weight_of,
            "household": None if household is None else names(household),
            "special_uniques": special_uniques,
            "show_values": show_values,
            "per_record": output is not None,
            "output": None if output is None else os.fspath(output),
            "force": force,
        }
        return Risk(self._native.order("risk", to_json(order), 0, None, bar()))

    @takes()
    def compare(
        self,
        k: int | Sequence[int] = NOT_GIVEN,
        *,
        l: PerAttribute = NOT_GIVEN,
        alpha: PerAttribute = NOT_GIVEN,
        entropy_l: PerAttribute = NOT_GIVEN,
        recursive: Any = NOT_GIVEN,
        t: PerAttribute = NOT_GIVEN,
        delta: PerAttribute = NOT_GIVEN,
        beta: PerAttribute = NOT_GIVEN,
        enhanced_beta: PerAttribute = NOT_GIVEN,
        max_suppressed: Number = NOT_GIVEN,
        methods: Named | None = None,
        queries: int = 1000,
        seed: int = 0,
        steps: int | None = None,
        time: float | None = None,
        target: str | None = None,
    ) -> Comparison:
        """What each method makes of the table at the same ``k``, or at several: loss, query error, risk, time, memory.

        ``queries`` random count queries are asked for each selectivity and number of attributes. Local methods improve
        their groups by ``steps``, or for ``time`` seconds each. ``target`` names a published column that is to be predicted
        and explained from each release; ``row.analyses`` says what becomes of that, of distributions and associations.

        >>> import incrowd as ic
        >>> table = ic.Table({"age": [31, 32, 40, 45]}, ["age"])
        >>> [row.loss["ncp"] for row in table.compare(2, methods=["top-down", "global:ncp"], queries=10)]
        [0.214286, 1.0]
        """
        ks = [] if k is NOT_GIVEN else [k] if isinstance(k, int) else list(k)
        given = {
            "l": l,
            "alpha": alpha,
            "entropy_l": entropy_l,
            "recursive": recursive,
            "t": t,
            "delta": delta,
            "beta": beta,
            "enhanced_beta": enhanced_beta,
            "max_suppressed": max_suppressed,
        }
        asked = wish({name: value for name, value in given.items() if value is not NOT_GIVEN}, known=tuple(given))
        words = self._native.compare(asked, ks, _some(methods), queries, seed, steps, time, target, bar())
        return Comparison(words)

    def __repr__(self) -> str:
        roles = ", ".join(f"{name} ({role})" for name, role in self.roles.items())
        return f"Table({_bare(self.name)}: {roles})"

    def _repr_html_(self) -> str:
        rows = [(name, role, _short(self._hierarchies.get(name))) for name, role in self.roles.items()]
        return _display.roles(_bare(self.name), rows)


def _bare(path: str) -> str:
    """The name of a file or a folder without the path to it, which is about the machine."""
    return os.path.basename(os.path.abspath(path)) if os.sep in path or path == os.curdir else path


def _short(rule: Hierarchy | None) -> str:
    if rule is None or (rule.words is None and rule.rows is None and rule.function is None):
        return ""
    if isinstance(rule.words, Mapping) and "tree" in rule.words:
        return "tree"
    if isinstance(rule.words, Mapping):
        return ", ".join(f"{name} {value}" for name, value in rule.words.items())
    return str(rule.file) if rule.words is not None else "labels" if rule.rows is not None else "function"


def _some(value: Named | None) -> list[str] | None:
    return None if value is None or value is NOT_GIVEN else names(value)


def _path(value: PathLike | None) -> str | None:
    return None if value is None or value is NOT_GIVEN else os.fspath(value)


def _rules(given: Any) -> dict[str, Rule]:
    return dict(given) if isinstance(given, Mapping) else {}


def _said_of(attributes: dict[str, dict[str, Any]], key: str, words: Mapping[str, Any]) -> None:
    for name, value in words.items():
        if name not in attributes:
            raise Error(
                f"{key} is given for '{name}', which is no attribute",
                kind="project",
                hint=f"there are: {', '.join(attributes)}",
            )
        attributes[name][key] = dict(value) if isinstance(value, Mapping) else value


def _attributes(
    roles: Mapping[str, list[str]],
    rules: Mapping[str, Rule],
    weights: Mapping[str, float] | None,
    distance: str | Mapping[str, str] | None,
    count_at: Mapping[str, int | str] | None,
    said: Mapping[str, Sequence[str]],
) -> dict[str, dict[str, Any]]:
    attributes: dict[str, dict[str, Any]] = {}
    for role, of_role in roles.items():
        for name in of_role:
            if name in attributes:
                first = attributes[name]["role"]
                raise Error(
                    f"attribute '{name}' cannot be {first} and {role} at once",
                    kind="project",
                    hint="name it in one place",
                )
            rule = hierarchy_of(rules.get(name))
            attributes[name] = {"role": role, "rule": rule}
            if rule.words is not None:
                attributes[name]["hierarchy"] = rule.words
    if not roles["quasi-identifier"]:
        raise Error("there is no quasi-identifier", kind="project", hint="name at least one with quasi_identifiers=…")
    distances = distance if isinstance(distance, Mapping) else {name: distance for name in roles["sensitive"] if distance}
    given: list[tuple[str, Mapping[str, Any], str]] = [
        ("weight", weights or {}, "quasi-identifier"),
        ("distance", distances, "sensitive"),
        ("count_at", count_at or {}, "sensitive"),
    ]
    for key, words, whose in given:
        for name, value in words.items():
            if name not in roles[whose]:
                raise Error(
                    f"{key} is given for '{name}', which is no {whose} attribute",
                    kind="project",
                    hint=f"there are: {', '.join(roles[whose])}",
                )
            attributes[name][key] = float(value) if key == "weight" else value
    in_project = {"publish_unique": ("unique", "publish"), "publish_telling": ("tells", "accepted")}
    for keyword, (key, word) in in_project.items():
        for name in said[keyword]:
            if name not in roles["other"] + roles["sensitive"]:
                raise Error(
                    f"{keyword} names '{name}', which is not published as it is",
                    kind="project",
                    hint="name it in other=… or sensitive=… too",
                )
            attributes[name][key] = word
    return attributes


class Lattice:
    """Every scheme of a table, annotated: what requests are answered from, without looking at records again.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 32, 40]}, {"age": ic.intervals(5, 10)})
    >>> lattice = table.annotate()
    >>> lattice
    Lattice(4 schemes over 3 records)
    >>> lattice.negotiate(k=2).exact.levels
    {'age': 3}
    """

    def __init__(self, table: Table, settings: Mapping[str, Any], measured: Mapping[str, Any]) -> None:
        self.table: Table = table
        self._settings = dict(settings)
        self._measured = {name: value for name, value in measured.items() if name in CRITERIA}
        words = table._native.annotate(self._wish(self._measured, CRITERIA), False, bar())
        self.n_records: int = words["n_records"]
        self.n_dropped: int = words["n_dropped"]
        self.n_schemes: int = words["n_schemes"]
        self.n_bytes: int = words["n_bytes"]

    def __copy__(self) -> Lattice:
        return self

    def __deepcopy__(self, _: Any) -> Lattice:
        # It does not change. A pickle has the table, which is annotated again when it is asked.
        return self

    def _wish(self, asked: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
        return wish(asked, known=known, **self._settings)

    @takes(Request)
    def negotiate(
        self, *, explain: bool = False, as_published: bool = False, **request: Unpack[Request]
    ) -> Answer:
        """Asks whether a request can be met; if not, makes the three nearest offers.

        ``max_suppressed`` is a number of records (``321``) or a share (``0.01``); default: 0.
        ``max_level`` is the coarsest level of each attribute, by number or by name; an attribute not named may go to its
        top. ``best_by`` says which of several answers is best: ``"ncp"`` (default), ``"height"``,
        ``"discernibility"``, ``"group-size"``, ``"precision"``, ``"entropy"``, or a mix (``{"ncp": 2, "precision": 1}``).
        ``explain`` adds why records are lost; ``as_published`` answers as the published search does, by height.

        >>> import incrowd as ic
        >>> lattice = ic.Table({"age": [31, 32, 40]}, {"age": ic.intervals(5, 10)}).annotate()
        >>> answer = lattice.negotiate(k=2, max_level={"age": 1})
        >>> (answer.exact or answer.offers.height).n_suppressed
        0
        >>> answer.offers.suppression.concession
        'lose 1 record instead of at most 0'
        """
        asked = self._wish(request, _REQUEST)
        words = self.table._native.negotiate(asked, explain, as_published, bar())
        return Answer(words, _Asked(self.table._native, asked))

    @takes(Request)
    def frontier(self, over: Over = "k", **request: Unpack[Request]) -> Frontier:
        """Every bargain that no other beats on privacy, records lost and loss together.

        ``over`` is the criterion that is varied; the others hold throughout, and a value given for it is the least that is
        looked at. At most 10 % of the records are lost where ``max_suppressed`` does not say otherwise, and loss is NCP
        where ``best_by`` does not.

        >>> import incrowd as ic
        >>> lattice = ic.Table({"age": [31, 32, 40]}, {"age": ic.intervals(5, 10)}).annotate()
        >>> [(bargain.k, bargain.levels) for bargain in lattice.frontier(max_suppressed=0.5)]
        [(3, {'age': 3}), (2, {'age': 1})]
        """
        asked = self._wish(request, _REQUEST)
        words = self.table._native.frontier(asked, over, bar())
        return Frontier(words, _Asked(self.table._native, asked))

    @takes(Criteria)
    def schemes(self, **criteria: Unpack[Criteria]) -> list[Scheme]:
        """Every scheme, with the records that it would lose where criteria are given."""
        words = self.table._native.annotate(self._wish(criteria, CRITERIA), True, bar())
        return [Scheme(scheme) for scheme in words["schemes"]]

    @takes(Criteria)
    def to_arrow(self, **criteria: Unpack[Criteria]) -> pyarrow.Table:
        """A row per scheme, with the records that it would lose where criteria are given."""
        return Rows.of([scheme.to_dict() for scheme in self.schemes(**criteria)]).to_arrow()

    @takes(Criteria)
    def to_pandas(self, **criteria: Unpack[Criteria]) -> pandas.DataFrame:
        """The same as a pandas frame."""
        return Rows.of([scheme.to_dict() for scheme in self.schemes(**criteria)]).to_pandas()

    @takes(Criteria)
    def to_polars(self, **criteria: Unpack[Criteria]) -> polars.DataFrame:
        """The same as a polars frame."""
        return Rows.of([scheme.to_dict() for scheme in self.schemes(**criteria)]).to_polars()

    @takes(Criteria)
    def heights(self, **criteria: Unpack[Criteria]) -> list[Height]:
        """A line per height: least, mean and most groups, and records lost where criteria are given."""
        words = self.table._native.annotate(self._wish(criteria, CRITERIA), False, bar())
        return [Height(height) for height in words["heights"]]

    @takes(Criteria)
    def pyramid(self, *, max_suppressed: float = 0, **criteria: Unpack[Criteria]) -> Picture:
        """All schemes by height as a picture: green where at most ``max_suppressed`` records are lost.

        ``max_suppressed`` is a number of records, or a share.
        """
        if self.n_schemes > 100_000:
            return Picture(_display.heights([height.to_dict() for height in self.heights(**criteria)]))
        words = [scheme.to_dict() for scheme in self.schemes(**criteria)]
        allowed = max_suppressed if isinstance(max_suppressed, float) else max_suppressed / max(self.n_records, 1)
        return Picture(_display.pyramid(words, self.n_records, allowed))

    @takes(Request)
    def widget(self, **request: Unpack[Request]) -> Any:
        """Three knobs in a notebook, for privacy, records lost and levels, and the answer as they are turned.

        It needs anywidget (``pip install 'incrowd[widget]'``). They stand as ``k`` (5), ``max_suppressed`` (a share) and
        ``max_level`` (numbers) say; whatever else is asked for holds throughout.
        ``widget.answer`` is what they come to, which can be published: ``table.publish(widget.answer)``.
        """
        from ._widget import widget

        return widget(self, request)

    def __repr__(self) -> str:
        return f"Lattice({self.n_schemes:,} schemes over {self.n_records:,} records{left_out(self.n_dropped)})"

    def _repr_html_(self) -> str:
        return f"<p>{_display.escape(repr(self))}</p>" + self.pyramid(**self._measured)._repr_html_()


@dataclass(frozen=True)
class _Shown:
    """What everybody may see of a release, which is all that a pickle of it has."""

    certificate: dict[str, Any]
    replaced: list[str]
    frame: _native.Frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.frame.__arrow_c_stream__(requested_schema)

    def __getstate__(self) -> tuple[Any, ...]:
        return self.certificate, self.replaced, self.frame.packed()

    def __setstate__(self, kept: tuple[Any, ...]) -> None:
        certificate, replaced, frame = kept
        unpacked = _native.Frame.unpacked(frame, "release")
        for name, value in (("certificate", certificate), ("replaced", replaced), ("frame", unpacked)):
            object.__setattr__(self, name, value)


class Release:
    """A published table with its certificate; it has been verified.

    It speaks the Arrow PyCapsule interface, so that ``polars.DataFrame(release)`` and ``pyarrow.table(release)`` work.
    Columns that were not generalized have the type that they had; categories are those that published records have.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 31, 40, 40, 40], "ill": list("abaab")}, {"age": ic.intervals(5, 10)},
    ...                  sensitive="ill")
    >>> release = table.publish(k=2)
    >>> release.to_dict()
    {'age': [31, 31, 40, 40, 40], 'ill': ['a', 'b', 'a', 'a', 'b']}
    >>> len(release), release.n_suppressed, release.verify().holds
    (5, 0, True)
    """

    def __init__(self, native: _native.Release | _Shown, origin: Origin) -> None:
        self._native = native
        self._origin = origin
        self.certificate: Certificate = Certificate(native.certificate)

    def __getstate__(self) -> dict[str, Any]:
        """What is published: neither the table that it was made from, nor what only the signer knows or reads."""
        shown = _Shown(self._native.certificate, self._native.replaced, self._native.frame)
        read = {name: values_of(self._native.frame, name) for name in self._origin.orders if name in self.columns}
        published = {name: {str(value) for value in values} for name, values in read.items()}
        return {**self.__dict__, "_native": shown, "_origin": self._origin.without_values(published)}

    def __copy__(self) -> Release:
        return self

    def __deepcopy__(self, _: Any) -> Release:
        return self

    @property
    def report(self) -> str:
        """The HTML page for the person who signs, with their key; in no pickle."""
        return self._known("report").report

    @property
    def account(self) -> Account:
        """What only the signer knows: losses over the table, the key. Not to be published, and in no pickle."""
        return Account(self._known("account").account)

    def _known(self, what: str) -> _native.Release:
        if isinstance(self._native, _Shown):
            raise Error(
                f"a release that was pickled has no {what}: what it was made from stayed where it was made",
                hint="ask for it, or write the release, where it was published",
            )
        return self._native

    @property
    def columns(self) -> list[str]:
        """The published columns, in their order."""
        return list(self.certificate.columns)

    @property
    def n_dropped(self) -> int:
        """How many records of the table are not there for lack of a value."""
        return self.certificate.n_records_dropped

    @property
    def n_suppressed(self) -> int:
        """How many records of the table are not there because too few are like them."""
        return self.certificate.n_records_suppressed

    def __len__(self) -> int:
        return self.certificate.n_records_published

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def _exact(self) -> list[str]:
        levels = self.certificate.levels
        columns = [column for column in self.columns if column not in self._native.replaced]
        if levels is None:
            return [column for column in columns if column not in self.certificate.quasi_identifiers]
        return [column for column in columns if levels.get(column, 0) == 0]

    @takes()
    def to_pandas(self, *, generalized: As | None = None) -> pandas.DataFrame:
        """As a pandas frame with a new index, for the old one would tell the order of the table.

        An index that is an attribute of the table is the index of the release too. A generalized column is of the backend
        that it had: texts of NumPy, of nullable types or of Arrow, or categories. ``generalized`` says otherwise:
        ``"text"``; ``"categorical"``, in order where they are ranges or a hierarchy keeps the order of its values;
        or ``"interval"``, which makes a ``pd.Interval`` of every range, and leaves columns of other labels as texts. What
        is hidden (``*``) is no interval, and missing.
        """
        return to_pandas(self._native.frame, self._origin, self._exact(), self.certificate.levels, generalized)

    @takes()
    def to_polars(self, *, generalized: Literal["text", "categorical"] | None = None) -> polars.DataFrame:
        """As a polars frame; of a generalized column that had categories, or with ``generalized="categorical"``, the labels
        are an ``Enum`` in their order, or a ``Categorical`` where they have none.
        """
        return to_polars(self._native.frame, self._origin, self._exact(), self.certificate.levels, generalized)

    @takes()
    def to_arrow(self) -> pyarrow.Table:
        """As an Arrow table, without copying."""
        return to_arrow(self._native.frame)

    @takes()
    def to_dict(self) -> dict[str, list[Any]]:
        """A list of values per column, for which nothing needs to be installed."""
        return to_dict(self._native.frame)

    @takes()
    def to_frame(self) -> Any:
        """As what the table was: pandas, polars, a dict, or else Arrow."""
        make: dict[str, Callable[[], Any]] = {"pandas": self.to_pandas, "polars": self.to_polars, "dict": self.to_dict}
        return make.get(self._origin.kind, self.to_arrow)()

    @takes()
    def verify(self) -> Verdict:
        """Judges the release anew, with code that shares no counting with what made it.

        Where people are counted (``person=``), the table that it was made from says whose records its groups are; a local
        method is run again for that. Where it cannot be said, the answer is ``"not judged"``.
        """
        if isinstance(self._native, _Shown):
            return verify(self)
        return Verdict(self._native.verify(bar()))

    @takes()
    def write(self, path: PathLike, *, force: bool = False) -> Path:
        """Writes ``.csv``, ``.parquet``, ``.sav`` or ``.dta`` with certificate and report beside it, or nothing at all.

        The bytes are those that the command line writes. Nothing is replaced without ``force``.
        """
        written, _, _ = self._known("way to be written").write(os.fspath(path), force, bar())
        return Path(written)

    @takes()
    def write_into(self, table: str, database: str, *, force: bool = False) -> Path:
        """Writes the release as a table of a database, in one transaction, and returns where its certificate is.

        ``database`` is an address without a password: ``"postgresql://curator@db/clinic"``, ``"sqlite:clinic.sqlite"`` or
        ``"duckdb:clinic.duckdb"`` (`docs/databases.md` says which drivers that takes). The table is verified as it lies there
        before anybody sees it; where it does not keep the promise, nothing is there. The certificate and the report stand
        in the folder of the project, or where the program runs. Nothing is replaced without ``force``, and only a release is.

        A table that lies in that database itself is published by :meth:`Table.publish_into`, which counts and writes in one
        transaction.
        """
        if "://" in table:
            raise Error("the table is an address", hint="name the table, and give the address as database=")
        certificate, _ = self._known("way to be written").write_into(table, database, force, bar())
        return Path(certificate)

    def groups(self) -> Groups:
        """Every group that the release shows, with how many records it has, the smallest first.

        >>> import incrowd as ic
        >>> ic.Table({"age": [31, 31, 40, 40, 40]}, ["age"]).publish(k=2).groups().to_dict()["rows"]
        [{'age': '31', 'n_records': 2}, {'age': '40', 'n_records': 3}]
        """
        names = self.certificate.quasi_identifiers
        places = [self._native.frame.columns.index(name) for name in names if name in self._native.frame.columns]
        if len(places) < len(names):
            raise Error("the release has two columns for some numbers", hint="publish without two_columns")
        counted = collections.Counter(tuple(row[i] for i in places) for row in self._native.frame.rows())
        rows = [{**dict(zip(names, cells)), "n_records": n} for cells, n in counted.items()]
        return Groups({"rows": sorted(rows, key=lambda row: (row["n_records"], [str(cell) for cell in row.values()]))})

    def __repr__(self) -> str:
        return f"Release({self.certificate!r})"

    def __eq__(self, other: object) -> bool:
        """The same records under the same certificate."""
        if not isinstance(other, Release) or self.certificate != other.certificate:
            return False
        return self is other or self._native.frame.rows() == other._native.frame.rows()

    __hash__: ClassVar[None]  # type: ignore[assignment]  # What can be compared by its words has no hash.

    def _repr_html_(self) -> str:
        return _display.release(self._native.frame.rows(8), self.columns, repr(self))


def _place(into: str, database: str, force: bool) -> Callable[[Release], Release]:
    """What becomes of a release that was made: it is written into a database too, where that is wanted."""
    if into is NOT_GIVEN and database is NOT_GIVEN:
        if force:
            raise TypeError("force is about a table of a database; give into=… and database=…")
        return lambda release: release
    if into is NOT_GIVEN or "://" in into:
        raise Error("nothing says what the new table is called", hint='for example into="discharges_k10", with the address as database=')
    if database is NOT_GIVEN:
        raise Error(
            "nothing says in which database the new table is to be",
            hint='for example database="postgresql://curator@db/clinic"; the project\'s own takes it by publish_into(…)',
        )

    def written(release: Release) -> Release:
        release.write_into(into, database, force=force)
        return release

    return written


def _only_of_levels(given: Mapping[str, bool]) -> None:
    for name, is_given in given.items():
        if is_given:
            raise TypeError(f"{name} is about one level for all; leave it out, or local=True")


def _only_of_ranges(max_loss: Any) -> None:
    if max_loss is not NOT_GIVEN:
        raise TypeError("max_loss is about ranges of their own for every group; give local=True too")


def _publish_global(
    table: Table,
    offer: Offer | Answer | Bargain | str,
    levels: Mapping[str, int | str],
    request: Mapping[str, Any],
    two_columns: bool,
    target: str | None,
) -> Release:
    """One level per attribute for all records."""
    if levels is not NOT_GIVEN:
        if offer is not NOT_GIVEN:
            raise TypeError("give an offer or levels, not both")
        asked = wish(request, known=_REQUEST)
        return _published(table, asked, levels, None, "levels", two_columns, target)
    if offer is NOT_GIVEN:
        offer = "exact"
    if isinstance(offer, str):
        offer = _chosen(table.negotiate(**request), offer)
    elif request:
        raise TypeError("an offer says what is published; give it, or keywords, not both")
    if isinstance(offer, Answer):
        offer = _chosen(offer, "exact")
    if not isinstance(offer, (Offer, Bargain)):
        raise TypeError(f"{type(offer).__name__} is no offer; give an offer, an answer, a bargain, or the name of an offer")
    source = offer._asked
    if source is None or source.table is not table._native:
        raise Error("the offer is about another table", hint="publish it with the table that it was negotiated for")
    if isinstance(offer, Bargain):
        over = offer[offer._over]
        held = {name: value for name, value in offer._criteria.items() if name != offer._over}
        return _published(table, source.wish, offer.levels, {**held, offer._over: over}, "levels", two_columns, target)
    return _published(table, source.wish, offer.levels, offer.criteria, offer._choice, two_columns, target)


# The ways to make a release, by name.
_METHODS = ("global", "top-down", "bottom-up", "mondrian", "mondrian-relaxed", "negotiated", "cells", "deal", "deal-plain", "per-record")


def _chosen(answer: Answer, choice: str) -> Offer:
    """Who would accept an offer accepts the answer that needs none."""
    if choice == "loss":
        raise Error("the loss offer is about ranges of their own for every group", hint='take "height", or give local=True')
    if choice not in ("exact", "suppression", "height", "privacy"):
        raise Error(f"unknown offer '{choice}'", hint="there are: exact, suppression, height, privacy")
    if answer.exact is not None:
        return answer.exact
    if choice == "exact":
        raise Error("the request cannot be met", hint='take an offer: "suppression", "height" or "privacy"')
    offer: Offer | None = getattr(answer.offers, choice)
    if offer is None:
        raise Error(f"there is no {choice} offer", hint="take another one")
    return offer


def _published(
    table: Table,
    asked: Mapping[str, Any],
    levels: Mapping[str, int | str],
    promised: Mapping[str, Any] | None,
    choice: str,
    two_columns: bool = False,
    target: str | None = None,
) -> Release:
    words = None if promised is None else to_json(promised)
    made = table._native.publish(dict(asked), _wishes.levels(levels), words, choice, two_columns, target, bar())
    return Release(made, table._origin)


@takes()
def open(
    path: PathLike, *, data: PathLike | None = None, from_level: Mapping[str, int | str] | None = None
) -> Table:
    """The table of a project, by its folder or its ``incrowd.toml``; ``data`` is read instead of what that names.

    ``from_level={"age": 1}`` lets a database count labels of these levels in place of values.

    >>> import incrowd as ic
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> saved = ic.Table({"age": [31, 31, 40]}, ["age"]).save(folder)
    >>> ic.open(folder).count().n_groups
    2
    """
    return Table.open(path, data=data, from_level=from_level)


@takes(Criteria)
def verify(
    data: Any,
    quasi_identifiers: Named = NOT_GIVEN,
    *,
    sensitive: Named = NOT_GIVEN,
    certificate: Certificate | Mapping[str, Any] | PathLike = NOT_GIVEN,
    project: PathLike = NOT_GIVEN,
    project_data: PathLike = NOT_GIVEN,
    suppressed_as: Literal["group", "absent"] = "group",
    delimiter: str | None = None,
    counted: str | None = None,
    **criteria: Unpack[Criteria],
) -> Verdict:
    """Judges any table, whoever made it: a data frame, a CSV or Parquet file, or a release.

    What is promised is what the keywords say, or else the certificate: that of a release, the one beside a file, or the
    one that is given. t, delta and beta compare with the original table where the certificate tells its distribution, or
    ``project`` names it (``project_data`` is read instead of the data that it names), and otherwise with the table itself (``compared_with_itself``). ``answer`` is ``"kept"``,
    ``"broken"`` or ``"not judged"``, and ``holds`` only where all was judged and kept. ``suppressed_as="absent"`` leaves out
    records that are ``*`` in every quasi-identifier. ``counted`` is the column that says how many records a row stands for.

    >>> import incrowd as ic
    >>> ic.verify({"age": ["30-39"] * 3 + ["40-49"] * 2}, quasi_identifiers=["age"], k=3).holds
    False
    """
    if suppressed_as not in ("group", "absent"):
        raise Error(f"suppressed_as is '{suppressed_as}'", hint='"group" or "absent"')
    frame, file = None, "data frame"
    if isinstance(data, (str, os.PathLike)):
        file = os.fspath(data)
    elif isinstance(data, Release):
        frame = data._native.frame
        is_own = certificate is NOT_GIVEN and quasi_identifiers is NOT_GIVEN
        certificate = data.certificate if is_own else certificate
    else:
        named = [*(_some(quasi_identifiers) or ()), *(_some(sensitive) or ())]
        # A certificate says which columns there are, so that all of them are looked at.
        needed = named if named and certificate is NOT_GIVEN else None
        frame, _ = frame_of(data, file, declared=[*named, *_columns_of(certificate)], needed=needed)
    text, beside = None, None
    if isinstance(certificate, Certificate):
        text = to_json(certificate.to_dict())
    elif isinstance(certificate, Mapping):
        text = to_json(dict(certificate))
    else:
        beside = _path(certificate)
    words = _native.verify(
        file,
        frame,
        text,
        beside,
        _some(quasi_identifiers),
        _some(sensitive),
        _wishes.criteria(criteria),
        _path(project),
        _path(project_data),
        suppressed_as == "absent",
        delimiter,
        counted,
        bar(),
    )
    return Verdict(words)


def _columns_of(certificate: Certificate | Mapping[str, Any] | PathLike) -> list[str]:
    """What a certificate says that a release has, so that an index of pandas can be one of its columns."""
    if certificate is NOT_GIVEN:
        return []
    if isinstance(certificate, (str, os.PathLike)):
        try:
            certificate = json.loads(Path(certificate).read_bytes())
        except (OSError, ValueError):
            # Whoever reads it next says what is wrong with it.
            return []
    words = certificate.to_dict() if isinstance(certificate, Certificate) else certificate
    columns = words.get("columns") if isinstance(words, Mapping) else None
    return [str(column) for column in columns] if isinstance(columns, list) else []


@takes()
def attack(
    *releases: Release | PathLike,
    quasi_identifiers: Named = NOT_GIVEN,
    sensitive: Named = NOT_GIVEN,
    project: PathLike = NOT_GIVEN,
    data: PathLike = NOT_GIVEN,
    outside: Any = NOT_GIVEN,
    hierarchies: Mapping[str, PathLike] = NOT_GIVEN,
    worst: int = 3,
    show_values: bool = False,
) -> Attack:
    """What somebody learns from a release, or from two together: homogeneity, similarity, skewness and linkage.

    ``outside`` is a table of people with some of the quasi-identifiers, a file or a data frame; with ``project`` the
    project's own records are looked for, the worst case, or those of ``data`` in their place. ``hierarchies`` are files of labels by attribute. No value of the
    data is in the result unless ``show_values``.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 31, 40, 40], "disease": list("aabc")}, ["age"], sensitive="disease")
    >>> ic.attack(table.publish(k=2)).is_certain
    True
    """
    with tempfile.TemporaryDirectory(prefix="incrowd-attack-") as folder:
        files = []
        for i, release in enumerate(releases):
            if isinstance(release, Release):
                path = os.path.join(folder, f"{i}.parquet")
                release.write(path)
                files.append(path)
            else:
                files.append(os.fspath(release))
        people = None
        if outside is not NOT_GIVEN and not isinstance(outside, (str, os.PathLike)):
            known = _some(quasi_identifiers)
            people, _ = frame_of(outside, "outside", declared=known or (), needed=known)
        labels = [] if hierarchies is NOT_GIVEN else [f"{name}={os.fspath(path)}" for name, path in hierarchies.items()]
        words = _native.attack(
            files,
            _some(quasi_identifiers),
            _some(sensitive),
            _path(project),
            _path(data),
            os.fspath(outside) if isinstance(outside, (str, os.PathLike)) else None,
            people,
            labels,
            worst,
            show_values,
            bar(),
        )
    for i, release in enumerate(releases):
        if isinstance(release, Release):
            words["releases"][i]["file"] = f"release {i + 1}"
    return Attack(words)


@takes()
def study_deal(frequencies: Sequence[int], k: range | int = range(2, 22), *, seed: int = 1) -> Study:
    """How diverse dealt classes are, and how near to the table, beside classes made by chance.

    >>> import incrowd as ic
    >>> rows = ic.study_deal([167, 153, 127, 103, 91, 89], range(8, 10)).rows
    >>> [(row["k"], row["fewest_distinct"]) for row in rows if row["made"] == "dealt"]
    [(8, 5), (9, 6)]
    """
    ks = (k, k) if isinstance(k, int) else (k[0], k[-1])
    return Study(_native.study_deal(list(frequencies), f"{ks[0]}..{ks[1]}", seed))


@takes()
def profile(data: Any, *, values: bool = False, delimiter: str | None = None, missing: Named = ()) -> Profile:
    """What each column of a data frame, a file or a project looks like; no value is shown unless ``values=True``.

    >>> import incrowd as ic
    >>> [column.suggested_role for column in ic.profile({"age": [31, 32], "disease": ["a", "b"]}).columns]
    ['quasi-identifier', 'sensitive']
    """
    if isinstance(data, (str, os.PathLike)):
        return Profile(_native.profile_file(os.fspath(data), values, delimiter, names(missing), bar()))
    frame = readable(data, "data frame")
    return Profile(_native.profile_frame(frame, values, names(missing), bar()))


class Suggestion(Profile):
    """A first guess at the roles and hierarchies of a table, each with its reason; ``text`` is the project file.

    >>> import incrowd as ic
    >>> guess = ic.init({"age": [31, 32, 40, 41], "disease": list("abab")})
    >>> [(column.name, column.suggested_role) for column in guess.columns]
    [('age', 'quasi-identifier'), ('disease', 'sensitive')]
    >>> guess
    Suggestion(4 records, 2 columns; age: quasi-identifier, disease: sensitive)
    """

    _data: Any
    text: str
    n_schemes: int

    def __init__(self, words: Mapping[str, Any], data: Any = None) -> None:
        super().__init__(words)
        object.__setattr__(self, "_data", data)

    def __repr__(self) -> str:
        roles = ", ".join(f"{column.name}: {column.suggested_role}" for column in self.columns)
        return f"Suggestion({self.n_records} records, {len(self.columns)} columns; {roles})"

    def _repr_html_(self) -> str:
        return _display.suggestion(self)

    def table(self) -> Table:
        """The table with what was suggested; read and correct it before you trust it."""
        if self._data is None:
            return Table.open(self.to_dict()["project"])
        of_role: dict[str, dict[str, Any]] = {}
        unknown: str | None = None
        # Trees name values, and so stand in the project file alone.
        rules = _native.hierarchies_of_toml(self.text)
        for column in self.columns:
            rule = rules.get(column.name)
            if column.suggested_role == "quasi-identifier" and isinstance(rule, dict) and "tree" in rule:
                unknown = "other"
            of_role.setdefault(column.suggested_role, {})[column.name] = None if rule is None else Hierarchy(rule)
        return Table(
            self._data,
            of_role.get("quasi-identifier", {}),
            sensitive=list(of_role.get("sensitive", ())),
            identifiers=list(of_role.get("identifier", ())),
            person=list(of_role.get("person", ())),
            missing=self.to_dict()["missing"] or ("",),
            missing_records=self.to_dict()["missing_records"],
            unknown=unknown,
        )


@takes()
def init(
    data: Any,
    output: PathLike | None = None,
    *,
    force: bool = False,
    delimiter: str | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
    missing: Named = (),
) -> Suggestion:
    """Suggests roles and hierarchies, each with its reason: for a file a project file is written, for a frame nothing.

    >>> import incrowd as ic
    >>> table = ic.init({"age": [31, 32, 40, 41], "disease": list("abab")}).table()
    >>> table.roles
    {'age': 'quasi-identifier', 'disease': 'sensitive'}
    """
    if isinstance(data, (str, os.PathLike)):
        where = None if output is None else os.fspath(output)
        return Suggestion(_native.init_file(os.fspath(data), where, force, delimiter, sheet, encoding, names(missing), bar()))
    if output is not None:
        raise Error("a data frame has no path that a project file could name", hint="save it to a file first")
    frame = readable(data, "data frame")
    return Suggestion(_native.init_frame(frame, names(missing), bar()), data)


@takes()
def demo(folder: PathLike | None = None, *, records: int = 60_000, seed: int = 1) -> Table:
    """Two years of discharges from a hospital that does not exist, to try things on.

    They are written into ``folder``, with their project; by default into a temporary one, which is there as long
    as the table is.

    >>> import incrowd as ic
    >>> counts = ic.demo(records=1000).count()
    >>> counts.n_records, counts.n_dropped
    (997, 3)
    """
    place = tempfile.mkdtemp(prefix="incrowd-demo-") if folder is None else os.fspath(folder)
    _native.write_demo(place, records, seed)
    table = Table.open(place)
    if folder is None:
        weakref.finalize(table._native, shutil.rmtree, place, ignore_errors=True)
    return table


@takes()
def serve(
    project: PathLike | Table = NOT_GIVEN,
    *,
    data: PathLike = NOT_GIVEN,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
    open: bool = False,
) -> None:
    """Serves the page for a project, a file or a table until Ctrl-C; by default the project in this folder, or made-up data.

    A table that is no project is saved into a temporary folder, which is gone at the end with all that was written there;
    :meth:`Table.save` and ``serve(folder)`` keep it. Ctrl-C, or the notebook's stop, ends it::

        ic.serve(ic.Table(df, ["age", "zip"]), open=True)
    """
    with contextlib.ExitStack() as at_end:
        if isinstance(project, Table):
            made = project._made
            if isinstance(made, _Opened):
                project, data = made.path, data if made.data is None else made.data
            else:
                folder = at_end.enter_context(tempfile.TemporaryDirectory(prefix="incrowd-serve-"))
                project = project.save(folder)
        try:
            _native.serve(_path(project), _path(data), host, port, token, open)
        except KeyboardInterrupt:
            pass
