"""Looks into the packed crates: licences, a readme, and all that the program is built with; no manifest without its words.

    python3 checks/packages.py target/package
"""

import pathlib
import sys
import tarfile
import tomllib

NEEDED = {
    "incrowd": ["src/lib.rs"],
    "incrowd-workbench": ["src/main.rs", "build.rs", "web/index.html", "docs/criteria.md", "src/serve/openapi.json"],
}


def main(folder: pathlib.Path) -> None:
    version = tomllib.loads((folder.parents[1] / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    for name, needed in NEEDED.items():
        path = folder / f"{name}-{version}.crate"
        with tarfile.open(path) as packed:
            names = {member.name.split("/", 1)[1] for member in packed}
            manifest = tomllib.loads(packed.extractfile(f"{name}-{version}/Cargo.toml").read().decode())["package"]
        for file in ["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE", *needed]:
            assert file in names, f"{path.name} lacks {file}"
        for key in ["description", "license", "keywords", "categories", "readme", "rust-version"]:
            assert manifest.get(key), f"{path.name} says no {key}"
        print(f"{path.name}: {len(names)} files, {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve())
