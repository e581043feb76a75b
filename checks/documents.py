"""Runs what the documents show of databases and clusters, and compares what is printed with what they show.

A block of theirs stands below the line `<!-- run by make test-database -->` or `<!-- run by make test-cluster -->`; all
others are run by `workbench/tests/documents.rs` and `python/tests/test_docs.py`.
"""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]


def blocks(document, target):
    """The blocks that a target runs, each with the line that it begins in."""
    found, block, is_ours = [], None, False
    for number, line in enumerate((ROOT / document).read_text().splitlines(), start=1):
        if line.startswith("```") and block is None:
            block, start = [], number
        elif line.startswith("```"):
            if is_ours:
                found.append((f"{document}:{start}", block))
            block, is_ours = None, False
        elif block is not None:
            block.append(line)
        elif line.strip():
            is_ours = line.strip() == f"<!-- run by make {target} -->"
    return found


def agree(shown, printed):
    """Whether a command printed what a document shows: a line of … stands for any lines, … within one for any text."""
    if not shown:
        return not printed
    if shown[0].strip() == "…":
        return any(agree(shown[1:], printed[n:]) for n in range(len(printed) + 1))
    return bool(printed) and _line_agrees(shown[0].rstrip(), printed[0].rstrip()) and agree(shown[1:], printed[1:])


def _line_agrees(shown, printed):
    first, *parts = shown.split("…")
    if not parts:
        return shown == printed
    if not printed.startswith(first) or not printed.endswith(parts[-1]):
        return False
    rest = printed[len(first):]
    for part in parts:
        if part not in rest:
            return False
        rest = rest.split(part, 1)[1] if part else rest
    return True


def run_commands(document, target, folder, program, environment, replaced, check):
    """Runs the commands of a document one after the other in a folder."""
    paths = f"{pathlib.Path(program).parent}{os.pathsep}{os.environ['PATH']}"
    n_run = 0
    for place, lines in blocks(document, target):
        commands = []
        for line in lines:
            if line.startswith("$ "):
                commands.append((line[2:], []))
            else:
                commands[-1][1].append(line)
        for command, shown in commands:
            for old, new in replaced.items():
                command = command.replace(old, new)
            told = subprocess.run(
                command, shell=True, cwd=folder, capture_output=True, text=True, env={**environment, "PATH": paths})
            check(f"{place}: {command}", told.returncode in (0, 1), f"{told.returncode}\n{told.stdout}{told.stderr}")
            while shown and not shown[-1].strip():
                shown.pop()
            printed = (told.stdout + told.stderr).rstrip().splitlines()
            check(f"{place}: {command} prints what is shown", not shown or agree(shown, printed), told.stdout + told.stderr)
            n_run += 1
    check(f"{document} has commands", n_run > 0)


def run_python(document, target, names, replaced, check):
    """Runs the blocks of a document in Python, in the current folder."""
    n_run = 0
    for place, lines in blocks(document, target):
        text = "\n".join(lines)
        for old, new in replaced.items():
            text = text.replace(old, new)
        try:
            exec(compile(text, place, "exec"), names)
        except Exception as error:
            check(f"{place} runs", False, f"{type(error).__name__}: {error}\n{text}")
        n_run += 1
    check(f"{document} has Python", n_run > 0)
