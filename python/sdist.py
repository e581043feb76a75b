"""Puts the page and the documents into a source distribution, which the program is built with and maturin does not see.

    python python/sdist.py target/wheels/incrowd-0.2.0.tar.gz
"""

import gzip
import io
import pathlib
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[1]


def with_page(path: pathlib.Path) -> None:
    page = sorted(file for file in (ROOT / "web").iterdir() if file.is_file() and not file.name.startswith("package"))
    documents = sorted((ROOT / "docs").glob("*.md"))
    made = io.BytesIO()
    with tarfile.open(path) as before, tarfile.open(fileobj=made, mode="w") as after:
        members = before.getmembers()
        top = members[0].name.split("/")[0]
        for member in members:
            if not member.name.startswith((f"{top}/web/", f"{top}/docs/")):
                after.addfile(member, before.extractfile(member))
        for file in [*page, *documents]:
            info = tarfile.TarInfo(f"{top}/{file.relative_to(ROOT).as_posix()}")
            # As all that is in it, so that the same sources give the same bytes.
            info.size, info.mtime, info.mode = file.stat().st_size, members[0].mtime, 0o644
            with file.open("rb") as content:
                after.addfile(info, content)
    path.write_bytes(gzip.compress(made.getvalue(), mtime=0))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with_page(pathlib.Path(name))
