"""What a system file says of another library's arrays among its own."""
from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType as Frozen

from typelattice.engine.guests import FORMS, WORDS
from typelattice.facts.dtypes import DType
from typelattice.facts.libraries import libraries
from typelattice.facts.suggest import nearest, short
from typelattice.files.vocabulary import Words, items, phrase


def read_guest(words: Words, library: str, given: object) -> Mapping[str | DType | None, str]:
    """What arrays of a library count as: form, or dtype of a scalar → word or reason. Raises ValueError."""
    if library not in libraries():
        known = nearest(library, libraries()) or f"; these are {', '.join(libraries())}"
        raise ValueError(f"unknown library {short(library)}{known}")
    said = dict.fromkeys(("array", "scalar"), given) if isinstance(given, str) else dict(items(given))
    if not said:
        raise ValueError(f"says nothing of {library}; leave it out")
    for word in map(phrase, said.values()):
        if word not in WORDS and " " not in word:
            raise ValueError(f"{short(word)} is none of {', '.join(WORDS)}, and no reason in words")
    return Frozen({
        form if form in FORMS else words.dtype(words.node(form)): phrase(word) for form, word in said.items()
    })  # fmt: skip
