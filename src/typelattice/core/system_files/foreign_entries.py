"""The entries of a system file for foreign arrays, made by another library."""
from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType as Frozen

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.core.engine.foreign_arrays import (
    ARRAY_INDEX_FORM,
    CONVERSION_PREFIX,
    FOREIGN_COUNTS_AS_WORDS,
    FOREIGN_FORMS,
    INDEX_FORMS,
    MASK_FORM,
    conversion_form,
)
from typelattice.core.engine.rule_enums import ForeignCountsAs
from typelattice.core.registry.libraries import libraries
from typelattice.core.system_files.value_reader import (
    RepeatedEntryError,
    UnknownWordError,
    Vocabulary,
    require_phrase,
    require_reason,
    table_items,
    unknown_word_error,
)


def read_foreign(words: Vocabulary, library: str, entries: object) -> Mapping[str | DType | None, str]:
    """Read a library's entry: form, or dtype of a scalar → word or reason. Raises ValueError."""
    if library not in libraries():
        raise unknown_word_error("library", library, libraries())
    said = (
        dict.fromkeys(("array", "scalar"), entries)
        if isinstance(entries, str)
        else dict(table_items(entries))
    )
    made: dict[str | DType | None, str] = {}
    entry_by_form: dict[str | DType | None, str] = {}
    for source, target in table_items(said.pop(CONVERSION_PREFIX, {})):
        made_of = words.require_dtype(words.read_node(source))
        made_as = words.require_dtype(words.read_node(require_phrase(target)))
        form = conversion_form(made_of)
        _check_new(form, source, entry_by_form)
        if made_as is made_of:
            raise UnknownWordError(f"{made_of} is made of {made_of} without this entry; leave it out", source)
        made[form] = str(made_as)
    if not said and not made:
        raise ValueError(f"says nothing of {library}; leave it out")
    for word in map(require_phrase, said.values()):
        if word not in FOREIGN_COUNTS_AS_WORDS and " " not in word:
            cause = (
                f"{quote_short(word)} is none of {', '.join(FOREIGN_COUNTS_AS_WORDS)}, and no reason in words"
            )
            raise UnknownWordError(cause + spelling_hint(word, FOREIGN_COUNTS_AS_WORDS), word)
    forms: dict[str | DType | None, str] = {}
    for name, phrase in said.items():
        named = name if name in FOREIGN_FORMS else words.require_dtype(words.read_node(name))
        _check_new(named, name, entry_by_form)
        _check_form(named, require_phrase(phrase), name)
        forms[named] = require_phrase(phrase)
    as_scalar = [form for form in forms if isinstance(form, DType) and forms[form] == forms.get("scalar")]
    if as_scalar:
        raise ValueError(f"{as_scalar[0]} counts as any scalar does; leave it out")
    return Frozen({**forms, **made})


def _check_form(form: str | DType | None, phrase: str, entry: str) -> None:
    """Raise ValueError for a word that means nothing for a form, or for a reason without words."""
    if phrase not in FOREIGN_COUNTS_AS_WORDS:
        require_reason(phrase)
    elif isinstance(form, DType):
        if form.kind is Kind.COMPLEX and phrase == ForeignCountsAs.FLOAT:
            raise UnknownWordError(f"a {form} is no Python float; write number, or another word", phrase)
    elif form in (*INDEX_FORMS, MASK_FORM, ARRAY_INDEX_FORM):
        cause = f"an index promotes nothing; give the reason if {entry} is refused, or leave it out"
        raise UnknownWordError(cause, phrase)


def _check_new(form: str | DType | None, entry: str, entry_by_form: dict[str | DType | None, str]) -> None:
    """Raise RepeatedEntryError for a form that an earlier entry has."""
    if form in entry_by_form:
        raise RepeatedEntryError(f"{entry} is stated twice; keep one entry", entry, entry_by_form[form])
    entry_by_form[form] = entry
