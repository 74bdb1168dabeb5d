"""Follows every link of a folder of HTML pages that leads to a file, and collects the rest."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page links to, and the places in it to which links may lead."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.places.add(value)


@cache
def read(path: Path) -> Page:
    """A page, read once."""
    return Page(path)


def follow(folder: Path) -> tuple[list[str], list[str]]:
    """The links of all pages to the outside; and a line for each that leads to nothing in the folder."""
    outside, broken = set(), []
    for path in sorted(folder.rglob("*.html")):
        for link in read(path).links:
            to = urlsplit(link)
            if to.scheme or to.netloc:
                outside.add(link.partition("#")[0])
                continue
            target = (path.parent / unquote(to.path)).resolve() if to.path else path
            if not target.is_file():
                broken.append(f"{path.relative_to(folder)}: {link} leads to no file")
            elif to.fragment and target.suffix == ".html" and unquote(to.fragment) not in read(target).places:
                broken.append(f"{path.relative_to(folder)}: {link} leads to no place on that page")
    return sorted(outside), broken
