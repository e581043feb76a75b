"""Tables that live on a Spark cluster: counted there, published there, verified there.

Records never leave the cluster: what comes here is one row per combination, and what goes back is one row per distinct
row of the release. Only operations on data frames are used, so that a session of Spark, of Spark Connect and of what
speaks its protocol does. ``pip install 'incrowd[spark]'``.

    import incrowd.spark
    people = spark.read.parquet("hdfs:///clinic/discharges")
    counted = incrowd.spark.count(people, "project")         # incrowd.toml, as for a file
    counted.table.negotiate(k=10)                            # everything that a Table does
    counted.publish(k=10).write("hdfs:///clinic/discharges_k10")
    incrowd.spark.verify(spark.read.parquet("hdfs:///clinic/discharges_k10"), "discharges_k10.certificate.json").holds
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._error import Error
from ._objects import Verdict
from ._table import PathLike, Table, verify as _verify

# A row of the release that stands for more records becomes them in several steps, so that they are not all in memory at once.
_N_RECORDS_PER_PIECE = 1 << 16
_N_ROWS_PER_FILE = 2_000_000
# What a file is made of goes to the cluster as so many rows, which is less than an engine takes a sample of.
_N_PARTS_PER_FILE = 16
# Records that are in memory at once where files are written or read here.
_N_RECORDS_AT_ONCE = 1 << 18
_ORDER_IS_LOST = "the engine lost the order of the records; nothing was published"
_ORDER_IS_UNKNOWN = "this engine does not tell in which order the records are; nothing was published"


def count(df: Any, project: PathLike) -> Counted:
    """What a project counts, counted by the cluster: a table of combinations that every method of ``Table`` takes.

    Texts are the same where all of their bytes are, whatever the collation of a column; numbers, dates and moments are
    grouped as they are and written by incrowd. The sizes of all combinations have to add up to the number of records,
    which the cluster counts once more on its own: where they do not, the table changed under way, and that is an error.
    Identifiers are not among the combinations; whether they repeat, so that people should be counted and not records, is
    asked of the cluster too, unless the project says that records are meant.
    """
    F = _functions(df)
    opened = Table.open(project)
    columns_of = list(df.columns) if opened._native.keeps_other() else []
    asked = opened.order("count", sql=True, dialect="spark", table="records", columns=columns_of)
    number = asked["counted"]
    types = {field.name: field.dataType.typeName() for field in df.schema.fields}
    columns = []
    for name in (column["name"] for column in asked["columns"]):
        if name not in types:
            raise Error(f"the data frame has no column '{name}'", hint=f"it has: {', '.join(types)}")
    # A release has its columns in the order of the table.
    in_order = sorted(asked["columns"], key=lambda column: list(types).index(column["name"]))
    for column in in_order:
        name = column["name"]
        value = df[_quoted(name)]
        if types[name] in ("string", "varchar", "char"):
            value = value.cast("binary").cast("string")
        elif types[name] in ("array", "map", "struct", "binary", "variant"):
            raise Error(f"column '{name}' is of the type {types[name]}, which cannot be read", hint="give a text or a number")
        if column["only_presence"]:
            text = value.cast("string")
            value = F.when(text.isNotNull() & ~text.isin(asked["missing"]), F.lit("there"))
        columns.append(value.alias(name))
    counts = _arrow(df.select(*columns).groupBy(*[_quoted(column["name"]) for column in in_order])
                    .agg(F.count(F.lit(1)).alias(number)))
    n_counted, n_records = sum(counts[number].to_pylist()), df.count()
    if n_counted != n_records:
        raise Error(f"{n_counted} records were counted by their values and {n_records} in all: the table changed under way")
    import pyarrow.parquet

    folder = tempfile.TemporaryDirectory(prefix="incrowd-")
    path = os.path.join(folder.name, "counts.parquet")
    pyarrow.parquet.write_table(counts, path)
    identifiers = [name for name in opened._native.unasked_identifiers() if types.get(name) in _OF_PEOPLE]
    seen = [_seen(df, name, asked["missing"]) for name in identifiers]
    table = Table._of_combinations(project, path, number, identifiers=seen)
    # The combinations are there as long as the table is.
    table._folder = folder
    return Counted(table, df.sparkSession, n_records)


# Nobody is called by a date or a measurement.
_OF_PEOPLE = ("string", "varchar", "char", "byte", "short", "integer", "long")


def _seen(df: Any, name: str, missing: list[str]) -> tuple[str, int, int, int]:
    """An identifier: records that have a value there, different values, and how many of these several records have."""
    F = _functions(df)
    values = df.select(df[_quoted(name)].cast("string").cast("binary").cast("string").alias("value"))
    values = values.where(F.col("value").isNotNull() & ~F.col("value").isin(missing))
    each = values.groupBy("value").agg(F.count(F.lit(1)).alias("n"))
    several = F.sum(F.when(F.col("n") > 1, 1).otherwise(0))
    found = each.agg(F.sum("n").alias("n_records"), F.count(F.lit(1)).alias("n_different"), several.alias("n_several")).collect()
    row = found[0]
    return name, int(row["n_records"] or 0), int(row["n_different"]), int(row["n_several"] or 0)


@dataclass
class Counted:
    """A table on a cluster, by its combinations."""

    table: Table
    session: Any
    n_records: int

    def publish(self, **order: Any) -> SparkRelease:
        """The release that the flags of ``incrowd publish`` would give, as keywords: nothing is written yet."""
        rows = os.path.join(self.table._folder.name, f"{uuid.uuid4().hex}.parquet")
        said = self.table.order("publish", rows=True, output=rows, **order)
        if not said.get("published"):
            raise Error("this request cannot be met, and nothing is published", hint="ask table.negotiate(…) for offers")
        kinds = ("published", "suppressed", "dropped", "left_out")
        n_said = sum(said.get(f"n_records_{kind}") or 0 for kind in kinds)
        if n_said != self.n_records:
            raise Error(f"{n_said} records are published, suppressed or left out, of {self.n_records}: nothing is published")
        import pyarrow.parquet

        certificate = json.loads(Path(said["certificate"]).read_text(encoding="utf-8"))
        return SparkRelease(pyarrow.parquet.read_table(rows), certificate, said, self.session)


@dataclass
class SparkRelease:
    """A release as its distinct rows, in order, with how many records each is."""

    rows: Any
    certificate: dict[str, Any]
    #: What ``incrowd publish --json`` says of it.
    said: dict[str, Any]
    session: Any

    def write(self, target: PathLike, *, certificate: PathLike | None = None) -> Path:
        """Writes the records as a folder of Parquet files, in order, or as a table, where ``target`` is no path.

        They are written under another name, verified there as they lie, and get their name then: whatever ends the work
        before leaves nothing under it. What is there already is never replaced. The certificate, of the distinct rows, goes beside, or to
        ``certificate``; returns where it is.
        """
        target = os.fspath(target)
        is_path = "/" in target or os.sep in target
        name = target.rstrip("/").rsplit("/", 1)[-1].rsplit(".", 1)[-1] if not is_path else target.rstrip("/").rsplit("/", 1)[-1]
        beside = Path(certificate) if certificate else Path(f"{target.rstrip('/')}.certificate.json" if is_path and "://" not in target else f"{name}.certificate.json")
        if beside.exists():
            raise Error(f"{beside} is there already", hint="give another name")
        place = _place(self.session, target)
        place.check_free()
        staged = place.staged()
        try:
            if _has_ranges(self.session):
                place.write(self._records(), staged)
            else:
                place.write_here(self._pieces(), staged)
            written = place.read(staged)
            rows, n_records = _rows(written, self.certificate["counted"])
            # The rows were verified here; records that are these rows keep what they keep, also what needs the project to
            # be judged.
            if n_records != _n_of(self.rows, self.certificate["counted"]) or not _are_same(rows, self.rows):
                raise Error("the cluster wrote other records than were given to it; nothing was published")
            if _verify(_in_order(rows), certificate=self.certificate).answer == "broken":
                raise Error("the release that was written does not keep its promise; nothing was published")
            place.check_order(written, self.rows, self.certificate, staged)
            place.rename(staged)
        except BaseException:
            place.remove(staged)
            raise
        beside.write_text(json.dumps(self.certificate, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return beside

    def _records(self) -> Any:
        """The records on the cluster, in order, in files of equal length.

        Which distinct row goes into which file, and how often, is decided here. A file goes there as a few rows with lists
        of distinct rows, always as many, so that the engine splits between files exactly; they become records where the
        file is written, so that no record has to be moved or sorted.
        """
        import pyarrow as pa

        number = self.certificate["counted"]
        rows = self.rows.drop_columns([number])
        names = rows.column_names
        places: list[int] = []
        sizes: list[int] = []
        ends, of_file = [0], []
        files = _by_file(self.rows[number].to_pylist(), _N_ROWS_PER_FILE, _N_RECORDS_PER_PIECE)
        for i, (at, n) in enumerate(files):
            for j in range(_N_PARTS_PER_FILE):
                first, end = (len(at) * k // _N_PARTS_PER_FILE for k in (j, j + 1))
                places += at[first:end]
                sizes += n[first:end]
                ends.append(len(places))
                of_file.append(i)
        taken = rows.take(pa.array(places, pa.int64())).combine_chunks()
        # By their numbers: names may be anything.
        columns = [pa.array([], column.type) if not column.num_chunks else column.chunk(0) for column in taken.columns]
        pieces = pa.StructArray.from_arrays([*columns, pa.array(sizes, pa.int64())], [f"c{i}" for i in range(len(names) + 1)])
        lists = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pieces)
        given = self.session.createDataFrame(
            pa.table({"file": pa.array(of_file, pa.int64()), "part": pa.array(range(len(of_file)), pa.int64()), "pieces": lists})
        )
        F = _functions(given)
        parts = given.repartitionByRange(len(files), "file").sortWithinPartitions("part")
        each = parts.select(F.explode("pieces").alias("piece"))
        size = F.col("piece")[f"c{len(names)}"]
        records = each.select("piece", F.explode(F.sequence(F.lit(1), size)).alias("i"))
        return records.select(*[F.col("piece")[f"c{i}"].alias(name) for i, name in enumerate(names)])

    def _pieces(self) -> Iterator[Any]:
        """The records in order, here."""
        number = self.certificate["counted"]
        return _expanded(self.rows.drop_columns([number]), self.rows[number].to_pylist())


def verify(data: Any, certificate: PathLike | dict[str, Any], *, session: Any = None) -> Verdict:
    """Judges a table on a cluster by its certificate: by a GROUP BY of its own, whose sizes have to add up to its records.

    ``data`` is a data frame, the path of a folder of Parquet files, or the name of a table, which are looked for in the
    ``session`` at hand. Of a path or a table, the order of records is judged too, where the engine tells it; a data frame
    has none. What needs the source to be judged, a promise about people, is not judged.
    """
    said: dict[str, Any]
    said = certificate if isinstance(certificate, dict) else json.loads(Path(certificate).read_text(encoding="utf-8"))
    number = said.get("counted")
    if number is None:
        raise Error("the certificate is not of distinct rows", hint="the one that incrowd.spark wrote")
    if not isinstance(data, (str, os.PathLike)):
        return _verify(_in_order(_rows(data, number)[0]), certificate=said)
    target = os.fspath(data)
    place = _place(session or _session(), target)
    written = place.read(target)
    rows = _in_order(_rows(written, number)[0])
    try:
        place.check_order(written, rows, said, target)
    except Error as error:
        if error.message == _ORDER_IS_LOST:
            # It is not theirs, whichever it is.
            rows = rows.take(list(range(rows.num_rows - 1, -1, -1)))
        elif error.message != _ORDER_IS_UNKNOWN:
            raise
    return _verify(rows, certificate=said)


def _session() -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise Error("pyspark is not installed", hint="pip install 'incrowd[spark]'") from error
    session = SparkSession.getActiveSession()
    if session is None:
        raise Error("there is no session of Spark", hint="begin one, or give it as session=")
    return session


def _place(session: Any, target: str) -> _Files | _Tables:
    """What is no path is the name of a table."""
    return _Files(session, target) if "/" in target or os.sep in target else _Tables(session, target)


def _rows(data: Any, number: str) -> tuple[Any, int]:
    """The distinct rows of a table with how many records each is, and how many there are by a count of its own."""
    F = _functions(data)
    rows = _arrow(data.groupBy(*[_quoted(name) for name in data.columns]).agg(F.count(F.lit(1)).alias(number)))
    n_records = data.count()
    if _n_of(rows, number) != n_records:
        raise Error("the sizes of the groups do not add up to the number of records: the table changed under way")
    return rows, n_records


def _are_same(rows: Any, others: Any, in_order: bool = False) -> bool:
    """Whether two tables have the same rows, in any order or in the same one."""

    def of(table: Any) -> list[str]:
        reprs = [repr(row) for row in zip(*(table[name].to_pylist() for name in others.column_names))]
        return reprs if in_order else sorted(reprs)

    if rows.num_rows != others.num_rows or sorted(rows.column_names) != sorted(others.column_names):
        return False
    return _are_same_at_once(rows, others, in_order) or of(rows) == of(others)


def _are_same_at_once(rows: Any, others: Any, in_order: bool) -> bool:
    """The same for types of which nothing is equal but what is written alike; false where it is not known."""
    import pyarrow as pa

    def plain(table: Any) -> Any:
        columns = []
        for name in others.column_names:
            column = table[name]
            if pa.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            columns.append(column.cast(pa.large_string()) if _is_text(column.type) else column)
        return pa.table(columns, names=[str(i) for i in range(len(columns))])

    ours, theirs = plain(others), plain(rows)
    types = ours.schema.types
    if types != theirs.schema.types or not all(_is_text(type_) or pa.types.is_integer(type_) or pa.types.is_date32(type_) for type_ in types):
        return False
    if in_order:
        return bool(ours.equals(theirs))
    keys = [(name, "ascending") for name in ours.column_names]
    return bool(ours.sort_by(keys).equals(theirs.sort_by(keys)))


def _is_text(type_: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_))


def _in_order(rows: Any) -> Any:
    """Rows as a release has them: by the bytes of what is published; the last column says how many records a row is."""
    import pyarrow as pa
    import pyarrow.compute

    texts = {str(i): _texts(rows[name]) for i, name in enumerate(rows.column_names[:-1])}
    if not texts:
        return rows
    return rows.take(pa.compute.sort_indices(pa.table(texts), [(name, "ascending") for name in texts]))


def _texts(column: Any) -> Any:
    """The bytes of what is published; nothing comes where the empty text does."""
    import pyarrow as pa

    type_ = column.type
    if _is_text(type_) or pa.types.is_integer(type_):
        return column.cast(pa.large_string()).cast(pa.large_binary()).fill_null(b"")
    values = column.to_pylist()
    if pa.types.is_floating(type_):
        values = [value if value is None else format(value, "g") if value % 1 else str(int(value)) for value in values]
    return pa.array([b"" if value is None else str(value).encode() for value in values], pa.large_binary())


class _Files:
    """A folder of Parquet files."""

    def __init__(self, session: Any, path: str) -> None:
        self.session, self.path = session, path.rstrip("/")

    def check_free(self) -> None:
        if self._exists(self.path):
            raise Error(f"{self.path} is there already", hint="give another name; nothing is replaced")

    def staged(self) -> str:
        folder, _, name = self.path.rpartition("/")
        # Files whose names begin with . are nobody's table.
        return f"{folder}/.{name}.{uuid.uuid4().hex}"

    def write(self, records: Any, staged: str) -> None:
        records.write.mode("error").parquet(staged)

    def write_here(self, pieces: Iterator[Any], staged: str) -> None:
        """The same where the engine does not keep records in order: this program writes the files, one after the other."""
        import pyarrow.parquet as pq

        os.makedirs(staged)
        file: Any = None
        n_files, n_left, names = 0, 0, []
        try:
            for piece in pieces:
                names = piece.column_names
                while piece.num_rows or file is None:
                    if n_left == 0:
                        if file is not None:
                            file.close()
                        file = pq.ParquetWriter(os.path.join(staged, f"part-{n_files:05}.parquet"), piece.schema)
                        n_files, n_left = n_files + 1, _N_ROWS_PER_FILE
                    n_now = min(n_left, piece.num_rows)
                    file.write_table(piece.slice(0, n_now))
                    piece, n_left = piece.slice(n_now), n_left - n_now
        finally:
            if file is not None:
                file.close()
        why = None
        try:
            is_found = self.read(staged).columns == names
        except Exception as error:
            is_found, why = False, error
        if not is_found:
            raise Error(
                f"the engine does not find what was written to {os.path.dirname(staged) or '.'}; nothing was published",
                hint="write to a folder that this program and the engine see under the same path",
            ) from why

    def read(self, staged: str) -> Any:
        return self.session.read.parquet(staged)

    def check_order(self, written: Any, rows: Any, certificate: dict[str, Any], staged: str) -> None:
        """File by file in the order of their names, record by record: no row comes before one that stands before it."""
        import pyarrow as pa

        if not _has_places(written):
            return self.check_order_here(rows, certificate, staged)
        F = _functions(written)
        number = certificate["counted"]
        names = [name for name in rows.column_names if name != number]
        file, first, last, n = (_free(word, [*names, number]) for word in ("file", "first", "last", "n"))
        found = written.select(
            *map(_quoted, names), F.col("_metadata.file_name").alias(file), F.col("_metadata.row_index").alias(first)
        )
        # In order, the records of a row lie in one run, or go on where the next file begins: what comes here is hardly more
        # than there are rows.
        runs = found.groupBy(*map(_quoted, [*names, file])).agg(
            F.min(first).alias(first), F.max(first).alias(last), F.count(F.lit(1)).alias(n)
        )
        n_at_most = rows.num_rows + len(written.inputFiles())
        runs = _arrow(runs.limit(n_at_most + 1))
        if runs.num_rows > n_at_most or sum(runs[n].to_pylist()) != _n_of(rows, number):
            raise Error(_ORDER_IS_LOST)
        runs = runs.sort_by([(file, "ascending"), (first, "ascending")])
        places = zip(runs[first].to_pylist(), runs[last].to_pylist(), runs[n].to_pylist())
        if any(end - start + 1 != size for start, end, size in places):
            raise Error(_ORDER_IS_LOST)
        of_file, values = runs[file].to_pylist(), runs.select(names)

        def goes_on(i: int) -> bool:
            return i > 0 and of_file[i] != of_file[i - 1] and values.slice(i, 1).to_pylist() == values.slice(i - 1, 1).to_pylist()

        begun = values.take(pa.array([i for i in range(runs.num_rows) if not goes_on(i)], pa.int64()))
        if not _are_same(begun, rows.select(names), in_order=True):
            raise Error(_ORDER_IS_LOST)

    def check_order_here(self, rows: Any, certificate: dict[str, Any], staged: str) -> None:
        """The same where the engine does not tell where records are: the files are read here, one after the other."""
        import pyarrow.parquet as pq

        if not os.path.isdir(staged):
            raise Error(_ORDER_IS_UNKNOWN, hint="write to a path that this program sees too")
        number = certificate["counted"]
        values = rows.drop_columns([number])
        expected = _expanded(values, rows[number].to_pylist())
        left = values.slice(0, 0)
        for file in sorted(Path(staged).glob("*.parquet")):
            for batch in pq.ParquetFile(file).iter_batches(columns=values.column_names):
                n_done = 0
                while n_done < batch.num_rows:
                    if left.num_rows == 0:
                        left = next(expected, left)
                    n_now = min(batch.num_rows - n_done, left.num_rows)
                    if n_now == 0 or not _says(batch.slice(n_done, n_now), left.slice(0, n_now)):
                        raise Error(_ORDER_IS_LOST)
                    n_done, left = n_done + n_now, left.slice(n_now)
        if left.num_rows or next(expected, left).num_rows:
            raise Error(_ORDER_IS_LOST)

    def rename(self, staged: str) -> None:
        self.check_free()
        files = self._hadoop()
        if files is not None:
            if not files[0].rename(files[1](staged), files[1](self.path)):
                raise Error(f"{self.path} cannot be given its name")
        else:
            os.rename(staged, self.path)

    def remove(self, staged: str) -> None:
        files = self._hadoop()
        if files is not None:
            files[0].delete(files[1](staged), True)
        else:
            import shutil

            shutil.rmtree(staged, ignore_errors=True)

    def _exists(self, path: str) -> bool:
        files = self._hadoop()
        return bool(files[0].exists(files[1](path))) if files is not None else os.path.exists(path)

    def _hadoop(self) -> Any:
        """The file system of the path, where the session tells it; a session of Spark Connect does not."""
        jvm = getattr(self.session, "_jvm", None)
        if jvm is None:
            if "://" in self.path:
                raise Error("this session cannot rename files elsewhere", hint="give the name of a table, or a local path")
            return None
        path = jvm.org.apache.hadoop.fs.Path
        return path(self.path).getFileSystem(self.session._jsc.hadoopConfiguration()), path


class _Tables:
    """A table of the catalog."""

    def __init__(self, session: Any, name: str) -> None:
        if not re.fullmatch(r"[\w$]+(\.[\w$]+){0,2}", name):
            raise Error(f"'{name}' is no name of a table", hint="letters, digits, _ and $; with catalog and schema before dots")
        self.session, self.name = session, name

    def check_free(self) -> None:
        if self.session.catalog.tableExists(self.name):
            raise Error(f"the table {self.name} is there already", hint="give another name; nothing is replaced")

    def staged(self) -> str:
        return f"{self.name}_{uuid.uuid4().hex}"

    def write(self, records: Any, staged: str) -> None:
        records.write.mode("error").format("parquet").saveAsTable(staged)

    def write_here(self, pieces: Iterator[Any], staged: str) -> None:
        raise Error(_ORDER_IS_UNKNOWN, hint="write to a path that this program sees too")

    def read(self, staged: str) -> Any:
        return self.session.table(staged)

    def check_order(self, written: Any, rows: Any, certificate: dict[str, Any], staged: str) -> None:
        _Files.check_order(self, written, rows, certificate, staged)  # type: ignore[arg-type]

    def check_order_here(self, rows: Any, certificate: dict[str, Any], staged: str) -> None:
        raise Error(_ORDER_IS_UNKNOWN, hint="write to a path that this program sees too")

    def rename(self, staged: str) -> None:
        self.session.sql(f"ALTER TABLE {staged} RENAME TO {self.name}")

    def remove(self, staged: str) -> None:
        self.session.sql(f"DROP TABLE IF EXISTS {staged}")


def _functions(df: Any) -> Any:
    try:
        from pyspark.sql import functions
    except ImportError as error:
        raise Error("pyspark is not installed", hint="pip install 'incrowd[spark]'") from error
    if not hasattr(df, "groupBy"):
        raise Error("a data frame of Spark is needed", hint="spark.read.parquet(…), spark.table(…)")
    return functions


def _arrow(df: Any) -> Any:
    """A small data frame, here."""
    if hasattr(df, "toArrow"):
        return df.toArrow()
    import pyarrow as pa

    return pa.Table.from_pandas(df.toPandas(), preserve_index=False)


def _has_ranges(session: Any) -> bool:
    """Whether the engine can put neighbours together, and the lowest first; Sail takes the order and does something else."""
    given = session.range(8)
    F = _functions(given)
    try:
        parts = given.repartitionByRange(2, "id").select("id", F.spark_partition_id().alias("part")).collect()
    except Exception:
        return False
    return max((row["id"] for row in parts if row["part"] == 0), default=8) < min(
        (row["id"] for row in parts if row["part"] != 0), default=-1
    )


def _has_places(written: Any) -> bool:
    """Whether the engine tells in which file a record is, and where."""
    try:
        return bool(written.select("_metadata.file_name", "_metadata.row_index").columns)
    except Exception:
        return False


def _expanded(rows: Any, sizes: list[int]) -> Iterator[Any]:
    """As many records of each row as it stands for, in pieces that fit into memory; at least one piece."""
    import pyarrow as pa

    rows = rows.combine_chunks()
    places: list[int] = []
    for row, n_left in enumerate(sizes):
        while n_left > 0:
            n_now = min(n_left, _N_RECORDS_AT_ONCE - len(places))
            places += [row] * n_now
            n_left -= n_now
            if len(places) == _N_RECORDS_AT_ONCE:
                yield rows.take(pa.array(places, pa.int64()))
                places = []
    yield rows.take(pa.array(places, pa.int64()))


def _by_file(sizes: list[int], n_per_file: int, n_at_once: int) -> list[tuple[list[int], list[int]]]:
    """Which rows a file has, and how many records of each at once: files of equal length, at least one."""
    files: list[tuple[list[int], list[int]]] = [([], [])]
    n_left = n_per_file
    for row, n in enumerate(sizes):
        while n > 0:
            if n_left == 0:
                files.append(([], []))
                n_left = n_per_file
            n_now = min(n, n_left, n_at_once)
            files[-1][0].append(row)
            files[-1][1].append(n_now)
            n, n_left = n - n_now, n_left - n_now
    return files


def _says(found: Any, expected: Any) -> bool:
    """Whether records that were read say what these say, whatever types a file has for it."""
    import pyarrow as pa

    for name in expected.column_names:
        column = expected[name]
        try:
            same = pa.chunked_array([found.column(name)]).cast(column.type).equals(column)
        except pa.ArrowInvalid:
            return False
        if not same:
            return False
    return True


def _n_of(rows: Any, number: str) -> int:
    return sum(rows[number].to_pylist())


def _free(word: str, taken: list[str]) -> str:
    while word in taken:
        word += "_"
    return word


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
