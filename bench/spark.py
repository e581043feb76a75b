"""What counting, deciding, writing and verifying cost on a Spark cluster, by the number of records.

    PYTHONPATH=target/python-spark target/venv-spark/bin/python bench/spark.py [--records 1000000,10000000] [--keep FOLDER]

A master and two workers of one core each are started on loopback, and stopped at the end. The table is made by Spark itself:
age (79 values), sex (2), zip (400) and ill (6), independent of each other, so that there are 379,200 combinations at most.
Seconds are on the clock, with whatever else the machine does; behind the stroke is the processor time of the cluster and of
this program, where the system tells it (Linux).
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import sys
import tempfile
import time

CHECKS = pathlib.Path(__file__).resolve().parent.parent / "checks"
PROJECT = """
[data]
path = "table.parquet"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20] }
[attributes.sex]
role = "quasi-identifier"
[attributes.zip]
role = "quasi-identifier"
hierarchy = { mask = [1, 2, 3] }
[attributes.ill]
role = "sensitive"
tells = "accepted"
"""
ILLS = ["flu", "gout", "cold", "asthma", "angina", "anaemia"]
# Nothing is generalized, so that a release has nearly as many distinct rows as the table.
WISH = {"k": 5, "max_suppressed": "5%", "max_level": {"age": 0, "sex": 0, "zip": 0}}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--records", default="1000000,10000000", help="numbers of records, with commas between")
    arguments.add_argument("--keep", help="a folder for tables and releases, which are removed otherwise")
    args = arguments.parse_args()
    # The checks read their own words.
    sys.argv = sys.argv[:1]
    sys.path.insert(0, str(CHECKS))
    import with_spark

    with contextlib.ExitStack() as stack:
        if args.keep:
            folder = pathlib.Path(args.keep).resolve()
            folder.mkdir(parents=True, exist_ok=True)
        else:
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="incrowd-spark-bench-")))
        (folder / "incrowd.toml").write_text(PROJECT)
        session = stack.enter_context(with_spark.session_of("spark", None))
        steps = ("count", "decide", "write", "verify")
        titles = "".join(f"{f'{step}, s / CPU s':>20}" for step in steps)
        print(f"{'records':>13}{'combinations':>14}{'rows':>10}{'files':>7}{titles}")
        # What begins with the first work of a session is no part of any line.
        measured(session, folder, 100_000, {"k": 5, "max_suppressed": "100%"})
        for n_records in map(int, args.records.split(",")):
            row = measured(session, folder, n_records)
            numbers = f"{n_records:>13,}{row['combinations']:>14,}{row['rows']:>10,}{row['files']:>7}"
            texts = [f"{clock:.1f} / {'-' if cpu is None else f'{cpu:.1f}'}" for clock, cpu in map(row.get, steps)]
            print(numbers + "".join(f"{text:>20}" for text in texts), flush=True)


def measured(session, folder, n_records, wish=WISH):
    import incrowd.spark
    import pyarrow.parquet as pq

    table = folder / f"table-{n_records}"
    if not table.exists():
        generated(session, n_records).write.parquet(str(table))
    released = folder / f"released-{n_records}"
    shutil.rmtree(released, ignore_errors=True)
    beside = folder / f"released-{n_records}.certificate.json"
    beside.unlink(missing_ok=True)
    seconds = {}

    def timed(name, work):
        start, before = time.monotonic(), processor_time()
        result = work()
        after = processor_time()
        seconds[name] = time.monotonic() - start, after and before and after - before
        return result

    counted = timed("count", lambda: incrowd.spark.count(session.read.parquet(str(table)), folder))
    release = timed("decide", lambda: counted.publish(**wish))
    certificate = timed("write", lambda: release.write(released))
    verdict = timed("verify", lambda: incrowd.spark.verify(str(released), certificate, session=session))
    assert verdict.holds, verdict
    files = list(released.glob("*.parquet"))
    if "incrowd-spark-bench-" in str(folder):
        shutil.rmtree(table)
        shutil.rmtree(released)
    return {"combinations": pq.read_metadata(f"{counted.table._folder.name}/counts.parquet").num_rows, "rows": release.rows.num_rows, "files": len(files), **seconds}


def processor_time():
    """Of this program, and of all that it started: the master, the workers and what these started."""
    tick, parents, ticks = os.sysconf("SC_CLK_TCK"), {}, {}
    for file in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            cells = file.read_text().rsplit(")", 1)[1].split()
            parents[int(file.parent.name)], ticks[int(file.parent.name)] = int(cells[1]), sum(map(int, cells[11:15]))
    if os.getpid() not in ticks:
        return None

    def is_ours(process):
        while process not in (os.getpid(), None):
            process = parents.get(process)
        return process is not None

    return sum(n for process, n in ticks.items() if is_ours(process)) / tick


def generated(session, n_records):
    from pyspark.sql import functions as F

    given = session.range(n_records)

    def dice(seed, n):
        return F.pmod(F.xxhash64(F.col("id"), F.lit(seed)), F.lit(n)).cast("int")

    ills = F.array(*map(F.lit, ILLS))
    return given.select(
        (dice(1, 79) + 18).cast("long").alias("age"),
        F.when(dice(2, 2) == 0, "f").otherwise("m").alias("sex"),
        (dice(3, 400) + 8000).cast("string").alias("zip"),
        F.element_at(ills, dice(4, len(ILLS)) + 1).alias("ill"),
    )


if __name__ == "__main__":
    main()
