"""Lays the documents out for the site, as they lie in the repository, so that links between them lead where they did.

A link to a file that is no document (a script, a folder of the source) leads to the file itself where it is a text,
which is copied beside the documents; what cannot be shown that way is an error, and so is a link that leads nowhere.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["", "docs", "docs/tutorials", "examples", "examples/nightly", "examples/elsewhere", "python", "bench", "workbench/tests/papers"]
LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)]*)?\)")


def gather(to: Path, program: Path) -> None:
    if to.exists():
        shutil.rmtree(to)
    commands(to / "reference/commands.md", program)
    problems: list[str] = []
    for folder in FOLDERS:
        for document in sorted((ROOT / folder).glob("*.md")):
            lay_out(document, to, problems)
    if problems:
        sys.exit("\n".join(problems))


def commands(page: Path, program: Path) -> None:
    """Writes what every command says of itself, and its own commands after it."""

    def told(words: list[str]) -> list[str]:
        said = subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True).stdout
        title = " ".join(["incrowd", *words])
        parts = [f"## {title}\n\n```text\n{said.rstrip()}\n```\n"]
        listed = re.search(r"^Commands:\n((?:  .*\n)+)", said, re.MULTILINE)
        names = re.findall(r"^  ([a-z]+)", listed[1], re.MULTILINE) if listed else []
        return [*parts, *(part for name in names if name != "help" for part in told([*words, name]))]

    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(["# Every command and every flag\n", *told([])]))


def lay_out(document: Path, to: Path, problems: list[str]) -> None:
    """Copies one document, and what it links to."""

    def link(found: re.Match[str]) -> str:
        start, target, heading = found[1], found[2], found[3] or ""
        if "://" in target or target.startswith("mailto:"):
            return found[0]
        path = (document.parent / target).resolve()
        if not path.exists():
            problems.append(f"{document.relative_to(ROOT)}: {target} leads nowhere")
        elif path.is_dir() and (path / "README.md").exists():
            return f"{start}{target.rstrip('/')}/README.md{heading})"
        elif path.is_dir():
            # A folder has no page of its own: its name stays, without a link.
            return f"{start}#)"
        elif path.suffix != ".md":
            copy = to / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        return found[0]

    copy = to / document.relative_to(ROOT)
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(outside_code(document.read_text(), lambda text: LINK.sub(link, text)))


def outside_code(text: str, change) -> str:
    """Changes the lines of a document that are not in a block of code."""
    is_code = False
    lines = []
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            is_code = not is_code
        lines.append(line if is_code else change(line))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    gather(Path(sys.argv[1]), Path(sys.argv[2]).resolve())
