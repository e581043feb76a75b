"""Real databases hold the table: the same counts, answers and release bytes from each of them as from its CSV file.

    python checks/with_databases.py PROGRAM LIBDUCKDB SAIL

PostgreSQL is started in a temporary folder, on loopback, and stopped at the end; so is Sail, by its program. What cannot be
had is said, and left out. ONLY=sqlite in the environment looks at one engine.
"""

import contextlib
import datetime
import decimal
import json
import math
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import adbc_driver_manager.dbapi as dbapi
import adbc_driver_flightsql
import adbc_driver_postgresql
import adbc_driver_sqlite
import pyarrow as pa
import pyarrow.parquet as pq

import documents

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
DUCKDB = str(pathlib.Path(sys.argv[2]).resolve()) if len(sys.argv) > 2 and sys.argv[2] else None
SAIL = str(pathlib.Path(sys.argv[3]).resolve()) if len(sys.argv) > 3 and sys.argv[3] else None
DRIVERS = {
    "postgresql": adbc_driver_postgresql._driver_path(),
    "sqlite": adbc_driver_sqlite._driver_path(),
    "duckdb": DUCKDB,
    "flightsql": adbc_driver_flightsql._driver_path(),
}
KEY = "00112233445566778899aabbccddeeff" * 2
N_CHECKS = 0


def check(what, holds, told=""):
    global N_CHECKS
    N_CHECKS += 1
    if not holds:
        raise SystemExit(f"FAILED: {what}\n{told}")


def environment_of_drivers():
    environment = dict(os.environ)
    for engine, path in DRIVERS.items():
        environment[f"INCROWD_{engine.upper()}_DRIVER"] = path or ""
    return environment


def run(folder, *words, code=0):
    environment = environment_of_drivers()
    told = subprocess.run([PROGRAM, "--quiet", *words], cwd=folder, capture_output=True, text=True, env=environment)
    check(f"{' '.join(words)} ends with {code}", told.returncode == code, f"{told.returncode}\n{told.stdout}{told.stderr}")
    return told


class Engine:
    """A database with one connection, by the same driver as incrowd's."""

    def __init__(self, name, uri, options):
        self.name, self.uri, self.options = name, uri, options

    @contextlib.contextmanager
    def connected(self):
        entrypoint = "duckdb_adbc_init" if self.name == "duckdb" else None
        connection = dbapi.connect(
            driver=DRIVERS[self.name], entrypoint=entrypoint, db_kwargs=self.options, autocommit=True)
        try:
            with connection.cursor() as cursor:
                yield cursor
        finally:
            connection.close()

    def run(self, *statements):
        with self.connected() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def ask(self, query):
        with self.connected() as cursor:
            cursor.execute(query)
            return cursor.fetchall()


@contextlib.contextmanager
def postgresql(folder):
    """A server of its own, as a user that may run one."""
    places = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    initdb = str(places[0]) if places else shutil.which("initdb")
    if not initdb:
        print("PostgreSQL cannot be had here: left out")
        yield None
        return
    binaries = pathlib.Path(initdb).parent
    data = folder / "postgresql"
    data.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    as_user = []
    if os.getuid() == 0:
        shutil.chown(data, "postgres")
        os.chmod(folder, 0o755)
        as_user = ["runuser", "-u", "postgres", "--"]
    def server(*words):
        # Not waiting for pipes that the server would inherit.
        with open(folder / "postgresql.log", "a") as log:
            subprocess.run([*as_user, *words], check=True, stdout=log, stderr=log, cwd="/")
    server(initdb, "-D", f"{data}/data", "-U", "postgres", "-A", "trust", "--locale=C.UTF-8", "-E", "UTF8")
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c fsync=off -k {data}"
    server(str(binaries / "pg_ctl"), "-D", f"{data}/data", "-o", options, "-w", "-l", f"{data}/log", "start")
    try:
        uri = f"postgresql://postgres@127.0.0.1:{port}/postgres"
        yield Engine("postgresql", uri, {"uri": uri})
    finally:
        server(str(binaries / "pg_ctl"), "-D", f"{data}/data", "-m", "immediate", "stop")


@contextlib.contextmanager
def sail(folder):
    """Sail's server of Flight SQL, in cluster mode."""
    if not SAIL:
        print("Sail cannot be had here: left out")
        yield None
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with open(folder / "sail.log", "w") as log:
        words = [SAIL, "flight", "server", "--ip", "127.0.0.1", "--port", str(port)]
        server = subprocess.Popen(words, env=dict(os.environ, SAIL_MODE="local-cluster"), stdout=log, stderr=log)
    try:
        for _ in range(300):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        uri = f"grpc://127.0.0.1:{port}"
        yield Engine("flightsql", uri, {"uri": uri})
    finally:
        server.kill()
        server.wait()


# One hostile table: names that differ in case, numbers written in two ways, padding, -0, NULL beside '', moments.
NAMES = ["name", "amount", "code", "score", "at", "zone", "day", "ill", "note"]
TYPES = {
    "postgresql": ["text COLLATE ci", "numeric", "char(5)", "float8", "timestamp", "timestamptz", "date", "text", "uuid"],
    "sqlite": ["text COLLATE NOCASE", "text", "text", "real", "text", "text", "text", "text", "text"],
    "duckdb": ["varchar COLLATE NOCASE", "varchar", "char(5)", "double", "timestamp", "timestamptz", "date", "varchar", "uuid"],
    "flightsql": ["string", "string", "string", "double", "timestamp_ntz", "timestamp", "date", "string", "string"],
}
VALUES = {
    "name": ["Smith", "SMITH", "smith ", "O'Neil", None, ""],
    "amount": ["1.0", "1.00", "2.50", None],
    "code": ["ab", "AB", "abcde"],
    "score": ["0", "-0", "1.5", "-2", None],
    "at": ["2024-01-02T03:04:05", "2024-01-02T03:04:05.250", None],
    "zone": ["2024-07-01T00:30:00Z", "2024-06-30T22:30:00Z"],
    "day": ["2024-02-29", "1999-12-31", None],
    "ill": ["flu", "cold", "gout", "?", None],
    "note": ["123e4567-e89b-12d3-a456-426614174000", "00000000-0000-0000-0000-000000000001"],
}
# -0 cannot be stored in SQLite, which keeps 0.
PROJECT = """
[data]
{place}
missing = ["", "?"]
{more}
[attributes.name]
role = "quasi-identifier"
[attributes.amount]
role = "quasi-identifier"
[attributes.code]
role = "quasi-identifier"
[attributes.score]
role = "quasi-identifier"
[attributes.at]
role = "quasi-identifier"
[attributes.zone]
role = "quasi-identifier"
[attributes.day]
role = "quasi-identifier"
[attributes.ill]
role = "sensitive"
[attributes.note]
role = "{note}"
"""
# Columns that are published as they are may tell much here.
ALLOWED = {"other": 'other"\nunique = "publish"\ntells = "accepted', "identifier": "identifier"}


def project(place, note="other", more=""):
    return PROJECT.format(place=place, note=ALLOWED[note], more=more)


def hostile(engine):
    dice = random.Random(22)
    values = dict(VALUES)
    if engine == "sqlite":
        values["score"] = [cell if cell != "-0" else "0" for cell in values["score"]]
    rows = []
    for i in range(400):
        # Few combinations, so that some repeat, and some that hardly do.
        cells = [dice.choice(values[name][: 2 if i % 4 else None]) for name in NAMES]
        rows.append(cells)
    return rows


def literal(engine, name, cell):
    if cell is None:
        return "NULL"
    text = "'" + cell.replace("'", "''") + "'"
    if engine in ("postgresql", "duckdb") and name == "score":
        return f"CAST({text} AS double precision)"
    if engine == "flightsql":
        text = text.replace("''", "\\'") if text != "''" else text
        return f"CAST({text} AS {TYPES[engine][NAMES.index(name)]})"
    return text


def fill(engine, rows, table="hostile"):
    quote = "`" if engine.name == "flightsql" else '"'
    columns = ", ".join(f"{quote}{name}{quote} {kind}" for name, kind in zip(NAMES, TYPES[engine.name]))
    lines = ", ".join(
        "(" + ", ".join(literal(engine.name, name, cell) for name, cell in zip(NAMES, row)) + ")" for row in rows)
    engine.run(f"CREATE TABLE {table} ({columns})", f"INSERT INTO {table} VALUES {lines}")


def written(rows):
    """The table as a CSV file: no value is the empty text."""
    def cell(text):
        text = "" if text is None else text
        return '"' + text.replace('"', '""') + '"' if any(c in text for c in '",\n') else text
    return "\n".join([",".join(NAMES)] + [",".join(cell(text) for text in row) for row in rows]) + "\n"


def place(engine, asked='table = "hostile"'):
    return f'database = "{engine.uri}"\n{asked}'


def certificate(folder, name):
    said = json.loads((folder / f"{name}.certificate.json").read_text())
    return {key: said[key] for key in said if key not in ("input", "output", "hierarchies", "delimiter")}


def held(engine):
    """The hostile table as it is held: only PostgreSQL keeps a -0 that it was given."""
    rows, scores = hostile(engine.name), [score for (score,) in engine.ask("SELECT score FROM hostile")]
    for row, score in zip(rows, scores, strict=True):
        is_negative = score is not None and math.copysign(1, score) < 0
        sign = "-" if is_negative and (score != 0 or engine.name == "postgresql") else ""
        row[NAMES.index("score")] = None if score is None else f"{sign}{abs(score):g}"
    return rows


def same_as_its_file(engine, folder, note, more=""):
    """Counts, answers and releases of the table are those of its CSV file."""
    rows = held(engine)
    (folder / "hostile.csv").write_text(written(rows))
    for name, at in [("file", 'path = "../hostile.csv"'), ("table", place(engine))]:
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "incrowd.toml").write_text(project(at, note, more))
    file, table = folder / "file", folder / "table"
    def told(*words):
        return [json.loads(run(where, *words, "--json").stdout) for where in (file, table)]
    ours, theirs = told("count")
    check(f"{engine.name}: the same counts", ours == theirs, f"{ours}\n{theirs}")
    check(f"{engine.name}: 1.0 and 1.00, Smith and SMITH are told apart",
          [attribute["n_values_per_level"][0] for attribute in ours["attributes"]][:2] >= [4, 3], ours)
    for words in [("negotiate", "--k", "3", "--max-suppressed", "40%"), ("risk", "."), ("annotate", "--k", "3")]:
        ours, theirs = told(*words)
        check(f"{engine.name}: the same {words[0]}", ours == theirs, f"{ours}\n{theirs}")
    for method in [(), ("--method", "mondrian")]:
        wish = ("publish", "--k", "3", "--max-suppressed", "40%", "--key", KEY, "--force", *method, "-o", "release.csv")
        told(*wish)
        ours, theirs = ((where / "release.csv").read_bytes() for where in (file, table))
        check(f"{engine.name}: the same release of {method}", ours == theirs, f"{ours[:600]}\n{theirs[:600]}")
        check(f"{engine.name}: the same certificate", certificate(file, "release.csv") == certificate(table, "release.csv"))
        for where in (file, table):
            run(where, "verify", "release.csv", "--project", ".", "--key", KEY)
    run(table, "profile", "--json")
    # A query is a table too.
    query = place(engine, 'query = "SELECT * FROM hostile WHERE ill IS NOT NULL -- those who are ill;"')
    (table / "incrowd.toml").write_text(project(query, note, more))
    (folder / "hostile.csv").write_text(written([row for row in rows if row[NAMES.index("ill")] is not None]))
    ours, theirs = told("count")
    check(f"{engine.name}: the same counts of a query", ours == theirs, f"{ours}\n{theirs}")
    (folder / "hostile.csv").write_text(written(rows))
    (table / "incrowd.toml").write_text(project(place(engine), note, more))


PEOPLE = """
[data]
{place}
{more}
[attributes.name]
role = "person"
[attributes.code]
role = "quasi-identifier"
[attributes.day]
role = "quasi-identifier"
hierarchy = {{ dates = ["month", "year", "decade"] }}
[attributes.ill]
role = "sensitive"
tells = "accepted"
"""


def people(engine, folder):
    """People have several combinations: the same footprints, answers and releases as from the file."""
    file, table = folder / "file", folder / "table"
    dropping = 'missing_records = "drop"\n'
    for more in (dropping, dropping + "max_records_per_person = 20", dropping + 'missing = ["", "?"]'):
        for where, at in [(file, 'path = "../hostile.csv"'), (table, place(engine))]:
            (where / "incrowd.toml").write_text(PEOPLE.format(place=at, more=more))
        def told(*words):
            return [json.loads(run(where, *words, "--json").stdout) for where in (file, table)]
        for words in [("count",), ("negotiate", "--k", "2", "--max-suppressed", "60%"), ("risk", ".")]:
            ours, theirs = told(*words)
            # Which records of a person are kept depends on how all cells are written; how many does not.
            if "max" in more:
                check(f"{engine.name}: as many records", ours.get("n_records") == theirs.get("n_records"), theirs)
            else:
                check(f"{engine.name}: the same {words[0]} of people, {more}", ours == theirs, f"{ours}\n{theirs}")
        if more != dropping:
            continue
        wish = ("publish", "--k", "2", "--max-suppressed", "60%", "--key", KEY, "--force")
        for where in (file, table):
            run(where, *wish, "-o", "people.csv")
        check(f"{engine.name}: the same release of people",
              (file / "people.csv").read_bytes() == (table / "people.csv").read_bytes())
        check(f"{engine.name}: the same certificate", certificate(file, "people.csv") == certificate(table, "people.csv"))
        if engine.name != "flightsql":
            run(table, *wish, "--into", "people_released")
            run(table, "verify", "--table", "people_released", "--project", ".")
            engine.run("DROP TABLE people_released")


def kept(engine, folder):
    """Columns that nobody names are published as they are: from the file, and within the transaction."""
    file, table = folder / "file", folder / "table"
    for where, at in [(file, 'path = "../hostile.csv"'), (table, place(engine))]:
        text = PROJECT.split("[attributes.name]")[0].format(place=at, more='other = "keep"')
        roles = {"code": "quasi-identifier", "day": "quasi-identifier"}
        left = {name: 'other"\nunique = "publish"\ntells = "accepted' for name in ("name", "ill", "note")}
        roles |= left | {name: "identifier" for name in ("score", "amount", "zone", "at")}
        del roles["ill"]
        text += "".join(f'[attributes.{name}]\nrole = "{role}"\n' for name, role in roles.items())
        (where / "incrowd.toml").write_text(text)
        run(where, "publish", "--k", "3", "--max-suppressed", "80%", "--force", "--key", KEY, "-o", "kept.csv")
    check(f"{engine.name}: kept columns are the same",
          (file / "kept.csv").read_bytes() == (table / "kept.csv").read_bytes())
    if engine.name != "flightsql":
        run(table, "publish", "--k", "3", "--max-suppressed", "80%", "--into", "kept_released")
        run(table, "verify", "--table", "kept_released", "--project", ".")
        rows = [["" if cell is None else str(cell) for cell in row] for row in engine.ask("SELECT * FROM kept_released")]
        check(f"{engine.name}: and in the table", rows == csv_rows(table / "kept.csv")[1:], rows[:3])
        engine.run("DROP TABLE kept_released")


def begun(engine, folder):
    """`init` and `profile` look at the table as at its file."""
    new = folder / "new"
    new.mkdir()
    if engine.name != "flightsql":
        run(new, "init", engine.uri, "--table", "hostile")
        text = (new / "incrowd.toml").read_text()
        check(f"{engine.name}: the new project names the table", engine.uri in text and 'table = "hostile"' in text, text)
        run(new, "profile", "--json")
        run(new, "count")
    # As long as nobody says how much memory there is, all of it.
    (folder / "table" / "incrowd.toml").write_text(project(place(engine)))
    said = run(folder / "table", "count", "--memory", "4KB", code=2).stderr
    check("both ways on are said", "--memory" in said and "--from-level" in said, said)


def from_a_level(engine, folder):
    """Labels that are counted in place of values give what values give, at every level from there on."""
    table = folder / "table"
    rules = {"code": "{ mask = { keep = 1 } }", "day": '{ dates = ["month", "year", "decade"] }', "name": "{ mask = { keep = [3, 1] } }"}
    text = project(place(engine))
    for name, rule in rules.items():
        text = text.replace(f"[attributes.{name}]\n", f"[attributes.{name}]\nhierarchy = {rule}\n")
    (table / "incrowd.toml").write_text(text)
    only = ("--quasi-identifiers", "code,day,name")
    begin = ("--from-level", "code=1,day=year,name=1")
    wish = ("publish", "--k", "3", "--max-suppressed", "90%", "--force", *only)
    for here, there in [("code=1,day=2,name=1", "code=0,day=0,name=0"), ("code=2,day=3,name=1", "code=1,day=decade,name=0")]:
        run(table, *wish, "--levels", here, "-o", "values.csv")
        run(table, *wish, *begin, "--levels", there, "-o", "labels.csv")
        values, labels = (table / "values.csv").read_bytes(), (table / "labels.csv").read_bytes()
        check(f"{engine.name}: labels give what values give at {here}", values == labels, f"{values[:400]}\n{labels[:400]}")
        ours, theirs = (json.loads((table / f"{name}.csv.certificate.json").read_text()) for name in ("values", "labels"))
        check("the certificate says so", theirs["from_level"] == {
            "code": {"level": 1, "name": ours["level_names"]["code"] if here.startswith("code=1") else theirs["from_level"]["code"]["name"]},
            "day": {"level": 2, "name": "year"}, "name": {"level": 1, "name": theirs["from_level"]["name"]["name"]}}, theirs)
        check("levels are called the same", ours["level_names"] == theirs["level_names"], theirs["level_names"])
        for same in ("n_groups", "smallest_group", "n_records_suppressed", "criteria"):
            check(f"the same {same}", ours[same] == theirs[same], theirs)
        run(table, "verify", "labels.csv", "--project", ".")
    counts = [json.loads(run(table, "count", "--json", *only, *more).stdout) for more in ((), begin)]
    check("there are fewer combinations", counts[1]["n_groups"] < counts[0]["n_groups"], counts)
    said = run(table, "count", "--from-level", "day=9", code=2).stderr
    check("a level that is none", "day" in said and "9" in said, said)
    if engine.name != "flightsql":
        run(table, *wish, *begin, "--into", "labelled")
        run(table, "verify", "--table", "labelled", "--project", ".")
        engine.run("DROP TABLE labelled")
    if engine.name in ("postgresql", "duckdb"):
        said = run(table, "count", "--from-level", "score=1", code=2).stderr
        check("a type that is not joined, or no level", "score" in said, said)


def asked(server, path, document=None):
    """A question to the server; what has to be waited for is waited for."""
    address = server["url"].split("/#")[0]
    def once(path, document=None):
        data = None if document is None else json.dumps(document).encode()
        request = urllib.request.Request(address + path, data=data)
        request.add_header("Authorization", f"Bearer {server['token']}")
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.headers.get("Location"), json.load(answer)
    while True:
        status, job, answer = once(path, document)
        if status != 202:
            return answer
        while (state := once(job)[2])["state"] in ("waiting", "queued", "running"):
            time.sleep(0.05)
        check(f"{path} ends well", state["state"] == "done", state)
        if state.get("result") is not None:
            return state["result"]


def served(engine, folder):
    """The page's questions: a project whose table a database holds is opened, haggled over, and published into it."""
    table = folder / "table"
    (table / "incrowd.toml").write_text(project(place(engine)))
    words = [PROGRAM, "serve", "--json", "--quiet", str(table)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment_of_drivers())
    try:
        text = ""
        while True:
            text += process.stdout.readline()
            with contextlib.suppress(json.JSONDecodeError):
                server = json.loads(text)
                break
        id = asked(server, "/api/v1/about")["project"]["id"]
        request = {"k": 3, "max_suppressed": "40%"}
        answer = asked(server, "/api/v1/orders/negotiate", {"project": id, "order": request})["result"]
        ours = json.loads(run(table, "negotiate", "--k", "3", "--max-suppressed", "40%", "--json").stdout)
        check(f"{engine.name}: the same answer over HTTP", answer["exact"] == ours["exact"], answer)
        question = {"project": id, "request": request, "choice": "exact"}
        check("the page is told of the table", asked(server, "/api/v1/review", question)["beside"] == "hostile")
        done = asked(server, "/api/v1/publish", {**question, "into": "by_page"})
        check(f"{engine.name}: published by the page", done["published"] and done["table"] == "by_page", done)
        run(table, "verify", "--table", "by_page", "--project", ".")
    finally:
        process.kill()
        process.wait()
    engine.run("DROP TABLE by_page")


def by_statements(engine, folder):
    """What `count --sql` and `publish --rows --sql` print, run by the engine, is what incrowd counts and publishes."""
    table = folder / "table"
    (table / "incrowd.toml").write_text(project(place(engine)))
    sql = run(table, "count", "--sql", "--dialect", engine.name, "--table", "hostile").stdout.rstrip().rstrip(";")
    rows = engine.ask(sql)
    counts = [["" if cell is None else str(cell) for cell in row] for row in rows]
    (folder / "counts").mkdir(exist_ok=True)
    names = [*NAMES, "n"]
    quoted = lambda text: '"' + text.replace('"', '""') + '"'
    text = "\n".join([",".join(names)] + [",".join(map(quoted, row)) for row in counts]) + "\n"
    (folder / "counts" / "counts.csv").write_text(text)
    (folder / "counts" / "incrowd.toml").write_text(project('path = "counts.csv"\ncounted = "n"'))
    ours, theirs = (json.loads(run(where, "count", "--json").stdout) for where in (table, folder / "counts"))
    check(f"{engine.name}: its statement counts as it is counted", ours["n_records"] == theirs["n_records"], theirs)
    check(f"{engine.name}: Smith and SMITH are two there", len({row[0] for row in counts}) == 5, {row[0] for row in counts})
    # Rows become records again.
    wish = ("publish", "--k", "3", "--max-suppressed", "40%", "--force")
    run(table, *wish, "-o", "release.csv")
    made = f"expanded_{engine.name}"
    sql = run(table, *wish, "--rows", "-o", "rows.csv", "--sql", "--dialect", engine.name, "--into", made).stdout
    lines = [line for line in csv_rows(table / "rows.csv")]
    columns = ", ".join(f'"{name}" {"integer" if name == lines[0][-1] else "text"}' for name in lines[0])
    values = ", ".join("(" + ", ".join("'" + cell.replace("'", "''") + "'" for cell in line) + ")" for line in lines[1:])
    engine.run(f"CREATE TABLE rows ({columns})" if engine.name != "postgresql" else f'CREATE TABLE "rows" ({columns})',
               f'INSERT INTO "rows" VALUES {values}', sql.rstrip().rstrip(";"))
    records = [list(row) for row in engine.ask(f"SELECT * FROM {made}")]
    check(f"{engine.name}: its statement makes the release", records == csv_rows(table / "release.csv")[1:], records[:3])
    engine.run('DROP TABLE "rows"', f"DROP TABLE {made}")


def csv_rows(path):
    import csv
    with open(path, newline="") as file:
        return list(csv.reader(file))


def published_there(engine, folder, note):
    """A release becomes a table: in order, verified, with its certificate; or nothing is there."""
    table = folder / "table"
    (table / "incrowd.toml").write_text(project(place(engine), note))
    for left in table.glob("released*"):
        left.unlink()
    wish = ("publish", "--k", "3", "--max-suppressed", "40%")
    run(table, *wish, "--into", "released")
    check("the report is private: it has the key", (table / "released.report.html").stat().st_mode & 0o77 == 0)
    run(table, *wish, "--force", "-o", "release.csv")
    rows = [["" if cell is None else cell for cell in row] for row in engine.ask("SELECT * FROM released")]
    expected = csv_rows(table / "release.csv")[1:]
    texts = [[str(cell) for cell in row] for row in rows]
    check(f"{engine.name}: as many records", len(rows) == len(expected), f"{len(rows)} {len(expected)}")
    # Texts are the same, in the same order; numbers and moments are what the engine makes of them.
    names = csv_rows(table / "release.csv")[0]
    for name in ("name", "code", "ill"):
        at = names.index(name)
        check(f"{engine.name}: {name} is as in the file", [row[at] for row in texts] == [row[at] for row in expected])
    told = run(table, "verify", "--table", "released", "--project", ".")
    check(f"{engine.name}: the promise is kept", "yes, the promise is kept" in told.stdout, told.stdout)
    run(table, "verify", "--table", "released", "--database", engine.uri, "--certificate", "released.certificate.json")
    # What is there is not replaced unasked, and what it is made of never.
    check("it is there", "such a table already" in run(table, *wish, "--into", "released", code=2).stderr)
    schema = {"postgresql": "public", "sqlite": "main", "duckdb": "main"}[engine.name]
    for source in ("hostile", f"{schema}.hostile", f"{schema}.HOSTILE"):
        said = run(table, *wish, "--force", "--into", source, code=2).stderr
        check("it is the source", "what it is made of" in said, said)
    # Whatever else is there and no release is somebody's own, in whatever letters it is named.
    engine.run("CREATE TABLE precious AS SELECT * FROM hostile")
    names = ["precious"] + ["PRECIOUS", "Precious"] * (engine.name != "postgresql") + ["clinic.precious"] * (engine.name == "duckdb")
    for name in names:
        said = run(table, *wish, "--force", "--into", name, code=2).stderr
        check("it is no release", "no certificate" in said and len(engine.ask("SELECT * FROM precious")) == 400, said)
    engine.run("DROP TABLE precious")
    run(table, *wish, "--force", "--into", "released")
    # Where nothing can be promised, nothing is left.
    run(table, "publish", "--k", "300", "--max-suppressed", "0", "--max-level", "name=0", "--into", "none", code=1)
    check(f"{engine.name}: nothing is left", not there(engine, "none") and not there(engine, "incrowd_rows"))
    # A record more, groups that are others, another order: each is seen.
    changes = ["INSERT INTO released SELECT * FROM released LIMIT 1", "UPDATE released SET code = 'zzz'"]
    # Also a value that no promise and no number depends on.
    changes += ["UPDATE released SET note = '99999999-0000-0000-0000-000000000009' WHERE note LIKE '1%'"] * (note == "other")
    for change in changes:
        engine.run("CREATE TABLE spare AS SELECT * FROM released", change)
        told = run(table, "verify", "--table", "released", "--project", ".", code=1)
        check(f"{engine.name}: {change} is seen by its hash", "the file" in told.stdout or "hash" in told.stdout, told.stdout)
        engine.run("DELETE FROM released", "INSERT INTO released SELECT * FROM spare", "DROP TABLE spare")
    engine.run("CREATE TABLE turned AS SELECT * FROM released ORDER BY ill DESC, name DESC")
    told = run(table, "verify", "--table", "turned", "--project", ".", "--certificate", "released.certificate.json", code=1)
    check(f"{engine.name}: an order that was lost is seen", "out of order" in told.stdout, told.stdout)
    engine.run("DROP TABLE turned", "DROP TABLE released")


def from_files(engine, folder):
    """A table in a file becomes a table of the database, whatever types its columns have."""
    file = folder / "file"
    (file / "incrowd.toml").write_text(project('path = "../hostile.csv"'))
    wish = ("publish", "--k", "3", "--max-suppressed", "40%", "--key", KEY)
    run(file, *wish, "--force", "-o", "release.csv")
    moved = ("--into", "moved", "--database", engine.uri)
    run(file, *wish, *moved)
    expected = csv_rows(file / "release.csv")
    rows = [["" if cell is None else str(cell) for cell in row] for row in engine.ask("SELECT * FROM moved")]
    for name in ("name", "amount", "code", "day", "ill", "note"):
        at = expected[0].index(name)
        found = [row[at] for row in rows]
        check(f"{engine.name}: {name} of a file is there as it is", found == [row[at] for row in expected[1:]], found[:9])
    told = run(file, "verify", "--table", "moved", "--database", engine.uri, "--project", ".").stdout
    check(f"{engine.name}: the promise is kept", "yes, the promise is kept" in told, told)
    check("it is there", "such a table already" in run(file, *wish, *moved, code=2).stderr)
    run(file, *wish, *moved, "--force")
    said = run(file, *wish, "--force", "--into", "hostile", "--database", engine.uri, code=2).stderr
    check("somebody's own table stays", "no certificate" in said and len(engine.ask("SELECT * FROM hostile")) == 400, said)
    secret = engine.uri.replace("postgres@", "postgres:secret@") if "@" in engine.uri else "mysql:x"
    said = run(file, *wish, "--into", "other", "--database", secret, code=2).stderr
    check("no password, and no other engine", ("password" in said or "no database" in said) and "secret" not in said, said)
    engine.run("DROP TABLE moved")
    # Every type that a file can have, and a column that is called as the number of a row might be.
    zone = datetime.timezone(datetime.timedelta(hours=2))
    def times(of):
        return [datetime.datetime(2024, 1, 1 + i % 2, 3, 4, 5, 250_000 * (i % 2), of) for i in range(12)]
    kinds = {
        "n": pa.array([i % 3 for i in range(12)], pa.int64()), "tiny": pa.array([i % 2 for i in range(12)], pa.uint8()),
        "large": pa.array([2**63 + i % 2 for i in range(12)], pa.uint64()), "half": pa.array([i % 2 / 2 for i in range(12)]),
        "single": pa.array([i % 2 / 4 for i in range(12)], pa.float32()), "is": pa.array([i % 2 == 0 for i in range(12)]),
        "date": pa.array([datetime.date(2024, 2, 28 + i % 2) for i in range(12)]), "at": pa.array(times(None), pa.timestamp("ns")),
        "zoned": pa.array(times(zone), pa.timestamp("us", "Europe/Rome")), "milli": pa.array(times(None), pa.timestamp("ms")),
        "price": pa.array([decimal.Decimal(150 + i % 2) / 100 for i in range(12)], pa.decimal128(8, 2)),
        "word": pa.array(["b", "a"] * 6).dictionary_encode(), "gap": pa.array([None, "x"] * 6, pa.large_string()),
    }
    pq.write_table(pa.table({"age": [30, 40] * 6, **kinds}), folder / "typed.parquet")
    (file / "incrowd.toml").write_text('[data]\npath = "../typed.parquet"\nother = "keep"\n' + "".join(
        f'[attributes.{name}]\nrole = "other"\ntells = "accepted"\nunique = "publish"\n' for name in kinds)
        + '[attributes.age]\nrole = "quasi-identifier"\n')
    run(file, "publish", "--k", "3", "--into", "typed", "--database", engine.uri)
    run(file, "verify", "--table", "typed", "--database", engine.uri, "--project", ".")
    check(f"{engine.name}: every type is there", len(engine.ask("SELECT * FROM typed")) == 12)
    engine.run("DROP TABLE typed")
    if engine.name == "duckdb":
        # What the engine reads is a table, too.
        text = (file / "incrowd.toml").read_text()
        ours = json.loads(run(file, "count", "--json").stdout)
        query = f"query = \"SELECT * FROM read_parquet('{folder}/*.parquet')\""
        (file / "incrowd.toml").write_text(text.replace('path = "../typed.parquet"', place(engine, query)))
        check("Parquet by DuckDB", json.loads(run(file, "count", "--json").stdout) == ours, ours)


def without_transactions(engine, folder):
    """Where nothing is done as a whole, no table is made; a release that somebody else made is verified."""
    table = folder / "table"
    (table / "incrowd.toml").write_text(project(place(engine)))
    said = run(table, "publish", "--k", "3", "--max-suppressed", "40%", "--into", "released", code=2).stderr
    check("no table without a transaction", "no transactions" in said, said)
    check("nothing is left", not there(engine, "released"))
    said = run(table, "verify", "--table", "hostile", "--database", engine.uri, "--quasi-identifiers", "code", "--k", "2").stdout
    check("any table is verified", "yes" in said, said)


def there(engine, name):
    try:
        engine.ask(f"SELECT * FROM {name}")
        return True
    except Exception:
        return False


def errors(engine, folder):
    """What goes wrong is said by states and codes, without a cell of the table."""
    odd = folder / "odd"
    odd.mkdir(exist_ok=True)
    def refused(text, *words, verb=("count",)):
        (odd / "incrowd.toml").write_text(text)
        said = run(odd, *verb, code=2).stderr
        check(f"{engine.name}: {words} in {said!r}", all(word in said for word in words))
        check("no cell is told", "Smith" not in said and "secret" not in said, said)
    plain = project(place(engine))
    refused(plain.replace('table = "hostile"', 'table = "nosuch"'), "no such table")
    refused(plain.replace('table = "hostile"', ""), "no table")
    refused(plain.replace('table = "hostile"', 'table = "hostile"\ndriver = "nosuch.so"'), "driver", "cannot be loaded")
    refused(plain.replace("[attributes.note]", "[attributes.notes]"), "unknown column")
    refused(plain, "is written into a table, or as a file", verb=("publish", "--into", "x", "-o", "x.csv"))
    if engine.name == "postgresql":
        secret = plain.replace("postgres@", "postgres:secret@")
        refused(secret, "holds a password", "PGPASSWORD")
        refused(plain.replace("/postgres\"", "/nosuch\""), "cannot be opened (IO)", "its address")
        refused(plain.replace('table = "hostile"', "query = \"SELECT name, CAST(name AS int) AS amount, code, score, at, zone, day, ill, note FROM hostile\""), "in the middle of a table")
        # No right to create.
        engine.run("CREATE ROLE reader LOGIN", "GRANT SELECT ON hostile TO reader")
        (odd / "incrowd.toml").write_text(plain.replace("postgres@", "reader@"))
        said = run(odd, "publish", "--k", "3", "--max-suppressed", "40%", "--into", "public.mine", code=2).stderr
        check("no right is said", "no right" in said and "42501" in said, said)
        # Types of the engine's own are the texts that it writes.
        engine.run("CREATE TYPE mood AS ENUM ('sad', 'glad')",
                   "CREATE TABLE own AS SELECT name, (CASE WHEN code = 'ab' THEN 'sad' ELSE 'glad' END)::mood AS code, "
                   "inet '10.0.0.1' AS ip, money '3.50' AS bill FROM hostile")
        text = PROJECT.split("[attributes.name]")[0].format(place=place(engine).replace("hostile", "own"), more="")
        text += "".join(f'[attributes.{name}]\nrole = "quasi-identifier"\n' for name in ("code", "ip", "bill"))
        (odd / "incrowd.toml").write_text(text)
        run(odd, "publish", "--k", "3", "--max-suppressed", "0", "--max-level", "code=0,ip=0,bill=0", "-o", "own.csv")
        found = set(map(tuple, csv_rows(odd / "own.csv")[1:]))
        check("own types", found == {("sad", "10.0.0.1/32", "3.50"), ("glad", "10.0.0.1/32", "3.50")}, found)
        # A list cannot be read, which matters to those who name it.
        engine.run("CREATE TABLE lists AS SELECT name, code, ARRAY[1] AS list FROM hostile")
        said = PROJECT.split("[attributes.name]")[0].format(place=place(engine).replace("hostile", "lists"), more="")
        refused(said + '[attributes.code]\nrole = "quasi-identifier"\n[attributes.list]\nrole = "quasi-identifier"\n',
                "'list'", "does not read")


def lost_under_way(engine, folder):
    """The connection is lost while the table is counted, and while the new one is made: an error, and nothing is left."""
    table = folder / "table"
    (table / "incrowd.toml").write_text(project(place(engine)))
    waiting = "FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    for what, block in [("counted", "LOCK TABLE hostile IN ACCESS EXCLUSIVE MODE"), ("written", "CREATE TABLE mine (a int)")]:
        with engine.connected() as holder:
            holder.execute("BEGIN")
            holder.execute(block)
            environment = dict(os.environ, INCROWD_POSTGRESQL_DRIVER=DRIVERS["postgresql"])
            words = [PROGRAM, "--quiet", "publish", "--k", "3", "--max-suppressed", "40%", "--into", "mine"]
            process = subprocess.Popen(words, cwd=table, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            until = time.monotonic() + 60
            while not engine.ask(f"SELECT 1 {waiting}") and process.poll() is None and time.monotonic() < until:
                time.sleep(0.05)
            check(f"it waits to be {what}", engine.ask(f"SELECT 1 {waiting}"), process.poll())
            engine.ask(f"SELECT pg_terminate_backend(pid) {waiting}")
            stdout, stderr = process.communicate(timeout=60)
            holder.execute("ROLLBACK")
        check(f"lost while it is {what}: an error", process.returncode == 2 and "error: " in stderr, stdout + stderr)
        check("no cell and no text of the driver", "Smith" not in stderr and "FATAL" not in stderr and "terminating" not in stderr, stderr)
        check("nothing is left", not there(engine, "mine") and not there(engine, "incrowd_rows"))
        check("no certificate is left", not list(table.glob("mine*")), list(table.glob("mine*")))


def spoilt_under_way(engine, folder):
    """A table that is not what was written when it is verified: nothing is left. Here the database itself changes it."""
    table = folder / "table"
    wish = ("publish", "--k", "3", "--max-suppressed", "40%", "--into", "spoilt")
    first = "(SELECT min(ctid) FROM %s)"
    ways = {"changed": f"UPDATE %s SET name = ''nobody'' WHERE ctid = {first}", "lost": f"DELETE FROM %s WHERE ctid = {first}",
            "added": "INSERT INTO %s SELECT * FROM %s LIMIT 1"}
    for note in ("other", "identifier"):
        (table / "incrowd.toml").write_text(project(place(engine), note))
        for what, statement in ways.items():
            names = ", ".join(["made.object_identity"] * statement.count("%s"))
            engine.run(
                "CREATE FUNCTION spoil() RETURNS event_trigger LANGUAGE plpgsql AS $$ DECLARE made record; BEGIN "
                "FOR made IN SELECT * FROM pg_event_trigger_ddl_commands() LOOP IF made.object_identity LIKE '%spoilt%' "
                f"THEN EXECUTE format('{statement}', {names}); END IF; END LOOP; END $$",
                "CREATE EVENT TRIGGER spoil ON ddl_command_end WHEN TAG IN ('CREATE TABLE AS') EXECUTE FUNCTION spoil()")
            told = run(table, *wish, code=1)
            check(f"a record was {what}: it is said", "nothing was written" in told.stdout + told.stderr, told)
            check("nothing is left", not there(engine, "spoilt") and not list(table.glob("spoilt*")), list(table.iterdir()))
            engine.run("DROP EVENT TRIGGER spoil", "DROP FUNCTION spoil()")


def changed_under_way(engine, folder):
    """A table that is another one when its kept columns are read is not published."""
    odd = folder / "odd"
    query = "SELECT h.code, CAST((SELECT nextval('ticks')) AS text) AS name, h.ill, h.note FROM hostile h"
    said = PROJECT.split("[attributes.name]")[0].format(place=place(engine, f'query = "{query}"'), more='other = "keep"')
    engine.run("CREATE SEQUENCE ticks")
    (odd / "incrowd.toml").write_text(
        said + '[attributes.code]\nrole = "quasi-identifier"\n[attributes.name]\nrole = "quasi-identifier"\n')
    told = run(odd, "publish", "--k", "3", "--max-suppressed", "100%", "-o", "changing.csv", code=2).stderr
    check("the change is said", "changed" in told, told)
    check("nothing is left", not list(odd.glob("changing*")), list(odd.glob("changing*")))
    engine.run("DROP SEQUENCE ticks")


def documented(engine, folder):
    """What the documents show, printed as they show it."""
    with open(folder / "demo.txt", "w") as told:
        subprocess.run([PROGRAM, "--quiet", "demo", "hospital", "--records", "3000"], cwd=folder, check=True, stdout=told)
    def shown(document, replaced):
        at = folder / document.replace("/", "-")
        at.mkdir()
        documents.run_commands(document, "test-database", at, PROGRAM, environment_of_drivers(), replaced, check)
    if engine.name == "sqlite" and shutil.which("sqlite3"):
        shown("docs/tutorials/database.md", {})
    elif engine.name == "sqlite":
        print("sqlite3 is not there: docs/tutorials/database.md was not run")
    if engine.name == "postgresql":
        rows = csv_rows(folder / "hospital" / "discharges.csv")
        kinds = ["bigint" if all(row[i].isdigit() and not row[i].startswith("0") for row in rows[1:]) else "text"
                 for i in range(len(rows[0]))]
        columns = ", ".join(f'"{name}" {kind}' for name, kind in zip(rows[0], kinds))
        lines = ", ".join("(" + ", ".join("'" + cell.replace("'", "''") + "'" for cell in row) + ")" for row in rows[1:])
        engine.run(f"CREATE TABLE public.discharges ({columns})", f"INSERT INTO public.discharges VALUES {lines}")
        for document in ["README.md", "docs/databases.md"]:
            shown(document, {"postgresql://curator@db/clinic": engine.uri})
            engine.run("DROP TABLE public.discharges_k5")


def main():
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with postgresql(folder) as server, sail(folder) as flight:
            engines = [server] if server else []
            only = os.environ.get("ONLY", "")
            if server:
                server.run("CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
            path = folder / "clinic.sqlite"
            engines.append(Engine("sqlite", f"sqlite:{path}", {"uri": str(path)}))
            if DUCKDB:
                path = folder / "clinic.duckdb"
                engines.append(Engine("duckdb", f"duckdb:{path}", {"path": str(path)}))
            else:
                print("DuckDB's library cannot be had here: left out")
            engines += [flight] if flight else []
            for engine in [engine for engine in engines if engine.name in only or not only]:
                place_of = folder / engine.name / "work"
                place_of.mkdir(parents=True)
                fill(engine, hostile(engine.name))
                same_as_its_file(engine, place_of, "other")
                same_as_its_file(engine, place_of, "identifier", 'missing_records = "drop"\ncomplete = ["note"]')
                people(engine, place_of)
                kept(engine, place_of)
                begun(engine, place_of)
                documented(engine, place_of)
                from_a_level(engine, place_of)
                if engine.name == "flightsql":
                    without_transactions(engine, place_of)
                    print(f"{engine.name}: as its file ({time.monotonic() - started:.0f} s)")
                    continue
                served(engine, place_of)
                by_statements(engine, place_of)
                published_there(engine, place_of, "other")
                published_there(engine, place_of, "identifier")
                from_files(engine, place_of)
                errors(engine, place_of)
                if engine.name == "postgresql":
                    lost_under_way(engine, place_of)
                    spoilt_under_way(engine, place_of)
                    changed_under_way(engine, place_of)
                print(f"{engine.name}: as its file ({time.monotonic() - started:.0f} s)")
    print(f"{N_CHECKS} checks")


if __name__ == "__main__":
    main()
