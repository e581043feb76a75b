"""Negotiating over ranges of their own for every group: one tree of groups, of which an answer is a cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

from . import _charts, _display, _native
from ._charts import Picture
from ._error import Error
from ._objects import Rows, Words, left_out
from ._progress import bar
from ._wishes import NOT_GIVEN, Number, Over, Request, in_numbers, names, takes, to_json

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._table import Table

# A share in all (``0.1`` or ``"10%"``), or by attribute, with ``"*"`` for everything.
MaxLoss = Union[Number, Mapping[str, Number]]


@dataclass(frozen=True)
class Ordered:
    """Whom an offer is from: the table, and the order as a document."""

    table: _native.Table
    order: Mapping[str, Any]
    threads: int = 0
    memory: str | None = None


def order_of(request: Mapping[str, Any], max_loss: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords as a document with the words of the flags."""
    order: dict[str, Any] = {"local": True, **in_numbers(request)}
    if max_loss is not NOT_GIVEN:
        order["max_loss"] = dict(max_loss) if isinstance(max_loss, Mapping) else max_loss
    if settings.get("quasi_identifiers") is not None:
        order["quasi_identifiers"] = names(settings["quasi_identifiers"])
    if settings.get("sensitive") is not None:
        order["sensitive"] = settings["sensitive"]
    return order


class LocalOffer(Words):
    """Groups with ranges of their own, and what publishing them would give: all that was asked, or the best that gives
    up one term.

    ``loss`` is NCP from 0 to 1, ``loss_of`` the same of each attribute; no groups of the tree that meet the same request lose
    less than ``loss_at_least``.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 32, 40, 45]}, ["age"])
    >>> offer = table.negotiate(local=True, k=2, max_loss=0.5).exact
    >>> offer
    LocalOffer(2 groups, 0 records lost, loss 0.2143)
    >>> offer.loss_of
    {'age': 0.214286}
    """

    criteria: dict[str, Any]
    n_suppressed: int
    n_groups: int
    reached: dict[str, Any]
    loss: float
    loss_at_least: float
    loss_of: dict[str, float]
    _choice: str
    _asked: Ordered | None

    def __init__(self, words: Mapping[str, Any], choice: str = "exact", asked: Ordered | None = None) -> None:
        super().__init__(words)
        object.__setattr__(self, "_choice", choice)
        # The table and the wish that it answers, to be published from.
        object.__setattr__(self, "_asked", asked)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.__dict__["_words"], self._choice)

    def __repr__(self) -> str:
        return f"LocalOffer({self.n_groups:,} groups, {self.n_suppressed:,} records lost, loss {self.loss:.4f})"

    def _repr_html_(self) -> str:
        return _display.local_cards([(_display.TITLES[self._choice], self)])


class LocalOffers(Words):
    """Three ways out, each of which gives up one part of the request; None where there is none.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 32, 40, 45]}, ["age"])
    >>> offers = table.negotiate(local=True, k=3, max_loss=0.1).offers
    >>> [(offer.n_suppressed, offer.loss) for offer in offers]
    [(0, 1.0)]
    """

    suppression: LocalOffer | None
    loss: LocalOffer | None
    privacy: LocalOffer | None
    privacy_alternatives: list[LocalOffer]

    def __init__(self, words: Mapping[str, Any], asked: Ordered | None = None) -> None:
        super().__init__(words)
        for choice in ("suppression", "loss", "privacy"):
            offer = None if words[choice] is None else LocalOffer(words[choice], choice, asked)
            object.__setattr__(self, choice, offer)
        more = [LocalOffer(offer, "privacy", asked) for offer in words.get("privacy_alternatives", [])]
        object.__setattr__(self, "privacy_alternatives", more)

    def __iter__(self) -> Iterator[LocalOffer]:
        return (offer for offer in (self.suppression, self.loss, self.privacy) if offer is not None)

    def __repr__(self) -> str:
        return "LocalOffers(" + "; ".join(f"{offer._choice}: {offer!r}" for offer in self) + ")"

    def _repr_html_(self) -> str:
        return _display.local_cards([(_display.TITLES[offer._choice], offer) for offer in self])


class LocalAnswer(Words):
    """The answer to a request over ranges: ``exact`` where the request is met, otherwise ``offers``; the other is None.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 32, 40, 45]}, ["age"])
    >>> answer = table.negotiate(local=True, k=2, max_loss=0.5)
    >>> answer.outcome, answer.exact.loss
    ('exact', 0.214286)
    """

    outcome: str
    request: dict[str, Any]
    n_records: int
    n_dropped: int
    n_nodes: int
    exact: LocalOffer | None
    offers: LocalOffers | None

    def __init__(self, words: Mapping[str, Any], asked: Ordered | None = None) -> None:
        super().__init__(words)
        exact, offers = words.get("exact"), words.get("offers")
        object.__setattr__(self, "exact", None if exact is None else LocalOffer(exact, "exact", asked))
        object.__setattr__(self, "offers", None if offers is None else LocalOffers(offers, asked))

    def __repr__(self) -> str:
        return f"LocalAnswer({self.outcome}: {self.exact or self.offers}{left_out(self.n_dropped)})"

    def _repr_html_(self) -> str:
        said = "Yes, all of it." if self.exact is not None else "Not all of it; each offer gives up one part of it."
        return f"<p>{said}</p>" + (self.exact or self.offers)._repr_html_()  # type: ignore[union-attr]


class LocalBargain(Words):
    """One bargain of a frontier over ranges: the strictest value that the best groups keep, and what they cost.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 32, 40, 45]}, ["age"])
    >>> bargain = table.frontier(local=True).bargains[0]
    >>> bargain.k, bargain.loss, bargain.n_groups
    (2, 0.214286, 2)
    """

    n_suppressed: int
    loss: float
    loss_at_least: float
    n_groups: int
    k: int
    l: Any
    alpha: Any
    entropy_l: Any
    recursive: Any
    t: Any
    delta: Any
    beta: Any
    enhanced_beta: Any


class LocalFrontier(Rows):
    """What the best groups lose at every value of a criterion at which they change, the least private first.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 32, 40, 45]}, ["age"])
    >>> [(bargain.k, bargain.loss) for bargain in table.frontier(local=True)]
    [(2, 0.214286), (4, 1.0)]
    """

    over: str
    request: dict[str, Any]
    n_records: int
    n_dropped: int
    n_nodes: int
    bargains: list[LocalBargain]

    def __init__(self, words: Mapping[str, Any]) -> None:
        super().__init__(words)
        object.__setattr__(self, "bargains", [LocalBargain(bargain) for bargain in words["bargains"]])

    def _rows(self) -> list[dict[str, Any]]:
        return [bargain.to_dict() for bargain in self.bargains]

    def __iter__(self) -> Iterator[LocalBargain]:
        return iter(self.bargains)

    def __len__(self) -> int:
        return len(self.bargains)

    def __repr__(self) -> str:
        return f"LocalFrontier({len(self)} bargains over {self.over}{left_out(self.n_dropped)})"

    @property
    def picture(self) -> Picture:
        """What the best groups lose at each value of the criterion."""
        return Picture(_charts.local_curve(self))

    def _repr_html_(self) -> str:
        return f"<p>{_display.escape(repr(self))}</p>" + _charts.local_curve(self)


class Tree:
    """One tree of groups of a table: what requests over ranges are answered from, without making groups again.

    >>> import incrowd as ic
    >>> table = ic.Table({"age": [31, 32, 40, 45]}, ["age"])
    >>> tree = table.annotate(local=True)
    >>> tree.negotiate(k=2, max_loss=0.5).exact
    LocalOffer(2 groups, 0 records lost, loss 0.2143)
    """

    def __init__(self, table: Table, settings: Mapping[str, Any], measured: Mapping[str, Any]) -> None:
        self.table = table
        self._settings = dict(settings)
        words = self._order("annotate", order_of(measured, NOT_GIVEN, self._settings))
        self.n_records: int = words["n_records"]
        self.n_dropped: int = words["n_dropped"]
        self.n_combinations: int = words["n_combinations"]
        self.n_nodes: int = words["n_nodes"]

    def __copy__(self) -> Tree:
        return self

    def __deepcopy__(self, _: Any) -> Tree:
        # It does not change. A pickle has the table, whose tree is made again when it is asked.
        return self

    def _order(self, verb: str, order: Mapping[str, Any]) -> dict[str, Any]:
        threads, memory = self._settings.get("threads", 0), self._settings.get("memory")
        return self.table._native.order(verb, to_json(order), threads, memory, bar())

    @takes(Request)
    def negotiate(self, *, max_loss: MaxLoss = NOT_GIVEN, **request: Unpack[Request]) -> LocalAnswer:
        """Asks whether a request can be met by groups with ranges of their own; if not, there are three offers.

        ``max_suppressed`` is a number of records or a share. ``max_loss`` is what records may lose on average, from 0 to 1:
        in all (``0.1`` or ``"10%"``), or of attributes (``{"*": 0.1, "age": 0.05}``, with ``"*"`` for everything).

        >>> import incrowd as ic
        >>> tree = ic.Table({"age": [31, 32, 40, 45]}, ["age"]).annotate(local=True)
        >>> tree.negotiate(k=2).exact.n_groups
        2
        >>> tree.negotiate(k=4, max_loss=0.5).offers.privacy.criteria
        {'k': 2}
        """
        order = order_of(request, max_loss, self._settings)
        asked = Ordered(self.table._native, order, self._settings.get("threads", 0), self._settings.get("memory"))
        return LocalAnswer(self._order("negotiate", order), asked)

    @takes(Request)
    def frontier(self, over: Over = "k", *, max_loss: MaxLoss = NOT_GIVEN, **request: Unpack[Request]) -> LocalFrontier:
        """What the best groups lose at every value of a criterion; no record is lost where ``max_suppressed`` allows none.

        >>> import incrowd as ic
        >>> tree = ic.Table({"age": [31, 32, 40, 45]}, ["age"]).annotate(local=True)
        >>> [(bargain.k, bargain.n_groups) for bargain in tree.frontier()]
        [(2, 2), (4, 1)]
        """
        return LocalFrontier(self._order("frontier", {**order_of(request, max_loss, self._settings), "over": over}))

    def __repr__(self) -> str:
        return f"Tree({self.n_nodes:,} nodes over {self.n_records:,} records{left_out(self.n_dropped)})"


def order_to_publish(
    table: Table,
    offer: LocalOffer | LocalAnswer | str,
    max_loss: Any,
    request: Mapping[str, Any],
    options: Mapping[str, Any],
) -> Ordered:
    """The order that publishes an offer, an answer, or the offer of a name."""
    said = {name: value for name, value in options.items() if value not in (None, False)}
    if isinstance(offer, str):
        order = {**order_of(request, max_loss, {}), **said, "offer": offer}
        return Ordered(table._native, order)
    if request or max_loss is not NOT_GIVEN:
        raise TypeError("an offer says what is published; give it, or keywords, not both")
    if isinstance(offer, LocalAnswer):
        if offer.exact is None:
            raise Error("the request cannot be met", hint='take an offer: "suppression", "loss" or "privacy"')
        offer = offer.exact
    source = offer._asked
    if source is None or source.table is not table._native:
        raise Error("the offer is about another table", hint="publish it with the table that it was negotiated for")
    # Of several privacy offers the order has the first; another is the exact answer to what it promises.
    promised = {} if offer._choice != "privacy" else offer.criteria
    choice = "exact" if offer._choice == "privacy" else offer._choice
    return Ordered(source.table, {**source.order, **promised, **said, "offer": choice}, source.threads, source.memory)
