"""Reads the built site as a browser would: every link leads to a page and a place in it, and nothing comes from elsewhere.

Links that a reader may follow to other sites are not tried: the site is built without a network.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("video", "src"), ("object", "data")}


class Page(HTMLParser):
    """What a page links to, loads, and can be linked at."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.anchors = {"", "top"}
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.anchors.update(given[name] for name in ("id", "name") if given.get(name))
        for name, value in attributes:
            if value and ((tag, name) in LOADED or (tag == "link" and name == "href" and is_loaded(given))):
                self.loaded.add(value)
            elif value and tag == "a" and name == "href":
                self.links.add(value)


def is_loaded(link: dict[str, str | None]) -> bool:
    """Whether a browser loads what a <link> names."""
    return bool({"stylesheet", "icon", "preload", "preconnect", "dns-prefetch"} & set((link.get("rel") or "").split()))


def problems(site: Path) -> list[str]:
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        where = path.relative_to(site)
        for address in sorted(page.loaded | page.links):
            parts = urlsplit(address)
            if parts.scheme in ("http", "https") or (parts.netloc and not parts.scheme):
                if address in page.loaded:
                    found.append(f"{where}: loads {address}")
            elif not parts.scheme:
                target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
                target = target / "index.html" if target.is_dir() else target
                # The page for addresses that lead nowhere is shown at any of them, and speaks of the site's root.
                # rustdoc asks for lists of implementors that it writes only where there are some.
                is_optional = address in page.loaded and is_generated(path) and "trait.impl" in target.parts
                if not target.exists() and where.name != "404.html" and not is_optional:
                    found.append(f"{where}: {address} leads nowhere")
                elif target in pages and not is_generated(target) and unquote(parts.fragment) not in pages[target].anchors:
                    found.append(f"{where}: {address} leads to no heading")
    return found if len(pages) > 50 else [*found, f"only {len(pages)} pages were built"]


def is_generated(path: Path) -> bool:
    """Whether the generator of a reference made the page: its scripts know places that its text does not have."""
    return "reference" in path.parts


if __name__ == "__main__":
    said = problems(Path(sys.argv[1]).resolve())
    if said:
        sys.exit("\n".join(said))
