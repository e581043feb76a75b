"""A transformer for scikit-learn's pipelines, which works without scikit-learn too."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Union

from . import _native
from ._error import Error, PrivacyWarning
from ._frames import columns_of, frame_of, native_of, to_arrow, to_dict, to_pandas, to_polars, unfit_columns
from ._groups import Groups
from ._objects import Answer, Offer
from ._plain import values_of
from ._progress import bar
from ._table import Named, Release, Table, _chosen, _published, _Shown
from ._wishes import Cells, Method, PerAttribute, Settle, names, takes

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


# Names of columns, or their numbers from 0 on.
Columns = Union[Named, int, Sequence[int]]


class Anonymizer(_Base):
    """Generalizes the columns of a data frame until enough records look alike; for pipelines.

    ``fit`` negotiates and publishes a release of ``X``, which is verified (``release_``, ``answer_``, ``offer_``).
    ``transform`` returns the records of a frame **in their order**, one for one, each as the release publishes those like
    it. Where the release has none like it, the record comes back empty in every column. So every record that is not
    empty is one of at least k of the training data. Where the request cannot be met, ``settle`` names the offer to take.
    A criterion that is None is not asked for. Where people have several records, ``person`` says whose each is: k then
    counts people, and the column is neither in the release nor in what ``transform`` returns.

    Columns that nobody names stay as they are in what ``transform`` returns, because a model needs them; ``other=()``
    leaves them out. They are never in ``release_``. A frame of pandas keeps its index, which a model's answers are found
    by. So what ``transform`` returns is for a model, and not to be given away: there an index and an order can tell who is
    who. To give data away, publish ``release_``, which is sorted and has the columns that were named. A pickle of a fitted
    ``Anonymizer`` has the records that it was fitted with, and is not to be given away either.

    ``method`` is any that :meth:`Table.publish` has, with its options. Where groups have ranges of their own, or records
    have, a record of ``X`` comes back as it is in the release, and a new one as the narrowest group that it fits: each of
    its numbers lies between those of the group, and each of its other values is one that the group has, or is hidden.
    An array of NumPy is taken too; its columns are counted from 0, as ``quasi_identifiers={0: ic.intervals(10)}``.

    >>> import incrowd as ic
    >>> X = {"age": [31, 40, 32, 41, 77], "town": ["a", "b", "a", "b", "a"]}
    >>> ic.Anonymizer({"age": ic.intervals(10, 20)}, other="town", k=2, max_suppressed=1).fit_transform(X)
    {'age': ['30-39', '40-49', '30-39', '40-49', None], 'town': ['a', 'b', 'a', 'b', None]}
    >>> made = ic.Anonymizer("age", method="top-down", k=2, other=()).fit(X)
    >>> made.transform({"age": [50, 31, 99]})["age"]
    ['[41-77]', '[31-40]', None]
    """

    answer_: Answer | None
    """What was negotiated; nothing where the method does not negotiate."""
    offer_: Offer | None
    """What was taken of it."""
    release_: Release
    """What can be given away."""
    n_features_in_: int
    """How many columns ``X`` had."""
    feature_names_in_: Any
    """Their names, where they had any."""
    _groups: Groups | None
    _recoder: Release | None

    @takes()
    def __init__(
        self,
        quasi_identifiers: Mapping[Any, Any] | Columns = (),
        *,
        sensitive: Columns | Mapping[Any, Any] = (),
        identifiers: Columns = (),
        person: Columns = (),
        other: Columns = "keep",
        publish_unique: Columns = (),
        publish_telling: Columns = (),
        weights: Mapping[str, float] | None = None,
        distance: str | Mapping[str, str] | None = None,
        count_at: Mapping[str, int | str] | None = None,
        missing: Named = ("",),
        missing_records: Literal["keep", "drop"] = "keep",
        complete: Columns = (),
        population: Any = None,
        method: Method = "global",
        cells: Cells | None = None,
        seed: int | None = None,
        exchanges: int | None = None,
        steps: int | None = None,
        time: float | None = None,
        utility_at_least: float | None = None,
        risk_at_most: float | None = None,
        lambda_: float | None = None,
        utility: str | None = None,
        risk: str | None = None,
        dictionary: Any = None,
        similarity: float | None = None,
        also_k: int | None = None,
        k: int | None = None,
        k_map: int | None = None,
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
        settle: Settle = "exact",
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
        self.population = population
        self.method = method
        self.cells = cells
        self.seed = seed
        self.exchanges = exchanges
        self.steps = steps
        self.time = time
        self.utility_at_least = utility_at_least
        self.risk_at_most = risk_at_most
        self.lambda_ = lambda_
        self.utility = utility
        self.risk = risk
        self.dictionary = dictionary
        self.similarity = similarity
        self.also_k = also_k
        self.k = k
        self.k_map = k_map
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
        """Finds the best that keeps the promise on ``X``, publishes it, and has that verified."""
        params = self.get_params(deep=False)
        given = _Given.of(X)
        if given.is_array and given.n_records == 1:
            raise Error("1 sample cannot be hidden among others", kind="data", hint="give the records among which each is hidden")
        roles = {name: given.named(params.pop(name)) for name in _OF_TABLE if name != "missing"}
        roles |= {"missing": params.pop("missing"), **{name: params.pop(name) for name in _BESIDE}}
        settle, method = params.pop("settle"), params.pop("method")
        options = {name: params.pop(name) for name in (*_OF_LOCAL, *_OF_SINGLE)}
        if roles.pop("quasi_identifiers") in ((), [], {}, None):
            raise Error("there is no quasi-identifier", kind="project", hint="name at least one with quasi_identifiers=…")
        quasi_identifiers = given.named(self.quasi_identifiers)
        # A release has what was named, and nothing else.
        keeps_all = roles["other"] == "keep"
        settings = {**roles, "other": () if keeps_all else roles["other"]}
        table = Table(given.data, quasi_identifiers, **settings)
        request = {name: value for name, value in params.items() if value is not None}
        options = {name: value for name, value in options.items() if value is not None}
        self.answer_, self.offer_, self._groups = None, None, None
        if method == "global":
            if options:
                raise TypeError(f"{next(iter(options))} is about other methods; choose one with method='top-down'")
            self.answer_ = table.negotiate(**request)
            self.offer_ = _chosen(self.answer_, settle)
            self.release_ = table.publish(self.offer_)
            asked = dict(self.offer_._asked.wish)
            self._again: tuple[Any, ...] = (asked, self.offer_.levels, self.offer_.criteria, self.offer_._choice)
        else:
            asked = {"method": method, **options, **request}
            self.release_ = table.publish(**asked)
            self._groups = _groups_of(given, quasi_identifiers, settings, asked, self.release_)
        self._table, self._recoder = table, None
        hidden = [*names(roles["identifiers"]), *names(roles["person"])]
        # An index of pandas that is an attribute is none of the frame's columns, and comes first.
        index = [column for column in table._columns or () if column not in given.columns]
        columns = [*index, *given.columns] or self.release_.columns
        self._kept = [c for c in columns if c in self.release_.columns or (keeps_all and c not in hidden)]
        self.n_features_in_ = len(columns)
        if given.has_names:
            self.feature_names_in_ = _as_array(columns)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    @takes()
    def transform(self, X: Any) -> Any:
        """The records of ``X``, one for one, each as the release publishes those like it; as the kind of frame it was."""
        release = self._fitted()
        given = _Given.of(X)
        if not given.has_names and len(given.columns) != self.n_features_in_:
            raise Error(
                f"X has {len(given.columns)} features, but Anonymizer is expecting {self.n_features_in_} features as input",
                kind="data",
                hint="give the columns that it was fitted with",
            )
        # What Arrow does not know stays where it is, and is empty where the record is.
        beside = [column for column in given.unfit if column in self._kept and column not in release.columns]
        kept = [column for column in self._kept if column not in beside]
        frame, origin = frame_of(given.data, "data frame", declared=kept, needed=[*kept, *release.columns])
        recoded = self._recoded(frame, kept, release)
        exact = [column for column in kept if column not in release.columns or column in release._exact()]
        if given.is_array and origin.kind == "dict":
            return _array_of_columns(to_dict(_native.Frame(recoded, "data frame")), kept)
        if given.is_array:
            return _array_of(to_pandas(recoded, origin, exact), kept)
        if origin.kind == "pandas":
            made = to_pandas(recoded, origin, exact)
            made = made if origin.index else made.set_index(given.data.index)
            return _with_beside(made, given.data, beside, self._kept)
        if origin.kind == "dict":
            return to_dict(_native.Frame(recoded, "data frame"))
        return to_polars(recoded, origin, exact) if origin.kind == "polars" else to_arrow(recoded)

    def _recoded(self, frame: Any, kept: list[str], release: Release) -> Any:
        if self._groups is not None:
            return _by_groups(frame, kept, release.certificate.quasi_identifiers, self._groups)
        if isinstance(release._native, _Shown):
            # It comes from a pickle, where a release has nothing but what is published: it is made again.
            if self._recoder is None:
                self._recoder = _published(self._table, *self._again)
            release = self._recoder
        return release._known("way to recode").recode(frame, kept, bar())

    @takes()
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """``fit`` and ``transform`` in one."""
        return self.fit(X, y).transform(X)

    @takes()
    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The columns that ``transform`` returns."""
        self._fitted()
        return _as_array(self._kept)

    def _fitted(self) -> Release:
        release: Release | None = getattr(self, "release_", None)
        if release is None:
            raise _not_fitted()
        return release

    def __getstate__(self) -> dict[str, Any]:
        state = getattr(super(), "__getstate__", lambda: None)()
        state = dict(self.__dict__ if state is None else state)
        return {name: None if name == "_recoder" else value for name, value in state.items()}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "release_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        # Columns are of any type, and records may lack values.
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags


_BESIDE = ("weights", "distance", "count_at", "missing_records", "population")
_OF_TABLE = ("quasi_identifiers", "sensitive", "identifiers", "person", "other", "publish_unique", "publish_telling",
             "complete", "missing")
_OF_LOCAL = ("cells", "seed", "exchanges", "steps", "time")
_OF_SINGLE = ("utility_at_least", "risk_at_most", "lambda_", "utility", "risk", "dictionary", "similarity", "also_k")


def _not_fitted() -> Error:
    """What scikit-learn raises, where it is there."""
    said = {"hint": "call fit before transform"}
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        return Error("the Anonymizer has not been fitted", **said)
    made: type[Error] = type("NotFittedError", (Error, NotFittedError), {"__module__": "incrowd"})
    return made("the Anonymizer has not been fitted", **said)


def _as_array(columns: Sequence[str]) -> Any:
    try:
        import numpy
    except ImportError:
        return list(columns)
    return numpy.asarray(list(columns), dtype=object)


@dataclass(frozen=True)
class _Given:
    """What was given to fit or to transform: a frame, and the names of its columns."""

    data: Any
    columns: list[str]
    has_names: bool
    is_array: bool = False
    # Known where it was an array.
    n_records: int | None = None
    # Columns of pandas that Arrow does not know.
    unfit: tuple[str, ...] = ()

    @classmethod
    def of(cls, X: Any) -> _Given:
        if hasattr(X, "toarray") and hasattr(X, "nnz"):
            raise Error("sparse input is not supported", kind="data", hint="give X.toarray(): records have all values")
        if _is_like_an_array(X):
            import numpy

            X = numpy.asarray(X)
        if type(X).__module__.split(".")[0] == "numpy":
            if X.ndim != 2:
                raise Error(f"X has {X.ndim} dimensions instead of 2", kind="data",
                            hint="Reshape your data: X.reshape(-1, 1), or X.reshape(1, -1) where it is one record")
            if not X.shape[1]:
                # In the words that scikit-learn looks for.
                raise Error(f"0 feature(s) (shape={X.shape}) while a minimum of 1 is required.", kind="data",
                            hint="give the columns that are to be generalized")
            if X.dtype.kind == "c":
                raise Error("Complex data not supported", kind="data", hint="give numbers, texts or dates")
            columns = [f"x{i}" for i in range(X.shape[1])]
            return cls(_columns_of_array(X, columns), columns, has_names=False, is_array=True, n_records=len(X))
        data = native_of(X)
        if type(data).__name__ == "RecordBatchReader":
            # It can be read once, and is looked at several times.
            data = data.read_all()
        return cls(data, columns_of(data), has_names=True, unfit=tuple(unfit_columns(data)))

    def named(self, words: Any) -> Any:
        """The same with names in the place of numbers, which count columns from 0 as scikit-learn does."""
        if isinstance(words, Mapping):
            return {self._name(name): of for name, of in words.items()}
        if isinstance(words, str) or words is None:
            return words
        return [self._name(name) for name in ([words] if isinstance(words, int) else words)]

    def _name(self, name: Any) -> Any:
        if isinstance(name, str) or not hasattr(name, "__index__"):
            return name
        try:
            return self.columns[name]
        except IndexError:
            raise Error(f"there is no column {name}", kind="data", hint=f"X has {len(self.columns)} columns") from None


def _columns_of_array(X: Any, columns: Sequence[str]) -> Any:
    """A frame of pandas where that is installed, and a dict otherwise; NaN is no value, as it is none in pandas."""
    try:
        import pandas
    except ImportError:
        values = ([None if value != value else value for value in X[:, i].tolist()] for i in range(X.shape[1]))
        return dict(zip(columns, values))
    return pandas.DataFrame(X, columns=columns).infer_objects()


def _is_like_an_array(X: Any) -> bool:
    """Whether something is no frame and no array of NumPy, but would be one: rows of values, or what NumPy can read."""
    if isinstance(X, (list, tuple)):
        return bool(X) and all(isinstance(row, (list, tuple)) for row in X)
    is_frame = any(hasattr(X, name) for name in ("__arrow_c_stream__", "columns", "to_native", "to_pandas"))
    return hasattr(X, "__array__") and not is_frame and type(X).__module__.split(".")[0] != "numpy"


# A name that no column has, for where a record was.
_ROW = "incrowd: row"


def _groups_of(
    given: _Given, quasi_identifiers: Any, settings: Mapping[str, Any], asked: Mapping[str, Any], release: Release
) -> Groups:
    """What the release says of each record of ``X``: the same is published once more, in here, with their numbers."""
    of_release = release.certificate.quasi_identifiers
    named = [*names(quasi_identifiers), *(c for role in ("sensitive", "identifiers", "person", "other", "complete")
                                          for c in names(settings[role]))]
    frame, _ = frame_of(given.data, "data frame", declared=named, needed=named)
    more = {"other": [*names(settings["other"]), _ROW], "publish_unique": [*names(settings["publish_unique"]), _ROW]}
    with warnings.catch_warnings():
        # All of it has been said.
        warnings.simplefilter("ignore", PrivacyWarning)
        made = Table(frame.numbered(_ROW), quasi_identifiers, **{**settings, **more}).publish(**asked)
    says = _texts(made, of_release)
    if sorted(map(str, says)) != sorted(map(str, _texts(release, of_release))):
        raise Error(
            f"method {asked['method']!r} does not make the same groups twice, so records cannot be found in them",
            hint="leave time= out, or give seed=",
        )
    cells: list[tuple[str | None, ...] | None] = [None] * frame.n_records
    for row, said in zip(values_of(made._native.frame, _ROW), says):
        cells[row] = said
    return Groups(_records(frame, of_release), cells)


def _texts(release: Release, columns: Sequence[str]) -> list[tuple[str | None, ...]]:
    return [tuple(row) for row in release._native.frame.select(list(columns)).rows()]


def _records(frame: _native.Frame, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    return list(zip(*(values_of(frame, name) for name in columns)))


def _by_groups(frame: _native.Frame, kept: Sequence[str], quasi_identifiers: Sequence[str], groups: Groups) -> _native.Frame:
    """Records in their order, each as its group is published; empty where it fits none."""
    cells = groups.cells_of(_records(frame, quasi_identifiers))
    texts = {name: [None if said is None else said[i] for said in cells]
             for i, name in enumerate(quasi_identifiers) if name in kept}
    return frame.with_texts(list(kept), texts, [said is not None for said in cells])


def _array_of(frame: Any, columns: Sequence[str]) -> Any:
    """An array of numbers where all of them are, and of objects otherwise."""
    frame = frame[list(columns)]
    if all(dtype.kind in "iufb" for dtype in frame.dtypes):
        return frame.to_numpy()
    return frame.astype(object).where(frame.notna(), None).to_numpy()


def _array_of_columns(columns: Mapping[str, list[Any]], kept: Sequence[str]) -> Any:
    """The same where pandas is not installed."""
    import numpy

    values = [columns[name] for name in kept]
    if all(isinstance(value, (int, float, type(None))) for column in values for value in column):
        return numpy.array([[float("nan") if value is None else value for value in column] for column in values]).T
    made = numpy.empty((len(values[0]), len(values)), dtype=object)
    for i, column in enumerate(values):
        made[:, i] = column
    return made


def _with_beside(made: Any, data: Any, beside: Sequence[str], kept: Sequence[str]) -> Any:
    if not beside:
        return made
    is_empty = made.isna().all(axis=1)
    for column in beside:
        made[column] = [None if empty else value for value, empty in zip(data[column].array, is_empty)]
    return made[[column for column in kept if column in made.columns]]
