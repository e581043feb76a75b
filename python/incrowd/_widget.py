"""Negotiating by hand in a notebook: three knobs, and the answer as they are turned. Needs anywidget."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._display import escape
from ._error import Error

if TYPE_CHECKING:
    from ._table import Lattice

_STYLE = """
.incrowd-knobs { display: grid; grid-template-columns: max-content minmax(120px, 320px) max-content; gap: 4px 12px; }
.incrowd-knob { display: contents; }
"""


def widget(lattice: Lattice, request: Mapping[str, Any]) -> Any:
    """A widget over a lattice, whose knobs stand as a request says; what has no knob holds throughout."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise Error("anywidget is not installed", hint="pip install 'incrowd[widget]'") from None
    held = dict(request)
    k, max_suppressed, max_level = held.pop("k", 5), held.pop("max_suppressed", 0.0), held.pop("max_level", {})
    if not isinstance(k, int) or isinstance(max_suppressed, str):
        raise Error("the knobs begin at numbers", hint="for example k=5, max_suppressed=0.01")
    # A whole number is one of records.
    share = max_suppressed / max(lattice.n_records, 1) if isinstance(max_suppressed, int) else float(max_suppressed)
    tops = _levels(lattice)
    wrong = [name for name in max_level if name not in tops]
    if wrong:
        raise Error(f"'{wrong[0]}' is no attribute of the lattice", hint=f"there are: {', '.join(tops)}")

    class Negotiation(anywidget.AnyWidget):
        """Knobs for k, records lost and levels; ``answer`` is what they come to, and can be published."""

        _esm = Path(__file__).with_name("_widget.js")
        _css = _STYLE
        attributes: Any = traitlets.List().tag(sync=True)
        k_max = traitlets.Int(2).tag(sync=True)
        k = traitlets.Int(2, min=2).tag(sync=True)
        max_suppressed = traitlets.Float(0.0, min=0.0, max=1.0).tag(sync=True)
        max_level = traitlets.Dict().tag(sync=True)
        answer_html = traitlets.Unicode("").tag(sync=True)
        answer = traitlets.Any(None, allow_none=True)

        @traitlets.observe("k", "max_suppressed", "max_level")
        def _asked(self, _: Any = None) -> None:
            try:
                asked = {"k": self.k, "max_suppressed": float(self.max_suppressed), "max_level": dict(self.max_level)}
                self.answer = lattice.negotiate(**{**held, **asked})
                self.answer_html = self.answer._repr_html_()
            except Error as error:
                self.answer = None
                self.answer_html = f"<p>{escape(error.message)}</p>"

    made = Negotiation(
        attributes=[{"name": name, "levels": levels} for name, levels in tops.items()],
        k_max=max(k, lattice.n_records),
        k=k,
        max_suppressed=share,
        max_level={name: int(max_level.get(name, len(levels) - 1)) for name, levels in tops.items()},
    )
    made._asked()
    return made


def _levels(lattice: Lattice) -> dict[str, list[str]]:
    """The names of the levels of each attribute of a lattice."""
    named = lattice._settings.get("quasi_identifiers")
    roles = lattice.table.roles.items()
    of_lattice = named or [name for name, role in roles if role == "quasi-identifier"]
    return {name: [level.name for level in lattice.table.hierarchy(name).levels] for name in of_lattice}
