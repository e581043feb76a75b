"""Charts for notebooks: inline SVG without scripts, in the notebook's own colour of text, so that it is read when dark too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ._display import LINES, escape, grouped, number_card, percent, table
from ._error import Error

if TYPE_CHECKING:
    from ._objects import Attack, Comparison, Groups, Risk
    from ._ranges import LocalFrontier


class Picture:
    """Something to look at in a notebook; ``svg`` or ``html`` to keep.

    >>> import incrowd as ic
    >>> picture = ic.Table({"age": [31, 32, 40]}, {"age": ic.intervals(5, 10)}).annotate().pyramid(k=2)
    >>> picture.svg[:4]
    '<svg'
    """

    def __init__(self, markup: str) -> None:
        self.html: str = markup

    @property
    def svg(self) -> str:
        """The picture alone; a table that stands for one that would be too large has none."""
        if not self.html.startswith("<svg"):
            raise Error("there is no picture: words or a table stand for it", hint="see .html")
        return self.html

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return "Picture(show it in a notebook, or write .html to a file)"


class Bar(NamedTuple):
    """A bar: what it is about, how long it is from 0 to 1, what is written at its end, its colour by number."""

    name: str
    share: float
    said: str
    colour: int = 0


def bars(rows: Sequence[Bar], title: str) -> str:
    """One bar below the other, each with its name before it and its number behind it."""
    step, left, width = 20, 190, 380
    drawn = []
    for i, bar in enumerate(rows):
        y, long = 24 + i * step, max(width * min(max(bar.share, 0.0), 1.0), 1.0)
        name = bar.name if len(bar.name) <= 28 else bar.name[:27] + "…"
        drawn.append(
            f"<text x='{left - 6}' y='{y + 12}' font-size='11' fill='currentColor' text-anchor='end'>{escape(name)}</text>"
            f"<rect x='{left}' y='{y}' width='{long:.1f}' height='{step - 5}' rx='2' fill='{LINES[bar.colour % len(LINES)]}'>"
            f"<title>{escape(bar.name)}: {escape(bar.said)}</title></rect>"
            f"<text x='{left + long + 5:.1f}' y='{y + 12}' font-size='11' fill='currentColor'>{escape(bar.said)}</text>"
        )
    wide, tall = left + width + 90, 30 + step * len(rows)
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {wide} {tall}' width='{wide}' role='img'"
        f" aria-label='{escape(title)}'><text x='4' y='14' font-size='12' fill='currentColor'>{escape(title)}</text>"
        f"{''.join(drawn)}</svg>"
    )


def cards(numbers: Sequence[tuple[str, str]]) -> str:
    return "<div>" + "".join(number_card(title, value) for title, value in numbers) + "</div>"


def comparison(said: Comparison) -> str:
    rows = said.to_dict()["rows"]
    header = ["k", "method", "loss (NCP)", "median query error", "highest risk", "groups", "records lost", "seconds"]
    body = [
        (row["k"], row["title"], _number(row["loss"]["ncp"]), _number(row["query_error"]["median"]),
         _number(row["risk"]["highest"]), grouped(row["n_groups"]), grouped(row["n_suppressed"]), f"{row['seconds']:.3f}")
        for row in rows
    ]
    return f"<p>{len(rows)} releases of {grouped(said.n_records)} records</p>" + losses(said) + table(header, body)


def losses(said: Comparison) -> str:
    """What every method loses, one bar each, in a colour for every k."""
    rows = said.to_dict()["rows"]
    ks = list(dict.fromkeys(row["k"] for row in rows))
    known = [row for row in rows if row["loss"]["ncp"] is not None]
    drawn = [Bar(f"{row['method']}, k = {row['k']}", row["loss"]["ncp"], _number(row["loss"]["ncp"]), ks.index(row["k"])) for row in known]
    return bars(drawn, "loss (NCP), from 0 to 1")


def risk(said: Risk) -> str:
    n, who = (said.n_records, "records") if said.n_people is None else (said.n_people, "people")
    numbers = [
        ("highest risk", percent(said.prosecutor["highest"])),
        ("average risk", percent(said.prosecutor["average"])),
        (f"of {grouped(n)} {who} alone", grouped(said.n_unique)),
        (f"above {percent(said.threshold)}", grouped(int(said.prosecutor["n_at_risk"]))),
    ]
    if said.n_people_estimated is not None or said.individual["expected_reidentifications"] is not None:
        numbers.append(("expected to be found", f"{said.individual['expected_reidentifications']:,.1f}"))
    return cards(numbers) + alone(said)


def alone(said: Risk) -> str:
    """The average risk by one attribute alone, one bar for each."""
    drawn = [
        Bar(row["attribute"], row["average_alone"], f"{percent(row['average_alone'])}, {grouped(row['n_unique_alone'])} alone")
        for row in said.to_dict()["attributes"]
    ]
    return bars(drawn, "average risk by one attribute alone")


def groups(said: Groups, n_shown: int = 8) -> str:
    rows = said.to_dict()["rows"]
    if not rows:
        return "<p>There is no group.</p>"
    names = list(rows[0])
    smallest = [["" if row[name] is None else row[name] for name in names] for row in rows[:n_shown]]
    caption = f"the smallest of {grouped(len(rows))} groups"
    return sizes(said) + table(names, smallest, caption)


def sizes(said: Groups) -> str:
    """How many groups have how many records, by powers of two."""
    n_of: dict[int, int] = {}
    for row in said.to_dict()["rows"]:
        power = int(row["n_records"]).bit_length() - 1
        n_of[power] = n_of.get(power, 0) + 1
    most = max(n_of.values(), default=1)

    def name(power: int) -> str:
        return "1" if power == 0 else f"{grouped(2**power)} to {grouped(2 ** (power + 1) - 1)}"

    powers = range(min(n_of, default=0), max(n_of, default=-1) + 1)
    drawn = [Bar(f"{name(p)} records", n_of.get(p, 0) / most, f"{grouped(n_of.get(p, 0))} groups") for p in powers]
    return bars(drawn, "groups by their size")


def attack(said: Attack) -> str:
    words = said.to_dict()
    verdict = {True: "Somebody's sensitive value is certain.", False: "Nobody's sensitive value is certain.",
               None: "Whether somebody's sensitive value is certain cannot be said."}[words["is_certain"]]
    rows = [
        (release["file"], of["attribute"], grouped(of["homogeneity"]["n_groups"]), grouped(of["homogeneity"]["n_records"]),
         percent(of["skewness"]["best_guess_before"]), percent(of["skewness"]["best_guess"]))
        for release, of in _sensitive(words)
    ]
    header = ("release", "attribute", "groups with one value", "records in them", "right by guessing before", "and after")
    linkage = [
        (row["attribute"], grouped(row["n_outside"]), grouped(row["n_one_group"]), grouped(row["n_certain"]))
        for row in words["linkage"] or ()
    ]
    found = table(("attribute", "people outside", "in one group", "certain"), linkage) if linkage else ""
    return f"<p>{verdict}</p>" + guesses(said) + table(header, rows) + found


def guesses(said: Attack) -> str:
    """How often a guess of the sensitive value is right, before the release is known and after."""
    drawn = []
    for release, of in _sensitive(said.to_dict()):
        before, after = of["skewness"]["best_guess_before"], of["skewness"]["best_guess"]
        drawn.append(Bar(f"{of['attribute']} before", before, percent(before), 0))
        drawn.append(Bar(f"{of['attribute']}, {release['file']}", after, percent(after), 2))
    return bars(drawn, "a guess of the sensitive value is right")


def _sensitive(words: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    return [(release, of) for release in words["releases"] for of in release["sensitive"] if of.get("skewness")]


def local_curve(said: LocalFrontier) -> str:
    """What the best groups lose at each value of the criterion."""
    bargains = said.to_dict()["bargains"]
    if not bargains:
        return "<p>Nothing can be published within this request.</p>"
    width, tall, left, below = 560, 240, 60, 40
    y_max = max(bargain["loss"] for bargain in bargains) or 1.0
    n = max(len(bargains) - 1, 1)
    points = [(left + width * i / n, 10 + (tall - 10) * (1 - b["loss"] / y_max)) for i, b in enumerate(bargains)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    marks = "".join(
        f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3' fill='{LINES[0]}'><title>{escape(said.over)} = {escape(b[said.over])}:"
        f" loss {b['loss']:.4f}, {grouped(b['n_suppressed'])} records lost</title></circle>"
        for (x, y), b in zip(points, bargains)
    )
    first, last = bargains[0][said.over], bargains[-1][said.over]
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {left + width + 20} {tall + below}' width='{left + width + 20}'"
        f" role='img' aria-label='What {escape(said.over)} costs'>"
        f"<path d='M{left} 10V{tall}H{left + width}' fill='none' stroke='currentColor'/>"
        f"<polyline points='{line}' fill='none' stroke='{LINES[0]}' stroke-width='2'/>{marks}"
        f"<text x='{left}' y='{tall + 16}' font-size='11' fill='currentColor'>{escape(said.over)} = {escape(first)}</text>"
        f"<text x='{left + width}' y='{tall + 16}' font-size='11' fill='currentColor' text-anchor='end'>{escape(last)}</text>"
        f"<text x='{left - 4}' y='18' font-size='10' fill='currentColor' text-anchor='end'>{y_max:.2f}</text>"
        f"<text x='14' y='{tall / 2}' font-size='12' fill='currentColor' text-anchor='middle'"
        f" transform='rotate(-90 14 {tall / 2})'>loss (NCP)</text></svg>"
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
