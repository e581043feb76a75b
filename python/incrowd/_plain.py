"""Columns of plain Python values as Arrow and back, where no library for it is installed: dicts, NumPy, pandas."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from . import _native

# A column as the engine takes it: its type, its values (texts in a list, everything else as bytes), and which are there.
Filled = tuple[str, Any, "bytes | None"]

_EPOCH = datetime.datetime(1970, 1, 1)
_FIRST_DAY = _EPOCH.date().toordinal()
_OF_NUMPY = {"i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16", "u4": "uint32",
             "u8": "uint64", "f4": "float32", "f8": "float64"}


def frame_of_columns(columns: Mapping[str, Filled], n_records: int, name: str) -> _native.Frame:
    """A frame of columns that all have so many records."""
    filled = [(column, kind, values, there) for column, (kind, values, there) in columns.items()]
    return _native.Frame.of_columns(filled, n_records, name)


def length_of(values: Any) -> int | None:
    """How many records a column has; nothing where it is none."""
    return None if isinstance(values, (str, bytes)) or not hasattr(values, "__len__") else len(values)


def filled(values: Any) -> Filled | None:
    """What a column of a dict holds; nothing where its values are of different types, or of one that is not read."""
    if _package(values) == "pandas":
        return of_series(values)
    if _package(values) == "numpy":
        return _of_array(values, nan_is_missing=False)
    for to_list in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, to_list):
            return of_values(getattr(values, to_list)())
    return of_values(list(values))


def of_values(values: Sequence[Any], *, nan_is_missing: bool = False) -> Filled | None:
    """The same of a list of Python's values, of which None is missing."""
    plain = [_plain(value, nan_is_missing) for value in values]
    kinds = {_kind(value) for value in plain if value is not None}
    if not kinds:
        return "null", b"", None
    if kinds <= {"int", "float"}:
        kinds = {"float"} if "float" in kinds else _width(plain)
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    if kind == "text":
        return ("text", plain, None) if all(_is_written(text) for text in plain) else None
    if kind == "other":
        return None
    return _of_kind(kind, plain)


def _of_kind(kind: str, plain: Sequence[Any]) -> Filled | None:
    there = None if all(value is not None for value in plain) else bytes(value is not None for value in plain)
    if kind == "bool":
        return "bool", bytes(bool(value) for value in plain), there
    if kind == "float":
        return "float64", _packed("d", (0.0 if value is None else float(value) for value in plain)), there
    if kind in ("int64", "uint64"):
        return kind, _packed("q" if kind == "int64" else "Q", (value or 0 for value in plain)), there
    if kind == "date":
        days = (0 if value is None else value.toordinal() - _FIRST_DAY for value in plain)
        return "date", _packed("i", days), there
    if kind == "decimal":
        return _decimals(plain, there)
    # What is left is times, with a zone or without.
    return f"time:us:{kind.removeprefix('time ')}", _packed("q", (0 if v is None else _microseconds(v) for v in plain)), there


def _packed(code: str, numbers: Any) -> bytes:
    from array import array

    return array(code, numbers).tobytes()


def _plain(value: Any, nan_is_missing: bool) -> Any:
    """A value without the dress of NumPy and pandas; None where it is missing."""
    if value is None or isinstance(value, str):
        return value
    if _package(value) == "pandas" and type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, float):
        return None if nan_is_missing and value != value else value
    if _package(value) == "numpy" and hasattr(value, "item"):
        return _plain(value.item(), nan_is_missing)
    return value


def _kind(value: Any) -> str:
    for of, kind in ((bool, "bool"), (int, "int"), (float, "float"), (str, "text"), (Decimal, "decimal")):
        if isinstance(value, of):
            return kind
    if isinstance(value, datetime.datetime):
        zone = _zone(value.tzinfo)
        # pandas has times finer than Python's.
        is_finer = bool(getattr(value, "nanosecond", False))
        return "other" if zone is None or is_finer else f"time {zone}"
    return "date" if isinstance(value, datetime.date) else "other"


def _zone(zone: Any) -> str | None:
    """What Arrow calls a zone of time; nothing where it has no name for it."""
    if zone is None:
        return ""
    named = getattr(zone, "key", None) or getattr(zone, "zone", None)
    if named:
        return str(named)
    if zone is datetime.timezone.utc:
        return "UTC"
    is_fixed = isinstance(zone, datetime.timezone) or type(zone).__name__ in ("_FixedOffset", "tzutc", "tzoffset")
    return datetime.datetime(1970, 1, 1, tzinfo=zone).isoformat()[-6:] if is_fixed else None


def _width(values: Sequence[Any]) -> set[str]:
    numbers = [value for value in values if value is not None]
    if min(numbers) >= -(2**63) and max(numbers) < 2**63:
        return {"int64"}
    return {"uint64"} if min(numbers) >= 0 and max(numbers) < 2**64 else {"other"}


def _is_written(text: str | None) -> bool:
    """Whether a text can be written: half a character cannot."""
    try:
        return text is None or text.isascii() or bool(text.encode("utf-8")) or True
    except UnicodeEncodeError:
        return False


def _microseconds(value: datetime.datetime) -> int:
    if value.tzinfo is not None:
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    since = value - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def _decimals(plain: Sequence[Decimal | None], there: bytes | None) -> Filled | None:
    numbers = [value for value in plain if value is not None]
    if not all(number.is_finite() for number in numbers):
        return None
    exponents = [int(number.as_tuple().exponent) for number in numbers]
    scale = max(0, -min(exponents))
    whole = [int(number.scaleb(scale)) if number is not None else 0 for number in plain]
    digits = max(max(len(str(abs(number))) for number in whole), scale, 1)
    if digits > 38:
        return None
    import sys

    return f"decimal:{digits}:{scale}", b"".join(n.to_bytes(16, sys.byteorder, signed=True) for n in whole), there


def _package(value: Any) -> str:
    return type(value).__module__.split(".")[0]


def _of_array(values: Any, nan_is_missing: bool) -> Filled | None:
    """An array of NumPy, whose numbers are copied at once."""
    if values.ndim != 1:
        return None
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    kind, code = values.dtype.kind, values.dtype.str[1:]
    if kind == "b":
        return "bool", values.tobytes(), None
    if code == "f2":
        return _of_array(values.astype("f4"), nan_is_missing)
    if code in _OF_NUMPY:
        is_there = values == values if nan_is_missing and kind == "f" else None
        there = None if is_there is None or is_there.all() else is_there.tobytes()
        return _OF_NUMPY[code], values.tobytes(), there
    if kind == "M":
        return _of_times(values, "")
    return of_values(values.tolist(), nan_is_missing=nan_is_missing) if kind in "OUT" else None


def _of_times(values: Any, zone: str) -> Filled | None:
    unit = re.fullmatch(r"M8\[(\w+)\]", values.dtype.str[1:])
    is_there = values == values
    there = None if is_there.all() else is_there.tobytes()
    if unit is None or unit[1] not in ("D", "s", "ms", "us", "ns"):
        return None
    if unit[1] == "D":
        return "date", values.astype("i8").astype("i4").tobytes(), there
    return f"time:{unit[1]}:{zone}", values.view("i8").tobytes(), there


def of_series(series: Any) -> Filled | None:
    """What a column of pandas holds, of which NaN, NaT and NA are missing."""
    dtype = series.dtype
    if hasattr(dtype, "categories"):
        return of_values(series.astype(object).tolist(), nan_is_missing=True)
    if dtype.kind == "M":
        in_utc = series.to_numpy(f"datetime64[{getattr(dtype, 'unit', None) or dtype.str[4:-1]}]")
        zone = _zone(getattr(dtype, "tz", None))
        return None if zone is None else _of_times(in_utc, zone)
    if hasattr(dtype, "numpy_dtype"):
        missing = series.isna().to_numpy()
        made = _of_array(series.to_numpy(dtype.numpy_dtype, na_value=0), nan_is_missing=True)
        return made if made is None or not missing.any() else (made[0], made[1], (~missing).tobytes())
    if dtype.kind in "biuf":
        return _of_array(series.to_numpy(), nan_is_missing=True)
    return of_values(series.tolist(), nan_is_missing=True) if dtype.kind in "OUT" else None


def values_of(frame: _native.Frame, column: str) -> list[Any]:
    """The values of a column as Python has them: numbers, texts, dates, times, decimals; texts where it has nothing else."""
    read = frame.values(column)
    if read is None:
        place = frame.columns.index(column)
        return [row[place] for row in frame.rows()]
    kind, parts = read
    made = _of_plain(kind)
    return [None if value is None else made(value) for part in parts for value in part]


def _of_plain(kind: str) -> Callable[[Any], Any]:
    if kind == "date":
        return lambda days: datetime.date.fromordinal(days + _FIRST_DAY)
    if kind.startswith("decimal"):
        return Decimal
    if kind.startswith("time"):
        _, unit, zone = kind.split(":", 2)
        return lambda count: _time(count, unit, zone)
    return lambda value: value


def _time(count: int, unit: str, zone: str) -> Any:
    n_in_a_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    seconds, rest = divmod(count, n_in_a_second)
    time = _EPOCH + datetime.timedelta(seconds=seconds, microseconds=rest * 10**6 // n_in_a_second)
    if rest * 10**6 % n_in_a_second:
        # Python's times end at microseconds.
        return f"{time.isoformat(timespec='seconds')}.{rest:09}"
    return time if not zone else time.replace(tzinfo=datetime.timezone.utc).astimezone(_of_zone(zone))


def _of_zone(zone: str) -> datetime.tzinfo:
    if zone == "UTC":
        return datetime.timezone.utc
    shift = re.fullmatch(r"([+-])(\d\d):(\d\d)", zone)
    if shift:
        by = datetime.timedelta(hours=int(shift[2]), minutes=int(shift[3]))
        return datetime.timezone(-by if shift[1] == "-" else by)
    import zoneinfo

    return zoneinfo.ZoneInfo(zone)


def pandas_column(frame: _native.Frame, column: str, dtype: Any) -> Any:
    """A column of pandas, of the type that it had where there is one, as by way of pyarrow."""
    import pandas

    read = frame.values(column)
    if read is not None and read[0].startswith("time"):
        kind, parts = read
        _, unit, zone = kind.split(":", 2)
        counts = pandas.array([value for part in parts for value in part], dtype="Int64")
        times = pandas.Series(counts.to_numpy("int64", na_value=-(2**63)).view(f"M8[{unit}]"))
        made = times.dt.tz_localize("UTC").dt.tz_convert(zone) if zone else times
        return made.array if dtype is None else made.astype(dtype).array
    values = values_of(frame, column)
    if isinstance(dtype, pandas.CategoricalDtype):
        categories = pandas.Categorical(values)
        return categories.as_ordered() if dtype.ordered else categories
    if dtype is not None and not hasattr(dtype, "str"):
        return pandas.array(values, dtype=dtype)
    kind = "text" if read is None else read[0]
    is_full = all(value is not None for value in values)
    if kind in _OF_NUMPY.values():
        made = pandas.Series([float("nan") if v is None else v for v in values], dtype=kind if is_full else None)
        made = made if is_full or not kind.startswith("float") else made.astype(kind)
    else:
        made = pandas.Series(values, dtype="bool" if kind == "bool" and is_full else object)
    if dtype is not None and made.dtype != dtype and (is_full or dtype.kind not in "iub"):
        made = made.astype(dtype)
    return made.array
