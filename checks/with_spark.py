"""A real cluster holds the table: the same counts and records from Spark, and from Sail, as from its Parquet file.

    PYTHONPATH=target/python python checks/with_spark.py
    PYTHONPATH=target/python python checks/with_spark.py SAIL

A master and two workers are started as processes of their own, on loopback, and stopped at the end; one worker is killed
in the middle of the work. Then the same once more by a session of Spark Connect. With the program of Sail, its server is
started in cluster mode instead, and killed at the end.
"""

import atexit
import contextlib
import datetime
import decimal
import glob
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pyspark

import incrowd as ic
import incrowd.spark

import documents

warnings.filterwarnings("ignore")
HOME = os.path.dirname(pyspark.__file__)
HERE = pathlib.Path(tempfile.mkdtemp(prefix="incrowd-spark-"))
atexit.register(shutil.rmtree, HERE, ignore_errors=True)
ENVIRONMENT = dict(os.environ, SPARK_LOCAL_IP="127.0.0.1", SPARK_HOME=HOME, PYSPARK_PYTHON=sys.executable)
os.environ.update(ENVIRONMENT)
N_CHECKS = 0


def check(what, holds, told=""):
    global N_CHECKS
    N_CHECKS += 1
    if not holds:
        raise SystemExit(f"FAILED: {what}\n{told}")


def refused(what, work, said):
    try:
        work()
    except ic.Error as error:
        check(f"{what}: {error}", said in str(error))
    else:
        check(f"{what} is refused", False)


def free_port():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return door.getsockname()[1]


class Cluster:
    """A master and two workers."""

    def __init__(self):
        self.port = free_port()
        self.address = f"spark://127.0.0.1:{self.port}"
        self.started = []
        self._start("master.Master", "--port", str(self.port), "--webui-port", str(free_port()))
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                break
            time.sleep(0.2)
        self.workers = [self.worker(), self.worker()]

    def worker(self):
        folder = tempfile.mkdtemp(dir=HERE)
        return self._start(
            "worker.Worker", "--cores", "1", "--memory", "900m", "--webui-port", str(free_port()), "--work-dir", folder,
            self.address,
        )

    def _start(self, kind, *words):
        log = open(HERE / f"{len(self.started)}.log", "w")
        command = [f"{HOME}/bin/spark-class", f"org.apache.spark.deploy.{kind}", "--host", "127.0.0.1", *words]
        process = subprocess.Popen(command, env=ENVIRONMENT, stdout=log, stderr=log, start_new_session=True)
        self.started.append(process)
        return process

    def stop(self):
        for process in reversed(self.started):
            if process.poll() is None:
                process.kill()
                process.wait()


PROJECT = """
[data]
path = "table.parquet"
missing = ["?"]
missing_records = "drop"
complete = ["ward"]
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20] }
[attributes.city]
role = "quasi-identifier"
[attributes.born]
role = "quasi-identifier"
hierarchy = { dates = ["year", "decade"] }
[attributes.bill]
role = "quasi-identifier"
hierarchy = { intervals = [10, 50] }
[attributes.ill]
role = "sensitive"
tells = "accepted"
"""
PERSON = PROJECT + '[attributes.patient]\nrole = "person"\n'


# What nobody names is published as it is.
KEEP = """
[data]
path = "table.parquet"
other = "keep"
records = "independent"
[attributes.patient]
role = "identifier"
[attributes.born]
role = "quasi-identifier"
hierarchy = { dates = ["year", "decade"] }
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20] }
[attributes.ill]
role = "sensitive"
tells = "accepted"
"""


MANY = """
[data]
path = "table.parquet"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20] }
[attributes.zip]
role = "quasi-identifier"
hierarchy = { mask = [1, 2, 3] }
[attributes.ill]
role = "sensitive"
tells = "accepted"
"""


def table():
    """What engines take for the same and incrowd does not, and records that lack a value."""
    dice = random.Random(7)
    cities = ["Graz", "graz", "GRAZ", "Wien", "Wien ", "?", None, "", "Ünnäß"]
    n = 4_000
    return pa.table(
        {
            "patient": pa.array([f"p{dice.randint(0, 2_500)}" for _ in range(n)]),
            "age": pa.array([dice.choice([None, *range(20, 60)]) for _ in range(n)], pa.int64()),
            "city": pa.array([dice.choice(cities) for _ in range(n)]),
            "born": pa.array([datetime.date(1960 + dice.randint(0, 20), 1, 1) for _ in range(n)]),
            "bill": pa.array([decimal.Decimal(dice.randint(0, 30)) / 2 for _ in range(n)], pa.decimal128(8, 2)),
            "ward": pa.array([dice.choice(["A", "B", "?", None]) for _ in range(n)]),
            "ill": pa.array([dice.choice("abcde") for _ in range(n)]),
            "not read": pa.array([[1]] * n),
        }
    )


def records_of(folder):
    files = sorted(glob.glob(f"{folder}/*.parquet"))
    return len(files), pa.concat_tables([pq.read_table(file) for file in files])


def nothing_is_left(target):
    folder, name = os.path.split(str(target))
    check(f"nothing is left of {name}", not [file for file in os.listdir(folder) if name in file], os.listdir(folder))


def same_as_here(session, name, project, wish):
    """Counts, records in order and verdict are those of one machine."""
    folder = HERE / f"project-{name}"
    folder.mkdir()
    (folder / "incrowd.toml").write_text(project)
    data = table().drop_columns(["not read"]) if project is KEEP else table()
    pq.write_table(data, folder / "table.parquet", row_group_size=500)
    there = session.read.parquet(str(folder / "table.parquet")).repartition(5)
    here = ic.open(folder)
    counted = incrowd.spark.count(there, folder)
    check(f"{name}: counts", counted.table.order("count") == here.order("count"), counted.table.order("count"))
    release = counted.publish(**wish)
    target = folder / "release"
    certificate = release.write(target)
    n_files, written = records_of(target)
    check(f"{name}: several files", n_files == -(-written.num_rows // incrowd.spark._N_ROWS_PER_FILE) > 1, n_files)
    expected = here.publish_order(**wish).to_arrow()
    check(f"{name}: records", written.to_pylist() == expected.to_pylist())
    check(f"{name}: columns", written.column_names == expected.column_names, written.column_names)
    answer = "not judged" if project is PERSON else "kept"
    verdict = incrowd.spark.verify(session.read.parquet(str(target)), certificate)
    check(f"{name}: verified", verdict.answer == answer, verdict)
    refused("what is there", lambda: release.write(target), "there already")
    if project is PROJECT:
        check(f"{name}: verified by its path", incrowd.spark.verify(str(target), certificate, session=session).answer == "kept")
        turned = session.read.parquet(str(target)).orderBy("ill", "bill")
        turned.write.parquet(str(folder / "turned"))
        found = [incrowd.spark.verify(data, certificate, session=session).answer for data in (turned, folder / "turned")]
        check(f"{name}: another order is seen by its path", found == ["kept", "broken"], found)
    # One record in the place of another: whoever stood in a crowd of k stands in one of k - 1.
    values = written.to_pylist()
    values[0] = dict(values[-1])
    changed = session.createDataFrame(pa.Table.from_pylist(values, schema=written.schema))
    verdict = incrowd.spark.verify(changed, certificate)
    check(f"{name}: a changed table is seen", verdict.answer == "broken" or project is PERSON, verdict)
    return folder, there, release


def order_is_checked(folder, release, way, shuffled, short):
    """Where the order of records is lost, or some of them, nothing is published; `way` is how they get there."""
    whole = getattr(type(release), way)
    for name, wrong, said in [("shuffled", shuffled, "order"), ("short", short, "other records")]:
        try:
            setattr(type(release), way, lambda self: wrong(whole(self)))
            refused(f"{name} records", lambda: release.write(folder / name), said)
        finally:
            setattr(type(release), way, whole)
        nothing_is_left(folder / name)


def many_records(session):
    """More records than an engine works on at once: they are there in order, as many files as it takes."""
    folder = HERE / "many"
    folder.mkdir()
    (folder / "incrowd.toml").write_text(MANY)
    dice = random.Random(11)
    columns = {
        "age": pa.array([dice.randrange(20, 90) for _ in range(200_000)], pa.int64()),
        "zip": pa.array([str(8000 + dice.randrange(40)) for _ in range(200_000)]),
        "ill": pa.array([dice.choice(["flu", "gout", "cold"]) for _ in range(200_000)]),
    }
    table = pa.table(columns)
    pq.write_table(pa.concat_tables([table] * 2), folder / "table.parquet")
    wish, n_at_once = {"k": 30, "max_suppressed": "5%"}, incrowd.spark._N_ROWS_PER_FILE
    incrowd.spark._N_ROWS_PER_FILE = 150_000
    try:
        release = incrowd.spark.count(session.read.parquet(str(folder / "table.parquet")), folder).publish(**wish)
        certificate = release.write(folder / "release")
    finally:
        incrowd.spark._N_ROWS_PER_FILE = n_at_once
    n_files, written = records_of(folder / "release")
    expected = ic.open(folder).publish_order(**wish).to_arrow()
    check("many records: three files", n_files == 3, n_files)
    check("many records: all of them, in order", written.to_pylist() == expected.to_pylist(), written.num_rows)
    verdict = incrowd.spark.verify(str(folder / "release"), certificate, session=session)
    check("many records: verified by their path", verdict.answer == "kept", verdict)


def killed_under_way(cluster, session, folder, there, release):
    """A worker dies in the middle: the answer is right or an error, never half a release."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F

    slow = F.udf(lambda text: (time.sleep(0.002), text)[1], "string")
    slowly = there.withColumn("ill", slow("ill"))
    expected = ic.open(folder).order("count")
    for what in ["count", "publish"]:
        killer = threading.Timer(2.0, cluster.workers.pop().kill)
        killer.start()
        target = folder / f"killed-{what}"
        try:
            if what == "count":
                check("counted though a worker died", incrowd.spark.count(slowly, folder).table.order("count") == expected)
            else:
                records = type(release)._records
                place = release.rows.column_names[-2]
                try:
                    type(release)._records = lambda self: records(self).withColumn(place, slow(place))
                    release.write(target)
                finally:
                    type(release)._records = records
                check("published though a worker died", records_of(target)[1].num_rows == release.said["n_records_published"])
            print(f"  a worker was killed during {what}: right")
        except (PySparkException, Py4JError) as error:
            print(f"  a worker was killed during {what}: {type(error).__name__}")
            nothing_is_left(target)
        killer.join()
        cluster.workers.append(cluster.worker())


def errors(session, folder, there):
    refused("no such column", lambda: incrowd.spark.count(there.drop("age"), folder), "no column 'age'")
    odd = there.drop("ill").withColumnRenamed("not read", "ill")
    refused("a type that is not read", lambda: incrowd.spark.count(odd, folder), "cannot be read")
    asking = HERE / f"asking-{folder.name}"
    asking.mkdir()
    (asking / "incrowd.toml").write_text(KEEP.replace('records = "independent"\n', ""))
    pq.write_table(table().drop_columns(["not read"]), asking / "table.parquet")
    counted, wish = incrowd.spark.count(there.drop("not read"), asking), {"k": 3, "max_suppressed": "100%"}
    refused("identifiers that repeat", lambda: counted.publish(**wish), "records of 2,015 different patient")
    refused("identifiers that repeat here", lambda: ic.open(asking).publish_order(**wish), "records of 2,015 different patient")
    refused("no data frame", lambda: incrowd.spark.count({"age": [1]}, folder), "data frame of Spark")
    counted = incrowd.spark.count(there, folder)
    refused("more than can be promised", lambda: counted.publish(k=3_999, max_suppressed=0, max_level={"age": 0}), "")
    refused("no name of a table", lambda: counted.publish(k=4, max_suppressed="100%").write("a b"), "no name of a table")


def sail_server(program):
    """Sail in cluster mode, and the port that it listens at."""
    port = free_port()
    log = open(HERE / "sail.log", "w")
    words = [program, "spark", "server", "--ip", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen(words, env=dict(ENVIRONMENT, SAIL_MODE="local-cluster"), stdout=log, stderr=log)
    for _ in range(150):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            break
        time.sleep(0.2)
    return server, port


def spark_session(cluster):
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master(cluster.address)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.executor.memory", "512m")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.warehouse.dir", str(HERE / "warehouse"))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    return session


@contextlib.contextmanager
def session_of(kind, sail):
    """A session of a Spark cluster, or of Sail."""
    from pyspark.sql import SparkSession

    if kind == "sail":
        server, port = sail_server(sail)
        try:
            session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
            # The client would ask a server that is gone again for minutes.
            session.client.set_retry_policies([])
            yield session
            session.stop()
        finally:
            server.kill()
            server.wait()
        return
    cluster = Cluster()
    try:
        session = spark_session(cluster)
        yield session
        session.stop()
    finally:
        cluster.stop()


def on_sail(program):
    """The same on Sail, which does not keep records in order, so that this program writes the files."""
    from pyspark.sql import SparkSession

    start, (server, port) = time.time(), sail_server(program)
    try:
        session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
        # The client would ask a server that is gone again for minutes.
        session.client.set_retry_policies([])
        wish = {"k": 3, "max_suppressed": "100%"}
        folder, there, release = same_as_here(session, "sail", PROJECT, wish)
        same_as_here(session, "sail-people", PERSON, {"k": 2, "l": 2, "max_suppressed": "100%"})
        same_as_here(session, "sail-kept", KEEP, {"k": 3, "max_suppressed": "100%"})
        for kind in ("delta", "iceberg"):
            there.drop("not read").write.format(kind).save(str(folder / kind))
            counted = incrowd.spark.count(session.read.format(kind).load(str(folder / kind)), folder)
            check(f"{kind}: counts", counted.table.order("count") == ic.open(folder).order("count"))
        many_records(session)
        pieces = lambda records: reversed([piece.slice(i, 500) for piece in records for i in range(0, piece.num_rows, 500)])
        order_is_checked(folder, release, "_pieces", pieces, lambda records: (piece.slice(0, 10) for piece in records))
        errors(session, folder, there)
        # The engine may be on another machine.
        place = incrowd.spark._Files(session, str(folder / "elsewhere"))
        place.read = lambda staged: session.read.parquet(str(folder / "nobody wrote this"))
        staged = place.staged()
        refused("a folder that the engine does not see", lambda: place.write_here(release._pieces(), staged), "does not find")
        place.remove(staged)
        nothing_is_left(folder / "elsewhere")
        # A table has no files that this program could look at.
        refused("a table of its catalog", lambda: release.write("release_k3", certificate=folder / "c.json"), "which order")
        check("nothing is left of it", not session.catalog.tableExists("release_k3") and not (folder / "c.json").exists())
        pieces = type(release)._pieces

        def killed(self):
            server.kill()
            server.wait()
            return pieces(self)

        type(release)._pieces = killed
        try:
            release.write(folder / "killed")
            check("the server was killed, and a release was written", False)
        except Exception as error:
            print(f"  the server was killed during publish: {type(error).__name__}")
        finally:
            type(release)._pieces = pieces
        nothing_is_left(folder / "killed")
    finally:
        server.kill()
        server.wait()
    print(f"Sail, cluster mode: {N_CHECKS} checks hold, {time.time() - start:.0f} s")


def documented(session):
    """What the documents show of a cluster runs as it stands there."""
    at = HERE / "documents"
    at.mkdir()
    here = os.getcwd()
    os.chdir(at)
    try:
        # The hospital of `incrowd demo`, whose records are what is meant here.
        ic.demo(at / "hospital", records=3000)
        text = ic.init(at / "hospital" / "discharges.csv", output=at / "project").text.replace('role = "person"', 'role = "identifier"')
        (at / "project" / "incrowd.toml").write_text(text.replace("\n[data]\n", '\n[data]\nrecords = "independent"\n'))
        names = pa.csv.read_csv(at / "hospital" / "discharges.csv").schema.names
        texts = pa.csv.ConvertOptions(column_types={"postcode": pa.string()} if "postcode" in names else {})
        pq.write_table(pa.csv.read_csv(at / "hospital" / "discharges.csv", convert_options=texts), at / "discharges")
        for document in ["README.md", "docs/scale.md"]:
            names = {"incrowd": ic, "spark": session}
            documents.run_python(document, "test-cluster", names, {"hdfs:///clinic/": f"{at}/"}, check)
        # The workbook of the tutorial, as a cluster has it.
        shutil.rmtree(at / "project")
        ic.init(documents.ROOT / "examples/patients/patients.xlsx", output=at / "project")
        dice = random.Random(3)
        columns = {"patient_no": [f"P{i}" for i in range(600)], "name": [f"Name {i}" for i in range(600)],
                   "sex": [dice.choice(["female", "male"]) for _ in range(600)],
                   "age": [20 + dice.randrange(60) for _ in range(600)],
                   "postcode": [str(10000 + dice.randrange(900)) for _ in range(600)],
                   "admitted": [datetime.date(2024, 1 + dice.randrange(12), 1 + dice.randrange(28)) for _ in range(600)],
                   "diagnosis": [dice.choice(["asthma", "angina", "gout"]) for _ in range(600)],
                   "nights": [dice.randrange(9) for _ in range(600)]}
        pq.write_table(pa.table(columns), at / "patients")
        names = {"incrowd": ic, "spark": session}
        documents.run_python("docs/tutorials/cluster.md", "test-cluster", names, {"hdfs:///clinic/": f"{at}/"}, check)
    finally:
        os.chdir(here)


def main():
    from pyspark.sql import SparkSession

    # Several files of a small release.
    incrowd.spark._N_ROWS_PER_FILE = 700
    if len(sys.argv) > 1:
        on_sail(sys.argv[1])
        return
    cluster = Cluster()
    start = time.time()
    try:
        session = spark_session(cluster)
        folder, there, release = same_as_here(session, "records", PROJECT, {"k": 3, "max_suppressed": "100%"})
        same_as_here(session, "people", PERSON, {"k": 2, "l": 2, "max_suppressed": "100%"})
        same_as_here(session, "kept", KEEP, {"k": 3, "max_suppressed": "100%"})
        many_records(session)
        order_is_checked(folder, release, "_records", lambda records: records.repartition(3), lambda records: records.limit(10))
        errors(session, folder, there)
        in_catalog = release.write("release_k3", certificate=folder / "release_k3.certificate.json")
        check("a table of the catalog", incrowd.spark.verify(session.table("release_k3"), in_catalog).holds)
        check("a table by its name", incrowd.spark.verify("release_k3", in_catalog).holds)
        refused("the table is there", lambda: release.write("release_k3", certificate=folder / "again.json"), "there already")
        documented(session)
        killed_under_way(cluster, session, folder, there, release)
        session.stop()
    finally:
        cluster.stop()
    print(f"Spark {pyspark.__version__}, a master and two workers: {N_CHECKS} checks hold, {time.time() - start:.0f} s")
    start = time.time()
    session = SparkSession.builder.remote("local[2]").config("spark.sql.shuffle.partitions", "4").getOrCreate()
    try:
        same_as_here(session, "connect", PROJECT, {"k": 3, "max_suppressed": "100%"})
    finally:
        session.stop()
    print(f"Spark Connect: {N_CHECKS} checks hold in all, {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
