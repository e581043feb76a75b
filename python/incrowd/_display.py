"""How tables, offers, the lattice and the trade-off look in a notebook: HTML and SVG that stand alone.

Everything that could come from data or from a user is escaped.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._objects import Answer, Frontier, Offer, Profile, ShownHierarchy, Verdict
    from ._ranges import LocalOffer
    from ._table import Suggestion

TITLES = {
    "exact": "the request is met",
    "suppression": "lose more records",
    "height": "generalize otherwise",
    "loss": "accept more loss",
    "privacy": "settle for less",
    "levels": "levels of your choice",
}

_CARD = (
    "border:1px solid #8886;border-radius:8px;padding:10px 14px;min-width:220px;max-width:340px;"
    "display:inline-block;vertical-align:top;margin:4px 8px 4px 0"
)


def escape(value: Any) -> str:
    return html.escape(str(value), quote=True)


def grouped(number: float) -> str:
    return f"{number:,}"


def percent(share: float) -> str:
    return f"{share * 100:.2f}".rstrip("0").rstrip(".") + " %"


def table(header: Sequence[Any], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    head = "".join(f"<th style='text-align:left'>{escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    above = f"<caption style='text-align:left'>{escape(caption)}</caption>" if caption else ""
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def cards(offers: Sequence[tuple[str, Offer]]) -> str:
    return "<div>" + "".join(_card(title, offer) for title, offer in offers) + "</div>"


def _card(title: str, offer: Offer) -> str:
    levels = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(offer.level_names[name])} ({level})</td></tr>"
        for name, level in offer.levels.items()
    )
    promised = ", ".join(f"{escape(name)} = {escape(_value(value))}" for name, value in offer.criteria.items())
    lost = f"{grouped(offer.n_suppressed)} ({percent(offer.share_suppressed)})"
    given_up = f"<div style='opacity:.75'>{escape(offer.concession)}</div>" if offer.concession else ""
    return (
        f"<div style='{_CARD}'><b>{escape(title)}</b>{given_up}"
        f"<table style='margin:6px 0'>{levels}</table>"
        f"<div>promised: {promised}</div><div>records lost: {lost}</div>"
        f"<div>groups: {grouped(offer.n_groups)}</div><div>loss (NCP): {offer.loss['ncp']:.3f}</div></div>"
    )


def number_card(title: str, value: str) -> str:
    """One number, large, with what it is about below it."""
    return (
        f"<div style='{_CARD};min-width:110px'><div style='font-size:1.5em'>{escape(value)}</div>"
        f"<div style='opacity:.75'>{escape(title)}</div></div>"
    )


def local_cards(offers: Sequence[tuple[str, LocalOffer]]) -> str:
    return "<div>" + "".join(_local_card(title, offer) for title, offer in offers) + "</div>"


def _local_card(title: str, offer: LocalOffer) -> str:
    losses = "".join(
        f"<tr><td>{escape(name)}</td><td>loses {percent(loss)}</td></tr>" for name, loss in offer.loss_of.items()
    )
    promised = ", ".join(f"{escape(name)} = {escape(_value(value))}" for name, value in offer.criteria.items())
    return (
        f"<div style='{_CARD}'><b>{escape(title)}</b><table style='margin:6px 0'>{losses}</table>"
        f"<div>promised: {promised}</div><div>records lost: {grouped(offer.n_suppressed)}</div>"
        f"<div>groups: {grouped(offer.n_groups)}</div><div>loss (NCP): {offer.loss:.4f}</div></div>"
    )


def _value(value: Any) -> str:
    return ",".join(str(part) for part in value.values()) if isinstance(value, dict) else str(value)


def answer(said: Answer) -> str:
    records = "record lacks a value and is" if said.n_dropped == 1 else "records lack a value and are"
    below = f"<p>{grouped(said.n_dropped)} {records} left out.</p>" if said.n_dropped else ""
    if said.exact is not None:
        return f"<p>Yes, all of it: {escape(said.exact.in_words)}.</p>" + said.exact._repr_html_() + below
    assert said.offers is not None, "an answer is exact, or has offers"
    return "<p>Not all of it; each offer gives up one part of it.</p>" + said.offers._repr_html_() + below


def verdict(said: Verdict) -> str:
    word = "The promise is kept." if said.holds else f"The promise is <b>{escape(said.answer)}</b>."
    rows = [
        (name, _value(finding.asked), "–" if finding.reached is None else finding.reached,
         finding.n_records_failing if finding.judged else "not judged")
        for name, finding in said.criteria.items()
    ]
    broken = [claim for claim in said.claims if not claim.holds]
    claims = table(("claim", "claimed", "found"), [(c.claim, c.claimed, c.found) for c in broken]) if broken else ""
    caption = f"{grouped(said.n_records)} records in {grouped(said.n_groups)} groups"
    if said.n_suppressed_marked:
        caption += f"; {grouped(said.n_suppressed_marked)} marked as suppressed left out"
    if said.to_dict().get("compared_with_itself"):
        caption += "; compared with its own distribution, for the original table is not known"
    return f"<p>{word}</p>" + table(("criterion", "asked", "reached", "records failing"), rows, caption) + claims


def profile(said: Profile) -> str:
    rows = [
        (c.name, c.type, grouped(c.n_distinct), grouped(c.n_missing), percent(c.share_unique), c.suggested_role, c.why)
        for c in said.columns
    ]
    header = ("column", "type", "distinct", "missing", "unique", "suggested role", "why")
    unique = ""
    if said.uniqueness is not None:
        n_unique, of = said.uniqueness["n_unique"], ", ".join(said.quasi_identifiers)
        n_people = said.uniqueness["n_people"]
        n_all = f"{grouped(said.n_records)} records" if n_people is None else f"{grouped(n_people)} people"
        unique = f"<p>{grouped(n_unique)} of {n_all} are unique on {escape(of)}.</p>"
    return table(header, rows) + unique


def suggestion(said: Suggestion) -> str:
    words = [column.to_dict() for column in said.columns]
    rows = [(c["name"], c["suggested_role"], c["suggested_hierarchy"] or "", c["why"]) for c in words]
    return table(("column", "suggested role", "hierarchy", "why"), rows)


def hierarchy(said: ShownHierarchy) -> str:
    rows = [(level.level, level.name, grouped(level.n_values)) for level in said.levels]
    return table(("level", "name", "values"), rows, said.attribute)


def roles(name: str, attributes: Sequence[tuple[str, str, str]]) -> str:
    return table(("attribute", "role", "hierarchy"), attributes, name)


def release(rows: Sequence[Sequence[str | None]], columns: Sequence[str], caption: str) -> str:
    return table(columns, [["" if cell is None else cell for cell in row] for row in rows], caption)


def _colour(share: float, allowed: float) -> str:
    """Green where few enough records are lost, then from yellow to red."""
    if share <= allowed:
        return "#2a9d5c"
    hue = 50 * (1 - min(share, 1)) ** 3
    return f"hsl({hue:.0f} 75% 50%)"


def pyramid(schemes: Sequence[Any], n_records: int, allowed: float, n_cells_max: int = 60) -> str:
    """A row per height, a cell per scheme or for several alike, from the fewest records lost on."""
    by_height: dict[int, list[Any]] = {}
    for scheme in schemes:
        by_height.setdefault(scheme["height"], []).append(scheme)
    n_heights = max(by_height) + 1
    widest = max(len(of_height) for of_height in by_height.values())
    step, width = 16, 720
    cells = []
    for height, of_height in by_height.items():
        of_height.sort(key=lambda scheme: scheme.get("n_suppressed", scheme["n_groups"]))
        n_cells = min(len(of_height), n_cells_max)
        cell_width = max(width * len(of_height) / widest / n_cells, 3.0)
        left = 60 + (width - cell_width * n_cells) / 2
        y = (n_heights - 1 - height) * step + 4
        cells.append(f"<text x='4' y='{y + 11}' font-size='10' fill='currentColor'>{height}</text>")
        for i in range(n_cells):
            scheme = of_height[i * len(of_height) // n_cells]
            lost = scheme.get("n_suppressed")
            colour = "#4a7fb5" if lost is None else _colour(lost / max(n_records, 1), allowed)
            levels = ", ".join(f"{name} {level}" for name, level in scheme["levels"].items())
            said = f"{levels}: {grouped(scheme['n_groups'])} groups"
            said += "" if lost is None else f", {grouped(lost)} records lost"
            cells.append(
                f"<rect x='{left + i * cell_width:.1f}' y='{y}' width='{max(cell_width - 0.6, 1):.1f}' height='{step - 2}'"
                f" fill='{colour}'><title>{escape(said)}</title></rect>"
            )
    tall = n_heights * step + 8
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width + 80} {tall}' width='{width + 80}' role='img'"
        f" aria-label='{len(schemes)} schemes by height'>{''.join(cells)}</svg>"
    )


def heights(rows: Sequence[Any]) -> str:
    header = ["height", "schemes", "groups min", "avg", "max"]
    lost = bool(rows) and "n_suppressed" in rows[0]
    header += ["lost min", "avg", "max"] if lost else []

    def spread(of: Any) -> list[str]:
        return [grouped(of["min"]), f"{of['avg']:,.1f}", grouped(of["max"])]

    shown = [
        [row["height"], grouped(row["n_schemes"]), *spread(row["n_groups"]), *(spread(row["n_suppressed"]) if lost else [])]
        for row in rows
    ]
    return table(header, shown)


LINES = ("#4a7fb5", "#2a9d5c", "#d98e04", "#c0392b", "#7d5ba6", "#16a0a0")


def frontier(said: Frontier) -> str:
    return f"<p>{escape(repr(said))}</p>" + curve(said)


def curve(said: Frontier) -> str:
    """The least loss that can be had for a share of records lost, one line per value of the criterion."""
    bargains = said.to_dict()["bargains"]
    if not bargains:
        return "<p>Nothing can be published within this request.</p>"
    over, n_records = said.over, max(said.n_records, 1)
    # In the order of the frontier, the most private first; a value that is not reached says nothing.
    values = list(dict.fromkeys(b[over] for b in bargains if b[over] is not None))
    shown = [values[i * (len(values) - 1) // max(len(LINES) - 1, 1)] for i in range(min(len(LINES), len(values)))]
    place = {value: i for i, value in enumerate(values)}
    x_max = max(b["n_suppressed"] for b in bargains) / n_records or 0.01
    y_max = max(b["loss"] for b in bargains) or 1.0
    width, tall, left, below = 560, 260, 60, 40

    def x(lost: float) -> float:
        return left + width * lost / n_records / x_max

    def y(loss: float) -> float:
        return 10 + (tall - 10) * (1 - loss / y_max)

    lines = []
    for colour, value in zip(LINES, dict.fromkeys(shown)):
        least = float("inf")
        points: list[str] = []
        private = [b for b in bargains if b[over] is not None and place[b[over]] <= place[value]]
        for bargain in sorted(private, key=lambda b: (b["n_suppressed"], b["loss"])):
            if bargain["loss"] < least:
                if points:
                    points.append(f"{x(bargain['n_suppressed']):.1f},{y(least):.1f}")
                least = bargain["loss"]
                points.append(f"{x(bargain['n_suppressed']):.1f},{y(least):.1f}")
        points.append(f"{left + width},{y(least):.1f}")
        name = escape(f"{over} = {value}")
        lines.append(
            f"<polyline points='{' '.join(points)}' fill='none' stroke='{colour}' stroke-width='2'><title>{name}</title>"
            f"</polyline><text x='{left + width + 6}' y='{y(least) + 4:.1f}' font-size='11' fill='{colour}'>{name}</text>"
        )
    axes = (
        f"<path d='M{left} 10V{tall}H{left + width}' fill='none' stroke='currentColor'/>"
        f"<text x='{left + width / 2}' y='{tall + 30}' font-size='12' fill='currentColor' text-anchor='middle'>"
        f"records lost</text><text x='14' y='{tall / 2}' font-size='12' fill='currentColor' text-anchor='middle'"
        f" transform='rotate(-90 14 {tall / 2})'>loss ({escape(said.best_by)})</text>"
        f"<text x='{left}' y='{tall + 14}' font-size='10' fill='currentColor'>0 %</text>"
        f"<text x='{left + width}' y='{tall + 14}' font-size='10' fill='currentColor' text-anchor='end'>"
        f"{percent(x_max)}</text><text x='{left - 4}' y='18' font-size='10' fill='currentColor' text-anchor='end'>"
        f"{y_max:.2f}</text><text x='{left - 4}' y='{tall}' font-size='10' fill='currentColor' text-anchor='end'>0</text>"
    )
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {left + width + 110} {tall + below}'"
        f" width='{left + width + 110}' role='img' aria-label='What {escape(over)} costs'>{axes}{''.join(lines)}</svg>"
    )
