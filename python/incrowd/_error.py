"""What can be wrong with what a user gave: where it is, what it is, and what to do about it; and what is worth knowing."""

from __future__ import annotations

import importlib
import sys
import warnings


class Error(ValueError):
    """An error with its kind, its position and a hint.

    ``kind`` is one of ``data``, ``hierarchy``, ``project``, ``request``, ``too-large``, ``io``, and ``bug`` for what
    should not have happened. No message contains the value of a cell.

    >>> import incrowd as ic
    >>> try:
    ...     ic.intervals(5, 7)
    ... except ic.Error as error:
    ...     print(error.kind, "|", error.hint)
    hierarchy | for example intervals(5, 10, 20, origin=0)
    """

    def __init__(
        self, message: str, *, kind: str = "request", position: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, kind, position, hint)
        self.message = message
        self.kind = kind
        self.position = position
        self.hint = hint

    def __str__(self) -> str:
        position = f"{self.position}: " if self.position else ""
        hint = f"\nhint: {self.hint}" if self.hint else ""
        return f"{position}{self.message}{hint}"

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self.message, self.kind, self.position, self.hint)


class PrivacyWarning(UserWarning):
    """Something worth knowing that is not the result, such as how many records lack a value and are left out.

    The command line prints it on stderr. To hear nothing, ``warnings.simplefilter("ignore", incrowd.PrivacyWarning)``; to
    stop at it, ``"error"``. No warning contains the value of a cell, and a table says each once.

    >>> import incrowd as ic, warnings
    >>> with warnings.catch_warnings(record=True) as heard:
    ...     warnings.simplefilter("always")
    ...     counts = ic.Table({"age": [31, 31, None]}, ["age"], missing_records="drop").count()
    >>> [(warning.category.__name__, str(warning.message)) for warning in heard]
    [('PrivacyWarning', '1 of 3 records lack a value and are left out (missing_records="drop")')]
    """


# What it was called first.
Note = PrivacyWarning


def tell(note: str) -> None:
    """Warns whoever called the package, at the line where they did; what calls it for them is passed over."""
    frame, n_levels = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in (__package__, "sklearn"):
        frame, n_levels = frame.f_back, n_levels + 1
    warnings.warn(note, PrivacyWarning, stacklevel=n_levels)


def _again(message: str, kind: str, position: str | None, hint: str | None) -> Error:
    return Error(message, kind=kind, position=position, hint=hint)


def of_engine(kind: str, message: str, position: str | None, hint: str | None) -> Error:
    """An error of the engine, which comes in Python's words."""
    return _again(message, kind, position, hint)


def must_have(library: str) -> None:
    """Says what to do where a library is not installed that a result is to be made with."""
    try:
        importlib.import_module(library)
    except ImportError:
        raise Error(f"{library} is not installed", kind="data", hint=f"pip install {library}; or take to_dict()") from None
