"""Nothing of a hidden record is left in what is handed out: not a column, not a category, not a byte."""

import io
import pickle

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import FRAMES, patients

import incrowd as ic

# Longer than what fits into a view, so that its bytes lie in a buffer of their own.
SECRET = "the king's evil, of which there is one case only"
N = 40
# The hidden record stands first: what is in no record's place must not be filled up with the first one's values.
AGES = [99, *[30] * N]
ILLS = [SECRET, *["flu, as everybody has it in winter", "cold, as everybody has it in winter"] * (N // 2)]
KINDS = sorted(set(ILLS) - {SECRET})


def dictionary(key, values):
    plain = pa.array(KINDS + [SECRET], values)
    codes = pa.array([plain.to_pylist().index(ill) for ill in ILLS], key)
    return pa.DictionaryArray.from_arrays(codes, plain)


def frames():
    both = lambda make, ill: make({"age": AGES, "ill": ill})  # noqa: E731
    yield "pandas object", both(pd.DataFrame, ILLS)
    yield "pandas string", both(pd.DataFrame, pd.array(ILLS, dtype="string[pyarrow]"))
    yield "pandas category", both(pd.DataFrame, pd.Categorical(ILLS))
    yield "pandas ordered", both(pd.DataFrame, pd.Categorical(ILLS, categories=[*KINDS, SECRET], ordered=True))
    yield "pandas arrow", both(pd.DataFrame, pd.array(dictionary(pa.int8(), pa.string()), dtype=pd.ArrowDtype(
        pa.dictionary(pa.int8(), pa.string()))))
    yield "polars string", both(pl.DataFrame, ILLS)
    yield "polars categorical", both(pl.DataFrame, pl.Series(ILLS, dtype=pl.Categorical))
    yield "polars enum", both(pl.DataFrame, pl.Series(ILLS, dtype=pl.Enum([*KINDS, SECRET])))
    yield "polars list", pl.DataFrame({"age": AGES, "ill": [KINDS[0]] * (N + 1), "more": [[ill] for ill in ILLS]})
    yield "polars struct", pl.DataFrame({"age": AGES, "ill": [KINDS[0]] * (N + 1), "more": [{"a": {"b": i}} for i in ILLS]})
    yield "polars list of enums", pl.DataFrame(
        {"age": AGES, "ill": [KINDS[0]] * (N + 1), "more": [[ill] for ill in ILLS]},
        schema_overrides={"more": pl.List(pl.Enum([*KINDS, SECRET]))})
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        yield f"arrow {kind}", both(pa.table, pa.array(ILLS).cast(kind))
    for key in (pa.int8(), pa.uint16(), pa.int32(), pa.int64()):
        for kind in (pa.string(), pa.large_string(), pa.string_view()):
            yield f"arrow {key} of {kind}", both(pa.table, dictionary(key, kind))
    chunks = [dictionary(pa.int8(), pa.string()).slice(i, 7) for i in range(0, N + 1, 7)]
    yield "arrow chunks", both(pa.table, pa.chunked_array(chunks))
    yield "arrow list", both(pa.table, ILLS).append_column("more", pa.array([[ill] for ill in ILLS]))
    unified = pa.StructArray.from_arrays([dictionary(pa.int8(), pa.string())], ["a"])
    yield "arrow struct of categories", both(pa.table, ILLS).append_column("more", unified)
    yield "arrow bytes", both(pa.table, ILLS).append_column("more", pa.array([ill.encode() for ill in ILLS], pa.binary_view()))


FRAMES_OF = dict(frames())


def handed_out(made):
    """Every form of what is handed out, as bytes: as it lies in memory, and as it is kept."""
    if isinstance(made, pa.Table):
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, made.schema) as writer:
            writer.write_table(made)
        yield sink.getvalue()
        yield from (buffer.to_pybytes() for column in made.columns for chunk in column.chunks for buffer in all_of(chunk))
    else:
        yield pickle.dumps(made)
    if isinstance(made, pl.DataFrame):
        sink = io.BytesIO()
        made.write_ipc(sink)
        yield sink.getvalue()
        yield str(made.schema).encode()
    if isinstance(made, pd.DataFrame):
        yield str([dtype.categories.to_list() for dtype in made.dtypes if isinstance(dtype, pd.CategoricalDtype)]).encode()


def all_of(array):
    yield from (buffer for buffer in array.buffers() if buffer is not None)
    if pa.types.is_dictionary(array.type):
        yield from all_of(array.dictionary)
    if pa.types.is_struct(array.type):
        for i in range(array.type.num_fields):
            yield from all_of(array.field(i))


def check(made):
    for i, bytes_of in enumerate(handed_out(made)):
        assert b"king" not in bytes_of, i


@pytest.mark.parametrize("name", FRAMES_OF)
def test_nothing_is_left_in_what_transform_returns(name):
    X = FRAMES_OF[name]
    made = ic.Anonymizer(["age"], sensitive="ill", k=5, max_suppressed=1).fit(X)
    out = made.transform(X)
    assert type(out) is type(X) and len(out) == N + 1
    assert pa.table(out)["ill"].to_pylist()[0] is None and pa.table(out)["ill"].null_count == 1
    check(out)
    for back in (made.release_.to_arrow(), made.release_.to_pandas(), made.release_.to_polars(), pa.table(made.release_)):
        check(back)


@pytest.mark.parametrize("name", FRAMES_OF)
@pytest.mark.parametrize("method", ["global", "top-down"])
def test_nothing_is_left_in_a_release(name, method):
    X = FRAMES_OF[name]
    names = list(X.column_names if isinstance(X, pa.Table) else X.columns)
    named = {"sensitive": "ill", "other": [column for column in names if column not in ("age", "ill", "more")]}
    table = ic.Table(X, ["age"], **named)
    if method == "global":
        release = table.publish(k=5, max_suppressed=1)
    else:
        # Local methods lose no record; one that lacks a value is left out where that is asked for.
        ages = [None, *AGES[1:]]
        X = X.assign(age=pd.array(ages, dtype="Int64")) if isinstance(X, pd.DataFrame) else (
            X.with_columns(age=pl.Series(ages)) if isinstance(X, pl.DataFrame) else X.set_column(0, "age", pa.array(ages)))
        with pytest.warns(ic.Note, match="1 of 41 records"):
            release = ic.Table(X, ["age"], **named, missing_records="drop").publish(method=method, k=5)
    assert len(release) == N
    for made in (release.to_frame(), release.to_arrow(), release.to_pandas(), release.to_polars()):
        check(made)
    check(pa.table(release))


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("other", ["keep", (), "pay", ["pay", "zip"]])
def test_an_anonymizers_release_has_the_columns_that_were_named(library, other):
    X = FRAMES[library](patients())
    made = ic.Anonymizer({"age": ic.intervals(20), "town": None}, sensitive="ill", identifiers="name", other=other, k=2,
                         publish_unique=["zip"] if "zip" in other else (), max_suppressed=0.5).fit(X)
    named = ["age", "town", "ill", *([] if other == "keep" else [other] if isinstance(other, str) else other)]
    assert sorted(made.release_.columns) == sorted(named) == sorted(made.release_.certificate.columns)
    assert sorted(made.release_.to_arrow().column_names) == sorted(named)
    out = made.transform(X)
    shown = list(out.column_names if library == "pyarrow" else out.columns)
    kept = [column for column in patients() if column in named or (other == "keep" and column != "name")]
    assert shown == kept == list(made.get_feature_names_out()) and made.n_features_in_ == 7
    if other == "keep":
        # A model gets what nobody named, of records that are shown.
        pays = pa.table(out)["pay"].to_pylist()
        hidden = pa.table(out)["age"].is_null().to_pylist()
        assert pays == [None if is_hidden else pay for is_hidden, pay in zip(hidden, patients()["pay"])]
        with pytest.raises(ic.Error, match="pay"):
            made.transform(X.drop_columns("pay") if library == "pyarrow" else X.drop(columns="pay")
                           if library == "pandas" else X.drop("pay"))


@pytest.mark.parametrize("kind", [pa.int32(), pa.uint64(), pa.float64(), pa.timestamp("us"), pa.time64("us"),
                                  pa.decimal128(20, 0), pa.binary(8)], ids=str)
def test_an_empty_cell_hides_no_number(kind):
    secret = b"\xfe\xca\xad\x0b"
    number = int.from_bytes(secret, "little")
    plain = pa.array([number, *range(N)], kind if pa.types.is_integer(kind) or pa.types.is_decimal(kind) else pa.int64())
    if pa.types.is_fixed_size_binary(kind):
        plain = pa.array([secret * 2, *[bytes(8)] * N], kind)
    values = plain if plain.type == kind else plain.view(kind)
    assert any(secret in buffer.to_pybytes() for buffer in all_of(values))
    X = pa.table({"age": AGES, "n": values})
    out = ic.Anonymizer(["age"], k=5, max_suppressed=1).fit_transform(X)
    assert out["n"].null_count == 1 and out["n"].to_pylist()[1:] == values.to_pylist()[1:]
    assert not any(secret in bytes_of for bytes_of in handed_out(out))
