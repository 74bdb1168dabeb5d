"""Builds the documentation site: `python tools/docs/build.py INTO`, or `make docs`.

With `--pyodide FOLDER`, where its files lie, the site has Pyodide itself. With `--address URL`, where it will
stand, the page for wrong addresses and the cards that other sites show of a link lead there. With
`--repository URL` each page links to the repository, with `--editions 'NAME=URL ...'` to other editions.

The pages of docs/, the README and the other documents of the repository are laid into INTO/source as they
are, but for their links, beside pages that are generated: the gallery, the API, the commands, the documents.
Sphinx makes INTO/html of them, with warnings as errors; then every link of the pages is followed, and those
to the outside are listed in INTO/links.txt.
"""

from __future__ import annotations

import os
import posixpath
import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree

import addresses
import answers
import conformance
import documents
import gallery
import imitations
import links
import live
import reference
import survey
import theme_pages

from typelattice.base.own_folders import PACKAGE_FOLDER
from typelattice.base.rendering.terminal_output import progress_bar
from typelattice.show.explorer.answer_addresses import describe_scope
from typelattice.show.explorer.cached_document import hash_files, load_or_build_document
from typelattice.show.explorer.document import Document
from typelattice.show.explorer.page import page_html as explorer

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DOCUMENTS = {
    "README.md": "tour.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changes.md",
}
LINK = re.compile(r"(\]\()(?!https?:|#)([^)#\s]+)")
# Generated pages to which others link.
MADE = ("api/index.md", "commands.md", "documents.md", "gallery/index.md", "live.md")
FIRST_PAGE, BOX_ABOVE = "docs/index.md", "```console"  # the box stands above the first example
PAIRS = """**Ask of two dtypes.** Each pair has <a href="answers/index.html">a page</a> with the answers of
all libraries.
"""
# What the libraries that most people know first were asked; `conformance` draws them.
BADGES = "\n".join(
    ["How often each rule answers as the library did, of all calls that were asked:", ""]
    + ["```{raw} html", "<p>"]
    + [
        f'<a href="conformance/{name}.html"><img src="conformance/{name}.svg" '
        f'alt="how often the rules of {name} are right"></a>'
        for name in ("numpy", "torch", "jax")
    ]
    + ["</p>", "```", ""]
)
NAMED = re.compile(r"(?m)^```(\w+) (\S+\.\w+)$")  # a fence that is a file of a name


def pages() -> dict[str, str]:
    """Where the documents of the repository stand in the site: path in the repository → page."""
    own = {f"docs/{path.relative_to(ROOT / 'docs').as_posix()}" for path in (ROOT / "docs").rglob("*.md")}
    return {path: path.removeprefix("docs/") for path in sorted(own)} | DOCUMENTS


def page(path: str, places: dict[str, str]) -> tuple[str, list[str]]:
    """A document as a page of the site, and the files of the repository to which it links."""
    files = []

    def moved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link[2]))
        made = target.removeprefix("docs/")
        if target not in places and made not in MADE:
            files.append(target)
        to = places.get(target, made if made in MADE else f"files/{target}")
        return link[1] + posixpath.relpath(to, posixpath.dirname(places[path]) or ".")

    text = LINK.sub(moved, (ROOT / path).read_text(encoding="utf-8"))
    if path == "README.md":
        text = text.replace("# typelattice", "# The tour", 1)
    return NAMED.sub(r"```{code-block} \1\n:caption: \2\n", text), files


def sources(pyodide: Path | None = None) -> Iterator[tuple[str, str]]:
    """Every page of the site: its path and its text."""
    places = pages()
    for path, place in places.items():
        text = page(path, places)[0]
        if path == FIRST_PAGE:
            before, above, after = text.partition(BOX_ABOVE)
            asked = f"{PAIRS}\n```{{raw}} html\n{answers.box('answers/')}\n```\n"
            pasted = f"{live.INVITATION}\n{live.box(pyodide is not None)}"
            text = f"{before}{asked}\n{pasted}\n{BADGES}\n{above}{after}"
        yield place, text
    for made in (reference.pages(), gallery.pages(), documents.pages(), live.pages(pyodide is not None)):
        yield from made


def lay_out(source: Path, pyodide: Path | None = None) -> None:
    """Writes the pages and what they show into a folder; what did not change keeps its time."""
    written = set()
    for place, text in sources(pyodide):
        written.add(source / place)
        _write(source / place, text.encode())
    places = pages()
    for path in places:
        for file in page(path, places)[1]:
            target = source / "files" / file
            written.add(target)
            _write(target, (ROOT / file).read_bytes())
    for old in source.rglob("*"):
        if old.is_file() and old not in written:
            old.unlink()


def _write(path: Path, data: bytes) -> None:
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def build(into: Path, pyodide: Path | None, address: str, repository: str, editions: str) -> int:
    """Makes the site; the exit status is that of Sphinx, or 1 if a link leads nowhere."""
    from sphinx.cmd.build import main as sphinx  # the tests read the pages without it

    if address:
        answers.check_cards()
    source, html = into / "source", into / "html"
    announce("pages of docs/")
    lay_out(source, pyodide)
    strict = ["--fail-on-warning", "--keep-going", "--quiet", "--jobs", "auto"]
    strict += ["-D", f"html_baseurl={address}"]
    strict += ["-D", f"repository={repository}", "-D", f"editions={editions}"]
    announce("Sphinx")
    status = sphinx([*strict, "-c", str(HERE), "-d", str(into / "doctrees"), str(source), str(html)])
    if status:
        rmtree(into / "doctrees", ignore_errors=True)  # a page that is not read again does not warn again
        return status
    theme_pages.mend(html)
    live.serve_beside(html, pyodide)
    made_of = f"{hash_files(Path(PACKAGE_FOLDER))} {hash_files(HERE)} {hash_files(ROOT / 'docs')} {address}"
    stamp = into / "generated.txt"
    is_made = (html / "explore.html").exists() and stamp.exists()
    if is_made and stamp.read_text(encoding="utf-8") == made_of:
        answers.connect(html)  # the pages of an earlier build are as they would be written now
    else:
        write_generated(html, address)
        stamp.write_text(made_of, encoding="utf-8")
    addresses.write(html, address)
    announce("links")
    outside, broken = links.follow(html)
    (into / "links.txt").write_text("".join(f"{link}\n" for link in outside), encoding="utf-8")
    for link in broken:
        print(link, file=sys.stderr)
    pages_made = sum(1 for _ in html.rglob("*.html"))
    print(f"{html / 'index.html'}: {pages_made} pages, {len(outside)} links to the outside")
    return 1 if broken else 0


def write_generated(html: Path, address: str) -> None:
    """Write the pages that Sphinx does not make: they are made of the package and its recordings."""
    announce("explorer")
    shown = load_or_build_document(progress_bar(), os.cpu_count() or 1)
    on_site = Document(shown.data | {"pages": describe_scope()})
    (html / "explore.html").write_text(explorer(on_site), encoding="utf-8")
    announce("gallery")
    gallery.write(html)
    announce("pages of single questions")
    answers.write(html, address)
    announce("conformance, imitations, survey")
    conformance.write(html)
    imitations.write(html)
    survey.write(html)


def announce(part: str) -> None:
    """Name the part of the site that is made next, with the processor time so far."""
    spent = sum(os.times()[:4])
    print(f"docs: {part}, after {spent:.0f} s of processor time", file=sys.stderr, flush=True)


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("into", type=Path)
    parser.add_argument("--pyodide", type=Path)
    parser.add_argument("--address", default="", type=lambda text: text.rstrip("/"))
    parser.add_argument("--repository", default="", help="the address to which each page links")
    parser.add_argument("--editions", default="", help="other releases: NAME=URL, with spaces between")
    raise SystemExit(build(**vars(parser.parse_args())))
