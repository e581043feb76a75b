"""Data frames in and out: whatever speaks Arrow comes in, and leaves as what it was."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _native
from ._error import Error

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


def is_frame(data: Any) -> bool:
    return not isinstance(data, type) and any(hasattr(data, name) for name in ("__arrow_c_stream__", "to_pandas", "to_native"))


def _is_a(data: Any, package: str, *names: str) -> bool:
    """Whether something is of a class of a package, or of one that is made from it; without loading the package."""
    return any(of.__module__.split(".")[0] == package and of.__name__ in names for of in type(data).__mro__)


def native_of(data: Any) -> Any:
    """What a wrapper wraps, as the frame of pandas, polars or Arrow that it is.

    What keeps an index goes by way of pandas, where an index can be told from a column.
    """
    if isinstance(data, Mapping):
        import pyarrow

        return pyarrow.table(dict(data))
    if _is_a(data, "narwhals", "DataFrame", "LazyFrame"):
        return native_of(data.to_native())
    if _is_a(data, "polars", "LazyFrame"):
        return data.collect()
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


def frame_of(data: Any, name: str, declared: Collection[str] = ()) -> tuple[_native.Frame, Origin]:
    """The records of a data frame, which stay where they are.

    A pandas index takes part only where it is declared, by name; otherwise it stays behind.
    """
    data = native_of(data)
    origin = Origin()
    if _is_a(data, "pandas", "DataFrame"):
        data, origin = _of_pandas(data, name, declared)
    elif _is_a(data, "polars", "DataFrame"):
        origin = Origin("polars", dict(data.schema))
    elif _is_a(data, "pyarrow", "Table", "RecordBatch", "RecordBatchReader"):
        origin = Origin("arrow")
    if not hasattr(data, "__arrow_c_stream__"):
        raise Error(
            f"{type(data).__name__} is not a data frame that speaks Arrow",
            kind="data",
            position=name,
            hint="give a frame of pandas (2.2 or later), polars, pyarrow or DuckDB, or the path of a file",
        )
    return _native.Frame(data, name, list(declared)), origin


def _of_pandas(data: Any, name: str, declared: Collection[str]) -> tuple[Any, Origin]:
    odd = [column for column in data.columns if not isinstance(column, str)]
    if odd:
        raise Error(
            f"{len(odd)} of {len(data.columns)} columns have names that are not texts",
            kind="data",
            position=name,
            hint="rename them: df.columns = df.columns.map(str)",
        )
    if not data.columns.is_unique:
        twice = data.columns[data.columns.duplicated()][0]
        raise Error(
            f"several columns have the name '{twice}'",
            kind="data",
            position=name,
            hint="give every column a name of its own",
        )
    index = tuple(level for level in data.index.names if level in declared and level not in data.columns)
    if len(index) < data.index.nlevels:
        data = data.droplevel([i for i, level in enumerate(data.index.names) if level not in index]) if index else data
    data = data.reset_index(drop=not index)
    dtypes = dict(data.dtypes)
    try:
        import pyarrow

        # Without the metadata of pandas, which describe an index that is not there any more.
        table = pyarrow.Table.from_pandas(data, preserve_index=False)
    except ImportError:
        raise Error(
            "pandas needs pyarrow to speak Arrow", kind="data", position=name, hint="pip install pyarrow"
        ) from None
    except (ValueError, TypeError, OverflowError):
        raise Error(
            f"column '{_unreadable(data)}' holds values of different types",
            kind="data",
            position=name,
            hint="make them one type: df[column] = df[column].astype(str)",
        ) from None
    return table.replace_schema_metadata(None), Origin("pandas", dtypes, index)


def _unreadable(data: Any) -> str:
    import pyarrow

    for column in data.columns:
        try:
            pyarrow.array(data[column], from_pandas=True)
        except (ValueError, TypeError, OverflowError):
            return str(column)
    return "?"


def to_arrow(release: _native.Release | _native.Frame) -> pyarrow.Table:
    import pyarrow

    return pyarrow.table(release)


def to_pandas(
    release: _native.Release | _native.Frame, origin: Origin, exact: Collection[str], index: Any = None
) -> pandas.DataFrame:
    """A data frame with the types that columns had, where they were not generalized."""
    import pandas

    table = to_arrow(release)
    columns = {}
    for name, column in zip(table.column_names, table.columns):
        dtype = origin.dtypes.get(name) if origin.kind == "pandas" and name in exact else None
        columns[name] = _pandas_column(pandas, column, dtype)
    frame = pandas.DataFrame(columns, columns=table.column_names, index=index)
    kept = [level for level in origin.index if level in columns]
    return frame.set_index(kept) if kept and index is None else frame


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


def to_polars(release: _native.Release | _native.Frame, origin: Origin, exact: Collection[str]) -> polars.DataFrame:
    """A data frame with the types that columns had, where they were not generalized."""
    import polars

    frame = polars.DataFrame(release)
    for name, dtype in origin.dtypes.items() if origin.kind == "polars" else ():
        if name not in frame.columns or name not in exact or frame.schema[name] == dtype:
            continue
        if isinstance(dtype, polars.Enum):
            # Only the values that are there: the others may be those of suppressed records.
            there = set(frame[name].cast(polars.String).unique())
            dtype = polars.Enum([value for value in dtype.categories if value in there])
            frame = frame.with_columns(frame[name].cast(polars.String).cast(dtype))
        elif not _has_enum(polars, dtype):
            frame = frame.with_columns(frame[name].cast(dtype))
    return frame
