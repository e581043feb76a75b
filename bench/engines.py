"""Counts and publishes one table through every engine at hand, beside the same from a Parquet file, in one run.

    python bench/engines.py PROGRAM [--records N] [--duckdb LIBRARY] [--sail PROGRAM] [--spark PYTHON] [--sail-python PYTHON]

PostgreSQL, Sail and a Spark cluster are started on loopback and stopped at the end. All releases have to be the same, and
what cannot be had is said. Seconds are on the clock, with whatever else the machine does; CPU is that of incrowd alone.
"""

import argparse
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

CHECKS = pathlib.Path(__file__).resolve().parent.parent / "checks"
PROJECT = """
[data]
{place}
[attributes.age]
role = "quasi-identifier"
hierarchy = {{ intervals = [5, 10, 20] }}
[attributes.sex]
role = "quasi-identifier"
[attributes.postcode]
role = "quasi-identifier"
hierarchy = {{ mask = [1, 2, 3] }}
[attributes.ward]
role = "quasi-identifier"
[attributes.ill]
role = "sensitive"
tells = "accepted"
"""
WISH = ["--k", "10", "--max-suppressed", "5%"]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("--records", type=int, default=300_000)
    for name in ("--duckdb", "--sail", "--spark", "--sail-python"):
        arguments.add_argument(name, default="")
    arguments.add_argument("--session", help="what this program asks of itself")
    args = arguments.parse_args()
    if args.session:
        return on_session(args)
    # The checks read their own words.
    sys.argv = [sys.argv[0], args.program, args.duckdb, args.sail]
    sys.path.insert(0, str(CHECKS))
    import with_databases as databases

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        table = generated(folder / "table.parquet", args.records)
        rows = [by_program(databases, folder, "Parquet", 'path = "../table.parquet"')]
        with databases.postgresql(folder) as server, databases.sail(folder) as flight:
            engines = [engine for engine in (server, flight) if engine]
            engines.insert(1, databases.Engine("sqlite", f"sqlite:{folder}/t.sqlite", {"uri": f"{folder}/t.sqlite"}))
            if args.duckdb:
                place = {"path": f"{folder}/t.duckdb"}
                engines.insert(2, databases.Engine("duckdb", f"duckdb:{folder}/t.duckdb", place))
            for engine in engines:
                fill(engine, table, folder)
                place = f'database = "{engine.uri}"\ntable = "discharges"'
                rows.append(by_program(databases, folder, engine.name, place, into=engine.name != "flightsql"))
        for session, python in [("spark", args.spark), ("sail", args.sail_python)]:
            if not python:
                print(f"{session} cannot be had here: left out")
                continue
            words = [python, __file__, args.program, "--session", session, "--sail", args.sail]
            told = subprocess.run([*words, "--records", str(args.records)], cwd=folder, stdout=subprocess.PIPE, text=True)
            rows.append(json.loads(told.stdout.splitlines()[-1]))
    print(f"\n{args.records:,} records; k = 10, at most 5% suppressed")
    print(f"{'':12}{'combinations':>14}{'count s':>10}{'CPU s':>8}{'file s':>10}{'CPU s':>8}{'table s':>10}{'verify s':>10}")
    for row in rows:
        cells = [row.get(name) for name in ("count", "count_cpu", "file", "file_cpu", "table", "verify")]
        texts = ["-" if cell is None else f"{cell:.2f}" for cell in cells]
        widths = (10, 8, 10, 8, 10, 10)
        print(f"{row['name']:12}{row['n_groups']:>14,}" + "".join(f"{text:>{width}}" for text, width in zip(texts, widths)))
    if len({row["n_groups"] for row in rows}) > 1 or len({row["release"] for row in rows}) > 1:
        sys.exit("the engines disagree")


def generated(path, n_records):
    """Hospital discharges, more or less: some combinations are frequent, most are not."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    dice = random.Random(7)
    columns = {
        "age": pa.array([min(99, int(dice.gauss(55, 20)) if dice.random() < 0.9 else 30) for _ in range(n_records)], pa.int64()),
        "sex": pa.array([dice.choice("fm") for _ in range(n_records)]),
        "postcode": pa.array([f"{8000 + int(dice.expovariate(0.05)) % 1000}" for _ in range(n_records)]),
        "ward": pa.array([dice.choice(["north", "south", "east", "west"]) for _ in range(n_records)]),
        "ill": pa.array([dice.choice(["flu", "gout", "cold", "asthma", "angina"]) for _ in range(n_records)]),
    }
    table = pa.table(columns)
    pq.write_table(table, path)
    return table


def fill(engine, table, folder):
    if engine.name == "flightsql":
        engine.run(f"CREATE TABLE discharges USING parquet LOCATION '{folder}/table.parquet'")
        return
    with engine.connected() as cursor:
        cursor.adbc_ingest("discharges", table, mode="create")
    if engine.name == "postgresql":
        engine.run("ANALYZE discharges")


def by_program(databases, folder, name, place, into=False):
    """What the program takes to count, to write a file, to make a table, and to verify that."""
    project = folder / f"by-{name}"
    project.mkdir()
    (project / "incrowd.toml").write_text(PROJECT.format(place=place))

    def timed(*words):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        told = databases.run(project, *words)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return told.stdout, time.monotonic() - start, cpu

    told, count, count_cpu = timed("count", "--json")
    _, file, file_cpu = timed("publish", *WISH, "-o", "release.csv")
    row = {"name": name, "n_groups": json.loads(told)["n_groups"], "count": count, "count_cpu": count_cpu,
           "file": file, "file_cpu": file_cpu, "release": digest((project / "release.csv").read_bytes())}
    if into:
        row["table"] = timed("publish", *WISH, "--into", "released")[1]
        row["verify"] = timed("verify", "--table", "released", "--project", ".")[1]
    return row


def digest(data):
    import hashlib

    return hashlib.sha256(data).hexdigest()


def on_session(args):
    """The same through a session of Spark or Sail; the sessions' own starts are not counted."""
    sys.argv = sys.argv[:1]
    sys.path.insert(0, str(CHECKS))
    import with_spark
    import pyarrow.csv
    from pyspark.sql import SparkSession

    import incrowd as ic
    import incrowd.spark

    here = pathlib.Path.cwd()
    with with_spark.session_of(args.session, args.sail) as session:
        frame = session.read.parquet(str(here / "table.parquet"))
        frame.limit(1).collect()
        start = time.monotonic()
        counted = incrowd.spark.count(frame, here / "by-Parquet")
        count = time.monotonic() - start
        start = time.monotonic()
        release = counted.publish(k=10, max_suppressed="5%")
        certificate = release.write(here / f"released-{args.session}")
        table = time.monotonic() - start
        start = time.monotonic()
        verdict = incrowd.spark.verify(session.read.parquet(str(here / f"released-{args.session}")), certificate)
        verify = time.monotonic() - start
        assert verdict.holds, verdict
        _, records = with_spark.records_of(here / f"released-{args.session}")
        texts = [[("" if cell is None else str(cell)) for cell in column.to_pylist()] for column in records.columns]
        lines = [",".join(records.column_names), *map(",".join, zip(*texts))]
        release = digest(("\n".join(lines) + "\n").encode())
    row = {"name": args.session, "n_groups": counted.table.order("count")["n_groups"], "count": count, "table": table,
           "verify": verify, "release": release}
    print(json.dumps(row))


if __name__ == "__main__":
    main()
