"""The options of a tuning, and the check of them before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.repair.copies.source import FixError
from typelattice.repair.patch.workspace import DEFAULT_SECONDS
from typelattice.repair.tune.error_measure import MEASURES
from typelattice.repair.tune.libraries import tuned_library, tuned_library_names
from typelattice.repair.tune.place_edits import width_of

DEFAULT_DTYPES = ("float32", "float16")
MAX_INPUTS = 100


class TuneError(FixError):
    """A program that cannot be tuned, or options that no tuning can have."""

    __module__ = "typelattice"


@dataclass(frozen=True, slots=True)
class TuneOptions:
    """The options of a tuning. `dtypes` are in the order of their widths, the widest first."""

    tolerance: float
    dtypes: tuple[str, ...] = DEFAULT_DTYPES
    measure: str = "norm"
    metric: str = ""
    results: tuple[str, ...] = ()
    seeds: int = 1
    seconds: float = DEFAULT_SECONDS
    jobs: int = 1
    scheduler: str = ""
    journal: str = ""
    is_ordered: bool = True


def check_options(options: TuneOptions) -> TuneOptions:
    """Return options with sorted dtypes. Raises TuneError for a bad one."""
    if not (isfinite(options.tolerance) and options.tolerance > 0):
        raise TuneError(f"the tolerance {options.tolerance:g} is not a number above 0; give one such as 1e-4")
    if options.measure not in MEASURES:
        near = spelling_hint(options.measure, MEASURES)
        raise TuneError(
            f"there is no measure {quote_short(options.measure)}{near}; give one of {', '.join(MEASURES)}"
        )
    if options.metric and not options.metric.isidentifier():
        raise TuneError(
            f"{quote_short(options.metric)} is no name of a function; name one that the program defines"
        )
    if options.metric and options.results:
        raise TuneError("a metric stands for all results; leave out --results, or --metric")
    if not 1 <= options.seeds <= MAX_INPUTS:
        raise TuneError(f"{options.seeds} seeds are not between 1 and {MAX_INPUTS}; give fewer")
    if options.jobs > 1 and options.scheduler:
        raise TuneError("the workers of a cluster are as many as it has; leave out --jobs, or --scheduler")
    return replace(options, dtypes=check_dtypes(options.dtypes))


def check_dtypes(dtypes: Sequence[str]) -> tuple[str, ...]:
    """Return the dtypes of a ladder, the widest first. Raises TuneError."""
    names = [tuned_library(name) for name in tuned_library_names()]
    known = [d for d in DTYPES if any(library is not None and d in library.dtypes for library in names)]
    for name in dtypes:
        if name not in known or name == "float64":
            near = spelling_hint(name, known)
            raise TuneError(
                f"no array is tuned to {quote_short(name)}{near}; give some of float32, bfloat16, float16"
            )
    if not dtypes:
        raise TuneError("no dtype is given to tune to; give some of float32, bfloat16, float16")
    return tuple(sorted(dict.fromkeys(dtypes), key=lambda name: -width_of(name)))
