"""Searches do no harm: nothing outside the copy changes, nothing is left, and each run is counted."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import pytest
from samples import one_in

import typelattice as tl
from typelattice.base.disk.read import FileError
from typelattice.base.disk.write import write_files
from typelattice.base.disk.write_in_process import write_files_in_process
from typelattice.base.workers import write_guard
from typelattice.repair.copies import project_copy, search_folder
from typelattice.repair.copies.progress import Progress
from typelattice.repair.copies.project_copy import ProjectCopy
from typelattice.repair.copies.source import FixError
from typelattice.repair.patch import patch_search, workspace
from typelattice.repair.patch.patch import Patch
from typelattice.repair.patch.patch_search import fix_script
from typelattice.repair.patch.workspace import SearchLimits
from typelattice.show.cli.main import run as command

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))
import kills

NOBODY = 65534  # the user and the group without rights
WIDENS = "import numpy as np\nx = np.ones(3, np.float32)\ny = x * np.ones(3)\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("PYTHONPATH", str(Path(tl.__file__).parents[1]))
    return work


@pytest.fixture
def elsewhere(folder: Path) -> Path:
    return folder.parent / "elsewhere"


def fixed(folder: Path, code: str, **options: object) -> Patch:
    (folder / "s.py").write_text(WIDENS + code)
    return fix_script("s.py", **options)  # type: ignore[arg-type]


WRITES = {  # a write, and what it changes in the folder elsewhere
    "open('{}/new', 'w')": "new",
    "open('{}/old', 'r+').write('x')": "old",
    "open(b'{}/old', 'ab').write(b'x')": "old",
    "import os; os.open('{}/new', os.O_CREAT)": "new",
    "np.save('{}/new.npy', y)": "new.npy",
    "y.tofile('{}/new')": "new",
    "np.memmap('{}/new', 'f4', 'w+', shape=3)": "new",
    "import os; os.remove('{}/old')": "old",
    "import os; os.replace('{}/old', 'here')": "old",
    "import os; os.rename('s.py', '{}/new')": "new",
    "import os; os.link('{}/old', 'here')": "old",
    "import os; os.symlink('s.py', '{}/new')": "new",
    "import os; os.symlink('{}', 'here'); open('here/new', 'w')": "new",
    "import os; os.chmod('{}/old', 0)": "old",
    "import os; os.utime('{}/old', (1, 1))": "old",
    "import os; os.truncate('{}/old', 0)": "old",
    "import os; os.makedirs('{}/new/sub')": "new",
    "import shutil; shutil.copy('s.py', '{}/new')": "new",
    "import shutil; shutil.rmtree('{}')": "old",
    "import sqlite3; sqlite3.connect('{}/new')": "new",
    "from pathlib import Path; Path('{}/new').touch()": "new",
    "import tempfile; tempfile.mkdtemp(dir='{}')": "tmp",
    "import os; os.chdir('{}'); open('new', 'w')": "new",
}


def content(folder: Path) -> dict[str, object]:
    """All that a write could change of a folder and its files."""
    paths = [folder, *folder.rglob("*")]
    return {
        str(path): (path.lstat().st_mode, path.lstat().st_mtime_ns, path.is_file() and path.read_bytes())
        for path in paths
    }


@pytest.mark.parametrize("write", one_in(4, [*WRITES]))
def test_a_write_outside_the_copy_is_stopped_and_named(folder: Path, elsewhere: Path, write: str) -> None:
    (elsewhere / "old").write_text("old")
    before = content(elsewhere)
    code = f"try:\n    {write.format(elsewhere)}\nexcept OSError:\n    pass\n"
    with pytest.raises(FixError) as stopped:
        fixed(folder, code)
    assert content(elsewhere) == before
    first, advice = str(stopped.value).split("; ")
    assert first.startswith(f"s.py:5 writes {elsewhere}/{WRITES[write]}")
    assert first.endswith(", outside the copy that fix runs, and was stopped")
    assert advice == f"allow it with --allow-writes {elsewhere}, or give a relative path"


@pytest.mark.parametrize("write", one_in(4, [*WRITES]))
def test_each_write_of_the_table_would_change_the_folder(folder: Path, elsewhere: Path, write: str) -> None:
    (elsewhere / "old").write_text("old")
    (folder / "s.py").write_text("")
    before = content(folder.parent)
    code = f"import numpy as np\ny = np.ones(3)\n{write.format(elsewhere)}"
    child = os.fork()
    if child == 0:
        try:
            exec(code, {})
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0 and content(folder.parent) != before


def test_the_project_itself_is_outside_the_copy(folder: Path) -> None:
    with pytest.raises(FixError, match=rf"s\.py:4 writes {folder}/new, outside the copy"):
        fixed(folder, f"open('{folder}/new', 'w')\n")
    assert not (folder / "new").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such guard")
@pytest.mark.parametrize("shell", [True, False])
def test_a_process_that_is_no_python_cannot_write_outside_the_copy(
    folder: Path, elsewhere: Path, shell: bool
) -> None:
    words = f"'touch {elsewhere}/new here', shell=True" if shell else f"['touch', '{elsewhere}/new', 'here']"
    code = f"import os, subprocess\nsubprocess.run({words}, stderr=subprocess.DEVNULL)\n"
    patch = fixed(folder, f"{code}assert os.listdir() == ['s.py', 'here'] or os.path.exists('here')\n")
    assert [*elsewhere.iterdir()] == []
    name = "sh" if shell else "touch"
    assert patch.notes == (f"each run starts {name}, which can write only into the copy, too",)
    assert patch.notes[0] in str(patch) and patch.data()["notes"] == [patch.notes[0]]


def test_a_library_in_c_is_stopped_by_the_kernel_and_the_option_is_named(
    folder: Path, elsewhere: Path
) -> None:
    code = f"import ctypes\nf = ctypes.CDLL(None, use_errno=True).creat(b'{elsewhere}/new', 0o600)\n"
    code += "if f < 0: raise OSError(ctypes.get_errno(), 'Permission denied')\n"
    with pytest.raises(FixError, match=r"Permission denied; .*: allow more with --allow-writes FOLDER$"):
        fixed(folder, code)
    assert [*elsewhere.iterdir()] == []


def test_a_process_without_the_kernels_guard_still_has_that_of_python(
    folder: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_guard, "LEAST_LANDLOCK", 1000)
    guard = write_guard.Guard(write_guard.GuardSettings((str(folder),), (), str(folder / "notes"), ""))
    assert not write_guard.restrict_process([str(folder)])
    guard("open", (str(folder / "a"), "w", os.O_WRONLY))
    guard("open", (str(elsewhere / "a"), "r", os.O_RDONLY))
    with pytest.raises(PermissionError, match="typelattice fix stops writes outside its copy"):
        guard("open", (str(elsewhere / "a"), "w", os.O_WRONLY))
    with pytest.raises(PermissionError, match="typelattice fix stops writes outside its copy"):
        guard("sqlite3.connect", (str(elsewhere / "a"),))
    guard("subprocess.Popen", ("git", ["git", "status"], None, None))
    assert '["process", "git", ' in (folder / "notes").read_text()


@pytest.mark.parametrize("start", one_in(2, ["fork", "spawn"]))
def test_processes_of_multiprocessing_run_and_are_guarded(folder: Path, elsewhere: Path, start: str) -> None:
    code = f"""
import multiprocessing
def double(i):
    {{}}
    return i * 2.0
if __name__ == "__main__":
    with multiprocessing.get_context("{start}").Pool(1) as pool:
        z = pool.map(double, [1])
"""
    patch = fixed(folder, code.format("open('here', 'w')"))
    assert patch.kept_changes and patch.notes == ()
    with pytest.raises(FixError, match=rf"s\.py:7 writes {elsewhere}/new, outside the copy"):
        fixed(folder, code.format(f"open('{elsewhere}/new', 'w')"))
    assert [*elsewhere.iterdir()] == []


def test_what_a_program_may_write_is_written_and_each_run_finds_the_folder_as_it_was(folder: Path) -> None:
    (folder / "old").write_text("old")
    (folder / "kept").mkdir()
    (folder / "link").symlink_to("old")
    code = """
import os, shutil, sys, tempfile
assert sorted(os.listdir()) == ["kept", "link", "old", "s.py"] and os.listdir(tempfile.gettempdir()) == []
assert open("old").read() == "old" and os.path.islink("link")
os.makedirs("made/sub"); np.save("made/sub/y", y); os.mkdir(".hidden"); open("made/old", "w").write("new")
os.rmdir("kept"); os.unlink("link"); open("link", "w"); os.chmod("made/sub", 0o500)
open("old", "w").write("new"); os.utime("old", (1, 1))
with tempfile.NamedTemporaryFile() as file, tempfile.TemporaryDirectory() as made:
    file.write(b"x"); shutil.copy("old", made)
tempfile.mkdtemp(); tempfile.mkstemp()
open(os.devnull, "w").write("x"); open("/dev/stdout", "w").write("printed")
"""
    before = content(folder)
    patch = fixed(folder, code)
    (folder / "s.py").unlink()
    assert patch.kept_changes and {*content(folder)} == {*before}
    assert (folder / "old").read_text() == "old" and (folder / "kept").is_dir()


def test_a_folder_that_is_allowed_is_written(folder: Path, elsewhere: Path) -> None:
    assert fixed(folder, f"open('{elsewhere}/new', 'w')\n", limits=SearchLimits(60, (str(elsewhere),)))
    assert (elsewhere / "new").exists()
    with pytest.raises(FixError, match="writes into nowhere cannot be allowed: there is no such folder"):
        command_lines("--allow-writes", "nowhere", "s.py")


def command_lines(*words: str) -> list[str]:
    return [*command(["fix", *words])]


@pytest.mark.parametrize("place", [".cache/lib", ".lib"])
def test_a_cache_in_the_home_folder_is_refused_as_on_a_read_only_disk(
    folder: Path, elsewhere: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(elsewhere))
    made = f"import os\ntry:\n    os.makedirs('{elsewhere}/{place}')\nexcept OSError:\n    pass\n"
    assert fixed(folder, made).kept_changes and [*elsewhere.iterdir()] == []
    with pytest.raises(FixError, match=r"PermissionError: .*: allow more with --allow-writes FOLDER$"):
        fixed(folder, f"import os\nos.makedirs('{elsewhere}/{place}')\n")
    with pytest.raises(FixError, match=rf"writes {elsewhere}/data, outside the copy"):
        fixed(folder, f"open('{elsewhere}/data', 'w')\n")


def test_a_connection_is_said(folder: Path) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(20)
        port = server.getsockname()[1]
        code = f"import socket\nsocket.create_connection(('127.0.0.1', {port}))\n"
        assert fixed(folder, code).notes == (f"each run connects to 127.0.0.1:{port}, which nothing undoes",)


def test_a_run_that_nothing_guards_does_not_start(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "START_GUARD_CODE", "")
    with pytest.raises(FixError, match="nothing guards this run: its Python skips sitecustomize"):
        fixed(folder, "")


def test_the_environments_own_sitecustomize_runs(
    folder: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch, new_processes: None
) -> None:
    (elsewhere / "sitecustomize.py").write_text("import builtins\nbuiltins.customized = 1.0\n")
    monkeypatch.setenv("PYTHONPATH", f"{elsewhere}{os.pathsep}{os.environ['PYTHONPATH']}")
    assert fixed(folder, "import sys\nz = customized\nassert not any('guard' in p for p in sys.path)\n")


# -- the copy


def copied(original: Path, root: Path) -> dict[str, str]:
    """Copy a folder. Return what is in the copy: a link's text, a file's content, or "" for a folder."""
    ProjectCopy(str(original), str(root)).copy()
    return {
        str(path.relative_to(root)): os.readlink(path) if path.is_symlink()
        else path.read_text() if path.is_file() else ""
        for path in sorted(root.rglob("*"))
    }  # fmt: skip


def test_links_lead_into_the_copy_and_what_lies_outside_is_copied_once(
    folder: Path, elsewhere: Path
) -> None:
    (folder / "data").write_text("data")
    (elsewhere / "more").write_text("more")
    (elsewhere / "up").symlink_to(elsewhere)
    (elsewhere / "back").symlink_to(folder)
    for name, target in {
        "relative": "data", "absolute": folder / "data", "round": "../work/data", "out": elsewhere,
        "out-again": elsewhere, "file": elsewhere / "more", "self": ".", "loop": "loop", "gone": "nothing",
        "parent": "..", "device": os.devnull,
    }.items():  # fmt: skip
        (folder / name).symlink_to(target)
    root = folder.parent / "copy" / "work"
    found = copied(folder, root)
    assert found == {
        "data": "data", "relative": "data", "absolute": f"{root}/data", "round": "../work/data",
        "out": "", "out/more": "more", "out/up": f"{root}/out", "out/back": f"{root}",
        "out-again": f"{root}/out", "file": "more" if "file" in found else "", "self": ".", "loop": "loop",
        "gone": "nothing", "parent": str(folder.parent), "device": os.devnull,
    }  # fmt: skip


def test_what_a_large_link_leads_to_is_not_copied(
    folder: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_copy, "MAX_LINKED_BYTES", 3)
    (elsewhere / "more").write_text("more")
    (folder / "out").symlink_to(elsewhere)
    assert copied(folder, folder.parent / "copy") == {"out": str(elsewhere)}


def test_what_is_no_file_or_vanishes_or_cannot_be_read_is_left_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
    for name in ("kept", "vanishing", "secret"):
        (folder / name).write_text(name)
    (folder / "kept").chmod(0o555)
    (folder / f"{search_folder.FOLDER_PREFIX}other").mkdir()
    copyfile, access = project_copy.copyfile, os.access

    def copy_after_others_removed_a_file(source: str, target: str) -> object:
        (folder / "vanishing").unlink(missing_ok=True)
        return copyfile(source, target)

    monkeypatch.setattr(project_copy, "copyfile", copy_after_others_removed_a_file)
    monkeypatch.setattr(os, "access", lambda path, mode: "secret" not in str(path) and access(path, mode))
    root = folder.parent / "copy"
    assert copied(folder, root) == {"kept": "kept"}
    assert (root / "kept").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    ("number", "advice"),
    [(errno.ENOSPC, "on a disk with more room"), (errno.EROFS, "that can be written")],
)
def test_a_copy_that_cannot_be_written_is_one_line_and_nothing_is_left(
    folder: Path, number: int, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(source: str, target: str) -> None:
        Path(target).touch()
        raise OSError(number, os.strerror(number))

    temporary = use_temporary_folder(monkeypatch, folder.parent / "tmp")
    monkeypatch.setattr(project_copy, "copyfile", fail)
    with pytest.raises(FixError) as failed:
        fixed(folder, "")
    why = f"the copy of the project cannot be written: {os.strerror(number)}"
    assert str(failed.value) == f"{why}; set TMPDIR to a folder {advice}" and os.listdir(temporary) == []


def use_temporary_folder(monkeypatch: pytest.MonkeyPatch, path: Path) -> Path:
    path.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    return path


def test_a_project_with_the_temporary_folder_in_it_is_not_copied_into_itself(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = use_temporary_folder(monkeypatch, folder / "tmp")
    assert fixed(folder, "import os\nassert os.listdir('tmp') == []\n").kept_changes
    assert os.listdir(temporary) == []


def test_too_many_files_are_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_copy, "MAX_COPIED_FILES", 2)
    for name in ("a", "b"):
        (folder / name).touch()
    with pytest.raises(FixError, match=r"holds more than 2 files or 500 MB, .*; run it from a folder that"):
        fixed(folder, "")


def test_a_current_folder_that_was_removed_is_named(folder: Path) -> None:
    folder.rmdir()
    with pytest.raises(FixError, match="the current folder has been removed; change into one that exists"):
        command_lines("s.py")


# -- signals


def start_long_search(folder: Path) -> tuple[subprocess.Popen[str], Path]:
    """Start a search whose program starts another process and waits. Return when both run."""
    temporary = folder.parent / "tmp"
    temporary.mkdir()
    (folder / "s.py").write_text(
        "import subprocess, time\n"
        "subprocess.Popen(['sleep', '600'], start_new_session=True)\nprint(flush=True)\ntime.sleep(600)\n"
    )
    search = subprocess.Popen(
        [sys.executable, "-m", "typelattice", "fix", "--write", "s.py"], text=True,
        env={**os.environ, "TMPDIR": str(temporary)}, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    wait_until(lambda: any("sleep 600" in each for each in kills.list_left_processes(temporary)))
    return search, temporary


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("number", "said"),
    one_in(2, [
        (signal.SIGINT, "typelattice: interrupted; nothing was written\n"),
        (signal.SIGTERM, "typelattice: ended by SIGTERM; nothing was written\n"),
        (signal.SIGHUP, "typelattice: ended by SIGHUP; nothing was written\n"),
        (signal.SIGKILL, ""),
    ]),
)  # fmt: skip
def test_a_search_that_a_signal_ends_leaves_no_process_and_no_copy(
    folder: Path, number: int, said: str
) -> None:
    search, temporary = start_long_search(folder)
    os.kill(search.pid, number)
    assert search.communicate()[1] == said and search.returncode == -number
    wait_until(lambda: os.listdir(temporary) == [] == kills.list_left_processes(temporary))


def test_a_folder_is_removed_though_a_program_made_parts_of_it_read_only() -> None:
    """Root could remove them anyway, and the folders of other tests are root's."""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent, "work")
        (folder / "sub" / "subsub").mkdir(parents=True)
        (folder / "sub" / "file").touch()
        for path in (folder / "sub" / "subsub", folder / "sub"):
            path.chmod(0o500)
        with as_another_user([Path(parent), *Path(parent).rglob("*")]):
            search_folder.remove_folder(folder)
        assert not folder.exists()


@contextmanager
def as_another_user(paths: list[Path]) -> Iterator[None]:
    """Act as a user without special rights, who owns some paths. Only root must change for that."""
    if os.getuid() != 0:
        yield
        return
    for path in paths:
        os.chown(path, NOBODY, NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_folder_that_cannot_be_removed_leaves_those_above_it_as_they_are(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **options: object) -> None:
        raise PermissionError

    folder.parent.chmod(0o1777)
    monkeypatch.setattr(os, "rmdir", fail)
    search_folder.remove_folder(folder)
    assert folder.parent.stat().st_mode & 0o7777 == 0o1777


def test_processes_are_found_where_there_is_no_proc(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {**os.environ, "TMPDIR": str(folder / "tmp")}
    with subprocess.Popen(["sleep", "600"], env=environment) as sleeping:
        monkeypatch.setattr(os.path, "exists", lambda path: False)
        assert search_folder.list_processes(str(folder)) == [sleeping.pid]
        search_folder.end_processes(str(folder))
    assert search_folder.list_processes(str(folder)) == []


@pytest.mark.whole
def test_fifty_searches_that_are_killed_change_all_sources_or_none() -> None:
    assert {*kills.kill_searches(50, seed=0)} == {"before", "after"}


def test_files_are_written_though_their_writer_is_killed(folder: Path) -> None:
    contents = {folder / "a": b"a" * 1_000_000, folder / "b": b"b"}
    outcomes = set()
    for delay in (0, 0.02, 0.05, 0.1, 0.3):
        for path in contents:
            path.write_bytes(b"old")
        pid = os.fork()
        if pid == 0:
            try:
                os.setsid()
                write_files_in_process(contents)
            finally:
                os._exit(0)
        time.sleep(delay)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        time.sleep(0.3)
        assert sorted(os.listdir(folder)) == ["a", "b"]
        outcomes.add(tuple(path.read_bytes() == b"old" for path in contents))
    assert outcomes <= {(True, True), (False, False)}


def test_files_are_all_written_or_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = os.replace

    def fail_at_b(source: str, target: str) -> None:
        if target.endswith("b"):
            raise OSError(errno.EIO, "Input/output error")
        replace(source, target)

    for name in "ab":
        (folder / name).write_bytes(b"old")
    monkeypatch.setattr(os, "replace", fail_at_b)
    with pytest.raises(FileError, match=r"cannot write .*b': Input/output error"):
        write_files({folder / "a": b"new", folder / "b": b"new"})
    assert content(folder).keys() == {str(folder), str(folder / "a"), str(folder / "b")}
    assert (folder / "a").read_bytes() == b"old" == (folder / "b").read_bytes()


def test_a_file_that_cannot_be_written_by_the_other_process_is_named(folder: Path) -> None:
    (folder / "sub").mkdir()
    with pytest.raises(FileError, match=r"cannot write .*sub': it is a folder"):
        write_files_in_process({folder / "a": b"new", folder / "sub": b"new"})
    assert os.listdir(folder) == ["sub"]


# -- the time and the runs


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[float], None]]:
    """Move the clock of the search on by seconds."""
    now = [0.0]
    monkeypatch.setattr(workspace, "monotonic", lambda: now[0])

    def move(seconds: float) -> None:
        now[0] += seconds

    yield move


def test_a_search_whose_time_is_over_keeps_what_is_proved(
    folder: Path, clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = workspace.Workspace.run

    def run_for_ten_seconds(self: workspace.Workspace, **options: bool) -> object:
        finished = run(self, **options)
        clock(10)
        return finished

    monkeypatch.setattr(workspace.Workspace, "run", run_for_ten_seconds)
    monkeypatch.setattr(patch_search._PatchSearch, "try_batch", lambda *_: [])  # one place after the other
    patch = fixed(folder, "z = x + np.ones(3)\nw = x - np.ones(3)\n", limits=SearchLimits(45))
    assert [each.line for each in patch.kept_changes] == [3]
    assert [(each.line, each.reason) for each in patch.unfixed_causes] == [(4, "not tried"), (5, "not tried")]
    note = "the search ended after 45 s; 2 causes were not tried: raise --seconds"
    assert patch.notes == (note,) and note in str(patch)


def test_a_changed_program_that_never_ends_is_given_up(
    folder: Path, monkeypatch: pytest.MonkeyPatch, new_processes: None
) -> None:
    monkeypatch.setattr("typelattice.repair.patch.patch_search.MAX_CHANGES_PER_CAUSE", 1)
    monkeypatch.setattr(workspace, "SLOWER_RUN_SECONDS", 2)
    monkeypatch.setattr(workspace, "SLOWER_RUN_FACTOR", 0)
    patch = fixed(folder, "while y.dtype == 'f4': pass\n")
    assert not patch.kept_changes
    assert "it ran for more than 2 seconds" in patch.unfixed_causes[0].reason


def test_a_patch_of_one_place_takes_at_most_ten_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typelattice.repair.patch.patch_search.MEASURED_RUNS", 2)
    log = folder.parent / "elsewhere" / "log"
    code = f"open('{log}', 'a').write('x')\n"
    patch = fixed(folder, code, limits=SearchLimits(60, (str(log.parent),)))
    assert patch.kept_changes and patch.run_count == len(log.read_text()) <= 10
    assert str(patch).endswith(f"\n{patch.run_count} runs of the program")
    assert patch.data()["runs"] == patch.run_count


def test_a_slow_program_is_measured_once_without_and_once_with_the_patch(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("typelattice.repair.patch.patch_search.MEASURED_RUNS", 2)
    monkeypatch.setattr("typelattice.repair.patch.patch_search.SLOW_RUN_SECONDS", 0.0)
    assert "(1 plain run each)" in str(fixed(folder, ""))


def test_progress_is_one_line_on_a_terminal_and_a_line_now_and_then_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    terminal, pipe = Progress(Terminal(), 100.0), Progress(StringIO(), 100.0)
    for now in (101, 104, 104, 105, 110):
        monkeypatch.setattr("typelattice.repair.copies.progress.monotonic", lambda now=now: now)
        for progress in (terminal, pipe):
            progress.show(now - 100, "trying line 8")
    for progress in (terminal, pipe):
        progress.clear()
    seen = [f"fix: run {n}, {n} s: trying line 8" for n in (4, 5, 10)]
    assert terminal.stream is not None and pipe.stream is not None
    assert terminal.stream.getvalue() == "".join(f"\r\x1b[K{line}" for line in seen) + "\r\x1b[K"
    assert pipe.stream.getvalue() == f"{seen[0]}\n{seen[2]}\n"


def test_a_program_that_plain_python_runs_otherwise_is_traced_twice(folder: Path) -> None:
    """It leaves by `os._exit`, so a plain run has no values."""
    patch = fixed(folder, "import os\nprint(y, flush=True)\nos._exit(0)\n")
    assert patch.kept_changes and patch.costs is None
