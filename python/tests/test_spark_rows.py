"""What incrowd.spark does with rows here, beside the plain way: no cluster is needed for it (make test-cluster has one)."""

import datetime
import decimal
import random

import pytest

pa = pytest.importorskip("pyarrow")
spark = pytest.importorskip("incrowd.spark")

VALUES = {
    "text": (pa.string(), ["a", "b", "B", "a ", "", None, "Ü", "10", "9"]),
    "number": (pa.int64(), [0, -1, 9, 10, 100, None]),
    "score": (pa.float64(), [0.0, 1.5, -2.0, 10.0, 9.25, None]),
    "day": (pa.date32(), [datetime.date(999, 2, 1), datetime.date(2024, 2, 29), None]),
    "bill": (pa.decimal128(8, 2), [decimal.Decimal("1.50"), decimal.Decimal("10.00"), decimal.Decimal("9.99"), None]),
    "is": (pa.bool_(), [True, False, None]),
}


def table(dice, names, n):
    """Different rows, and how many records each is."""
    rows = {tuple(dice.choice(VALUES[name][1]) for name in names): dice.randint(1, 9) for _ in range(n)}
    columns = [pa.array([row[i] for row in rows], VALUES[name][0]) for i, name in enumerate(names)]
    return pa.table([*columns, pa.array(rows.values(), pa.int64())], names=[*names, "n"])


def keys(rows):
    def text(value):
        if isinstance(value, float):
            value = format(value, "g") if value % 1 else int(value)
        return b"" if value is None else str(value).encode()

    return [tuple(text(value) for value in row) for row in zip(*(column.to_pylist() for column in rows.columns[:-1]))]


def test_rows_are_in_the_order_of_their_bytes():
    dice = random.Random(22)
    for _ in range(60):
        rows = table(dice, dice.sample(list(VALUES), dice.randint(1, 4)), 40)
        found = spark._in_order(rows)
        assert keys(found) == sorted(keys(rows))
        assert sorted(map(str, found.to_pylist())) == sorted(map(str, rows.to_pylist()))


def test_the_same_rows_are_known_whatever_their_order_and_others_are_not():
    dice = random.Random(23)
    for _ in range(60):
        rows = table(dice, dice.sample(list(VALUES), dice.randint(1, 4)), 40)
        places = list(range(rows.num_rows))
        dice.shuffle(places)
        turned = rows.take(places)
        is_in_order = places == sorted(places)
        assert spark._are_same(turned, rows) and spark._are_same(rows, rows, in_order=True)
        assert spark._are_same(turned, rows, in_order=True) == is_in_order
        assert spark._are_same(turned.select(rows.column_names[::-1]), rows)
        values = rows["n"].to_pylist()
        values[0] += 1
        other = rows.set_column(rows.num_columns - 1, "n", pa.array(values, pa.int64()))
        assert not spark._are_same(other, rows) and not spark._are_same(rows.slice(1), rows)
    # 1 and 1.0 are two values, and so are no value and the empty text.
    def one(value, kind):
        return pa.table({"a": pa.array([value], kind)})

    assert not spark._are_same(one(1, pa.int64()), one(1.0, pa.float64()))
    assert not spark._are_same(one(None, pa.string()), one("", pa.string()))
    assert not spark._are_same(one(-0.0, pa.float64()), one(0.0, pa.float64()))
    assert spark._are_same(one("x", pa.large_string()), one("x", pa.string()))


def test_files_are_of_equal_length_and_have_all_records_in_order():
    dice = random.Random(24)
    for _ in range(60):
        sizes = [dice.choice([0, 1, 3, 40, 999]) for _ in range(dice.randint(0, 12))]
        n_per_file, n_at_once = dice.randint(1, 200), dice.randint(1, 50)
        files = spark._by_file(sizes, n_per_file, n_at_once)
        given = [row for at, n in files for row, size in zip(at, n) for _ in range(size)]
        assert given == [row for row, size in enumerate(sizes) for _ in range(size)]
        assert all(sum(n) == n_per_file for _, n in files[:-1]) and len(files) == max(1, -(-sum(sizes) // n_per_file))
        assert all(0 < size <= n_at_once for _, n in files for size in n)
