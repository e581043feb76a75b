"""What is asked for: which keywords a verb takes, and keyword arguments as the texts of the command line."""

from __future__ import annotations

import difflib
import functools
import inspect
import json
import operator
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal, TypedDict, TypeVar, Union

from ._error import Error

Number = Union[int, float, str]
# A number, or one per sensitive attribute.
PerAttribute = Union[Number, Mapping[str, Number]]
Pair = Union[Sequence[Number], str]
# The ways to make a release, and how local ones write their cells.
Method = Literal[
    "global", "top-down", "bottom-up", "mondrian", "mondrian-relaxed", "negotiated", "cells", "deal", "deal-plain", "per-record"
]
Cells = Literal["ranges", "labels", "sets", "midpoints", "rounded", "stars"]
# The offer that is taken where the request cannot be met.
Settle = Literal["exact", "suppression", "height", "loss", "privacy"]
Over = Literal["k", "k_map", "l", "alpha", "entropy_l", "recursive", "t", "delta", "beta", "enhanced_beta"]
BestBy = Literal["ncp", "height", "discernibility", "group-size", "precision", "entropy"]


class Criteria(TypedDict, total=False):
    """How much privacy every published group has; all that are given hold at once."""

    k: int
    k_map: int
    l: PerAttribute
    alpha: PerAttribute
    entropy_l: PerAttribute
    recursive: Union[Pair, Mapping[str, Pair]]
    t: PerAttribute
    delta: PerAttribute
    beta: PerAttribute
    enhanced_beta: PerAttribute


class Request(Criteria, total=False):
    """Criteria, how many records may be lost, how coarse values may get, and what is best.

    ``max_suppressed`` is a number of records (``321``), a share (``0.01``), or a text (``"1%"``).
    """

    max_suppressed: Number
    max_level: Mapping[str, int | str]
    best_by: str | Mapping[str, float]


CRITERIA = tuple(Criteria.__annotations__)

Function = TypeVar("Function", bound=Callable[..., Any])


class _NotGiven:
    """Stands where nothing was given: None is something, most often an offer or a setting that was looked for in vain."""

    def __repr__(self) -> str:
        return "not given"


NOT_GIVEN: Any = _NotGiven()


def takes(kind: Any = None) -> Callable[[Function], Function]:
    """Holds a verb to its keywords, with those of ``kind`` shown in its signature, where help and notebooks look.

    A keyword that it does not know is refused. So is None where the default is ``NOT_GIVEN``: what decides how private
    a release is, or what is looked at, is asked for or left out.
    """

    def checked(function: Function) -> Function:
        signature = inspect.signature(function)
        named = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        have = {parameter.name for parameter in named}
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=NOT_GIVEN, annotation=hint)
            for name, hint in _annotations(kind).items()
            if name not in have
        ]
        everything = [*named, *more]
        by_place = [p.name for p in named if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        by_name = [p.name for p in everything if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name != "self"]
        never_none = {p.name for p in everything if p.default is NOT_GIVEN}

        @functools.wraps(function)
        def verb(*args: Any, **keywords: Any) -> Any:
            for name in keywords:
                if name not in by_name:
                    raise _unknown(function, name, by_name)
            for name, value in [*zip(by_place, args), *keywords.items()]:
                if value is None and name in never_none:
                    raise _is_none(name)
            return function(*args, **keywords)

        verb.__signature__ = signature.replace(parameters=everything)  # type: ignore[attr-defined]
        return verb  # type: ignore[return-value]

    return checked


def _annotations(kind: Any) -> dict[str, Any]:
    if kind is None:
        return {}
    return dict(Criteria.__annotations__ if kind is Criteria else {**Criteria.__annotations__, **Request.__annotations__})


# What says how much of a lattice is made, which orders take; and what gives a verb as an order.
_EXTENT = ("full", "partial", "on_demand", "estimator")
_AS_ORDER = {"annotate": 'order("annotate", ', "negotiate": 'order("negotiate", ', "publish": "publish_order("}


def _unknown(function: Callable[..., Any], name: str, known: Sequence[str]) -> TypeError:
    verb = function.__qualname__.removesuffix(".__init__")
    as_order = _AS_ORDER.get(function.__name__)
    if as_order and name in _EXTENT:
        return TypeError(f"{verb}() got an unexpected keyword argument '{name}'; take Table.{as_order}{name}=…)")
    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0)
    there_are = f"; the nearest is '{nearest[0]}', of: {', '.join(known)}" if nearest else "; it takes none"
    return TypeError(f"{verb}() got an unexpected keyword argument '{name}'{there_are}")


def _is_none(name: str) -> Error:
    if name == "offer":
        return Error("there is no such offer", hint="answer.offers lists those that there are; None is none of them")
    return Error(f"{name} is None", hint=f"give {name} a value, or leave it out")


def wish(
    asked: Mapping[str, Any],
    *,
    known: Sequence[str],
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: str | None = None,
    threads: int = 0,
    memory: str | None = None,
) -> dict[str, Any]:
    """All of it in texts; ``known`` are the keywords that make sense here."""
    for name in asked:
        if name not in known:
            raise TypeError(f"'{name}' cannot be asked for here; there are: {', '.join(known)}")
    given = {name: value for name, value in asked.items() if value is not None}
    return {
        "quasi_identifiers": None if quasi_identifiers is None else names(quasi_identifiers),
        "sensitive": sensitive,
        "threads": threads,
        "memory": memory,
        "criteria": {name: _criterion(name, given[name]) for name in CRITERIA if name in given},
        "max_suppressed": _suppressed(given["max_suppressed"]) if "max_suppressed" in given else None,
        "max_level": levels(given["max_level"]) if "max_level" in given else None,
        "best_by": _best_by(given["best_by"]) if "best_by" in given else None,
    }


def names(value: str | Sequence[str] | Mapping[str, Any]) -> list[str]:
    """One name or several."""
    if value is None:
        raise TypeError("None is no name; give a name, or several, or leave them out")
    return [value] if isinstance(value, str) else [str(name) for name in value]


def levels(value: Mapping[str, int | str]) -> list[str]:
    """``{"age": 2}`` as ``["age=2"]``."""
    return [f"{name}={level}" for name, level in value.items()]


def criteria(asked: Mapping[str, Any]) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = wish(asked, known=CRITERIA)["criteria"]
    return texts


def text(value: Any) -> str:
    """A number as it is written: ``0.2``, never ``2e-1``."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        raise TypeError("a truth value is not a number")
    try:
        return str(operator.index(value))
    except TypeError:
        return format(Decimal(repr(float(value))), "f")


def _criterion(name: str, value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{attribute}:{_value(name, of)}" for attribute, of in value.items()]
    return [_value(name, value)]


def _value(name: str, value: Any) -> str:
    if name == "recursive" and not isinstance(value, str):
        return ",".join(text(part) for part in value)
    if name in ("k", "k_map", "l") and isinstance(value, float) and value.is_integer():
        value = int(value)
    return text(value)


def in_numbers(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords of a request as a document with the words of the flags: criteria by name, or ``attribute:name``."""
    document: dict[str, Any] = {}
    for name, value in asked.items():
        if value is None:
            continue
        if name in CRITERIA:
            for attribute, of in value.items() if isinstance(value, Mapping) else [("", value)]:
                document[f"{attribute}:{name}" if attribute else name] = _number(name, of)
        elif name == "max_suppressed":
            document[name] = _suppressed(value)
        elif name == "best_by":
            document[name] = _best_by(value)
        else:
            document[name] = dict(value) if isinstance(value, Mapping) else value
    return document


def _number(name: str, value: Any) -> Any:
    written = _value(name, value)
    try:
        if name == "recursive":
            c, l = (json.loads(part) for part in written.split(","))
            return {"c": c, "l": l}
        return json.loads(written)
    except ValueError:
        raise Error(f"{name} is asked for as a number", hint=f"for example {name}=2") from None


def _suppressed(value: Any) -> str:
    if isinstance(value, str):
        return value
    written = text(value)
    try:
        operator.index(value)
        return written
    except TypeError:
        pass
    share = Decimal(written)
    if not 0 <= share <= 1:
        raise Error(
            f"{written} is not a share of the records",
            hint="give a whole number of records such as 321, or a share from 0.0 to 1.0",
        )
    return f"{share * 100:f}%"


def utility(value: Any) -> str:
    """A float up to 1 is a share of a record's utility as it is; whatever else is a utility."""
    written = text(value)
    is_share = isinstance(value, float) and 0 <= value <= 1
    return f"{Decimal(written) * 100:f}%" if is_share else written


def _best_by(value: str | Mapping[str, float]) -> str:
    if isinstance(value, str):
        return value.replace("_", "-")
    return ",".join(f"{name.replace('_', '-')}={text(weight)}" for name, weight in value.items())


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
