"""Wide input of a script: the narrow dtypes that its text names become wide, but none of a patch."""

from __future__ import annotations

import re
from collections.abc import Sequence

from typelattice.tracing.source.source_file import Edit

NARROW_WORDS = {
    16: (b"float16", b"bfloat16", b".half()", b".bfloat16()"),
    32: (b"float32", b"complex64", b".float()"),
}
"""The dtypes and the casting methods in the text of a script, by the bits of a real number."""
WIDE_METHOD = b".double()"
MARK = b"\x00"  # stands in no source, and takes the place of one letter within a word


class WideForm:
    """The form of a script in which all floats are wide that are narrow for a goal of `width` bits."""

    def __init__(self, width: int) -> None:
        words = [word for bits, words in NARROW_WORDS.items() if bits <= width for word in words]
        self.wide_by_word = {word: _wide_word(word) for word in words}
        methods = [re.escape(word) for word in words if word.startswith(b".")]
        names = [rb"\b" + word + rb"\b" for word in words if not word.startswith(b".")]
        self.pattern = re.compile(b"|".join([*methods, *names]))

    def can_widen(self, content: bytes) -> bool:
        """Return True if a script names narrow dtypes."""
        return self.pattern.search(content) is not None

    def mark_edits(self, content: bytes, edits: Sequence[Edit]) -> bytes:
        """Apply the edits of a patch, and mark the narrow dtypes in what they write.

        Every position stays that of the content without marks.
        """
        parts = [part for edit in edits for part in _split_edit(edit)]
        for edit in sorted(parts, reverse=True):
            text = self.pattern.sub(lambda found: _mark(found[0]), edit.text.encode())
            content = content[: edit.start] + text + content[edit.end :]
        return content

    def widen_text(self, marked_content: bytes) -> bytes:
        """Replace the narrow dtypes that a script names by wide ones, without those that are marked."""
        wide = self.pattern.sub(lambda found: self.wide_by_word[found[0]], marked_content)
        for word in self.wide_by_word:
            wide = wide.replace(_mark(word), word)
        return wide


def _mark(word: bytes) -> bytes:
    """Mark a word so that no other one is found in it."""
    return word[:3] + MARK + word[4:]


def _wide_word(word: bytes) -> bytes:
    """Return the wide dtype, or the method that casts to it."""
    if word.startswith(b"."):
        return WIDE_METHOD
    return b"complex128" if word.startswith(b"complex") else b"float64"


def _split_edit(edit: Edit) -> list[Edit]:
    """Split an edit that keeps the old text into the insertions before and after it."""
    before, found, after = edit.text.partition(edit.old_text) if edit.old_text else ("", "", "")
    if not found:
        return [edit]
    return [Edit(edit.start, edit.start, before), Edit(edit.end, edit.end, after)]
