"""Data frames in and out: whatever speaks Arrow comes in, and leaves as what it was."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from . import _labels, _native, _plain
from ._error import Error, must_have, tell

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


@dataclass(frozen=True)
class Origin:
    """What a table was before it came here, so that a release can be the same."""

    kind: str = "other"
    dtypes: Mapping[str, Any] = field(default_factory=dict)
    # The levels of a pandas index that are attributes of the table.
    index: tuple[str, ...] = ()
    # Of attributes whose values have an order that a hierarchy keeps: the labels of each level in it.
    orders: Mapping[str, Sequence[Sequence[str] | None]] = field(default_factory=dict)
    # Attributes that become months, quarters, years.
    dates: frozenset[str] = frozenset()

    def without_values(self, published: Mapping[str, Collection[str]]) -> Origin:
        """The same without what the types of polars and pandas, and hierarchies, tell of values that are not published."""
        bare = {name: _bare_type(dtype) for name, dtype in self.dtypes.items()}
        dtypes = {name: dtype for name, dtype in bare.items() if dtype is not None}
        orders = {name: [_those_in(order, published.get(name, ())) for order in of] for name, of in self.orders.items()}
        return replace(self, dtypes=dtypes, orders=orders)

    def order_of(self, column: str, level: int | None) -> Sequence[str] | None:
        orders = self.orders.get(column, ())
        return orders[level - 1] if level is not None and 0 < level <= len(orders) else None


def _those_in(order: Sequence[str] | None, there: Collection[str]) -> Sequence[str] | None:
    return None if order is None else [label for label in order if label in there]


def _bare_type(dtype: Any) -> Any:
    """A type that lists the values that there could be, as the one that says no more than that it would."""
    categories = getattr(dtype, "categories", None)
    if categories is None:
        return dtype
    return type(dtype)(ordered=dtype.ordered) if hasattr(dtype, "ordered") else None


def ordered_categories(dtype: Any) -> list[Any] | None:
    """The categories of a type that says in which order they are."""
    is_ordered = getattr(dtype, "ordered", False) or type(dtype).__name__ == "Enum"
    categories = getattr(dtype, "categories", None)
    return list(categories) if is_ordered and categories is not None else None


def is_frame(data: Any) -> bool:
    return not isinstance(data, type) and any(hasattr(data, name) for name in ("__arrow_c_stream__", "to_pandas", "to_native"))


def _is_a(data: Any, package: str, *names: str) -> bool:
    """Whether something is of a class of a package, or of one that is made from it; without loading the package."""
    return any(of.__module__.split(".")[0] == package and of.__name__ in names for of in type(data).__mro__)


def is_series(data: Any) -> bool:
    return _is_a(data, "pandas", "Series")


def with_text_names(data: Any) -> Any:
    """A frame of pandas whose columns have texts for names, as one has none that was read with ``header=None``."""
    return data.set_axis([str(column) for column in data.columns], axis=1) if _is_a(data, "pandas", "DataFrame") else data


def is_records(data: Any) -> bool:
    """Whether something is a list of dicts, one per record."""
    return isinstance(data, (list, tuple)) and bool(data) and all(isinstance(record, Mapping) for record in data)


def _columns_of_records(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Every name that a record has, in the order in which they come; who lacks one has no value there."""
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def native_of(data: Any, needed: Collection[str] | None = None) -> Any:
    """What a wrapper wraps, as the frame of pandas, polars or Arrow that it is.

    What keeps an index goes by way of pandas, where an index can be told from a column. What is computed or read when it is
    asked for gives the columns that are ``needed``, where that is known, and computes or reads no others.
    """
    if is_records(data):
        data = _columns_of_records(data)
    if isinstance(data, Mapping):
        return dict(data)
    if _is_a(data, "narwhals", "DataFrame", "LazyFrame"):
        return native_of(data.to_native(), needed)
    if _is_a(data, "polars", "LazyFrame"):
        columns = _those(data.collect_schema().names(), needed)
        return (data if columns is None else data.select(columns)).collect()
    if _is_a(data, "pyarrow", "Dataset"):
        return data.scanner(columns=_those(data.schema.names, needed)).to_reader()
    if _is_a(data, "pyarrow", "Scanner"):
        return data.to_reader()
    if _is_a(data, "duckdb", "DuckDBPyRelation"):
        columns = _those(data.columns, needed)
        return data if columns is None else data.select(*columns)
    if _is_a(data, "pandas", "DataFrame"):
        import pandas

        # A class of its own may have an idea of its own of what its columns are.
        return data if type(data) is pandas.DataFrame else pandas.DataFrame(data)
    if hasattr(data, "__arrow_c_stream__") or isinstance(data, type):
        return data
    if _is_a(data, "dask", "DataFrame") or _is_a(data, "dask_expr", "DataFrame"):
        return native_of(data.compute())
    made = data.to_pandas() if callable(getattr(data, "to_pandas", None)) else None
    return native_of(made) if _is_a(made, "pandas", "DataFrame") else data


def _those(columns: Sequence[str], needed: Collection[str] | None) -> list[str] | None:
    """The columns that are needed; all where that is not known, and where none is there, so that whoever looks says so."""
    if needed is None:
        return None
    return [column for column in columns if column in needed] or None


def _of_dict(columns: Mapping[Any, Any], name: str, needed: Collection[str] | None) -> _native.Frame:
    """A dict of columns; those that are not needed may be of any kind."""
    odd = [column for column in columns if not isinstance(column, str) and (needed is None or column in needed)]
    if odd or (columns and not any(isinstance(column, str) for column in columns)):
        raise _not_texts(len(odd) or len(columns), len(columns), name, "give texts as the keys of the dict")
    made: dict[str, _plain.Filled] = {}
    lengths: dict[str, int] = {}
    for column, values in columns.items():
        length = _plain.length_of(values)
        filled = None if length is None or not isinstance(column, str) else _plain.filled(values)
        if filled is not None and length is not None:
            made[column], lengths[column] = filled, length
        elif needed is None or column in needed:
            raise _mixed(column, name, "make them one type: [str(value) for value in column]")
    if len(set(lengths.values())) > 1:
        raise Error("columns are not of the same length", kind="data", position=name, hint="give every column a value per record")
    return _plain.frame_of_columns(made, max(lengths.values(), default=0), name)


def _not_texts(n_odd: int, n_columns: int, name: str, hint: str) -> Error:
    return Error(f"{n_odd} of {n_columns} columns have names that are not texts", kind="data", position=name, hint=hint)


def _pyarrow() -> Any:
    """pyarrow, where it is installed."""
    try:
        import pyarrow
    except ImportError:
        return None
    return pyarrow


def _arrow_column(pyarrow: Any, values: Any) -> Any:
    """A column of pandas as Arrow has it; nothing where it has no such thing."""
    if pyarrow is None:
        return _plain.of_series(values)
    try:
        return pyarrow.array(values, from_pandas=True)
    except (pyarrow.ArrowException, ValueError, TypeError, OverflowError):
        return None


def _mixed(column: str, name: str, hint: str = "make them one type: df[column] = df[column].astype(str)") -> Error:
    return Error(
        f"column '{column}' holds values of different types, or of one that Arrow does not know",
        kind="data",
        position=name,
        hint=hint,
    )


def frame_of(
    data: Any, name: str, declared: Collection[str] = (), needed: Collection[str] | None = None
) -> tuple[_native.Frame, Origin]:
    """The records of a data frame, which stay where they are.

    A pandas index takes part only where it is declared, by name; otherwise it stays behind. Where it is known which columns
    are ``needed``, others may be of any kind, have any name, or have it twice.
    """
    data = native_of(data, needed)
    origin = Origin()
    if isinstance(data, dict):
        return _of_dict(data, name, needed), Origin("dict")
    if _is_a(data, "pandas", "DataFrame"):
        data, origin = _of_pandas(data, name, declared, needed)
        if isinstance(data, _native.Frame):
            return data, origin
    elif _is_a(data, "polars", "DataFrame"):
        data = _of_polars(data, name, needed)
        origin = Origin("polars", dict(data.schema))
    elif _is_a(data, "pyarrow", "Table", "RecordBatch", "RecordBatchReader"):
        origin = Origin("arrow")
        if _is_a(data, "pyarrow", "Table") and needed is not None:
            data = _without_others_of_a_name(data, needed)
    if not hasattr(data, "__arrow_c_stream__"):
        raise Error(
            f"{type(data).__name__} is not a data frame that speaks Arrow",
            kind="data",
            position=name,
            hint="give a frame of pandas (2.2 or later), polars, pyarrow or DuckDB, a dict, or the path of a file",
        )
    return _native.Frame(data, name, list(declared)), origin


def _without_others_of_a_name(data: pyarrow.Table, needed: Collection[str]) -> pyarrow.Table:
    """Columns of one name are no obstacle where nobody needs one of them."""
    names = list(data.column_names)
    kept = [i for i, name in enumerate(names) if name in needed or names.count(name) == 1]
    return data if len(kept) == len(names) else data.select(kept)


# What polars has and its neighbours cannot read.
_POLARS_ALONE = ("Int128", "UInt128", "Object")


def _of_polars(data: Any, name: str, needed: Collection[str] | None) -> Any:
    odd = [column for column, dtype in data.schema.items() if str(dtype.base_type()) in _POLARS_ALONE]
    for column in odd:
        if needed is None or column in needed:
            raise Error(
                f"column '{column}' has type {data.schema[column]}, which incrowd does not read",
                kind="data",
                position=name,
                hint="cast it to a text or a number, or leave it out of the frame",
            )
    return data.drop(odd) if odd else data


def _of_pandas(data: Any, name: str, declared: Collection[str], needed: Collection[str] | None) -> tuple[Any, Origin]:
    is_needed = [needed is None or column in needed for column in data.columns]
    odd = [column for column, is_one in zip(data.columns, is_needed) if not isinstance(column, str) and is_one]
    if odd or (len(data.columns) and not any(isinstance(column, str) for column in data.columns)):
        n_odd = len(odd) or len(data.columns)
        raise _not_texts(n_odd, len(data.columns), name, "rename them: df.columns = df.columns.map(str)")
    for column, is_twice, is_one in zip(data.columns, data.columns.duplicated(keep=False), is_needed):
        if is_twice and is_one:
            raise Error(
                f"several columns have the name '{column}'",
                kind="data",
                position=name,
                hint="give every column a name of its own",
            )
    twice = data.columns.duplicated(keep=False)
    keep = [is_one or (isinstance(column, str) and not again) for column, again, is_one in zip(data.columns, twice, is_needed)]
    data = data if all(keep) else data.loc[:, keep]
    index = tuple(level for level in data.index.names if level in declared and level not in data.columns)
    if len(index) < data.index.nlevels:
        data = data.droplevel([i for i, level in enumerate(data.index.names) if level not in index]) if index else data
    data = data.reset_index(drop=not index)
    pyarrow = _pyarrow()
    dtypes = dict(data.dtypes)
    if pyarrow is None:
        return _of_pandas_alone(data, name, needed), Origin("pandas", dtypes, index)
    try:
        # Without the metadata of pandas, which describe an index that is not there any more.
        table = pyarrow.Table.from_pandas(data, preserve_index=False)
    except (pyarrow.ArrowException, ValueError, TypeError, OverflowError):
        unfit = [column for column in data.columns if _arrow_column(pyarrow, data[column]) is None]
        wrong = [column for column in unfit if needed is None or column in needed]
        if wrong or not unfit:
            raise _mixed(wrong[0] if wrong else "?", name) from None
        table = pyarrow.Table.from_pandas(data.drop(columns=unfit), preserve_index=False)
    return table.replace_schema_metadata(None), Origin("pandas", dtypes, index)


def _of_pandas_alone(data: Any, name: str, needed: Collection[str] | None) -> _native.Frame:
    """The same where pyarrow is not installed."""
    made = {column: _plain.of_series(data[column]) for column in data.columns}
    wrong = [column for column, filled in made.items() if filled is None and (needed is None or column in needed)]
    if wrong:
        raise _mixed(wrong[0], name)
    there = {column: filled for column, filled in made.items() if filled is not None}
    return _plain.frame_of_columns(there, len(data), name)


def readable(data: Any, name: str) -> _native.Frame:
    """The columns of a frame that can be read; which cannot is told, as the command line tells it of a file."""
    frame, _ = frame_of(data, name, needed=_of_readable_kind(native_of(data)))
    try:
        frame.rows(0)
        return frame
    except Error:
        pass
    unreadable = [column for column in frame.columns if not _is_read(frame.select([column]))]
    _tell_unread(unreadable)
    return frame.select([column for column in frame.columns if column not in unreadable])


def _is_read(frame: _native.Frame) -> bool:
    try:
        frame.rows(0)
    except Error:
        return False
    return True


def _tell_unread(columns: Sequence[str]) -> None:
    if columns:
        tell(f"not read because of {'its type' if len(columns) == 1 else 'their types'}: {', '.join(columns)}")


def _of_readable_kind(data: Any) -> list[str] | None:
    """The columns of a pandas or polars frame or of a dict that Arrow knows; nothing where all are, or of another kind."""
    if _is_a(data, "polars", "DataFrame"):
        odd = [column for column, dtype in data.schema.items() if str(dtype.base_type()) in _POLARS_ALONE]
    elif _is_a(data, "pandas", "DataFrame") and data.columns.is_unique:
        if not all(isinstance(column, str) for column in data.columns):
            return None
        odd = unfit_columns(data)
    elif isinstance(data, dict):
        odd = unfit_columns(data)
    else:
        return None
    _tell_unread(odd)
    columns = list(data) if isinstance(data, dict) else list(data.columns)
    return [column for column in columns if column not in odd] if odd else None


def unfit_columns(data: Any) -> list[str]:
    """The columns of a pandas frame or a dict that Arrow does not know, such as those with values of different types."""
    if isinstance(data, dict):
        columns_of_dict = [(name, values) for name, values in data.items() if isinstance(name, str)]
        return [name for name, values in columns_of_dict if _plain.length_of(values) is None or _plain.filled(values) is None]
    if not _is_a(data, "pandas", "DataFrame"):
        return []
    pyarrow = _pyarrow()
    columns = zip(data.columns, data.columns.duplicated(keep=False), data.dtypes)
    # Without pyarrow, a few more types of pandas are not known.
    may_be_unfit = "Oc" if pyarrow is not None else "OcmV"
    doubtful = [
        name for name, is_twice, dtype in columns if isinstance(name, str) and not is_twice and dtype.kind in may_be_unfit
    ]
    return [name for name in doubtful if _arrow_column(pyarrow, data[name]) is None]


def columns_of(data: Any) -> list[str]:
    """The columns of a frame, without what was an index of pandas."""
    if isinstance(data, (str, os.PathLike)):
        return []
    if isinstance(data, dict):
        return [column for column in data if isinstance(column, str)]
    if _is_a(data, "pandas", "DataFrame"):
        unfit = unfit_columns(data)
        texts = [column for column in data.columns if isinstance(column, str)]
        once = [column for column in texts if texts.count(column) == 1]
        read = frame_of(data.iloc[:0].drop(columns=unfit), "data frame", needed=once)[0].columns
        return [column for column in once if column in read or column in unfit]
    if _is_a(data, "polars", "DataFrame"):
        odd = [column for column, dtype in data.schema.items() if str(dtype.base_type()) in _POLARS_ALONE]
        read = frame_of(data.head(0).drop(odd), "data frame")[0].columns
        return [column for column in data.columns if column in read or column in odd]
    if _is_a(data, "pyarrow", "Table"):
        return frame_of(data.slice(0, 0), "data frame", needed=())[0].columns
    return frame_of(data, "data frame")[0].columns


def to_arrow(release: _native.Release | _native.Frame) -> pyarrow.Table:
    pyarrow = _pyarrow()
    if pyarrow is None:
        raise Error("pyarrow is not installed", kind="data", hint="pip install pyarrow; or take to_dict(), to_pandas(), to_polars()")
    return pyarrow.table(release)


def to_dict(release: _native.Frame) -> dict[str, list[Any]]:
    """A list of Python's values per column."""
    return {name: _plain.values_of(release, name) for name in release.columns}


# How generalized columns come: as texts, as categories in their order, or as intervals of pandas.
As = Literal["text", "categorical", "interval"]


def to_pandas(
    release: Any,
    origin: Origin,
    exact: Collection[str],
    levels: Mapping[str, int] | None = None,
    generalized: As | None = None,
) -> pandas.DataFrame:
    """A data frame with the types that columns had; where they were generalized, labels of the same backend."""
    must_have("pandas")
    import pandas
    dtypes = {name: dtype for name, dtype in origin.dtypes.items() if origin.kind == "pandas"}
    columns: dict[str, Any] = {}
    pyarrow = _pyarrow()
    table = None if pyarrow is None else to_arrow(release)
    for name in release.columns if table is None else table.column_names:
        dtype = dtypes.get(name) if name in exact else None
        made = _plain.pandas_column(release, name, dtype) if table is None else _pandas_column(pandas, table[name], dtype)
        if name not in exact:
            labels = pandas.Series(made)
            if labels.dtype.kind not in "biufM":
                order = origin.order_of(name, None if levels is None else levels.get(name))
                made = _pandas_labels(pandas, labels, dtypes.get(name), order, name in origin.dates, generalized)
        columns[name] = made
    frame = pandas.DataFrame(columns, columns=list(columns))
    kept = [level for level in origin.index if level in columns]
    return frame.set_index(kept) if kept else frame


def _pandas_labels(
    pandas: Any, labels: Any, dtype: Any, order: Sequence[str] | None, dates: bool, generalized: As | None
) -> Any:
    was_category = isinstance(dtype, pandas.CategoricalDtype)
    there = [label for label in labels.unique() if isinstance(label, str)]
    if generalized == "interval":
        found = _labels.ranges(there, dates)
        if found is not None:
            return _intervals(pandas, labels, found)
    if generalized == "categorical" or (generalized is None and was_category):
        categories, is_ordered = _labels.in_order(there, order, dates)
        return pandas.Categorical(labels, categories, ordered=is_ordered and (generalized == "categorical" or dtype.ordered))
    if generalized is None and dtype is not None and not was_category:
        if type(dtype).__name__ == "ArrowDtype":
            import pyarrow

            return labels.astype(pandas.ArrowDtype(pyarrow.string())).array
        if isinstance(dtype, pandas.StringDtype):
            return labels.astype(dtype).array
        if hasattr(dtype, "numpy_dtype"):
            return labels.astype("string").array
    return labels.array


def _intervals(pandas: Any, labels: Any, found: Mapping[str, _labels.Ends]) -> Any:
    """Closed on both sides where all highest values are known, as of whole numbers and days; otherwise on the left."""
    has_dates = any(hasattr(end, "toordinal") for of in found.values() for end in of[:2])
    is_whole = all(not isinstance(end, float) for of in found.values() for end in of[:2])
    closed = "both" if is_whole or all(of.has_high for of in found.values()) else "left"

    def end(of: Any, lowest: bool) -> Any:
        value = of.low if lowest else of.high
        if value is None:
            return float("-inf") if lowest else float("inf")
        if has_dates:
            return pandas.Timestamp(value)
        # Whole numbers below 18 are those up to 17.
        return value - 1 if not lowest and closed == "both" and not of.has_high else value

    made = {label: pandas.Interval(end(of, True), end(of, False), closed=closed) for label, of in found.items()}
    return pandas.arrays.IntervalArray([made.get(label) for label in labels], closed=closed)


def _pandas_column(pandas: Any, column: Any, dtype: Any) -> Any:
    if isinstance(dtype, pandas.CategoricalDtype):
        values = column.combine_chunks().to_pandas() if column.num_chunks else column.to_pandas()
        categories = pandas.Categorical(values)
        return categories.as_ordered() if dtype.ordered else categories
    if hasattr(dtype, "__from_arrow__"):
        return dtype.__from_arrow__(column)
    values = column.to_pandas()
    if dtype is not None and values.dtype != dtype and not (values.isna().any() and dtype.kind in "iub"):
        values = values.astype(dtype)
    return values.array


def _has_enum(polars: Any, dtype: Any) -> bool:
    """Whether a type names all values that there could be, also within lists and structs."""
    within = [getattr(dtype, "inner", None), *(field.dtype for field in getattr(dtype, "fields", ()))]
    return isinstance(dtype, polars.Enum) or any(_has_enum(polars, inner) for inner in within if inner is not None)


def to_polars(
    release: Any,
    origin: Origin,
    exact: Collection[str],
    levels: Mapping[str, int] | None = None,
    generalized: As | None = None,
) -> polars.DataFrame:
    """A data frame with the types that columns had; labels are categories where those were, or where that is asked for."""
    must_have("polars")
    import polars
    frame = polars.DataFrame(release)
    for name in frame.columns:
        dtype = origin.dtypes.get(name) if origin.kind == "polars" else None
        was_category = isinstance(dtype, (polars.Enum, polars.Categorical))
        if name in exact or frame.schema[name] != polars.String or generalized == "text":
            continue
        if generalized == "categorical" or (generalized is None and was_category):
            there = [label for label in frame[name].unique().to_list() if label is not None]
            order = origin.order_of(name, None if levels is None else levels.get(name))
            categories, is_ordered = _labels.in_order(there, order, name in origin.dates)
            is_enum = is_ordered or isinstance(dtype, polars.Enum)
            frame = frame.with_columns(frame[name].cast(polars.Enum(categories) if is_enum else polars.Categorical()))
    for name, dtype in origin.dtypes.items() if origin.kind == "polars" else ():
        if name not in frame.columns or name not in exact or frame.schema[name] == dtype:
            continue
        if isinstance(dtype, polars.Enum):
            # Only the values that are there: the others may be those of suppressed records.
            used = set(frame[name].cast(polars.String).unique())
            dtype = polars.Enum([value for value in dtype.categories if value in used])
            frame = frame.with_columns(frame[name].cast(polars.String).cast(dtype))
        elif not _has_enum(polars, dtype):
            frame = frame.with_columns(frame[name].cast(dtype))
    return frame
