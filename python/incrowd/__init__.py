"""Anonymizes tables: k-anonymity, l-diversity, t-closeness and more, negotiated, published and verified.

    import incrowd as ic

    table = ic.Table(df, quasi_identifiers={"age": ic.intervals(5, 10, 20), "zip": ic.mask(5)}, sensitive="diagnosis")
    answer = table.annotate().negotiate(k=10, l=3, max_suppressed=0.01, max_level={"age": 2})
    release = table.publish(answer.exact or answer.offers.height)
    assert release.verify().holds
"""

from ._anonymizer import Anonymizer
from ._charts import Picture
from ._error import Error, Note, PrivacyWarning
from ._hierarchies import Hierarchy, cuts, dates, flat, function, intervals, labels, mask, parents, tree
from ._native import __version__
from ._objects import (
    Answer,
    Attack,
    Bargain,
    Account,
    Certificate,
    Claim,
    Column,
    Compared,
    Comparison,
    Counts,
    Finding,
    Frontier,
    Groups,
    Height,
    Offer,
    Offers,
    Profile,
    Risk,
    Scheme,
    ShownHierarchy,
    Study,
    Verdict,
)
from ._progress import show_progress
from ._ranges import LocalAnswer, LocalBargain, LocalFrontier, LocalOffer, LocalOffers, Tree
from ._table import (
    Lattice,
    Release,
    Suggestion,
    Table,
    attack,
    demo,
    init,
    open,
    profile,
    serve,
    study_deal,
    verify,
)

__all__ = [
    "Anonymizer",
    "Answer",
    "Attack",
    "Bargain",
    "Account",
    "Certificate",
    "Claim",
    "Column",
    "Compared",
    "Comparison",
    "Counts",
    "Error",
    "Finding",
    "Frontier",
    "Groups",
    "Height",
    "Hierarchy",
    "Lattice",
    "LocalAnswer",
    "LocalBargain",
    "LocalFrontier",
    "LocalOffer",
    "LocalOffers",
    "Note",
    "Offer",
    "Offers",
    "Picture",
    "PrivacyWarning",
    "Profile",
    "Release",
    "Risk",
    "Scheme",
    "ShownHierarchy",
    "Study",
    "Suggestion",
    "Table",
    "Tree",
    "Verdict",
    "__version__",
    "attack",
    "cuts",
    "dates",
    "demo",
    "flat",
    "function",
    "init",
    "intervals",
    "labels",
    "mask",
    "parents",
    "open",
    "profile",
    "serve",
    "show_progress",
    "study_deal",
    "tree",
    "verify",
]
