"""The entries of a system file for foreign arrays, which another library made."""
from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType as Frozen

from typelattice.engine.foreign_arrays import FORMS, MADE, WORDS, made_form
from typelattice.facts.dtypes import DType
from typelattice.facts.libraries import libraries
from typelattice.facts.suggestions import nearest, short
from typelattice.files.vocabulary import UnknownWord, Words, items, phrase, unknown


def read_foreign(words: Words, library: str, given: object) -> Mapping[str | DType | None, str]:
    """Read a library's entry: form, or dtype of a scalar → word or reason. Raise ValueError."""
    if library not in libraries():
        raise unknown("library", library, libraries())
    said = dict.fromkeys(("array", "scalar"), given) if isinstance(given, str) else dict(items(given))
    made = {
        made_form(words.dtype(words.node(source))): str(words.dtype(words.node(phrase(target))))
        for source, target in items(said.pop(MADE, {}))
    }
    if not said and not made:
        raise ValueError(f"says nothing of {library}; leave it out")
    for word in map(phrase, said.values()):
        if word not in WORDS and " " not in word:
            cause = f"{short(word)} is none of {', '.join(WORDS)}, and no reason in words"
            raise UnknownWord(cause + nearest(word, WORDS), word)
    forms: dict[str | DType | None, str] = {
        form if form in FORMS else words.dtype(words.node(form)): phrase(word) for form, word in said.items()
    }
    return Frozen({**forms, **made})
