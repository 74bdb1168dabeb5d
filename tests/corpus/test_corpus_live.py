"""Calls as people write them, asked of the installed libraries: how many can be asked, how many are right.

The templates stand in a plain text file a library, apart from every table of the engine. A library runs in a
process of its own, as some calls end the process.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import pytest
from samples import one_in

pytestmark = pytest.mark.live
HERE = Path(__file__).parent
DTYPES = ("float32", "float16", "int32", "uint8", "bool", "float64")
PER_TEMPLATE = 3  # dtypes of a template in a run; the first is float32, which most programs have
WIDEST = {"mlx": "complex64"}  # libraries that lack float64
MODULES = {"dask": "dask.array", "mlx": "mlx.core", "array-api": "array_api_strict"}
# Shares in percent, by library: of the templates that cannot be asked, and of the answers that are wrong
# without a word. They may only go down. The goals are 5 and 0.2.
CEILINGS = {
    "numpy": (1.6, 0.2),
    "torch": (0.7, 0.2),
    "jax": (0.4, 0.2),
    "tensorflow": (1.0, 0.2),
    "keras": (1.1, 0.2),
    "dask": (0.9, 0.2),
    "mlx": (2.0, 0.2),
    "polars": (0.6, 0.2),
    "tinygrad": (0.0, 0.2),
    "array-api": (0.0, 0.2),
}
Call = tuple[str, str, str]  # a template, the dtype of x and that of y
Answer = tuple[str, str, str]  # what the library gave, what we say, and why


def templates(library: str) -> list[str]:
    """The templates of a library, in the order of its file."""
    lines = (HERE / f"{library}.txt").read_text(encoding="ascii").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def calls(library: str, per_template: int = PER_TEMPLATE) -> list[Call]:
    """Each template with some dtypes, in turn; the last dtype of y is another one than that of x."""
    dtypes = [*DTYPES[:-1], WIDEST.get(library, DTYPES[-1])]
    found: list[Call] = []
    for number, template in enumerate(templates(library)):
        turns = [0, *(1 + (number + i) % (len(dtypes) - 1) for i in range(per_template - 1))]
        for turn in turns:
            other = turn if turn == 0 or turn != turns[-1] else (turn + 1 + number) % len(dtypes)
            found.append((template, dtypes[turn], dtypes[other]))
    return list(dict.fromkeys(found))


def answers(library: str, asked: Sequence[Call]) -> Iterator[Answer]:
    """The answers to calls; one that ends the process is answered by `crash`, and another process goes on."""
    paths = [str(HERE.parents[1] / "src"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    done = 0
    while done < len(asked):
        lines = "".join(json.dumps(call) + "\n" for call in asked[done:])
        ran = subprocess.run(
            [sys.executable, "-W", "ignore", str(HERE / "ask.py"), library],
            input=lines, capture_output=True, text=True, env=environment, check=False,
        )  # fmt: skip
        given = [json.loads(line) for line in ran.stdout.splitlines()]
        assert given or done, ran.stderr[-2000:]
        yield from given
        done += len(given)
        if done < len(asked):
            yield ("crash", "crash", "")
            done += 1


@dataclass
class Shares:
    """The calls of a library by what came of them."""

    templates: int
    unread: dict[str, str] = field(default_factory=dict)  # templates that cannot be asked, and why
    wrong: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)  # templates whose function this release lacks
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, call: Call, answer: Answer) -> None:
        """Count a call."""
        real, ours, why = answer
        if real in ("other", "crash"):
            kind = "without a dtype"
        elif ours == "unread":
            kind = "refused by both" if real in ("refused", "absent") else "cannot be asked"
        elif real == "absent" and ours != "refused":
            kind = "not in this release"
            self.absent.append(call[0])
        elif real == ours or real == "absent":
            kind = "refused by both" if ours == "refused" else "exact"
        elif why == "departs":
            kind = "listed"
        else:
            kind = "wrong"
            self.wrong.append(f"{call[0]}  x={call[1]} y={call[2]}: {real}, we say {ours} {why[:100]}")
        if kind == "cannot be asked":
            self.unread[call[0]] = why
        self.counts[kind] += 1

    @property
    def unread_share(self) -> float:
        """The share of templates that cannot be asked, in percent."""
        return 100 * len(self.unread) / self.templates

    @property
    def wrong_share(self) -> float:
        """The share of answers that are wrong without a word, in percent."""
        asked = sum(self.counts[kind] for kind in ("exact", "refused by both", "listed", "wrong"))
        return 100 * len(self.wrong) / max(asked, 1)

    def __str__(self) -> str:
        shares = f"{self.unread_share:.1f} % of {self.templates} templates cannot be asked"
        counted = ", ".join(f"{n} {kind}" for kind, n in self.counts.most_common())
        return f"{shares}, {self.wrong_share:.2f} % of answers are wrong ({counted})"


def shares(library: str, per_template: int = PER_TEMPLATE) -> Shares:
    """Ask a library all its templates."""
    asked = calls(library, per_template)
    found = Shares(len(templates(library)))
    for call, answer in zip(asked, answers(library, asked), strict=True):
        found.add(call, answer)
    return found


def is_installed(library: str) -> bool:
    """Return True if a library can be imported here."""
    try:
        return importlib.util.find_spec(MODULES.get(library, library)) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("library", one_in(3, [*CEILINGS]))
def test_calls_as_people_write_them(
    library: str, record_property: Callable[[str, object], None]
) -> None:
    if not is_installed(library):
        pytest.skip(f"{library} is not installed here")
    found = shares(library)
    record_property("shown", f"{library}: {found}")
    unread, wrong = CEILINGS[library]
    assert found.unread_share <= unread, "\n".join(found.unread)
    assert found.wrong_share <= wrong, "\n".join(found.wrong)
    # The templates are those of the newest release. NumPy 1 has np.trapz, and not np.trapezoid.
    assert not found.absent or (library == "numpy" and version(library).startswith("1.")), found.absent


if __name__ == "__main__":  # python test_corpus_live.py torch 6
    for name in sys.argv[1].split(","):
        total = shares(name, int(sys.argv[2]) if len(sys.argv) > 2 else PER_TEMPLATE)
        print(*(f"UNREAD {text}    {why}" for text, why in total.unread.items()), sep="\n")
        print(*(f"WRONG {text}" for text in total.wrong), sep="\n")
        print(f"{name}: {total}")
