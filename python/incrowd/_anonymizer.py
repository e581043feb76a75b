"""A transformer for scikit-learn's pipelines, which works without scikit-learn too."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._error import Error
from ._frames import frame_of, native_of, to_arrow, to_pandas, to_polars
from ._progress import bar
from ._table import Named, Release, Table, _chosen
from ._wishes import PerAttribute, names, takes

if TYPE_CHECKING:

    class _Base:
        """What scikit-learn gives its estimators."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Any: ...

else:
    try:
        from sklearn.base import BaseEstimator, TransformerMixin

        class _Base(TransformerMixin, BaseEstimator):
            """What scikit-learn gives its estimators."""
    except ImportError:

        class _Base:
            """What scikit-learn would give."""

            def get_params(self, deep=True):
                return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

            def set_params(self, **params):
                known = self.get_params()
                for name, value in params.items():
                    if name not in known:
                        raise ValueError(f"Invalid parameter {name!r} for Anonymizer; valid are {sorted(known)}")
                    setattr(self, name, value)
                return self

            def __repr__(self):
                defaults = inspect.signature(type(self)).parameters
                shown = (f"{n}={v!r}" for n, v in self.get_params().items() if v is not defaults[n].default)
                return f"Anonymizer({', '.join(shown)})"


class Anonymizer(_Base):
    """Generalizes the columns of a data frame until every record has company; for pipelines.

    ``fit`` negotiates and publishes a release of ``X``, which is verified (``release_``, ``answer_``, ``offer_``).
    ``transform`` returns the records of a frame **in their order**, one for one, each as the release publishes those like
    it. Where the release has none like it, the record comes back empty in every column. So every record that is not
    empty is one of at least k of the training data. Where wishes cannot all be met, ``settle`` names the offer to take.
    A criterion that is None is not asked for. Where people have several records, ``person`` says whose each is: k then
    counts people, and the column is neither in the release nor in what ``transform`` returns.

    Columns that nobody names stay as they are in what ``transform`` returns, because a model needs them; ``other=()``
    leaves them out. They are never in ``release_``. A frame of pandas keeps its index, which a model's answers are found
    by. So what ``transform`` returns is for a model, and not to be given away: there an index and an order can tell who is
    who. To give data away, publish ``release_``, which is sorted and has the columns that were named.

    >>> import incrowd as ic, pyarrow as pa
    >>> X = pa.table({"age": [31, 40, 32, 41, 77], "town": ["a", "b", "a", "b", "a"]})
    >>> ic.Anonymizer({"age": ic.intervals(10, 20)}, other="town", k=2, max_suppressed=1).fit_transform(X).to_pydict()
    {'age': ['30-39', '40-49', '30-39', '40-49', None], 'town': ['a', 'b', 'a', 'b', None]}
    """

    @takes()
    def __init__(
        self,
        quasi_identifiers: Mapping[str, Any] | Named = (),
        *,
        sensitive: Named | Mapping[str, Any] = (),
        identifiers: Named = (),
        person: Named = (),
        other: Named = "keep",
        publish_unique: Named = (),
        publish_telling: Named = (),
        weights: Mapping[str, float] | None = None,
        distance: str | Mapping[str, str] | None = None,
        count_at: Mapping[str, int | str] | None = None,
        missing: Named = ("",),
        missing_records: str = "keep",
        complete: Named = (),
        k: int | None = None,
        l: PerAttribute | None = None,
        alpha: PerAttribute | None = None,
        entropy_l: PerAttribute | None = None,
        recursive: Any = None,
        t: PerAttribute | None = None,
        delta: PerAttribute | None = None,
        beta: PerAttribute | None = None,
        enhanced_beta: PerAttribute | None = None,
        max_suppressed: int | float | str | None = None,
        max_level: Mapping[str, int | str] | None = None,
        best_by: str | Mapping[str, float] | None = None,
        settle: str = "exact",
    ) -> None:
        self.quasi_identifiers = quasi_identifiers
        self.sensitive = sensitive
        self.identifiers = identifiers
        self.person = person
        self.other = other
        self.publish_unique = publish_unique
        self.publish_telling = publish_telling
        self.weights = weights
        self.distance = distance
        self.count_at = count_at
        self.missing = missing
        self.missing_records = missing_records
        self.complete = complete
        self.k = k
        self.l = l
        self.alpha = alpha
        self.entropy_l = entropy_l
        self.recursive = recursive
        self.t = t
        self.delta = delta
        self.beta = beta
        self.enhanced_beta = enhanced_beta
        self.max_suppressed = max_suppressed
        self.max_level = max_level
        self.best_by = best_by
        self.settle = settle

    @takes()
    def fit(self, X: Any, y: Any = None) -> Anonymizer:
        """Finds the best scheme that keeps the promise on ``X``, publishes with it, and has that verified."""
        params = self.get_params(deep=False)
        of_table = ("sensitive", "identifiers", "person", "other", "publish_unique", "publish_telling", "weights",
                    "distance", "count_at", "missing", "missing_records", "complete")
        roles = {name: params.pop(name) for name in of_table}
        settle, quasi_identifiers = params.pop("settle"), params.pop("quasi_identifiers")
        if not quasi_identifiers:
            raise Error("there is no quasi-identifier", kind="project", hint="name at least one with quasi_identifiers=…")
        # A release has what was named, and nothing else.
        keeps_all = roles["other"] == "keep"
        table = Table(X, quasi_identifiers, **{**roles, "other": () if keeps_all else roles["other"]})
        self.answer_ = table.negotiate(**{name: value for name, value in params.items() if value is not None})
        self.offer_ = _chosen(self.answer_, settle)
        self.release_: Release = table.publish(self.offer_)
        columns = table._columns or self.release_.columns
        hidden = [*names(roles["identifiers"]), *names(roles["person"])]
        self._kept = [c for c in columns if c in self.release_.columns or (keeps_all and c not in hidden)]
        self.n_features_in_ = len(columns)
        return self

    @takes()
    def transform(self, X: Any) -> Any:
        """The records of ``X``, one for one, each as the release publishes those like it; as the kind of frame it was."""
        release = self._fitted()
        X = native_of(X)
        frame, origin = frame_of(X, "data frame", declared=self._kept)
        recoded = release._native.recode(frame, self._kept, bar())
        exact = [column for column in self._kept if column not in release.columns or column in release._exact()]
        if origin.kind == "pandas":
            made = to_pandas(recoded, origin, exact)
            return made if origin.index else made.set_index(X.index)
        return to_polars(recoded, origin, exact) if origin.kind == "polars" else to_arrow(recoded)

    @takes()
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return self.fit(X, y).transform(X)

    @takes()
    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The columns that ``transform`` returns."""
        self._fitted()
        columns = list(self._kept)
        try:
            import numpy
        except ImportError:
            return columns
        return numpy.asarray(columns, dtype=object)

    def _fitted(self) -> Release:
        release: Release | None = getattr(self, "release_", None)
        if release is None:
            raise Error("the Anonymizer has not been fitted", hint="call fit before transform")
        return release

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "release_")
