"""A journal keeps rows as they come, and belongs to one piece of work."""
from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from typelattice.base.disk.journal import Journal, JournalError
from typelattice.base.disk.read import FileError

HEAD: Mapping[str, object] = {"typelattice": "answers", "versions": "tiny 1.0"}


def test_rows_are_in_the_file_at_once_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    with Journal(path, HEAD) as journal:
        assert journal.rows == []
        assert not path.exists()
        journal.append(["add", "ä\r\n\u2028"])
        assert Journal(path, HEAD).rows == [["add", "ä\r\n\u2028"]]
        journal.append(2)
    again = Journal(path, HEAD)
    again.append(3)
    again.close()
    again.append(4)
    assert Journal(path, HEAD).rows == [["add", "ä\r\n\u2028"], 2, 3, 4]
    again.remove()
    assert not path.exists()


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_line_that_was_not_written_whole_is_left_out(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "rows"
    with Journal(path, HEAD) as journal:
        journal.append("first")
        journal.append("second")
    path.write_bytes(path.read_bytes()[:-cut])
    with Journal(path, HEAD) as journal:
        whole = ["first"] if cut < 10 else []
        assert journal.rows == whole
        journal.append("third")
    assert Journal(path, HEAD).rows == [*whole, "third"]
    assert len(path.read_text(encoding="ascii").splitlines()) == len(whole) + 2


def test_a_head_that_was_not_written_whole_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(json.dumps(HEAD).encode()[:9])
    with Journal(path, HEAD) as journal:
        journal.append(1)
    assert Journal(path, HEAD).rows == [1]


@pytest.mark.parametrize(
    "text, says",
    [
        ("my notes", "is no file of answers; name another one"),
        ("my notes\nof today\n", "is no file of answers; name another one"),
        ('{"typelattice": "survey rows"}\n', "is no file of answers; name another one"),
        (
            '{"typelattice": "answers", "versions": "tiny 0.9"}\n[1]\n',
            "is of other work: its versions was tiny 0.9, and is now tiny 1.0; delete it to begin again",
        ),
    ],
)
def test_the_file_of_other_work_is_refused_and_stays(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "rows"
    path.write_text(text, encoding="ascii")
    with pytest.raises(JournalError) as refused:
        Journal(path, HEAD)
    assert str(refused.value) == f"{path} {says}"
    assert path.read_text(encoding="ascii") == text


def test_a_folder_is_no_journal(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="it is a folder"):
        Journal(tmp_path, HEAD)
