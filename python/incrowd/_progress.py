"""A progress bar for what takes long, where tqdm is there to show it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from ._wishes import takes

Show = Callable[[str, int, int], None]

# What is over sooner shows no bar.
DELAY_S = 0.5

_is_on: bool | None = None


@takes()
def show_progress(on: bool | None = None) -> None:
    """Shows progress bars (``True``), never (``False``), or in notebooks and on terminals (``None``, as it begins).

    >>> import incrowd as ic
    >>> ic.show_progress(False)
    >>> ic.show_progress(None)
    """
    global _is_on
    _is_on = on


def bar() -> Bar | None:
    """What the engine tells how far it is; nothing where nobody would see it."""
    if _is_on is False or (_is_on is None and not (sys.stderr.isatty() or _is_notebook())):
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return Bar(tqdm)


def _is_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


class Bar:
    """Shows itself when something takes longer than a moment."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._what: str | None = None
        self._shown: Any = None
        self._begin = time.monotonic()

    def __call__(self, what: str, n_done: int, n_all: int) -> None:
        if time.monotonic() - self._begin < DELAY_S:
            return
        if what != self._what:
            self.close()
            self._what = what
            self._shown = self._tqdm(total=n_all, desc=what, leave=False)
        self._shown.n = n_done
        self._shown.refresh()

    def close(self) -> None:
        if self._shown is not None:
            self._shown.close()
            self._shown = None

    def __del__(self) -> None:
        self.close()
