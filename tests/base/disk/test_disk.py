"""Files are read up to a limit, and written whole or not at all."""
from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from typelattice.base.disk.read import FileError, read_bytes
from typelattice.base.disk.write import check_folder, check_writable, write_text


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_no_more_is_read_than_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert read_bytes(tmp_path / "a", 3) == b"123"
    assert read_bytes(str(tmp_path / "a"), 9) == b"12345"


@pytest.mark.parametrize("use", [lambda p: read_bytes(p, 9), lambda p: write_text(p, "x"), check_writable])
@pytest.mark.parametrize(
    ("make", "why"), [(os.mkfifo, "it is a pipe or a device"), (os.mkdir, "it is a folder")]
)
def test_only_regular_files_are_read_and_replaced(
    tmp_path: Path, use: Callable[[Path], object], make: Callable[[Path], None], why: str
) -> None:
    """Opened without a look, a pipe that nobody writes to would be waited for without end."""
    make(tmp_path / "it")
    with pytest.raises(FileError, match=f"cannot (read|write) '.*/it': {why}"):
        use(tmp_path / "it")
    assert names(tmp_path) == ["it"]


def test_devices_are_not_replaced() -> None:
    with pytest.raises(FileError, match="it is a pipe or a device"):
        write_text("/dev/null", "x")
    assert Path("/dev/null").is_char_device()


def test_writing_replaces_a_file_and_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_text(path, "old")
    path.chmod(0o640)
    write_text(path, "näw\n")
    assert path.read_bytes() == "näw\n".encode()
    assert path.stat().st_mode & 0o777 == 0o640
    assert names(tmp_path) == ["a"]


@contextmanager
def as_somebody() -> Iterator[Path]:
    """A folder of somebody who is not root, since to root nothing is write-protected; this process too."""
    nobody, root = 65534, os.geteuid() == 0
    if root:
        os.setresuid(nobody, nobody, 0)
    try:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
    finally:
        if root:
            os.setresuid(0, 0, 0)


def test_a_write_protected_file_is_not_replaced() -> None:
    with as_somebody() as folder:
        write_text(folder / "a", "old")
        (folder / "a").chmod(0o444)
        with pytest.raises(FileError, match=r"cannot write '.*/a': it is write-protected"):
            write_text(folder / "a", "new")
        assert (folder / "a").read_text() == "old"


def test_writing_through_a_link_changes_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "a")
    write_text(tmp_path / "link", "x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "a").read_text() == "x"


@pytest.mark.parametrize("at", ["write", "fsync", "replace"])
def test_what_fails_halfway_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    (tmp_path / "a").write_text("old")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    if at == "write":
        monkeypatch.setattr("builtins.open", full)
    else:
        monkeypatch.setattr(os, at, full)
    with pytest.raises(FileError, match=r"cannot write '.*/a': No space left on device"):
        write_text(tmp_path / "a", "new")
    monkeypatch.undo()
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_an_interrupt_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("old")

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_text(tmp_path / "a", "new")
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


@pytest.mark.parametrize("path", ["no/such/folder/a", "a\0b", "a" * 300, "\ud800/" * 50])
@pytest.mark.parametrize("use", [lambda p: read_bytes(p, 9), lambda p: write_text(p, "x"), check_writable])
def test_impossible_paths_are_named_in_one_short_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, use: Callable[[str], object]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError) as e:
        use(path)
    assert str(e.value).isprintable()
    assert len(str(e.value)) < 500
    assert names(tmp_path) == []


def test_a_check_whether_a_file_can_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    check_writable(tmp_path / "a")
    assert names(tmp_path) == []


def test_a_folder_whose_name_is_too_long_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot write into .*: File name too long"):
        check_folder(tmp_path / ("a" * 300) / "b")
    check_folder(tmp_path / "new" / "deep")
    assert not [*tmp_path.iterdir()]
