"""The progress of a search on standard error: a line that is replaced, or a line every few seconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic
from typing import TextIO

QUIET_SECONDS = 3.0  # a shorter search shows nothing
LINE_SECONDS = 5.0  # between two lines, if nobody watches a terminal
MAX_LINE_COLUMNS = 79
PROGRESS_PREFIX, TUNE_PREFIX = "fix: run ", "tune: run "
ERASE_LINE = "\r\x1b[K"


@dataclass
class Progress:
    """The display of a search. Without a stream it shows nothing."""

    stream: TextIO | None = None
    started: float = field(default_factory=monotonic)
    shown_at: float = 0.0
    open_line: str = ""
    prefix: str = PROGRESS_PREFIX

    def show(self, run_count: int, doing: str) -> None:
        """Show which run takes place and what it tries, unless something was shown just before."""
        now = monotonic()
        if self.stream is None or now - self.started < QUIET_SECONDS:
            return
        line = f"{self.prefix}{run_count}, {now - self.started:.0f} s: {doing}"[:MAX_LINE_COLUMNS]
        if self.stream.isatty():
            if line != self.open_line:
                self._write(f"{ERASE_LINE}{line}")
                self.open_line = line
        elif now - self.shown_at >= LINE_SECONDS:
            self._write(f"{line}\n")
            self.shown_at = now

    def clear(self) -> None:
        """Erase the line on a terminal."""
        if self.open_line:
            self._write(ERASE_LINE)
            self.open_line = ""

    def _write(self, text: str) -> None:
        """Write a text. If nobody reads it any more, show nothing from now on."""
        assert self.stream is not None
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):
            self.stream = None
