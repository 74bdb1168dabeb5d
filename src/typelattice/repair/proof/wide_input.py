"""Wide input of a script: the narrow dtypes that its text names become wide, but none of a patch."""

from __future__ import annotations

import re
from collections.abc import Sequence

from typelattice.tracing.source.source_file import Edit

WIDE_DTYPE_BY_NARROW = {b"float16": b"float64", b"float32": b"float64", b"complex64": b"complex128"}
NARROW_DTYPE_PATTERN = re.compile(rb"\b(?:" + b"|".join(WIDE_DTYPE_BY_NARROW) + rb")\b")
MARK = b"\x00"  # stands in no source, and takes the place of one letter


def has_wide_form(content: bytes) -> bool:
    """Return True if a script names narrow dtypes."""
    return NARROW_DTYPE_PATTERN.search(content) is not None


def mark_edits(content: bytes, edits: Sequence[Edit]) -> bytes:
    """Apply the edits of a patch, and mark the narrow dtypes in what they write.

    Every position stays that of the content without marks.
    """
    parts = [part for edit in edits for part in _split_edit(edit)]
    for edit in sorted(parts, reverse=True):
        text = NARROW_DTYPE_PATTERN.sub(lambda found: MARK + found[0][1:], edit.text.encode())
        content = content[: edit.start] + text + content[edit.end :]
    return content


def _split_edit(edit: Edit) -> list[Edit]:
    """Split an edit that keeps the old text into the insertions before and after it."""
    before, found, after = edit.text.partition(edit.old_text) if edit.old_text else ("", "", "")
    if not found:
        return [edit]
    return [Edit(edit.start, edit.start, before), Edit(edit.end, edit.end, after)]


def widen_text(marked_content: bytes) -> bytes:
    """Replace the narrow dtypes that a script names by wide ones, without those that are marked."""
    wide = NARROW_DTYPE_PATTERN.sub(lambda found: WIDE_DTYPE_BY_NARROW[found[0]], marked_content)
    names = {MARK + name[1:]: name for name in WIDE_DTYPE_BY_NARROW}
    for marked, name in names.items():
        wide = wide.replace(marked, name)
    return wide
