"""Runs every benchmark of incrowd beside its peers and prints the numbers, won or lost.

Repetitions are interleaved, so that whatever else the machine does hits all engines
alike. Only the standard library is used here: on Linux a child's peak of memory starts
at that of the process it was started from, so this one has to stay small.
"""

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

# A run that takes longer is not repeated: it hardly varies, and everything is to be over within a quarter of an hour.
SLOW_S = 6

PEERS = Path(__file__).resolve().with_name("peers.py")
SEED = 7

ADULT_QUASI_IDENTIFIERS = ["age", "workclass", "race", "occupation", "education", "marital-status"]
ADULT_SENSITIVE = "hours-per-week"
# Of the generated table. None leaves the default: the value itself, or nothing.
DISCHARGE_HIERARCHIES = {
    "age": "{ intervals = [5, 10, 20], origin = 0 }",
    "sex": None,
    "postcode": "{ mask = 5 }",
    "marital_status": None,
    "occupation": None,
    "admission_date": '{ dates = ["month", "quarter", "year"] }',
}
DISCHARGE_SENSITIVE = "diagnosis"
# What counting costs is set by the groups in the first case, by reading in the second.
COUNT_CASES = {
    "many groups": list(DISCHARGE_HIERARCHIES),
    "few groups": ["age", "sex", "marital_status"],
}
# Of local recoding: all that the papers' Adult has, the last two with hierarchies of ARX's.
ADULT_EIGHT = [*ADULT_QUASI_IDENTIFIERS, "sex", "native-country"]
LOCAL_METHODS = ["mondrian", "mondrian-relaxed", "top-down", "bottom-up"]
LOCAL_KS = [2, 5, 10, 25, 50, 100]
N_RECORDS_LOCAL = 1_000_000
# For `negotiate` when Adult is absent: enough for a lattice worth searching.
N_RECORDS_NEGOTIATE = 100_000


def main():
    args = parse_arguments()
    report = Report()
    print(f"incrowd beside its peers, on {report.machine}")
    print(f"Median of {plural(args.repetitions, 'repetition')}, interleaved; what takes longer than {SLOW_S} s runs once. "
          "CPU counts all threads, peak is the greatest resident memory.")

    adult, why_not = find_adult(args.data)
    if not adult:
        print(f"\nNothing is measured on Adult: {why_not}")
        print("hint: --data DIR with adult.csv and hierarchies/; the rest runs on generated data")
        report.skipped.append(f"what needs Adult: {why_not}")
    begun = time.monotonic()
    for name, measure in SECTIONS.items():
        if args.only is None or name in args.only:
            start = time.monotonic()
            measure(args, adult, report)
            report.seconds[name] = time.monotonic() - start
    print_goals(report)
    print("\nSeconds on the clock: " + ", ".join(f"{name} {s:.0f}" for name, s in report.seconds.items())
          + f"; all {time.monotonic() - begun:.0f}")

    path = args.work / "results.json"
    path.write_text(json.dumps(vars(report), indent=2) + "\n", encoding="utf-8")
    print(f"\nEvery repetition is in {path}")
    for problem in report.problems:
        print(f"PROBLEM: {problem}")
    # A goal that is not met is a result; a measurement that failed is not.
    sys.exit(1 if report.problems else 0)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=Path, help="the incrowd-bench binary")
    parser.add_argument("--data", type=Path, help="directory with adult.csv and hierarchies/")
    parser.add_argument("--work", type=Path, default=Path("target/bench"),
                        help="where generated files go (default: %(default)s)")
    parser.add_argument("--records", type=int,
                        help="of the generated table (default: 10,000,000; quick: 1,000,000)")
    parser.add_argument("--requests", type=int,
                        help="to negotiate (default: 20,000; quick: 10,000)")
    parser.add_argument("--repetitions", type=int, default=3, help="(default: %(default)s)")
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="NAME,…",
                        help=f"some of {', '.join(SECTIONS)}")
    parser.add_argument("--quick", action="store_true",
                        help="a smaller table, fewer requests, and peers count k only")
    parser.add_argument("--long", action="store_true",
                        help="search for a minute, too, beside the seconds that it is given otherwise")
    args = parser.parse_args()
    if unknown := set(args.only or []) - set(SECTIONS):
        parser.error(f"--only: there is no {', '.join(sorted(unknown))}")
    if args.records is None:
        args.records = 1_000_000 if args.quick else 10_000_000
    if args.requests is None:
        args.requests = 10_000 if args.quick else 20_000
    if args.records < 10:
        parser.error("--records must be at least 10, as a tenth of them is counted too")
    if args.repetitions < 1:
        parser.error("--repetitions must be at least 1")
    if not args.bin.is_file():
        parser.error(f"--bin {args.bin}: no such file")
    args.bin, args.work = args.bin.resolve(), args.work.resolve()
    args.work.mkdir(parents=True, exist_ok=True)
    return args


# ---------------------------------------------------------------- the benchmarks

def annotate(args, adult, report):
    """All 3,600 schemes of Adult, against as many GROUP BYs in three engines."""
    if not adult:
        return
    ours = [args.bin, "annotate", "--project", adult_project(args, adult), "--threads"]
    files = [adult / "adult.csv", adult / "hierarchies"]
    commands = {
        "incrowd, 1 thread": [*ours, 1],
        "incrowd, 2 threads": [*ours, 2],
        "numpy": peer("annotate-numpy", *files),
        "numpy, plain": peer("annotate-numpy", *files, "--plain"),
        "polars": peer("annotate-polars", *files),
        "DuckDB": peer("annotate-duckdb", *files),
    }
    if not args.quick:
        commands |= {
            "numpy, k and l": peer("annotate-numpy-kl", *files),
            "polars, k and l": peer("annotate-polars", *files, "--with-l"),
            "DuckDB, k and l": peer("annotate-duckdb", *files, "--with-l"),
        }
    medians = report.measure("annotate", commands, args.repetitions)
    base = medians["incrowd, 1 thread"]

    heading("annotate: Adult, six quasi-identifiers, 3,600 schemes")
    print("incrowd counts k and l; the peers, on one thread, k only unless the line says more.\n")
    print_table(
        ["", "version", "CPU s", "wall s", "peak MB", "CPU / incrowd"],
        [[name, m.get("version", "-"), number(m, "cpu_s", 3), number(m, "wall_s", 3),
          number(m, "peak_mb"), times(ratio(m, base, "cpu_s"))] for name, m in medians.items()],
    )
    print("\nThe papers took 19 minutes for k and 21.1 minutes for l.")
    if "ns_per_source_group" in base:
        print(f"incrowd touched {base['n_source_groups']:,} source groups, "
              f"{base['ns_per_source_group']:.1f} ns each on 1 thread.")
    report.check_agreement("annotate", ["n_schemes", "n_groups_sum", "n_suppressed_sum_k10",
                                        "n_suppressed_sum_l3"])

    for name, least in ("numpy", 5), ("numpy, plain", 5), ("DuckDB", 40):
        value = ratio(medians[name], base, "cpu_s")
        report.goal(f"annotate: CPU of {name} / incrowd, 1 thread each", times(value),
                    f">= {least}x", value is not None and value >= least)
    value = base.get("ns_per_source_group")
    report.goal("annotate: ns per source group, 1 thread", number(base, "ns_per_source_group", 1),
                "< 25", value is not None and value < 25)


def criteria(args, adult, report):
    """What other criteria cost beside k and l."""
    if not adult:
        return
    ours = [args.bin, "annotate", "--project", adult_project(args, adult), "--threads", 1, "--criteria"]
    names = ["k+l", "k+l+entropy+t", "all"]
    medians = report.measure("criteria", {name: [*ours, name] for name in names}, args.repetitions)
    base = medians["k+l"]
    heading("annotate: Adult, more criteria than k and l, 1 thread")
    print_table(
        ["", "CPU s", "peak MB", "bytes per scheme", "CPU / k+l"],
        [[name, number(m, "cpu_s", 3), number(m, "peak_mb"),
          f"{m['n_bytes'] // m['n_schemes']:,}" if "n_bytes" in m else "-",
          times(ratio(m, base, "cpu_s"))] for name, m in medians.items()],
    )
    four = medians["k+l+entropy+t"]
    value = ratio(four, base, "cpu_s")
    report.goal("annotate: CPU of k, l, entropy and t / k and l", times(value), "<= 4x",
                value is not None and value <= 4)
    value = four.get("peak_mb")
    report.goal("annotate: peak MB of k, l, entropy and t", number(four, "peak_mb"), "< 200",
                value is not None and value < 200)


def frontier(args, adult, report):
    """Every bargain over k, from annotations."""
    if not adult:
        return
    command = [args.bin, "frontier", "--project", adult_project(args, adult), "--threads", 2]
    result = report.measure("frontier", {"incrowd": command}, 1)["incrowd"]
    heading("frontier: Adult, every k and any number of records lost, by NCP, 2 threads")
    print_table(["", "bargains", "wall ms", "first ms"],
                [["incrowd", number(result, "n_bargains"), number(result, "wall_ms", 1),
                  number(result, "first_wall_ms", 1)]])
    value = result.get("wall_ms")
    report.goal("frontier: wall in ms", number(result, "wall_ms", 1), "< 100",
                value is not None and value < 100)


def negotiate(args, adult, report):
    """How long one answer takes, in process, on an annotated lattice."""
    if adult:
        project, table = adult_project(args, adult), "Adult, six quasi-identifiers"
    else:
        n_records = min(N_RECORDS_NEGOTIATE, args.records)
        project = discharges_project(args, report, n_records, list(DISCHARGE_HIERARCHIES))
        table = f"{n_records:,} generated records, six quasi-identifiers"
    command = [args.bin, "negotiate", "--project", project, "--requests", args.requests]
    # Once: the spread that matters is the one between requests.
    more = [args.bin, "negotiate", "--project", project, "--requests", args.requests // 10,
            "--criteria", "k+l+entropy+t"]
    results = report.measure("negotiate", {"k, l": command, "k, l, entropy, t": more}, 1)
    result = results["k, l"]

    heading(f"negotiate: {table}, random requests")
    print_table(
        ["", "requests", "mean us", "p50 us", "p99 us", "max us", "peak MB"],
        [[name, number(m, "n_requests"), number(m, "mean_us", 1), number(m, "p50_us", 1),
          number(m, "p99_us", 1), number(m, "max_us", 1), number(m, "peak_mb")]
         for name, m in results.items()],
    )
    print("\nThe papers took 1 to 8 ms per answer.")
    value = result.get("p99_us")
    report.goal("negotiate: p99 in us", number(result, "p99_us", 1), "< 50",
                value is not None and value < 50)


def http(args, adult, report):
    """How long one answer takes over HTTP with 50 in flight, and how much a browser loads first."""
    if not adult:
        return
    heading("serve: answers over HTTP")
    project = adult_project(args, adult)
    commands = {
        f"{n} in flight": [args.bin, "http", "--project", project, "--requests", args.requests, "--in-flight", str(n)]
        for n in (1, 8, 50)
    }
    results = report.measure("http", commands, 1)
    print_table(
        ["", "requests", "per second", "p50 ms", "p99 ms", "max ms", "page kB"],
        [[name, number(m, "n_requests"), number(m, "per_second"), number(m, "p50_ms", 2),
          number(m, "p99_ms", 2), number(m, "max_ms", 2), number(m, "page_kb", 1)]
         for name, m in results.items()],
    )
    print("\nWho asks runs on the same cores as who answers: with many in flight, the wait is the queue for them.")
    result = results["50 in flight"]
    p99, page = result.get("p99_ms"), result.get("page_kb")
    report.goal("serve: p99 in ms, 50 in flight", number(result, "p99_ms", 2), "< 2", p99 is not None and p99 < 2)
    report.goal("serve: first load in kB, compressed", number(result, "page_kb", 1), "< 300",
                page is not None and page < 300)


def local(args, adult, report):
    """Local recoding: Mondrian beside anonypy's, and what top-down and bottom-up cost."""
    project = adult_eight_project(args, adult) if adult else None
    if project:
        ours = [args.bin, "local", "--project", project, "--k", 10, "--threads", 1, "--method"]
        commands = {method: [*ours, method] for method in LOCAL_METHODS}
        commands["anonypy"] = peer("mondrian-anonypy", adult / "adult.csv", "--k", 10, "--columns",
                                   ",".join(ADULT_EIGHT), "--sensitive", ADULT_SENSITIVE)
        medians = report.measure("local", commands, args.repetitions)
        base = medians["mondrian"]
        heading("local recoding: Adult, eight quasi-identifiers, k = 10, 1 thread")
        print("anonypy's Mondrian only puts records into groups; incrowd also says what is published of each.\n")
        print_table(
            ["", "version", "CPU s", "wall s", "peak MB", "groups", "NCP", "CPU / mondrian"],
            [[name, m.get("version", "-"), number(m, "cpu_s", 3), number(m, "wall_s", 3), number(m, "peak_mb"),
              number(m, "n_groups"), number(m, "ncp", 4), times(ratio(m, base, "cpu_s"))]
             for name, m in medians.items()],
        )
        report.check_agreement("local", ["n_records"])
        value = ratio(medians["anonypy"], base, "cpu_s")
        report.goal("local: CPU of anonypy's Mondrian / incrowd's", times(value), ">= 100x",
                    value is not None and value >= 100)
        local_by_k(args, project, report)
    elif adult:
        report.skipped.append("local: Adult with the hierarchies of eight attributes is absent")
    local_by_records(args, report)


def local_by_k(args, project, report):
    """How cost and loss depend on k."""
    rows = []
    most = {}
    for method in "top-down", "bottom-up":
        commands = {f"{method}, k = {k}": [args.bin, "local", "--project", project, "--k", k, "--threads", 1,
                                           "--method", method] for k in LOCAL_KS}
        medians = report.measure(f"local, {method}", commands, 1)
        rows += [[name, number(m, "cpu_s", 3), number(m, "ncp", 4), number(m, "n_groups"),
                  number(m, "smallest_group")] for name, m in medians.items()]
        cpu = [m.get("cpu_s") for m in medians.values()]
        most[method] = max(cpu) if all(cpu) else None
    heading("local recoding: Adult, eight quasi-identifiers, 1 thread")
    print_table(["", "CPU s", "NCP", "groups", "smallest"], rows)
    for method, least in ("top-down", 1), ("bottom-up", 5):
        value = most[method]
        report.goal(f"local: CPU s of {method}, the dearest k", "-" if value is None else f"{value:.2f}",
                    f"< {least}", value is not None and value < least)


def local_by_records(args, report):
    """How cost depends on the records, and the attributes."""
    columns = list(DISCHARGE_HIERARCHIES)
    cases = {(n, len(columns)): columns for n in (N_RECORDS_LOCAL // 100, N_RECORDS_LOCAL // 10, N_RECORDS_LOCAL)}
    cases[N_RECORDS_LOCAL, 3] = ["age", "postcode", "admission_date"]
    commands = {}
    for (n_records, n_columns), names in cases.items():
        project = discharges_project(args, report, n_records, names)
        for method in "mondrian", "top-down", "bottom-up":
            # From below, the nearest group is looked for all over the table: that is for a tenth of it.
            if method != "bottom-up" or n_records < N_RECORDS_LOCAL:
                commands[f"{method}, {n_records:,} records, {n_columns} attributes"] = [
                    args.bin, "local", "--project", project, "--k", 10, "--threads", 2, "--method", method]
    medians = report.measure("local, generated", commands, 1)
    heading("local recoding: generated records, k = 10, 2 threads")
    print_table(
        ["", "distinct", "CPU s", "wall s", "peak MB", "groups", "NCP"],
        [[name, number(m, "n_base_groups"), number(m, "cpu_s", 2), number(m, "wall_s", 2), number(m, "peak_mb"),
          number(m, "n_groups"), number(m, "ncp", 4)] for name, m in medians.items()],
    )
    whole = medians[f"top-down, {N_RECORDS_LOCAL:,} records, {len(columns)} attributes"]
    value = whole.get("wall_s")
    report.goal(f"local: wall s of top-down, {N_RECORDS_LOCAL:,} records, 2 threads", number(whole, "wall_s", 1),
                "< 60", value is not None and value < 60)


def local_tree(args, adult, report):
    """One tree of groups for all k: what it costs, how quick its answers are, and what its cuts lose."""
    project = adult_eight_project(args, adult) if adult else None
    if project:
        command = [args.bin, "local-tree", "--project", project, "--threads", 1, "--refined-ms", 1000]
        m = report.measure("local-tree", {"tree": command}, 1)["tree"]
        heading("local-tree: Adult, eight quasi-identifiers, 1 thread")
        rows = m.get("by_k", [])
        print_table(["k", "cut", "refined 1 CPU s", "bottom-up", "top-down", "mondrian", "cut / bottom-up"],
                    [[str(row["k"]), *(number(row, name, 4) for name in ("cut", "refined", "bottom-up", "top-down", "mondrian")),
                      number(row, "ratio", 3)] for row in rows])
        worst = max((row["ratio"] for row in rows), default=None)
        refined = max((row["refined_ratio"] for row in rows), default=None)
        goals = [("CPU s of the tree", m.get("cpu_s"), 3), ("NCP of cuts / bottom-up, at most", worst, 1.2),
                 ("NCP after 1 s of CPU / bottom-up, at most", refined, 1.03)]
        for name, most_50, most_99 in ("answers_k_l", 1, 5), ("answers_t_entropy", None, 20):
            answers = m.get(name) or {}
            goals += [(f"{name}: p50 CPU ms", answers.get("p50_cpu_ms"), most_50)] if most_50 else []
            goals += [(f"{name}: p99 CPU ms", answers.get("p99_cpu_ms"), most_99)]
        for name, value, most in goals:
            report.goal(f"local-tree: {name}", "-" if value is None else f"{value:.3f}", f"<= {most}",
                        value is not None and value <= most)
        is_below = bool(rows) and all(row["cut"] < row["mondrian"] for row in rows)
        report.goal("local-tree: cuts lose less than Mondrian", "yes" if is_below else "no", "at every k", is_below)
    command = [args.bin, "local-tree", "--attributes", 8, "--records", N_RECORDS_LOCAL, "--threads", 2, "--requests", 200]
    m = report.measure("local-tree, generated", {"tree": command}, 1)["tree"]
    value, p99 = m.get("wall_s"), (m.get("answers_k_l") or {}).get("p99_ms")
    print(f"\nGenerated, {N_RECORDS_LOCAL:,} records, 2 threads: tree {number(m, 'wall_s', 1)} s, peak {number(m, 'peak_mb')} MB")
    report.goal("local-tree: wall s of a million records", number(m, "wall_s", 1), "<= 60", value is not None and value <= 60)
    report.goal("local-tree: p99 ms of its answers", "-" if p99 is None else f"{p99:.1f}", "<= 100",
                p99 is not None and p99 <= 100)


RISK_MODELS = {"sensitivity": "model I", "identity": "model II", "entropic": "model III"}


def per_record(args, adult, report):
    """Every record on its own: the paper's Figure 7 as a table, then many attributes."""
    if adult:
        per_record_adult(args, adult, report)
    heading("per-record: generated records, 1 thread")
    print("Milliseconds and nodes per record, for shares of the greatest utility; the dual and the scalar form are asked for\n"
          "about the same. Records are evenly taken from 20,000 of sixteen values and five levels per attribute: 50 each, 20 with twelve\n"
          "attributes, 5 with fifteen.\n")
    rows, at_15 = [], []
    for n_attributes in 8, 10, 12, 15:
        for risk, model in RISK_MODELS.items():
            talk(f"per-record: {n_attributes} attributes, {risk}")
            result = run([args.bin, "per-record-generated", "--attributes", n_attributes, "--risk", risk,
                          "--solved", {8: 50, 10: 50, 12: 20, 15: 5}[n_attributes]])
            if "error" in result:
                report.problem(f"per-record, {n_attributes} attributes failed: {result['error']}")
                return
            for row in result["rows"]:
                dual, scalar = row["dual"], row["scalar"]
                rows.append([str(n_attributes), f"{result['n_schemes']:.1e}", model, f"{row['share']:.0%}",
                             *(f"{ms / 1e3:.1f} ms, {nodes:,.0f}" for ms, nodes in (
                                 (row["us_per_record"], row["nodes_optimum"]),
                                 (dual["us_per_record"], dual["nodes"]), (scalar["us_per_record"], scalar["nodes"])))])
                if n_attributes == 15:
                    at_15.append((row["us_per_record"] / 1e3, row["share"]))
    print_table(["attributes", "lattice", "", "utility", "least risk", "most utility", "scalar"], rows)
    half = max(ms for ms, share in at_15 if share == 0.5)
    worst, _ = max(at_15)
    report.goal("per-record: ms per record, 15 attributes, half of the utility", f"{half:.1f}", "< 100", half < 100)
    report.goal("per-record: ms per record, 15 attributes, worst share", f"{worst:.1f}", "< 1000", worst < 1000)


def per_record_adult(args, adult, report):
    most, n_more, n_compared = 0, 0, 0
    for risk, model in RISK_MODELS.items():
        talk(f"per-record: Adult, {risk}")
        result = run([args.bin, "per-record", "--project", adult_project(args, adult), "--threads", 1, "--risk", risk])
        if "error" in result:
            report.problem(f"per-record failed: {result['error']}")
            return
        rows = result["rows"]
        heading(f"per-record, {model}: all {result['n_solved']:,} distinct records of Adult, six quasi-identifiers, "
                "sum of depths, random weights, 1 thread")
        if rows[0]["nodes_walk"] is None:
            print("The published searches do not find the best under this model.\n")
        else:
            print(f"Nodes per record: ours for all of them, best-first for {rows[0]['n_records_best_first']}, "
                  f"the walk for {rows[0]['n_records_walked']}, evenly taken.\n")
        print_table(
            ["share of utility", "CPU s", "us / record", "ours", "best-first (BTDA)", "walk (ARUBA)",
             "dual CPU s", "scalar CPU s"],
            [[f"{row['share']:.0%}", number(row, "cpu_s", 3), number(row, "us_per_record", 1),
              number(row, "nodes_optimum", 1), number(row, "nodes_best_first", 1), number(row, "nodes_walk", 1),
              number(row["dual"], "cpu_s", 3), number(row["scalar"], "cpu_s", 3)]
             for row in rows],
        )
        most = max(most, *(row["cpu_s"] for row in rows))
        n_more += sum(row["n_records_with_more_nodes_than_best_first"] for row in rows)
        n_compared += sum(row["n_records_best_first"] for row in rows)
    report.goal("per-record: CPU s of all of Adult at the worst c and model", f"{most:.2f}", "< 1", most < 1)
    report.goal("per-record: records with more nodes than best-first", f"{n_more} of {n_compared:,}", "0", n_more == 0)


def count(args, _adult, report):
    """One pass over a large Parquet file against DuckDB, and memory at a tenth of its size."""
    for case, columns in COUNT_CASES.items():
        section = f"count, {case}"
        whole = discharges_project(args, report, args.records, columns)
        tenth = discharges_project(args, report, args.records // 10, columns)
        path = discharges_path(args, args.records)
        group_columns = ",".join([*columns, DISCHARGE_SENSITIVE])
        commands = {}
        for threads in "1 thread", "2 threads":
            n_threads = threads.split()[0]
            commands[f"incrowd, {threads}"] = [
                args.bin, "count", "--project", whole, "--threads", n_threads]
            commands[f"DuckDB, {threads}"] = peer(
                "count-duckdb", path, "--threads", n_threads, "--columns", group_columns)
        warm_up(path)
        medians = report.measure(section, commands, args.repetitions)

        heading(f"{section}: Parquet, {args.records:,} generated records")
        print(f"{', '.join(columns)}; sensitive: {DISCHARGE_SENSITIVE}. A cell is a group and one "
              "sensitive value.\n")
        rows = []
        for name, m in medians.items():
            theirs = medians[name.replace("incrowd", "DuckDB")]
            ratios = [ratio(m, theirs, "cpu_s"), ratio(m, theirs, "wall_s")]
            rows.append([name, number(m, "cpu_s", 3), number(m, "wall_s", 3),
                         number(m, "peak_mb"), number(m, "n_groups"), number(m, "n_cells"),
                         *map(times, ratios)])
            if m is not theirs:
                for label, value in zip(("CPU", "wall"), ratios):
                    report.goal(f"{section}: {label} of {name} / DuckDB", times(value),
                                "<= 1.5x", value is not None and value <= 1.5)
        print_table(["", "CPU s", "wall s", "peak MB", "groups", "cells", "CPU / DuckDB",
                     "wall / DuckDB"], rows)
        report.check_agreement(section, ["n_records", "n_cells"])

        command = [args.bin, "count", "--project", tenth, "--threads", 1]
        shorter = report.measure(f"memory, {case}", {"incrowd": command}, 1)["incrowd"]
        print("\nMemory of incrowd on 1 thread, with a tenth of the records and with all:\n")
        print_table(
            ["", "records", "groups", "cells", "peak MB"],
            [[label, number(m, "n_records"), number(m, "n_groups"), number(m, "n_cells"),
              number(m, "peak_mb")]
             for label, m in (("a tenth", shorter), ("all", medians["incrowd, 1 thread"]))],
        )


N_TIMES_ADULT = 100


def csv(args, adult, report):
    """The same records counted from CSV and from Parquet: where lines come again, and where every line is another."""
    if not adult or not (parquet := adult_again(args, adult, report)):
        return
    paths = {"Parquet": parquet, "CSV": args.work / f"adult-{N_TIMES_ADULT}.csv",
             "CSV, every line another": args.work / f"adult-{N_TIMES_ADULT}-numbered.csv"}
    for name, is_numbered in ("CSV", False), ("CSV, every line another", True):
        if not paths[name].exists():
            talk(f"writing {paths[name].name}")
            write_again(adult / "adult.csv", paths[name], is_numbered)
    commands = {}
    for name, path in paths.items():
        warm_up(path)
        commands[name] = [args.bin, "count", "--project", adult_project(args, adult, path), "--threads", 1]
    medians = report.measure("csv", commands, max(args.repetitions, 5))
    heading(f"csv: Adult {N_TIMES_ADULT} times counted, six quasi-identifiers, 1 thread")
    base = medians["Parquet"]
    print_table(["", "CPU s", "wall s", "peak MB", "CPU / Parquet"],
                [[name, number(m, "cpu_s", 3), number(m, "wall_s", 3), number(m, "peak_mb"),
                  times(ratio(m, base, "cpu_s"))] for name, m in medians.items()])
    report.check_agreement("csv", ["n_records", "n_cells"])
    for name in list(paths)[1:]:
        value = ratio(medians[name], base, "cpu_s")
        report.goal(f"{name}: CPU / Parquet", times(value), "<= 1.5x", value is not None and value <= 1.5)


def write_again(source, path, is_numbered):
    """Writes the records of a CSV file again and again; numbered, so that no line is as another (fnlwgt is not counted)."""
    with open(source, encoding="utf-8") as file:
        header, *lines = file
    place = header.split(",").index("fnlwgt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(header)
        for again in range(N_TIMES_ADULT):
            if not is_numbered:
                file.writelines(lines)
                continue
            for i, line in enumerate(lines):
                cells = line.split(",")
                cells[place] = str(again * len(lines) + i)
                file.write(",".join(cells))


def adult_again(args, adult, report):
    """The records of Adult many times in Parquet; nothing where they cannot be written."""
    path = args.work / f"adult-{N_TIMES_ADULT}.parquet"
    if not path.exists():
        talk(f"writing Adult {N_TIMES_ADULT} times")
        made = run(peer("repeat-parquet", adult / "adult.csv", path, "--times", N_TIMES_ADULT))
        if "error" in made:
            report.problem(f"writing {path.name} failed: {made['error']}")
            return None
    return path


def publish(args, adult, report):
    """A whole publish of a large table of few combinations, from Parquet, beside the counting that it begins with: with the
    scheme given (count, release, verify), and with the best of all schemes, which are annotated."""
    if not adult or not (path := adult_again(args, adult, report)):
        return
    project = adult_project(args, adult, path)
    warm_up(path)
    order = [args.bin, "order", "--project", project, "--threads", 1, "--repeat", 3, "--verb"]
    commands = {"count": [*order, "count"]}

    def publish_as(form, **wish):
        wish = {"max_suppressed": "10%", "output": str(project / f"release.{form}"), "force": True, **wish}
        return [*order, "publish", "--document", json.dumps(wish)]

    for form in "parquet", "csv":
        for k in 10, 1000:
            found = run(publish_as(form, k=k))
            levels = found.get("said", {}).get("levels", {})
            commands[f"to {form}, k = {k}, levels given"] = publish_as(form, k=k, levels=levels)
            commands[f"to {form}, k = {k}, best of all schemes"] = publish_as(form, k=k)
    medians = report.measure("publish", commands, args.repetitions)
    heading(f"publish: Adult {N_TIMES_ADULT} times, from Parquet, six quasi-identifiers, 1 thread")
    base = medians["count"]
    print_table(["", "CPU s", "wall s", "peak MB", "CPU / count"],
                [[name, number(m, "cpu_s", 3), number(m, "wall_s", 3), number(m, "peak_mb"),
                  times(ratio(m, base, "cpu_s"))] for name, m in medians.items()])
    for name in list(commands)[1:]:
        value = ratio(medians[name], base, "cpu_s")
        report.goal(f"publish {name}: CPU / count", times(value), "<= 2x", value is not None and value <= 2)


def any_size(args, _adult, report):
    """How the lattice grows with the number of quasi-identifiers; whole in a file, kept true, and on demand."""
    tables = {f"{n} of 3 levels": ([4], n, 0) for n in [4, 6, 8, 10, 12, 15]}
    tables["6 of 4, 3 of 3"] = ([2, 4], 6, 3)
    tables["10 of 4 levels"] = ([2, 4], 10, 0)
    schemes = {name: (len(widths) + 2) ** n * 3 ** rest for name, (widths, n, rest) in tables.items()}
    projects = {name: generated_project(args, name, *table) for name, table in tables.items()}
    whole = report.measure("saved", {name: [args.bin, "saved", "--project", project, "--threads", 2]
                                     for name, project in projects.items() if schemes[name] <= 1_100_000}, 1)
    searched = report.measure("on-demand", {name: [args.bin, "on-demand", "--project", project,
                                                   "--seconds", N_SECONDS_ON_DEMAND]
                                            for name, project in projects.items()}, 1)
    heading(f"any size: {N_RECORDS_GENERATED:,} generated records, two threads")
    update = lambda m: m.get("update") or {}  # noqa: E731
    print_table(
        ["quasi-identifiers", "schemes", "base groups", "CPU s", "wall s", "peak MB", "file MB", "open ms",
         "p50 ms", "p99 ms", f"append {N_RECORDS_APPENDED}: CPU s", "share"],
        [[name, number(m, "n_schemes"), number(m, "n_base_groups"), number(m, "cpu_s", 2), number(m, "wall_s", 2),
          number(m, "peak_mb"), number(m, "file_mb", 1), number(m, "open_ms", 1), number(m, "p50_ms", 2),
          number(m, "p99_ms", 2), number(update(m), "cpu_s", 3),
          f"{update(m)['cpu_s'] / m['cpu_s']:.0%}" if update(m) else "–"] for name, m in whole.items()],
    )
    print("\non demand, k = 5 and 5 % lost at most, lowest height, "
          f"{N_SECONDS_ON_DEMAND} seconds at most, one thread:")
    print_table(
        ["quasi-identifiers", "schemes", "base groups", "wall s", "peak MB", "looked at", "height", "at least", "proved"],
        [[name, number(m, "n_schemes"), number(m, "n_base_groups"), number(m, "wall_s", 2), number(m, "peak_mb"),
          number(m, "n_evaluated"), number(m, "height"), number(m, "height_at_least"),
          "yes" if m.get("is_proved") else "no"] for name, m in searched.items()],
    )
    million, hundred_thousand = whole["10 of 4 levels"], whole["6 of 4, 3 of 3"]
    report.goal("1,048,576 schemes annotated, wall s", number(million, "wall_s", 1), "< 60",
                million.get("wall_s", 1e9) < 60)
    report.goal("and the memory of it all, MB", number(million, "peak_mb"), "< 4,000",
                million.get("peak_mb", 1e9) < 4000)
    report.goal("negotiate on them, from the file, p99 ms", number(million, "p99_ms", 2), "< 5",
                million.get("p99_ms", 1e9) < 5)
    report.goal("110,592 schemes open, ms", number(hundred_thousand, "open_ms", 1), "< 50",
                hundred_thousand.get("open_ms", 1e9) < 50)


def people(args, _adult, report):
    """What it costs to count people instead of records."""
    n_people = 6_000 if args.quick else 60_000
    cases = {"the same combination in all records": [], "combinations that drift": ["--drifting"]}
    measured = report.measure("people", {name: [args.bin, "people", "--people", n_people, *flags]
                                         for name, flags in cases.items()}, args.repetitions)
    heading(f"people: annotate {n_people:,} people with five records each, k and l, one thread")
    print_table(
        ["people have", "combinations", "records: CPU s", "people: CPU s", "people / records"],
        [[name, number(m, "combinations"), number(m, "records_cpu_s", 3), number(m, "people_cpu_s", 3),
          times(m.get("ratio"))] for name, m in measured.items()],
    )
    for (name, m), most in zip(measured.items(), (1.3, 4.0)):
        report.goal(f"people / records where people have {name}", times(m.get("ratio")), f"<= {most}x",
                    m.get("ratio", 1e9) <= most)


N_SECONDS_ON_DEMAND = 10
N_RECORDS_GENERATED = 20_000
N_RECORDS_APPENDED = 20


def generated_project(args, name, widths, n_quasi_identifiers, n_of_three_levels):
    """A table in which every third attribute is drawn anew and the others mostly follow the one before."""
    names = [f"q{i}" for i in range(n_quasi_identifiers + n_of_three_levels)]
    directory = args.work / ("generated-" + name.replace(" ", "-").replace(",", ""))
    rules = {q: f"{{ intervals = {widths if i < n_quasi_identifiers else [4]} }}" for i, q in enumerate(names)}
    project = write_project(directory, {"path": '"table.csv"'}, rules, "s")
    draw = random.Random(SEED)
    for path, n_records in [("table.csv", N_RECORDS_GENERATED), ("more.csv", N_RECORDS_APPENDED)]:
        with (directory / path).open("w", encoding="utf-8") as file:
            print(*names, "s", sep=",", file=file)
            for _ in range(n_records):
                value, record = 0, []
                for i in range(len(names)):
                    if i % 3 == 0 or draw.random() < 0.1:
                        value = draw.randrange(8)
                    record.append(value)
                print(*record, draw.randrange(12), sep=",", file=file)
    return project


# What forty lines of numpy find after some seconds.
SEARCH_GOALS = {"mach2019": 0.5626, "creditcard": 0.6735}


def search(args, _adult, report):
    """How good answers without a lattice are after some time, beside plain searches and the optimum where it is known."""
    seconds = [1, 2] if args.quick else [1, 2, 10]
    seconds += [60] if args.long else []
    flags = ["--seconds", ",".join(map(str, seconds))]
    cases = {f"generated, {n} attributes": ["--attributes", n, "--records", 30_000] for n in (10, 16, 24)}
    for name in ("mach2019", "creditcard"):
        folder = args.work / name
        if (folder / "incrowd.toml").exists():
            cases[name] = ["--project", folder]
        else:
            report.skipped.append(f"search on {name}: no project in {folder} (see bench/README.md)")
    measured = report.measure("search", {name: [args.bin, "search", "--threads", 2, *case, *flags]
                                         for name, case in cases.items()}, 1)
    heading("search: loss (NCP) after some seconds, k = 5, at most 10 % lost, two threads")
    show = lambda value: "-" if value is None else f"{value:.4f}"
    rows = []
    for name, m in measured.items():
        if "seconds" not in m:
            continue
        for i, seconds in enumerate(m["seconds"]):
            rows.append([name, f"{seconds} s", show(m["incrowd"][i]), show(m["nothing_below"][i]),
                         show(m["greedy"]["loss"]), show(m["genetic"][i]), show(m["optimum"])])
        ours, peer, optimum = m["incrowd"], m["genetic"], m["optimum"]
        report.goal(f"search on {name}, at the end", show(ours[-1]), f"<= {show(peer[-1])}, the genetic algorithm's",
                    peer[-1] is None or (ours[-1] is not None and ours[-1] <= peer[-1] + 1e-9))
        if optimum is not None:
            report.goal(f"search on {name}, after a second", show(ours[0]), f"<= {show(1.01 * optimum)}, 1 % above the optimum",
                        ours[0] is not None and ours[0] <= 1.01 * optimum)
        if name in SEARCH_GOALS:
            after_two = ours[m["seconds"].index(2)]
            report.goal(f"search on {name}, after two seconds", show(after_two), f"<= {SEARCH_GOALS[name]}",
                        after_two is not None and after_two <= SEARCH_GOALS[name])
    print_table(["table", "after", "incrowd", "nothing below", "greedy", "genetic", "optimum"], rows)


SECTIONS = {"annotate": annotate, "criteria": criteria, "frontier": frontier, "negotiate": negotiate, "http": http,
            "local": local, "local-tree": local_tree, "per-record": per_record,
            "count": count, "csv": csv, "publish": publish, "any-size": any_size, "people": people, "search": search}


# ------------------------------------------------------------- running and judging

class Report:
    """What was measured, which goals were met, what was left out, and what went wrong."""

    def __init__(self):
        self.machine = machine()
        self.measurements = {}
        self.goals = []
        self.seconds = {}
        self.skipped = []
        self.problems = []

    def measure(self, section, commands, repetitions):
        """Runs each command once per repetition, in turn; returns the medians by name."""
        runs = self.measurements[section] = {name: [] for name in commands}
        slow = set()
        for repetition in range(repetitions):
            for name, command in commands.items():
                if name in slow:
                    continue
                talk(f"{section}: {name} ({repetition + 1} of {repetitions})")
                start = time.monotonic()
                result = run(command)
                if time.monotonic() - start > SLOW_S:
                    slow.add(name)
                if "error" in result:
                    self.problem(f"{section}: {name} failed: {result['error']}")
                runs[name].append(result)
        return {name: median(results) for name, results in runs.items()}

    def check_agreement(self, section, keys):
        """Engines that count the same must find the same, in every repetition."""
        agreed = []
        for key in keys:
            names_by_value = {}
            for name, results in self.measurements[section].items():
                for result in results:
                    if key in result:
                        names_by_value.setdefault(result[key], set()).add(name)
            found = [f"{value:,} ({'; '.join(sorted(names))})"
                     for value, names in names_by_value.items()]
            if len(found) > 1:
                self.problem(f"{section}: engines disagree on {key}: {' but '.join(found)}")
                print(f"DISAGREE on {key}: {' but '.join(found)}")
            elif found:
                agreed.append(f"{key} = {next(iter(names_by_value)):,}")
        if agreed:
            print(f"All that ran agree on {', '.join(agreed)}.")

    def goal(self, what, measured, target, is_met):
        self.goals.append(
            {"what": what, "measured": measured, "target": target, "is_met": is_met})

    def problem(self, text):
        if text not in self.problems:
            self.problems.append(text)


def peer(*words):
    return [sys.executable, PEERS, *words]


def run(command):
    """The JSON line that a measurement printed, or what kept it from doing so."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    except OSError as error:
        return {"error": str(error)}
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        return {"error": f"exit {done.returncode}: {last[0]}"}
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        return {"error": "its output is not one JSON document"}


def median(results):
    """Medians of the times, the greatest peak; all else is the same in every repetition."""
    good = [result for result in results if "error" not in result]
    if not good:
        return {}
    merged = dict(good[0])
    for key in "cpu_s", "wall_s", "ns_per_source_group":
        if key in merged:
            merged[key] = statistics.median(result[key] for result in good)
    if "peak_mb" in merged:
        merged["peak_mb"] = max(result["peak_mb"] for result in good)
    return merged


def ratio(of, to, key):
    if not of.get(key) or not to.get(key):
        return None
    return of[key] / to[key]


def machine():
    try:
        cpuinfo = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.splitlines()
                 if line.startswith("model name")]
    except OSError:
        names = []
    load = f", load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (f"{names[0] if names else platform.machine()}, {plural(os.cpu_count(), 'core')}, "
            f"{platform.system()}{load}")


# ------------------------------------------------------------- projects and files

def find_adult(directory):
    """The directory if it is usable, or else why it is not."""
    if directory is None:
        return None, "no --data directory was given"
    if not directory.is_dir():
        return None, f"{directory} is not a directory"
    names = ["adult.csv", *(f"hierarchies/{name}.csv" for name in ADULT_QUASI_IDENTIFIERS)]
    missing = [name for name in names if not (directory / name).is_file()]
    if missing:
        return None, f"{directory} lacks {', '.join(missing)}"
    return directory.resolve(), None


def adult_project(args, adult, table=None):
    attributes = {name: quote(adult / "hierarchies" / f"{name}.csv")
                  for name in ADULT_QUASI_IDENTIFIERS}
    data = {"path": quote(table or adult / "adult.csv"), "missing": '["?"]', "missing_records": '"drop"',
            "complete": '["workclass", "occupation", "native-country"]'}
    return write_project(args.work / (f"adult-{table.name}" if table else "adult"), data, attributes, ADULT_SENSITIVE)


def adult_eight_project(args, adult):
    """None where a hierarchy is missing."""
    attributes = {}
    for name in ADULT_EIGHT:
        paths = [adult / folder / f"{name}.csv" for folder in ("hierarchies", "arx-hierarchies")]
        path = next((path for path in paths if path.is_file()), None)
        if path is None:
            return None
        attributes[name] = quote(path)
    data = {"path": quote(adult / "adult.csv"), "missing": '["?"]', "missing_records": '"drop"',
            "complete": '["workclass", "occupation", "native-country"]'}
    return write_project(args.work / "adult-eight", data, attributes, ADULT_SENSITIVE)


def discharges_project(args, report, n_records, columns):
    """A project over the first `n_records` generated records, which are made if need be."""
    path = discharges_path(args, n_records)
    if not path.exists():
        talk(f"generating {n_records:,} records")
        made = run(peer("generate-parquet", path, "--records", n_records, "--seed", SEED))
        if "error" in made:
            report.problem(f"generating {path.name} failed: {made['error']}")
    attributes = {name: DISCHARGE_HIERARCHIES[name] for name in columns}
    data = {"path": quote(path), "missing_records": '"keep"'}
    directory = args.work / f"discharges-{n_records}-by-{len(columns)}"
    return write_project(directory, data, attributes, DISCHARGE_SENSITIVE)


def discharges_path(args, n_records):
    return args.work / f"discharges-{n_records}-seed-{SEED}.parquet"


def write_project(directory, data, hierarchies, sensitive):
    lines = ["[data]", *(f"{key} = {value}" for key, value in data.items())]
    for name, hierarchy in hierarchies.items():
        lines += ["", f"[attributes.{name}]", 'role = "quasi-identifier"']
        if hierarchy:
            lines.append(f"hierarchy = {hierarchy}")
    lines += ["", f"[attributes.{sensitive}]", 'role = "sensitive"']
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "incrowd.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return directory


def quote(path):
    """A path as a TOML string, whose escapes are those of JSON."""
    return json.dumps(str(path), ensure_ascii=False)


def warm_up(path):
    """Reads the file once, so that nobody pays for a cold disk."""
    if path.exists():
        with path.open("rb") as file:
            while file.read(1 << 20):
                pass


# ------------------------------------------------------------------------ printing

def talk(text):
    print(f"... {text}", file=sys.stderr, flush=True)


def heading(text):
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


def print_goals(report):
    heading("goals")
    print_table(
        ["", "measured", "goal", ""],
        [[goal["what"], goal["measured"], goal["target"], "met" if goal["is_met"] else "NOT met"]
         for goal in report.goals],
    )
    n_met = sum(goal["is_met"] for goal in report.goals)
    print(f"\n{n_met} of {len(report.goals)} goals met")
    for skipped in report.skipped:
        print(f"not judged: {skipped}")


def print_table(header, rows):
    """First column to the left, the others to the right."""
    widths = [max(len(row[idx]) for row in [header, *rows]) for idx in range(len(header))]
    for row in [header, *rows]:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("  ".join(cells).rstrip())


def number(result, key, digits=0):
    """A measured value, or a dash for what was not measured."""
    value = result.get(key)
    return "-" if value is None else f"{value:,.{digits}f}"


def times(value):
    """A ratio; two decimals where the second one decides."""
    if value is None:
        return "-"
    return f"{value:.2f}x" if value < 10 else f"{value:.1f}x"


def plural(n, noun):
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


if __name__ == "__main__":
    main()
