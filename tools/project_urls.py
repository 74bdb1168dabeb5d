"""Writes the addresses of the project into pyproject.toml, where a release or the site is built."""

from __future__ import annotations

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
BEFORE = "[project.scripts]\n"
ADDRESS = re.compile(r"https://[\w.-]+(?::\d+)?(?:/[\w./~-]*)?")


def with_urls(text: str, repository: str, site: str) -> str:
    """The text of pyproject.toml with the addresses of a repository and of a site.

    `typelattice explain --link` reads the site's from the installed distribution.
    """
    for address in (repository, site):
        if not ADDRESS.fullmatch(address):
            raise SystemExit(f"{address!r} is no address that begins with https://")
    if "[project.urls]" in text or text.count(BEFORE) != 1:
        raise SystemExit(f"{PROJECT.name} has addresses, or no place for them above {BEFORE.strip()}")
    urls = {
        "Documentation": site, "Repository": repository, "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
    }  # fmt: skip
    lines = "".join(f'{label} = "{address}"\n' for label, address in urls.items())
    return text.replace(BEFORE, f"[project.urls]\n{lines}\n{BEFORE}")


if __name__ == "__main__":
    repository, site = (argument.rstrip("/") for argument in sys.argv[1:])
    PROJECT.write_text(with_urls(PROJECT.read_text(encoding="utf-8"), repository, site), encoding="utf-8")
