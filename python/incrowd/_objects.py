"""Answers, offers and verdicts as plain objects: the words of ``--json``, by attribute."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from . import _charts, _display
from ._charts import Picture
from ._error import must_have

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

T = TypeVar("T")


class Words:
    """What the engine said, by attribute; ``to_dict()`` gives it as the command line prints it with ``--json``."""

    _made: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}

    def __init__(self, words: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_words", dict(words))

    def to_dict(self) -> dict[str, Any]:
        words: dict[str, Any] = copy.deepcopy(self.__dict__["_words"])
        return words

    # Attributes are those that classes declare, so that a typo is an error of types.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            words = self.__dict__.get("_words", {})
            if name not in words:
                raise AttributeError(f"'{type(self).__name__}' has no '{name}'; it has: {', '.join(words)}")
            make = self._made.get(name)
            # A copy, so that changing it changes nothing that is published later.
            return copy.deepcopy(words[name]) if make is None or words[name] is None else make(words[name])

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"'{type(self).__name__}' says what was found, and cannot be changed")

    def __getitem__(self, name: str) -> Any:
        return copy.deepcopy(self.__dict__["_words"][name])

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the table that it is about: an offer that comes back from a file can be read, and not published.
        return type(self), (self.__dict__["_words"],)

    def __deepcopy__(self: T, _: Any) -> T:
        return self

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.__dict__["_words"]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Words) and bool(self.__dict__["_words"] == other.__dict__["_words"])

    __hash__: ClassVar[None]  # type: ignore[assignment]  # What can be compared by its words has no hash.

    def __repr__(self) -> str:
        words = self.__dict__["_words"].items()
        shown = ", ".join(f"{name}={value!r}" for name, value in words if _is_short(value))
        return f"{type(self).__name__}({shown})"


def _is_short(value: Any) -> bool:
    return not isinstance(value, (dict, list)) or len(repr(value)) < 60


def left_out(n_dropped: int) -> str:
    """How many records are not there for lack of a value; nothing where all are."""
    records = "record" if n_dropped == 1 else "records"
    return f"; {n_dropped:,} {records} left out for lack of a value" if n_dropped else ""


def _all(kind: Callable[[Any], T]) -> Callable[[list[Any]], list[T]]:
    return lambda words: [kind(word) for word in words]


class Rows(Words):
    """What can be had as a frame: a row per thing that was found, with a column per word.

    Words within words have a point between: ``loss.ncp``, ``levels.age``.
    """

    def _rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.__dict__["_words"]["rows"]
        return rows

    @classmethod
    def of(cls, rows: list[dict[str, Any]]) -> Rows:
        return cls({"rows": rows})

    def _flat(self) -> dict[str, list[Any]]:
        flat = [dict(_flattened(row)) for row in self._rows()]
        names = dict.fromkeys(name for row in flat for name in row)
        return {name: [row.get(name) for row in flat] for name in names}

    def to_pandas(self) -> pandas.DataFrame:
        """As a pandas frame."""
        must_have("pandas")
        import pandas

        return pandas.DataFrame(self._flat())

    def to_polars(self) -> polars.DataFrame:
        """As a polars frame."""
        must_have("polars")
        import polars

        return polars.DataFrame(self._flat(), strict=False)

    def to_arrow(self) -> pyarrow.Table:
        """As an Arrow table."""
        must_have("pyarrow")
        import pyarrow

        return pyarrow.table({name: _arrow(pyarrow, values) for name, values in self._flat().items()})

    def _repr_html_(self) -> str:
        flat = self._flat()
        rows = [["" if cell is None else cell for cell in row] for row in zip(*flat.values())]
        return f"<p>{_display.escape(repr(self))}</p>" + _display.table(list(flat), rows)


def _flattened(words: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in words.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{before}{name}.")
        else:
            yield before + name, value if not isinstance(value, list) else ", ".join(map(str, value))


def _arrow(pyarrow: Any, values: list[Any]) -> Any:
    try:
        return pyarrow.array(values)
    except pyarrow.ArrowInvalid:
        # A level is a number, or its name where it has one.
        return pyarrow.array([None if value is None else str(value) for value in values])


class Groups(Rows):
    """The groups of a release, the smallest first: its quasi-identifiers, and how many records have them.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 31, 40, 40, 40], "ill": list("abaab")}, {"age": ic.intervals(5, 10)},
    ...                  sensitive="ill")
    >>> table.publish(k=2).groups()
    Groups(2 groups)
    """

    rows: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self._rows())

    def __repr__(self) -> str:
        return f"Groups({len(self):,} groups)"

    @property
    def picture(self) -> Picture:
        """How many groups have how many records."""
        return Picture(_charts.sizes(self))

    def _repr_html_(self) -> str:
        return _charts.groups(self)



class Offer(Words):
    """A scheme and what publishing it would give: all that was asked, or the best that gives up one part of it.

    Criteria stand beside the rest by their names: ``offer.k``, ``offer.t``.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 32, 40]}, {"age": ic.intervals(5, 10)})
    >>> offer = table.negotiate(k=2).exact
    >>> offer.levels, offer.level_names, offer.n_suppressed, offer.n_groups
    ({'age': 3}, {'age': '*'}, 0, 1)
    >>> offer.criteria
    {'k': 2}
    """

    levels: dict[str, int]
    level_names: dict[str, str]
    height: int
    n_dropped: int
    n_suppressed: int
    share_suppressed: float
    n_groups: int
    smallest_group: int | None
    reached: dict[str, Any]
    loss: dict[str, float]
    k: int
    k_map: int
    l: Any
    alpha: Any
    entropy_l: Any
    recursive: Any
    t: Any
    delta: Any
    beta: Any
    enhanced_beta: Any
    fewest_distinct: int | None
    n_people_lost: int
    _choice: str
    _asked: Any
    in_words: str

    def __init__(self, words: Mapping[str, Any], choice: str = "exact", asked: Any = None) -> None:
        super().__init__(words)
        object.__setattr__(self, "_choice", choice)
        # The table and the wish that it answers, to be published from.
        object.__setattr__(self, "_asked", asked)

    @property
    def criteria(self) -> dict[str, Any]:
        """What every published group is promised to have."""
        names = list(self.__dict__["_words"])
        # In the words they stand between these two; where people are counted, behind how many are lost.
        between = names[names.index("share_suppressed") + 1 : names.index("n_groups")]
        return {name: self[name] for name in between if name != "n_people_lost"}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.__dict__["_words"], self._choice)

    @property
    def concession(self) -> str | None:
        """What of the request it gives up; nothing where it meets all of it."""
        given_up: str | None = self.__dict__["_words"].get("concession")
        return given_up

    def __repr__(self) -> str:
        return f"Offer({self.in_words})"

    def _repr_html_(self) -> str:
        return _display.cards([(_display.TITLES[self._choice], self)])


class Offers(Words):
    """Three ways out, each of which gives up one part of the request; ``height`` or ``privacy`` is None where there is none.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 32, 40]}, {"age": ic.intervals(5, 10)})
    >>> offers = table.negotiate(k=3, max_level={"age": 1}).offers
    >>> [(offer.levels, offer.n_suppressed) for offer in offers]
    [({'age': 0}, 3), ({'age': 3}, 0)]
    """

    suppression: Offer
    height: Offer | None
    privacy: Offer | None

    def __init__(self, words: Mapping[str, Any], asked: Any = None) -> None:
        super().__init__(words)
        for choice in ("suppression", "height", "privacy"):
            offer = None if words[choice] is None else Offer(words[choice], choice, asked)
            object.__setattr__(self, choice, offer)
        more = [Offer(offer, "privacy", asked) for offer in words.get("privacy_alternatives", [])]
        object.__setattr__(self, "privacy_alternatives", more)

    def __iter__(self) -> Iterator[Offer]:
        return (offer for offer in (self.suppression, self.height, self.privacy) if offer is not None)

    def __repr__(self) -> str:
        return "Offers(" + "; ".join(f"{offer._choice}: {offer.concession}" for offer in self) + ")"

    def _repr_html_(self) -> str:
        return _display.cards([(_display.TITLES[offer._choice], offer) for offer in self])


class Answer(Words):
    """The answer to a request: ``exact`` where the request is met, otherwise ``offers``; the other one is None.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 32, 40]}, {"age": ic.intervals(5, 10)})
    >>> answer = table.negotiate(k=2)
    >>> answer.outcome, answer.offers is None, answer.exact.levels
    ('exact', True, {'age': 3})
    """

    outcome: str
    request: dict[str, Any]
    n_records: int
    n_dropped: int
    n_schemes: int

    def __init__(self, words: Mapping[str, Any], asked: Any = None) -> None:
        super().__init__(words)
        exact, offers = words.get("exact"), words.get("offers")
        object.__setattr__(self, "exact", None if exact is None else Offer(exact, "exact", asked))
        object.__setattr__(self, "offers", None if offers is None else Offers(offers, asked))

    exact: Offer | None
    offers: Offers | None

    @property
    def explanation(self) -> dict[str, Any] | None:
        """Why records are lost, where ``explain=True`` asked for it."""
        said: dict[str, Any] | None = self.to_dict().get("explanation")
        return said

    def __repr__(self) -> str:
        return f"Answer({self.outcome}: {self.exact or self.offers}{left_out(self.n_dropped)})"

    def _repr_html_(self) -> str:
        return _display.answer(self)


class Finding(Words):
    """One criterion: what was asked, what is reached, and how much falls short.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 31, 40, 40, 40], "ill": list("abaab")}, {"age": ic.intervals(5, 10)},
    ...                  sensitive="ill")
    >>> finding = table.publish(k=2).verify().criteria["k"]
    >>> finding.asked, finding.reached, finding.holds
    (2, 2, True)
    """

    asked: Any
    reached: Any
    needs: str
    judged: bool
    holds: bool
    n_groups_failing: int
    n_records_failing: int


class Claim(Words):
    """One sentence of a certificate, compared with the release.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 31, 40, 40, 40], "ill": list("abaab")}, {"age": ic.intervals(5, 10)},
    ...                  sensitive="ill")
    >>> claims = table.publish(k=2).verify().claims
    >>> all(claim.holds for claim in claims)
    True
    """

    claim: str
    holds: bool
    claimed: str
    found: str


class Verdict(Words):
    """Whether a published table keeps its promise, with the numbers.

    ``answer`` is ``"kept"``, ``"broken"``, or ``"not judged"`` where nothing speaks against the promise but a part of it
    could not be looked at; a criterion that was not judged says what it ``needs``.

    >>> import incrowd as ic
    >>> verdict = ic.verify({"age": ["30-39"] * 3 + ["40-49"] * 2}, ["age"], k=2)
    >>> verdict
    Verdict(holds: k = 2, 5 records)
    >>> verdict.answer, bool(verdict)
    ('kept', True)
    """

    answer: str
    holds: bool
    n_records: int
    n_groups: int
    n_suppressed_marked: int
    smallest_group: int | None
    fewest_distinct: int | None

    @property
    def criteria(self) -> dict[str, Finding]:
        """What was found of each criterion, by its name."""
        return {name: Finding(words) for name, words in self.to_dict()["criteria"].items()}

    @property
    def claims(self) -> list[Claim]:
        """The claims of the certificate; none where there is none."""
        return [Claim(words) for words in self.to_dict().get("claims", [])]

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        def found(name: str, finding: Finding) -> str:
            if finding.judged:
                return f"{name} = {finding.reached}"
            of_records = finding.to_dict().get("holds_for_records")
            return f"{name} {'kept for records, not judged for people' if of_records else 'not judged'}"

        reached = ", ".join(found(name, finding) for name, finding in self.criteria.items())
        marked = f", {self.n_suppressed_marked} marked as suppressed left out" if self.n_suppressed_marked else ""
        own = "; compared with its own distribution" if self.to_dict().get("compared_with_itself") else ""
        word = "holds" if self.holds else self.answer.upper()
        return f"Verdict({word}: {reached}, {self.n_records} records{marked}{own})"

    def _repr_html_(self) -> str:
        return _display.verdict(self)


class Account(Words):
    """What only the signer of a release knows: it tells about records that are not in the release.

    ``key`` opens the marks of files in the certificate, ``files`` have their hashes; ``loss`` is over the table,
    ``criteria`` have what is reached of all of them, ``search`` says how the scheme was found, ``per_record`` what
    records that were generalized one by one came to, and ``people`` how many people there are, are lost, are in the
    smallest group, and are alone by all their records together, where it is known whose record it is.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 31, 40, 40, 40], "ill": list("abaab")}, {"age": ic.intervals(5, 10)},
    ...                  sensitive="ill")
    >>> account = table.publish(k=2).account
    >>> account
    Account(for the signer: key, files, loss, criteria, search, per_record)
    >>> sorted(account.criteria)
    ['k']
    """

    beside: list[Any]
    cells: dict[str, Any]
    key: str
    files: list[dict[str, str]]
    loss: dict[str, float]
    criteria: dict[str, Any]
    search: dict[str, Any] | None
    per_record: dict[str, Any] | None
    people: dict[str, Any] | None

    def __repr__(self) -> str:
        return "Account(for the signer: key, files, loss, criteria, search, per_record)"


class Certificate(Words):
    """What is promised about a release; meant to be published with it.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 31, 40, 40, 40], "ill": list("abaab")}, {"age": ic.intervals(5, 10)},
    ...                  sensitive="ill")
    >>> certificate = table.publish(k=2).certificate
    >>> certificate
    Certificate(k = 2; 5 records in 2 groups)
    >>> certificate.levels, certificate.quasi_identifiers, certificate.n_records_published
    ({'age': 0}, ['age'], 5)
    """

    format: str
    format_version: int
    version: str
    request: dict[str, Any] | None
    smallest_group: int | None
    fewest_distinct: int | None
    order: str
    sorted: bool
    seed: int | None
    steps: int
    input: list[Any]
    hierarchies: list[Any]
    output: dict[str, Any]
    method: str
    choice: str
    criteria: dict[str, Any]
    quasi_identifiers: list[str]
    sensitive: list[str]
    columns: list[str]
    levels: dict[str, int]
    level_names: dict[str, str]
    height: int
    n_records_read: int
    n_records_dropped: int
    n_records_suppressed: int
    n_records_published: int
    n_groups: int
    loss: dict[str, float]
    """What the release itself shows; losses over the table are in the release's ``account``."""
    per_record: dict[str, Any] | None

    def __repr__(self) -> str:
        promised = ", ".join(f"{name} = {entry['promised']}" for name, entry in self.criteria.items())
        lost = f"; {self.n_records_suppressed:,} suppressed" if self.n_records_suppressed else ""
        lost += left_out(self.n_records_dropped)
        return f"Certificate({promised}; {self.n_records_published} records in {self.n_groups} groups{lost})"


class Bargain(Words):
    """One bargain of a frontier: a scheme, the strictest value of the criterion that it allows, and what it costs.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 32, 40]}, {"age": ic.intervals(5, 10)})
    >>> bargain = table.frontier(max_suppressed=0.5).bargains[0]
    >>> bargain.k, bargain.levels, bargain.n_suppressed
    (3, {'age': 3}, 0)
    >>> len(table.publish(bargain))
    3
    """

    n_suppressed: int
    loss: float
    k: int
    k_map: int
    l: Any
    alpha: Any
    entropy_l: Any
    recursive: Any
    t: Any
    delta: Any
    beta: Any
    enhanced_beta: Any
    _over: str
    _criteria: Mapping[str, Any]
    _asked: Any
    n_groups: int
    height: int
    levels: dict[str, int]

    def __init__(
        self, words: Mapping[str, Any], over: str = "k", criteria: Mapping[str, Any] | None = None, asked: Any = None
    ) -> None:
        super().__init__(words)
        object.__setattr__(self, "_over", over)
        # The criteria that hold beside the one that is varied.
        object.__setattr__(self, "_criteria", criteria or {})
        object.__setattr__(self, "_asked", asked)


class Frontier(Rows):
    """Every bargain that no other beats on privacy, records lost and loss, the most private first.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 32, 40]}, {"age": ic.intervals(5, 10)})
    >>> frontier = table.frontier(max_suppressed=0.5)
    >>> frontier
    Frontier(2 bargains over k, of 4 schemes)
    >>> frontier.to_dict()["bargains"][0]["k"]
    3
    """

    over: str
    best_by: str
    criteria: dict[str, Any]
    max_suppressed: int
    n_records: int
    n_dropped: int
    n_annotated: int
    n_schemes: int

    def __init__(self, words: Mapping[str, Any], asked: Any = None) -> None:
        super().__init__(words)
        made = [Bargain(bargain, words["over"], words["criteria"], asked) for bargain in words["bargains"]]
        object.__setattr__(self, "bargains", made)

    bargains: list[Bargain]

    def _rows(self) -> list[dict[str, Any]]:
        return [bargain.to_dict() for bargain in self.bargains]

    def __iter__(self) -> Iterator[Bargain]:
        return iter(self.bargains)

    def __len__(self) -> int:
        return len(self.bargains)

    def __repr__(self) -> str:
        return f"Frontier({len(self)} bargains over {self.over}, of {self.n_schemes} schemes{left_out(self.n_dropped)})"

    @property
    def picture(self) -> Picture:
        """The least loss for a share of records lost, a line per value of the criterion."""
        return Picture(_display.curve(self))

    def _repr_html_(self) -> str:
        return _display.frontier(self)



class Column(Words):
    """One column, and the role and hierarchy that its values suggest.

    >>> import incrowd as ic
    >>> column = ic.profile({"age": [31, 32, 31]}).columns[0]
    >>> column.name, column.n_distinct, column.suggested_role
    ('age', 2, 'quasi-identifier')
    """

    type: str
    is_exact: bool
    role: str | None
    suggested_hierarchy: str | None
    why_hierarchy: str
    name: str
    n_distinct: int
    n_missing: int
    n_unique: int
    share_unique: float
    suggested_role: str
    why: str


class Profile(Words):
    """What each column looks like, and how many records are unique on the quasi-identifiers.

    >>> import incrowd as ic
    >>> ic.profile({"age": [31, 32], "disease": ["a", "b"]})
    Profile(2 records, 2 columns, 2 unique)
    """

    project: str | None
    data: str
    missing: list[str]
    missing_records: str
    n_records: int
    n_incomplete: int
    quasi_identifiers: list[str]
    uniqueness: dict[str, Any] | None
    repeating: dict[str, Any] | None
    """An identifier that repeats, by which people could be counted, where nobody has said whether they are."""
    columns: list[Column]
    _made = {"columns": _all(Column)}

    def __repr__(self) -> str:
        unique = "" if self.uniqueness is None else f", {self.uniqueness['n_unique']} unique"
        return f"{type(self).__name__}({self.n_records} records, {len(self.columns)} columns{unique})"

    def _repr_html_(self) -> str:
        return _display.profile(self)


class LevelOf(Words):
    """One level of a hierarchy."""

    level: int
    name: str
    n_values: int


class ShownHierarchy(Words):
    """A hierarchy over the values that the data have: its levels, its tree, its rows, and the text of an ARX file.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 32, 40]}, {"age": ic.intervals(5, 10)})
    >>> shown = table.hierarchy("age")
    >>> shown
    ShownHierarchy(age: 3 → 2 → 2 → 1)
    >>> shown.rows[0]
    ['31', '30-34', '30-39', '*']
    >>> shown.arx.splitlines()[0]
    '31;30-34;30-39;*'
    """

    attribute: str
    levels: list[LevelOf]
    tree: dict[str, Any]
    rows: list[list[str]]
    arx: str
    absent: list[str]
    absent_at: list[dict[str, Any]]
    _made = {"levels": _all(LevelOf)}

    def __repr__(self) -> str:
        return f"ShownHierarchy({self.attribute}: " + " → ".join(str(level.n_values) for level in self.levels) + ")"

    def _repr_html_(self) -> str:
        return _display.hierarchy(self)


class Counts(Rows):
    """How many distinct combinations of quasi-identifiers there are.

    >>> import incrowd as ic
    >>> counts = ic.Table({"age": [31, 31, 40]}, ["age"]).count()
    >>> counts.n_records, counts.n_groups, counts.n_unique
    (3, 2, 1)
    """

    n_records: int
    n_dropped: int
    n_cells: int
    n_people: int | None
    sensitive: str | None
    n_sensitive: int | None
    n_groups: int
    n_unique: int
    n_schemes: int | None
    attributes: list[dict[str, Any]]

    def _rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.to_dict()["attributes"]
        return rows


class Scheme(Words):
    """One scheme of the lattice: its levels, its groups, and what it would lose where criteria were given.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 32, 40]}, {"age": ic.intervals(5, 10)})
    >>> [(scheme.levels, scheme.n_suppressed) for scheme in table.annotate().schemes(k=2)]
    [({'age': 0}, 3), ({'age': 1}, 1), ({'age': 2}, 1), ({'age': 3}, 0)]
    """

    n_suppressed: int
    levels: dict[str, int]
    height: int
    n_groups: int
    smallest_group: int | None


class Height(Words):
    """The schemes of one height together: least, mean and most.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 32, 40]}, {"age": ic.intervals(5, 10)})
    >>> [(height.height, height.n_schemes) for height in table.annotate().heights(k=2)]
    [(0, 1), (1, 1), (2, 1), (3, 1)]
    """

    n_suppressed: dict[str, float]
    height: int
    n_schemes: int
    n_groups: dict[str, float]


class Compared(Words):
    """What one method made of the table.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 32, 40, 45]}, ["age"])
    >>> row = table.compare(2, methods=["top-down"], queries=10).rows[0]
    >>> row.method, row.k, row.loss["ncp"], row.n_suppressed
    ('top-down', 2, 0.214286, 0)
    """

    title: str
    choice: str
    promises_k: bool
    best_by: str | None
    levels: dict[str, int] | None
    ncp_of_attribute: dict[str, float]
    n_groups: int
    reached: dict[str, Any]
    risk: dict[str, Any]
    query_error: dict[str, Any]
    own_query_error: Any
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    k: int
    method: str
    holds: bool
    loss: dict[str, Any]
    n_suppressed: int


class Comparison(Rows):
    """What each method made of the table, row by row.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 32, 40, 45]}, ["age"])
    >>> made = table.compare([2, 4], methods=["top-down"], queries=10)
    >>> [(row.k, row.loss["ncp"]) for row in made]
    [(2, 0.214286), (4, 1.0)]
    >>> made.picture.svg[:4]
    '<svg'
    """

    n_records: int
    criteria: dict[str, Any]
    max_suppressed: int
    weights: dict[str, Any]
    seed: int
    varied_weight: Any
    rows: list[Compared]

    _made: ClassVar[Mapping[str, Callable[[Any], Any]]] = {"rows": _all(Compared)}

    def __iter__(self) -> Iterator[Compared]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def picture(self) -> Picture:
        """What every method loses."""
        return Picture(_charts.losses(self))

    def _repr_html_(self) -> str:
        return _charts.comparison(self)



class Risk(Rows):
    """How likely people are to be found: as a prosecutor, a journalist and a marketer see it.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 31, 40, 40, 40], "ill": list("abaab")}, {"age": ic.intervals(5, 10)},
    ...                  sensitive="ill")
    >>> risk = table.risk()
    >>> risk.prosecutor["highest"], risk.n_unique
    (0.5, 0)
    """

    n_records: int
    n_people: int | None
    n_dropped: int
    n_groups: int
    threshold: float
    prosecutor: dict[str, float]
    journalist: dict[str, float]
    marketer: float
    population: str
    n_people_estimated: float | None
    individual: dict[str, float]
    household: dict[str, float] | None
    n_unique: int
    n_unique_in_population: int | None
    n_unique_in_population_estimated: float | None
    n_alone_by_all_records: int | None
    attributes: list[dict[str, Any]]
    special_uniques: dict[str, Any] | None
    per_record: str | None

    def _rows(self) -> list[dict[str, Any]]:
        """What each attribute does to it."""
        rows: list[dict[str, Any]] = self.to_dict()["attributes"]
        return rows

    def __repr__(self) -> str:
        highest, average = self.prosecutor["highest"], self.prosecutor["average"]
        n, who = (self.n_records, "records") if self.n_people is None else (self.n_people, "people")
        alone = f"{self.n_unique} of {n} {who} alone"
        return f"Risk(highest {highest}, average {average}, {alone}{left_out(self.n_dropped)})"

    @property
    def picture(self) -> Picture:
        """The average risk by one attribute alone."""
        return Picture(_charts.alone(self))

    def _repr_html_(self) -> str:
        return _charts.risk(self)



class Attack(Rows):
    """What somebody learns from releases; ``is_certain`` where somebody's sensitive value is.

    Where cells cannot be read, ``linkage_not_known`` says of which attributes, and ``is_certain`` is None if it hangs on
    them.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 31, 40, 40, 40], "ill": list("abaab")}, {"age": ic.intervals(5, 10)},
    ...                  sensitive="ill")
    >>> said = ic.attack(table.publish(k=2))
    >>> said.is_certain, said.releases[0]["sensitive"][0]["homogeneity"]["n_groups"]
    (False, 0)
    """

    releases: list[dict[str, Any]]
    linkage: list[dict[str, Any]] | None
    linkage_not_known: list[dict[str, Any]]
    unknown_outside: list[dict[str, Any]]
    is_certain: bool | None

    def _rows(self) -> list[dict[str, Any]]:
        """A row per release."""
        rows: list[dict[str, Any]] = self.to_dict()["releases"]
        return rows

    @property
    def picture(self) -> Picture:
        """How often a guess of the sensitive value is right, before and after."""
        return Picture(_charts.guesses(self))

    def _repr_html_(self) -> str:
        return _charts.attack(self)



class Study(Rows):
    """An experiment of a paper, row by row.

    >>> import incrowd as ic
    >>> study = ic.study_deal([4, 3, 2], 3)
    >>> len(study.rows), sorted(study.rows[0])[:2]
    (4, ['emd', 'fewest_distinct'])
    """

    rows: list[dict[str, Any]]
