"""Compares the roles that `incrowd init` suggests on real tables with roles that were given by hand.

    python3 checks/init.py PROGRAM FOLDER [--first-answer] [--wrong] [--only TABLE …]

FOLDER has the tables; checks/init/roles/*.toml say where each can be had and what it is called there.
Tables that are not in the folder are named and skipped.
Prints the share of roles that are right, and every column that names people and would be published all the same.
Ends with status 1 if fewer than 90 % of the roles are right, or an identifier would be published.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import tomllib

ROLES = pathlib.Path(__file__).parent / "init" / "roles"
PUBLISHED = {"quasi-identifier", "sensitive"}  # a column suggested as "other" is commented out, and so left out
GOAL = 0.9


def right_roles(by_hand, columns):
    """The roles that are right for each column; "*" is for the columns that are not named."""
    roles, rest = {}, None
    for names, listed in by_hand["roles"].items():
        for column in listed:
            if column == "*":
                rest = set(names.split(" or "))
            else:
                roles[column] = set(names.split(" or "))
    unknown = set(roles) - set(columns)
    if unknown:
        sys.exit(f"{by_hand['file']}: has no column {', '.join(sorted(unknown))}")
    missing = [column for column in columns if column not in roles and rest is None]
    if missing:
        sys.exit(f"{by_hand['file']}: no role by hand for {', '.join(missing)}")
    return {column: roles.get(column, rest) for column in columns}


def suggested(program, table, folder):
    command = [program, "init", table, "-o", folder, "--json"]
    answer = subprocess.run(command, capture_output=True, text=True)
    if answer.returncode != 0:
        sys.exit(f"{table.name}: init ends with status {answer.returncode}\n{answer.stderr}")
    said = json.loads(answer.stdout)
    return {column["name"]: column["suggested_role"] for column in said["columns"]}


def first_answer(program, folder):
    """What somebody is told who changes nothing, as the cells of a table."""
    start = time.monotonic()
    answer = subprocess.run([program, "negotiate", folder, "--json"], capture_output=True, text=True)
    seconds = time.monotonic() - start
    best = json.loads(answer.stdout) if answer.stdout.strip() else {}
    found = best.get("exact")
    if not found:
        said = best.get("error", {}).get("message") or best.get("outcome") or f"status {answer.returncode}"
        return ["", "", said, "", "", f"{seconds:.1f}"]
    local = re.search(r"--method (\S+) would lose ([0-9.]+)", answer.stderr)
    hidden = sum(name == "*" for name in found["level_names"].values())
    return [
        f"{best['n_records']:,}",
        f"{len(found['levels'])}, {hidden} hidden" if hidden else str(len(found["levels"])),
        f"{found['loss']['ncp']:.3f}",
        f"{local[2]} ({local[1]})" if local else "",
        f"{100 * found['share_suppressed']:.1f} %",
        f"{seconds:.1f}",
    ]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--first-answer", action="store_true", help="also negotiate with the project as it was written")
    parser.add_argument("--wrong", action="store_true", help="name every column whose role is wrong")
    parser.add_argument("--only", nargs="+", default=[], help="the tables to look at, as checks/init/roles calls them")
    args = parser.parse_args()
    program = args.program.resolve()
    lines, leaks, answers = [], [], []
    for file in sorted(ROLES.glob("*.toml")):
        by_hand = tomllib.loads(file.read_text())
        table = args.folder / by_hand["file"]
        if args.only and file.stem not in args.only:
            continue
        if not table.exists():
            print(f"absent: {by_hand['file']}: {by_hand['from']}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            roles = suggested(program, table, folder)
            if args.first_answer:
                answers.append([file.stem, *first_answer(program, folder)])
        right = right_roles(by_hand, roles)
        wrong = {column: role for column, role in roles.items() if role not in right[column]}
        # Where "other" is the only right role, leaving a column out is easy: the others are counted on their own.
        telling = [column for column in roles if "other" not in right[column]]
        leaks += [
            f"{by_hand['file']}: {column} would be published as {role}"
            for column, role in wrong.items()
            if right[column] & {"identifier", "person"} and role in PUBLISHED
        ]
        lines.append((by_hand["round"], len(roles), len(wrong), len(telling), sum(c in wrong for c in telling)))
        print(f"{file.stem:22} {share(lines[-1:])}; round {by_hand['round']}", flush=True)
        for column, role in wrong.items() if args.wrong else ():
            print(f"    {column}: {role}, by hand {' or '.join(sorted(right[column]))}")
    if not lines:
        sys.exit("no table is there")
    print()
    rounds = {f"round {n}": [line for line in lines if line[0] == n] for n in sorted({line[0] for line in lines})}
    for name, some in {**rounds, "all": lines}.items():
        mean = sum(1 - n_wrong / n for _, n, n_wrong, *_ in some) / len(some)
        print(f"{name:8} {len(some):2} tables  {share(some)}, mean of tables {100 * mean:.1f} %")
    print("\n".join(leaks) if leaks else "no identifier would be published")
    if answers:
        print("\n| table | records | quasi-identifiers | loss (NCP) | best local method | records lost | seconds |")
        print("|---|--:|---|--:|---|--:|--:|")
        print("\n".join(f"| {' | '.join(cells)} |" for cells in answers))
    n, n_wrong = sum(x[1] for x in lines), sum(x[2] for x in lines)
    sys.exit(1 if leaks or n_wrong > (1 - GOAL) * n else 0)


def share(lines):
    n, n_wrong, n_telling, n_missed = (sum(line[i] for line in lines) for i in range(1, 5))
    return (
        f"{100 * (1 - n_wrong / n):5.1f} % of {n:3} roles right; "
        f"of those that must not be left out {n_telling - n_missed:3} of {n_telling:3}"
    )


if __name__ == "__main__":
    main()
