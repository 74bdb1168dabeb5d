"""The option `--link`: the address of the site's page for a question."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence

from typelattice.base.errors.error_texts import quote_short
from typelattice.show.cli.command import UsageError

DISTRIBUTION_NAME = "typelattice"
DOCUMENTATION_LABEL = "Documentation"  # label of the site's address in a distribution's metadata
MAX_PROGRAM_CHARS = 4_000  # longest program that the live page accepts
MAX_PROGRAM_LINES = 40


def link_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--link", nargs="?", const="", metavar="ADDRESS",
        help="also print the link to this answer on the documentation site; ADDRESS: the site (default: "
        "that of this release)",
    )  # fmt: skip


def site_address(address: str) -> str:
    """Return the address of the site: the given one, or the one in the installed distribution.

    Raises UsageError if neither exists.
    """
    if address and not re.match(r"https?://\S+\Z", address):
        advice = "put --link last, or give https://..."
        raise UsageError(f"explain: --link {quote_short(address)} is no address; {advice}")
    found = address or _documentation_address()
    if not found:
        raise UsageError("explain: this copy states no address of its site; give it: --link https://...")
    return found.rstrip("/")


def _documentation_address() -> str:
    from importlib.metadata import PackageNotFoundError, metadata  # few questions have a link

    try:
        urls = metadata(DISTRIBUTION_NAME).get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    pairs = (url.partition(",") for url in urls)
    return next((address.strip() for label, _, address in pairs if label.strip() == DOCUMENTATION_LABEL), "")


def program_link(source: str, bound: Mapping[str, str], systems: Sequence[str]) -> str:
    """Return the page that computes a program given in its address. Raises UsageError for a long one."""
    from typelattice.show.explorer.answer_addresses import live_link  # few questions have a link

    if len(source) > MAX_PROGRAM_CHARS or source.count("\n") >= MAX_PROGRAM_LINES:
        what = f"at most {MAX_PROGRAM_LINES} lines and {MAX_PROGRAM_CHARS:,} characters fit into an address"
        raise UsageError(f"explain: --link: {what}; this program has more")
    return live_link(source, bound, systems)
