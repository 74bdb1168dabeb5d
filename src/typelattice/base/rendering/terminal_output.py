"""The width, colours and encoding of the standard streams, or 80 plain columns without a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TextIO, TypeVar

from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.rendering.grid import printable
from typelattice.base.rendering.paragraphs import Layout

MIN_TABLE_WIDTH = 40  # columns; fewer leave no room next to the headings
PROGRESS_LINE_PREFIX = "progress: "
PROGRESS_LINE_SECONDS = 20.0  # between two lines of progress, if nobody watches a terminal
PROGRESS_BAR_WIDTH = 30
X = TypeVar("X")


def terminal_layout() -> Layout:
    """Return the layout of paragraphs for this terminal: its columns, and colour if it has it."""
    return Layout(_terminal_width(), _uses_colours())


def _terminal_width() -> int:
    """Return the columns of the terminal: COLUMNS if it is set, or 80 without a terminal."""
    try:
        columns = int(os.environ.get("COLUMNS") or os.get_terminal_size(sys.stdout.fileno()).columns)
        return max(MIN_TABLE_WIDTH, columns or 80)
    except (OSError, ValueError, AttributeError):
        return 80


def _uses_colours() -> bool:
    """Use colours on a terminal, or with FORCE_COLOR; never with NO_COLOR (no-color.org, force-color.org)."""
    if os.environ.get("FORCE_COLOR") and not os.environ.get("NO_COLOR"):
        return True
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and sys.stdout is not None and not _is_closed(sys.stdout) and sys.stdout.isatty()


class OutputError(TypelatticeError, OSError):
    """A standard stream that accepts no text: it is closed, its disk is full, or nobody reads it.

    `is_pipe_closed` is True if the reader has stopped reading, which is not an error to report.
    """

    def __init__(self, reason: str, is_pipe_closed: bool = False) -> None:
        super().__init__(f"cannot write to standard output: {reason}")
        self.is_pipe_closed = is_pipe_closed


def print_output(paragraphs: Iterable[str], stream: TextIO | None) -> None:
    """Print what the stream can encode, and the rest as escapes. Raises OutputError if it takes no text."""
    if stream is None:  # Python sets it to None if the descriptor was closed before it started
        raise OutputError("it is closed")
    try:
        for paragraph in paragraphs:
            with _check_writing(stream):
                encoding = getattr(stream, "encoding", None) or "utf-8"
                stream.write(paragraph.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    except KeyboardInterrupt:
        discard_output(stream)  # the reader of the pipe may have stopped reading
        raise
    finally:
        if not _is_closed(stream):  # code that closed the stream, such as a traced script, has flushed it
            with _check_writing(stream):
                stream.flush()


def print_error(line: str) -> None:
    """Print a line on standard error, if it can be written to."""
    with suppress(OutputError):
        print_output([line], sys.stderr)


def _is_closed(stream: TextIO) -> bool:
    """Return True if a stream was closed, or its buffer detached."""
    try:
        return stream.closed
    except ValueError:  # the stream is detached from its buffer
        return True


@contextmanager
def _check_writing(stream: TextIO) -> Iterator[None]:
    """Raise OutputError if the stream cannot be written to."""
    try:
        yield
    except BrokenPipeError:
        discard_output(stream)
        raise OutputError("nobody reads it", is_pipe_closed=True) from None
    except (OSError, ValueError) as e:  # ValueError: it was closed in the meantime
        discard_output(stream)
        raise OutputError(getattr(e, "strerror", None) or "it is closed") from None


def discard_output(stream: TextIO) -> None:
    """Discard what is left in a stream. Python would write it at exit, fail, and report that."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def overwrite_line(text: str) -> None:
    """Show progress on standard error in place of its current line; do nothing if it is not a terminal."""
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write(f"\r{text}\x1b[K")
        sys.stderr.flush()


def show_progress_of(items: Sequence[X], name: Callable[[X], str]) -> Iterator[X]:
    """Yield the items, and show on standard error the number done and the next name."""
    show_progress = progress_bar()
    for done, item in enumerate(items):
        show_progress(done, len(items), name(item))
        yield item
    show_progress(len(items), len(items), "")


def progress_bar() -> Callable[[int, int, str], None]:
    """Show how many calls are done and the name of the current one, on standard error.

    A terminal shows a bar. Where nobody watches, long work gets a line every few seconds.
    """
    shown_at = monotonic()

    def show_progress(done_count: int, total: int, label: str) -> None:
        nonlocal shown_at
        if sys.stderr is not None and not sys.stderr.isatty():
            if done_count < total and monotonic() - shown_at >= PROGRESS_LINE_SECONDS:
                shown_at = monotonic()
                done = f"{done_count:,} of {total:,} done, {printable(label)[:20]}"
                print_error(f"{PROGRESS_LINE_PREFIX}{done}")
        elif done_count == total:
            overwrite_line("")
        elif done_count % max(1, total // 200) == 0:
            full = PROGRESS_BAR_WIDTH * done_count // max(total, 1)
            bar = f"{'#' * full}{'.' * (PROGRESS_BAR_WIDTH - full)}"
            overwrite_line(f"[{bar}] {done_count:,}/{total:,} {printable(label)[:20]}")

    return show_progress
