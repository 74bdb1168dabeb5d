"""Random programs that a library ran first: is a replay what it gave, step by step?

`--programs N` runs N of each library. The generator, tests/library_programs.py, knows nothing of us.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from library_programs import NO_REASON_OF_DTYPE, Library, LibraryProgram, Line, library_of, run_program
from samples import one_in

import typelattice as tl

pytestmark = pytest.mark.live

SYSTEMS = {  # and the share of steps that are right: it may only go up
    "numpy": ("numpy@2.4", 0.999),
    "torch": ("torch", 0.999),
    "jax": ("jax@0.10", 0.999),
    "tensorflow": ("tensorflow", 0.997),
    "mlx": ("mlx", 0.999),
    "dask": ("dask", 0.999),
    "array-api-strict": ("array-api", 0.997),
}
MISSED = 0.02  # the share of lines that a library refuses and a replay answers
UNREAD = 0.008  # the share of lines that a library runs and a program cannot read


IMPORTS = {
    "numpy": "import numpy as np",
    "torch": "import torch; import torch.nn.functional as F",
    "jax": "import jax; import jax.numpy as jnp",
    "tensorflow": "import tensorflow as tf",
    "mlx": "import mlx.core as mx",
    "dask": "import dask.array as da",
    "array-api-strict": "import array_api_strict as xp",
}


@dataclass(frozen=True)
class Compared:
    """A line, what the library gave, what a replay says, and the shortest program that shows it."""

    verdict: str  # right, wrong, listed, unread, refused, answered
    line: str
    there: str
    here: str
    source: str

    def __str__(self) -> str:
        return f"{self.verdict}: {self.line}: {self.there} there, {self.here} here, in\n{self.source}\n"


def compared(made: LibraryProgram, system: str) -> Iterator[Compared]:
    """Each line of a program beside its replay, but those that use a result which differs already."""
    kept: list[Line] = []
    wrong: set[str] = set()
    for line in made.lines:
        if line.used & wrong:
            wrong |= {*line.made}
            continue
        source = reproduction([*kept, line], made)
        try:
            here, is_listed = outcomes([*kept, line], made, system)
        except tl.ProgramError as e:
            if not line.error:
                yield Compared("unread", line.text, str(line.made), str(e), source)
                wrong |= {*line.made}
            continue
        except Exception as e:
            yield Compared("failed", line.text, str(line.made), repr(e), source)
            wrong |= {*line.made}
            continue
        if line.error:
            if any(o in ("refused", "not reached") for o in here):
                yield Compared("refused", line.text, line.error, "refused", source)
            elif not any(word in line.error for word in NO_REASON_OF_DTYPE):
                yield Compared("answered", line.text, line.error, str(here), source)
            continue
        if made.library != "jax":  # in others no array is weak
            here = [o.removesuffix("*") for o in here]
        there = [o.replace("bool*", "bool") for o in line.made.values()]  # no rule says more of these
        right = [o.replace("bool*", "bool") for o in here] == there
        verdict = "right" if right else "listed" if is_listed else "wrong"
        yield Compared(verdict, line.text, str(line.made), str(here), source)
        if right:
            kept.append(line)
            wrong -= {*line.made}
        else:
            wrong |= {*line.made}


def outcomes(lines: list[Line], made: LibraryProgram, system: str) -> tuple[list[str], bool]:
    """What a replay says of the names that the last line binds, and whether a departure of it is listed."""
    *_, last = lines
    names = sorted(last.made) or [last.text.split()[0].partition("[")[0].strip(",")]
    text = "\n".join([IMPORTS[made.library], *(line.text for line in lines), f"({', '.join(names)},)"])
    used = {name: x for name, x in made.inputs.items() if any(name in line.used for line in lines)}
    program = tl.program(text, **used)
    replay = program.under(system)
    if replay.refusals:
        return ["refused" for _ in program.results], bool(replay.departures)
    return [str(replay[i]) for i in program.results], bool(replay.departures)


def reproduction(lines: list[Line], made: LibraryProgram) -> str:
    """The lines that the last one needs, and the inputs."""
    needed, kept = {*lines[-1].used, *lines[-1].made}, [lines[-1]]
    for line in reversed(lines[:-1]):
        if needed & {*line.made}:
            kept.insert(0, line)
            needed |= line.used
    inputs = ", ".join(f"{name}={x}" for name, x in made.inputs.items() if name in needed)
    return "\n".join(["    " + line.text for line in kept]) + f"\n    # {inputs}, seed {made.seed}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", one_in(3, [*SYSTEMS]))


def survey(library: Library, system: str, programs: int, first: int = 0) -> list[Compared]:
    """All comparisons of so many programs."""
    seeds = range(first, first + programs)
    return [each for seed in seeds for each in compared(run_program(library, seed), system)]


@pytest.mark.filterwarnings("ignore")
def test_replays_come_out_as_the_library_does(name: str, request: pytest.FixtureRequest) -> None:
    try:
        library = library_of(name)
    except ModuleNotFoundError as lacking:
        pytest.skip(str(lacking))
    system, share = SYSTEMS[name]
    found = survey(library, system, request.config.getoption("programs"))
    counted = Counter(each.verdict for each in found)
    bad = [each for each in found if each.verdict in ("wrong", "failed")]
    missed = [each for each in found if each.verdict == "answered"]
    print(name, dict(counted), *bad, *missed, sep="\n")
    ran = counted["right"] + len(bad)
    assert len(bad) <= (1 - share) * ran + 1, f"{len(bad)} of {ran}\n" + "\n".join(map(str, bad))
    assert len(missed) <= MISSED * ran + 1, "\n".join(map(str, missed))
    unread = [each for each in found if each.verdict == "unread"]
    assert len(unread) <= UNREAD * (ran + len(unread)) + 1, "\n".join(map(str, unread))
