"""Measures, one per process, what other engines need for the work that incrowd does.

Every subcommand prints one JSON line on stdout. CPU time counts all threads of the
process; the peak of memory includes Python and the library under measurement, which
is why each subcommand imports only what it uses.
"""

import argparse
import json
import os
import resource
import sys
import time
from contextlib import contextmanager
from pathlib import Path

# Above this many cells per record, sorting the codes beats clearing and scanning
# a counter for every possible combination. Roughly flat between 7 and 33 on Adult.
CELLS_PER_RECORD_MAX = 16


def main():
    args = parse_arguments()
    print(json.dumps(args.measure(args)))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name, measure, help):
        sub = commands.add_parser(name, help=help)
        sub.set_defaults(measure=measure)
        return sub

    def adult_command(name, measure, help):
        sub = command(name, measure, help)
        sub.add_argument("data", type=Path, help="adult.csv")
        sub.add_argument("hierarchies", type=Path, help="directory with one CSV per attribute")
        return sub

    sub = adult_command("annotate-numpy", annotate_numpy, "count Adult's 3,600 schemes in numpy")
    sub.add_argument("--plain", action="store_true",
                     help="combine every scheme's codes anew, and use np.unique as it is")
    adult_command("annotate-numpy-kl", annotate_numpy_kl,
                  "the same, with the distinct sensitive values per group")
    for name, measure in ("polars", annotate_polars), ("duckdb", annotate_duckdb):
        sub = adult_command(f"annotate-{name}", measure, f"the same as 3,600 GROUP BYs in {name}")
        sub.add_argument("--with-l", action="store_true",
                         help="with the distinct sensitive values per group")

    sub = command("generate-parquet", generate_parquet, "write a table of hospital discharges")
    sub.add_argument("path", type=Path)
    sub.add_argument("--records", type=int, default=10_000_000)
    sub.add_argument("--seed", type=int, default=7)

    sub = command("repeat-parquet", repeat_parquet, "write the records of a CSV file to Parquet, again and again")
    sub.add_argument("source", type=Path)
    sub.add_argument("path", type=Path)
    sub.add_argument("--times", type=int, default=100)

    sub = command("count-duckdb", count_duckdb, "one GROUP BY of a Parquet file, reading included")
    sub.add_argument("path", type=Path)
    sub.add_argument("--threads", type=int, default=1)
    sub.add_argument("--columns", required=True, type=lambda text: text.split(","),
                     help="comma-separated, the sensitive attribute among them")

    sub = command("mondrian-anonypy", mondrian_anonypy, "Mondrian on Adult in anonypy")
    sub.add_argument("data", type=Path, help="adult.csv")
    sub.add_argument("--k", type=int, default=10)
    sub.add_argument("--columns", required=True, type=lambda text: text.split(","),
                     help="the quasi-identifiers, comma-separated")
    sub.add_argument("--sensitive", required=True)
    return parser.parse_args()


@contextmanager
def measured(result):
    """Adds the CPU seconds, wall seconds and peak memory of its body to `result`."""
    cpu, wall = time.process_time(), time.perf_counter()
    yield
    result["cpu_s"] = round(time.process_time() - cpu, 6)
    result["wall_s"] = round(time.perf_counter() - wall, 6)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts in KiB, macOS in bytes.
    result["peak_mb"] = round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)


def annotate_numpy(args):
    import numpy as np
    from adult import Adult, Tally, run_lengths

    adult, tally = Adult(args.data, args.hierarchies), Tally()
    n_cells_max = CELLS_PER_RECORD_MAX * adult.n_records
    schemes = adult.combined_anew() if args.plain else adult.combined_from_prefixes()
    result = {
        "name": "numpy, plain" if args.plain else "numpy",
        "version": np.__version__,
        "threads": 1,
        "load_s": adult.load_s,
    }
    with measured(result):
        for codes, n_cells in schemes:
            if n_cells <= n_cells_max:
                sizes = np.bincount(codes)
                sizes = sizes[sizes > 0]
            elif args.plain:
                sizes = np.unique(codes, return_counts=True)[1]
            else:
                sizes = run_lengths(np.sort(codes))
            tally.add(sizes)
    return result | tally.sums()


def annotate_numpy_kl(args):
    import numpy as np
    from adult import Adult, Tally, run_lengths

    adult, tally = Adult(args.data, args.hierarchies), Tally(with_l=True)
    n_cells_max = CELLS_PER_RECORD_MAX * adult.n_records
    n_sensitive = adult.n_sensitive
    result = {
        "name": "numpy, k and l",
        "version": np.__version__,
        "threads": 1,
        "load_s": adult.load_s,
    }
    with measured(result):
        for codes, n_cells in adult.combined_from_prefixes():
            pairs = codes * n_sensitive + adult.sensitive
            if n_cells * n_sensitive <= n_cells_max:
                counts = np.bincount(pairs, minlength=n_cells * n_sensitive)
                counts = counts.reshape(n_cells, n_sensitive)
                sizes = counts.sum(axis=1)
                n_distinct = np.count_nonzero(counts, axis=1)
                n_distinct, sizes = n_distinct[sizes > 0], sizes[sizes > 0]
            else:
                pairs.sort()
                sizes = run_lengths(pairs // n_sensitive)
                is_new = np.append(True, pairs[1:] != pairs[:-1])
                starts = np.cumsum(sizes) - sizes
                n_distinct = np.add.reduceat(is_new, starts, dtype=np.int64)
            tally.add(sizes, n_distinct)
    return result | tally.sums()


def annotate_polars(args):
    # Read once, when polars is loaded.
    os.environ["POLARS_MAX_THREADS"] = "1"
    import polars as pl
    from adult import Adult, Tally

    assert pl.thread_pool_size() == 1, "polars must be measured on one thread"
    adult, tally = Adult(args.data, args.hierarchies), Tally(args.with_l)
    frame = pl.DataFrame(adult.columns())
    aggregates = [pl.len().alias("n")]
    if args.with_l:
        aggregates.append(pl.col("s").n_unique().alias("n_distinct"))
    result = {
        "name": "polars, k and l" if args.with_l else "polars",
        "version": pl.__version__,
        "threads": 1,
        "load_s": adult.load_s,
    }
    with measured(result):
        for scheme in adult.schemes():
            keys = adult.keys(scheme)
            # Eager: for 3,600 small queries, planning each lazily costs more than it saves.
            groups = frame.group_by(keys).agg(aggregates) if keys else frame.select(aggregates)
            columns = ["n", "n_distinct"] if args.with_l else ["n"]
            tally.add(*(groups[column].to_numpy() for column in columns))
    return result | tally.sums()


def annotate_duckdb(args):
    import duckdb
    from adult import Adult, Tally

    adult, tally = Adult(args.data, args.hierarchies), Tally(args.with_l)
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.register("columns", adult.columns())
    connection.execute("CREATE TABLE adult AS SELECT * FROM columns")
    connection.unregister("columns")
    sql = sizes_and_distinct_sql if args.with_l else sizes_sql
    result = {
        "name": "DuckDB, k and l" if args.with_l else "DuckDB",
        "version": duckdb.__version__,
        "threads": 1,
        "load_s": adult.load_s,
    }
    with measured(result):
        for scheme in adult.schemes():
            groups = connection.execute(sql(adult.keys(scheme))).fetchnumpy()
            tally.add(*groups.values())
    return result | tally.sums()


def sizes_sql(keys):
    return f"SELECT COUNT(*) AS n FROM adult {group_by(keys)}"


def sizes_and_distinct_sql(keys):
    """COUNT(DISTINCT s) spelled as two GROUP BYs, which DuckDB runs in two thirds of the time."""
    cells = f"SELECT {', '.join([*keys, 's'])}, COUNT(*) AS m FROM adult {group_by([*keys, 's'])}"
    return f"SELECT SUM(m)::INTEGER AS n, COUNT(*) AS n_distinct FROM ({cells}) {group_by(keys)}"


def group_by(keys):
    return f"GROUP BY {', '.join(keys)}" if keys else ""


def generate_parquet(args):
    import discharges

    result = {"name": "generate", "n_records": args.records, "seed": args.seed}
    with measured(result):
        discharges.write_parquet(args.path, args.records, args.seed)
    return result | {"n_bytes": args.path.stat().st_size}


def repeat_parquet(args):
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    once = pyarrow.csv.read_csv(args.source)
    table = pyarrow.concat_tables([once] * args.times).combine_chunks()
    partial = args.path.with_suffix(".partial")
    pyarrow.parquet.write_table(table, partial, row_group_size=250_000)
    partial.rename(args.path)
    return {"n_records": table.num_rows}


def count_duckdb(args):
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET threads = {args.threads}")
    columns = ", ".join('"' + column.replace('"', '""') + '"' for column in args.columns)
    sql = f"""
        SELECT COUNT(*), SUM(n)::BIGINT
        FROM (SELECT {columns}, COUNT(*) AS n FROM read_parquet(?) GROUP BY ALL)
    """
    result = {"name": "DuckDB", "version": duckdb.__version__, "threads": args.threads}
    with measured(result):
        n_cells, n_records = connection.execute(sql, [str(args.path)]).fetchone()
    return result | {"n_records": n_records, "n_cells": n_cells}


def mondrian_anonypy(args):
    """Puts the records into groups; anonypy's making of the published rows is left out."""
    import csv
    from importlib.metadata import version

    import anonypy
    import pandas as pd

    with args.data.open(newline="", encoding="utf-8") as file:
        records = [r for r in csv.DictReader(file) if "?" not in r.values()]
    frame = pd.DataFrame(records)[[*args.columns, args.sensitive]]
    for column in frame.columns:
        try:
            frame[column] = pd.to_numeric(frame[column])
        except ValueError:
            frame[column] = frame[column].astype("category")
    mondrian = anonypy.Mondrian(frame, args.columns, args.sensitive)
    result = {"name": "anonypy", "version": version("anonypy"), "threads": 1, "n_records": len(frame)}
    with measured(result):
        groups = mondrian.partition(args.k)
    return result | {"n_groups": len(groups), "smallest_group": min(map(len, groups))}


if __name__ == "__main__":
    main()
