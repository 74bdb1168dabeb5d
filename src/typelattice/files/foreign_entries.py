"""The entries of a system file for foreign arrays, made by another library."""
from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType as Frozen

from typelattice.engine.foreign_arrays import (
    CONVERSION_PREFIX,
    FOREIGN_COUNTS_AS_WORDS,
    FOREIGN_FORMS,
    conversion_form,
)
from typelattice.facts.dtypes import DType
from typelattice.facts.libraries import libraries
from typelattice.files.value_reader import (
    UnknownWordError,
    Vocabulary,
    require_phrase,
    table_items,
    unknown_word_error,
)
from typelattice.support.error_texts import quote_short, spelling_hint


def read_foreign(words: Vocabulary, library: str, entries: object) -> Mapping[str | DType | None, str]:
    """Read a library's entry: form, or dtype of a scalar → word or reason. Raises ValueError."""
    if library not in libraries():
        raise unknown_word_error("library", library, libraries())
    said = (
        dict.fromkeys(("array", "scalar"), entries)
        if isinstance(entries, str)
        else dict(table_items(entries))
    )
    made = {
        conversion_form(words.require_dtype(words.read_node(source))): str(
            words.require_dtype(words.read_node(require_phrase(target)))
        )
        for source, target in table_items(said.pop(CONVERSION_PREFIX, {}))
    }
    if not said and not made:
        raise ValueError(f"says nothing of {library}; leave it out")
    for word in map(require_phrase, said.values()):
        if word not in FOREIGN_COUNTS_AS_WORDS and " " not in word:
            cause = (
                f"{quote_short(word)} is none of {', '.join(FOREIGN_COUNTS_AS_WORDS)}, and no reason in words"
            )
            raise UnknownWordError(cause + spelling_hint(word, FOREIGN_COUNTS_AS_WORDS), word)
    forms: dict[str | DType | None, str] = {
        form if form in FOREIGN_FORMS else words.require_dtype(words.read_node(form)): require_phrase(word)
        for form, word in said.items()
    }
    return Frozen({**forms, **made})
