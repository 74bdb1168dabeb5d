"""The workbench of `typelattice explore --edit`: covers are edited in the text, one file is written."""

from __future__ import annotations

import io
import json
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import typelattice as tl
from typelattice.core.system_files.reader import parse
from typelattice.show.explorer.edit_order_text import EditError, edit_covers
from typelattice.show.explorer.edited_file import FileConflictError, open_edited_file, save_text, show_text
from typelattice.show.explorer.server import MAX_REQUEST_BYTES, Application, ServerError, serve

TEXT = """name = "mine"
order = \"\"\"
i8 -> i16 -> i32  # the signed
u8 -> i16
u8 -> u16 -> i32
\"\"\"
tiers = ["array"]  # stays
"""


def order_of(text: str) -> set[tuple[str, str]]:
    order = parse(text, "mine.toml").order
    return {(str(a), str(b)) for a in order.nodes for b in order.covers(a)}


def test_a_cover_that_is_added_is_a_line_more() -> None:
    after = edit_covers(TEXT, "mine.toml", add=[("int8", "uint16")])
    assert after == TEXT.replace('-> i32\n"', '-> i32\ni8 -> u16\n"')


def test_a_cover_that_is_dropped_leaves_the_other_lines_and_every_comment() -> None:
    after = edit_covers(TEXT, "mine.toml", drop=[("u8", "i16")])
    assert after == TEXT.replace("u8 -> i16\n", "")
    after = edit_covers(TEXT, "mine.toml", drop=[("i16", "i32")])
    assert "i8 -> i16  # the signed" in after and order_of(after) == order_of(TEXT) - {("int16", "int32")}


def test_a_node_without_covers_stays_alone() -> None:
    after = edit_covers('name = "mine"\norder = "i8 -> i16"', "mine.toml", drop=[("i8", "i16")])
    assert {str(n) for n in parse(after, "mine.toml").order.nodes} == {"int8", "int16"}


def test_what_a_new_cover_implies_is_stated_no_more() -> None:
    text = 'name = "mine"\norder = "i8 -> i32; i16 -> i32"'
    assert order_of(edit_covers(text, "mine.toml", add=[("i8", "i16")])) == {
        ("int8", "int16"),
        ("int16", "int32"),
    }


@pytest.mark.parametrize(
    "add, drop, says",
    [
        ([("i16", "i8")], [], "int8 lies below int16 already: with int16 -> int8 there would be a cycle"),
        ([("i8", "i32")], [], "int8 lies below int32 already; nothing to add"),
        ([("i8", "f64")], [], "mine has no node f64; write it into the text first"),
        ([], [("i8", "i32")], "int8 -> int32 is not an arrow of mine"),
    ],
)
def test_what_cannot_be_edited_is_said(add: list, drop: list, says: str) -> None:
    with pytest.raises(EditError, match=says.replace("(", "\\(")):
        edit_covers(TEXT, "mine.toml", add=add, drop=drop)


def test_what_stands_in_another_file_is_not_edited() -> None:
    text = 'name = "mine"\nextends = "jax"\norder = """\n...\n"""'
    with pytest.raises(EditError, match=r"it is stated in jax\.toml, line \d+, which mine\.toml extends"):
        edit_covers(text, "mine.toml", drop=[("uint8", "int16")])


@settings(max_examples=20)
@given(st.data())
def test_dropping_and_adding_covers_gives_the_order_that_was_meant(data: st.DataObject) -> None:
    """Of any system that comes along: the text says what the order was meant to be, line by line."""
    name = data.draw(st.sampled_from(["jep9407-0", "c", "tinygrad", "jax-2019", "array-api-2020"]))
    text = (Path(tl.__file__).parent / "systems" / f"{name}.toml").read_text(encoding="utf-8")
    system = parse(text, "x.toml")
    covers = [(a, b) for a in system.order.nodes for b in system.order.covers(a)]
    a, b = data.draw(st.sampled_from(covers))
    try:
        after = edit_covers(text, "x.toml", drop=[(str(a), str(b))])
        found = parse(after, "x.toml").order
    except tl.FormatError:
        return  # a tie or an entry that has no effect any more, which the page shows in its place
    assert {*found.nodes} == {*system.order.nodes}
    assert {(x, y) for x in found.nodes for y in found.covers(x)} == {*covers} - {(a, b)}
    again = parse(edit_covers(after, "x.toml", add=[(str(a), str(b))]), "x.toml").order
    assert {(x, y) for x in again.nodes for y in again.covers(x)} == {*covers}


class InProcessLibrary:
    """Asks an application as a browser would."""

    def __init__(self, file: Path) -> None:
        self.application = Application(open_edited_file(file), 8000, "secret")

    def __call__(self, what: str = "", body: object = None, **environ: Any) -> tuple[str, str]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        asked = {
            "REQUEST_METHOD": "GET" if body is None else "POST",
            "PATH_INFO": f"/secret/{what}",
            "HTTP_HOST": "127.0.0.1:8000",
            "HTTP_ORIGIN": "http://127.0.0.1:8000",
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(data)),
            "wsgi.input": io.BytesIO(data),
            **environ,
        }
        told: list[str] = []
        answered = self.application(asked, lambda status, headers: told.append(status))
        return told[0], b"".join(answered).decode()

    def reply(self, what: str, **question: object) -> dict[str, Any]:
        status, text = self(what, question)
        assert status == "200 OK", text
        return json.loads(text)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "mine.toml"
    found.write_text(TEXT, encoding="utf-8")
    return found


@pytest.fixture
def ask(file: Path) -> InProcessLibrary:
    return InProcessLibrary(file)


def test_the_page_is_served_to_its_own_address(ask: InProcessLibrary) -> None:
    status, text = ask()
    assert status == "200 OK" and "connect-src 'self'" in text


@pytest.mark.parametrize(
    "what, body, environ, status",
    [
        ("", None, {"PATH_INFO": "/wrong/"}, "403"),
        ("", None, {"PATH_INFO": "/"}, "403"),
        ("", None, {"PATH_INFO": ""}, "403"),
        ("", None, {"PATH_INFO": "/sécret/"}, "403"),
        ("", None, {"HTTP_HOST": "evil.example:8000"}, "403"),
        ("", None, {"HTTP_HOST": "127.0.0.1:9000"}, "403"),
        ("look", {"text": TEXT}, {"HTTP_ORIGIN": "http://evil.example"}, "403"),
        ("look", {"text": TEXT}, {"HTTP_ORIGIN": ""}, "403"),
        ("look", {"text": TEXT}, {"CONTENT_TYPE": "text/plain"}, "415"),
        ("look", {"text": TEXT}, {"CONTENT_LENGTH": ""}, "411"),
        ("look", {"text": TEXT}, {"CONTENT_LENGTH": "-5"}, "411"),
        ("look", {"text": TEXT}, {"CONTENT_LENGTH": str(MAX_REQUEST_BYTES + 1)}, "413"),
        ("look", b"{", {}, "400"),
        ("look", b"[" * 100_000, {}, "400"),
        ("look", [], {}, "400"),
        ("look", {"text": 1}, {}, "400"),
        ("look", {"text": TEXT, "add": [["a"]]}, {}, "400"),
        ("look", {"text": TEXT, "beside": ["/etc/passwd"]}, {}, "400"),
        ("look", None, {}, "405"),
        ("elsewhere", {"text": TEXT}, {}, "404"),
        ("../look", {"text": TEXT}, {}, "404"),
    ],
)
def test_other_requests_are_refused(
    ask: InProcessLibrary, what: str, body: object, environ: dict, status: str
) -> None:
    assert ask(what, body, **environ)[0].startswith(status)


def test_an_edit_says_which_joins_laws_and_costs_change(ask: InProcessLibrary) -> None:
    told = ask.reply("edit", text=TEXT, drop=[["int16", "int32"]])
    assert ["int16", "int32"] in told["changes"]["lost"]
    assert "no bound" in [name for name, _, _ in told["changes"]["costs"]]
    assert [name for name, *_ in told["changes"]["laws"]]
    back = ask.reply("edit", text=told["text"], add=[["int16", "int32"]])
    assert not back["changes"]["lost"] and not back["changes"]["laws"] and not back["changes"]["costs"]


def test_a_text_that_is_no_system_comes_back_with_its_mistake_unsaved(
    ask: InProcessLibrary, file: Path
) -> None:
    bad = TEXT.replace("u8 -> i16", "u8 -> nowhere")
    told = ask.reply("look", text=bad)
    assert told["document"]["systems"][0]["error"]["line"] == 4
    assert "mine.toml, line 4, order" in ask.reply("save", text=bad)["error"]
    assert file.read_text(encoding="utf-8") == TEXT


def test_repairs_are_edits(ask: InProcessLibrary) -> None:
    text = 'name = "mine"\norder = "i8 -> i16, f16; u8 -> i16, f16; i16 -> f32; f16 -> f32"'
    first = ask.reply("repairs", text=text)["repairs"][0]
    told = ask.reply("edit", text=text, add=first["add"], drop=first["drop"])
    assert told["changes"]["without"] == []


def test_another_system_is_shown_beside(ask: InProcessLibrary) -> None:
    told = ask.reply("look", text=TEXT, beside=["numpy"])
    assert [s["name"] for s in told["document"]["systems"]] == ["mine", "numpy"]
    assert "unknown system 'nunpy'" in ask.reply("look", text=TEXT, beside=["nunpy"])["error"]


def test_a_text_is_saved_in_the_named_file_alone(ask: InProcessLibrary, file: Path) -> None:
    new = TEXT.replace("u8 -> i16\n", "")
    assert ask.reply("save", text=new)["saved"] == str(file)
    assert file.read_text(encoding="utf-8") == new and [*file.parent.iterdir()] == [file]


def test_a_change_made_elsewhere_is_not_written_over(ask: InProcessLibrary, file: Path) -> None:
    file.write_text("# theirs\n" + TEXT, encoding="utf-8")
    told = ask.reply("save", text=TEXT.replace("u8 -> i16\n", ""))
    assert told["conflict"] and "was changed elsewhere; copy your text" in told["error"]
    assert file.read_text(encoding="utf-8") == "# theirs\n" + TEXT


@pytest.mark.parametrize("act, says", [("remove", "was removed elsewhere"), ("make", "was made elsewhere")])
def test_a_file_that_came_or_went_is_a_conflict(tmp_path: Path, act: str, says: str) -> None:
    path = tmp_path / "new.toml"
    if act == "remove":
        path.write_text(TEXT, encoding="utf-8")
    at = open_edited_file(path)
    path.unlink() if act == "remove" else path.write_text("theirs", encoding="utf-8")
    with pytest.raises(FileConflictError, match=says):
        save_text(at, TEXT)


def test_a_new_file_begins_as_a_system_and_is_written_when_it_is_saved(tmp_path: Path) -> None:
    at = open_edited_file(tmp_path / "my own.toml", "jax")
    assert parse(at.text, at.name).name == "my-own" and not at.path.exists()
    assert save_text(at, at.text).path.read_text(encoding="utf-8") == at.text


def test_a_file_that_is_no_text_is_shown_with_its_mistake(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b'name = "\xff"\n')
    at = open_edited_file(path)
    assert show_text(at, at.text)["document"]["systems"][0]["error"]


def test_a_port_in_use_is_one_clear_line(file: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            ServerError, match=f"cannot listen on 127.0.0.1:{port}: .*in use; choose another --port"
        ):
            serve(open_edited_file(file), port, lambda address: None)


def test_a_missing_server_is_one_clear_line(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "waitress", None)
    with pytest.raises(ServerError, match="--edit needs the server waitress: pip install waitress"):
        serve(open_edited_file(file), 0, lambda address: None)


def test_the_server_is_told_apart_by_its_address(file: Path) -> None:
    told: list[str] = []

    def ready(address: str) -> None:
        told.append(address)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        serve(open_edited_file(file), 0, ready)
    assert told[0].startswith("http://127.0.0.1:") and len(told[0].split("/")[3]) >= 32


@pytest.mark.skipif(sys.platform == "win32", reason="a signal for one process alone is POSIX")
def test_the_command_serves_until_it_is_interrupted_and_says_no_more_than_that(file: Path) -> None:
    words = [sys.executable, "-m", "typelattice", "explore", "--edit", str(file), "--no-browser"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr
        address, editing = server.stderr.readline().strip(), server.stderr.readline()
        for _ in range(5):
            with urlopen(address, timeout=60) as page:
                assert page.status == 200
        server.send_signal(signal.SIGINT)
        said, complaints = server.communicate(timeout=60)
    assert editing == f"editing {file}; Ctrl-C ends it\n"
    assert (said, complaints, server.returncode) == (f"{file} is no longer served\n", "", 0)


def test_a_pair_with_a_removed_dtype_gains_no_join(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\norder = "i8 -> i16, u16; u8 -> i16, u16"')  # i8 and u8 do not join
    changes = show_text(open_edited_file(file), 'name = "mine"\norder = "i8 -> i16, u16"')["changes"]
    assert isinstance(changes, dict)
    assert (changes["lost"], changes["gained"]) == ([], [])


def test_connections_that_strangers_hold_keep_no_request_waiting(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("typelattice.show.explorer.server.IDLE_SECONDS", 3600)  # none is closed for its age
    given: list[str] = []
    started = threading.Event()

    def run() -> None:
        with suppress(OSError):  # the socket goes when the test is over
            serve(open_edited_file(file), 0, lambda address: (given.append(address), started.set()))  # type: ignore[func-returns-value]

    threading.Thread(target=run, daemon=True).start()
    assert started.wait(20)
    port = int(given[0].split(":")[2].partition("/")[0])
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(300)]  # waitress holds 100 at most
    try:
        for connection in idle[::2]:
            with suppress(OSError):  # one that was closed for a newer one
                connection.sendall(b"GET / HTTP/1.1\r\n")  # and no more of it
        with urlopen(given[0], timeout=40) as answer:
            assert answer.status == 200
    finally:
        for connection in idle:
            connection.close()


def test_a_new_file_may_begin_blank(tmp_path: Path) -> None:
    at = open_edited_file(tmp_path / "mine.toml", "blank")
    assert at.text.startswith('name = "mine"\n')
    assert [str(n) for n in parse(at.text).order.nodes] == ["bool"]


def test_removed_and_added_dtypes_are_named(file: Path) -> None:
    changes = show_text(open_edited_file(file), 'name = "mine"\norder = "i8 -> i64"')["changes"]
    assert "int64" in changes["added"] and changes["removed"] and "int8" not in changes["removed"]
