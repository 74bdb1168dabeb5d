"""The server of the workbench: one page and four questions, only for a browser on this machine.

It listens on 127.0.0.1. Every request needs the token in the address, and that address as its Host. So a page
that reaches this server by another name gets no answer. A question also needs the page's own Origin.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from hmac import compare_digest
from operator import attrgetter
from secrets import token_urlsafe
from socket import create_server as create_socket
from socket import socket
from typing import Any

from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.core.system_files.system_text import MAX_SYSTEM_FILE_BYTES
from typelattice.show.explorer.document import Document
from typelattice.show.explorer.edited_file import (
    EditedFile,
    FileConflictError,
    change_covers,
    propose_repairs,
    save_text,
    show_text,
)
from typelattice.show.explorer.page import SERVED_PAGE_POLICY, page_html

LOCAL_HOST = "127.0.0.1"
MAX_REQUEST_BYTES = (
    2 * MAX_SYSTEM_FILE_BYTES + 10_000
)  # longest question: a text in JSON, which may double some characters
TOKEN_BYTES = 24
IDLE_SECONDS = 2  # a connection without a request is closed after this time
MAX_CONNECTIONS = 50  # a new connection then replaces the oldest without a request
MAX_COVERS = 100  # most arrows that one edit adds or removes
StartResponse = Callable[[str, list[tuple[str, str]]], Any]  # the `start_response` of WSGI
RequestData = dict[str, Any]


class ServerError(TypelatticeError, OSError):
    """A server that cannot be started."""


class RequestError(Exception):
    """A request that is refused, with the HTTP status for the reason."""


class Application:
    """A WSGI application around one edited file. It answers only requests with the token."""

    def __init__(self, edited_file: EditedFile, port: int, token: str) -> None:
        self.edited_file, self.port, self.token = edited_file, port, token

    @property
    def address(self) -> str:
        """Return the address of the page, with its token."""
        return f"http://{LOCAL_HOST}:{self.port}/{self.token}/"

    def __call__(self, environ: dict[str, Any], start: StartResponse) -> Iterable[bytes]:
        try:
            kind, body = self._answer_request(environ)
            status = "200 OK"
        except RequestError as e:
            status, kind, body = str(e), "text/plain", str(e)
        data = body.encode()
        start(status, [
            ("Content-Type", f"{kind}; charset=utf-8"), ("Content-Length", str(len(data))),
            ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"), ("X-Frame-Options", "DENY"),
            ("X-Content-Type-Options", "nosniff"), ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Content-Security-Policy", SERVED_PAGE_POLICY),
        ])  # fmt: skip
        return [data]

    def _answer_request(self, environ: dict[str, Any]) -> tuple[str, str]:
        """Return the content type of the answer, and its text. Raises RequestError."""
        if environ.get("HTTP_HOST") != f"{LOCAL_HOST}:{self.port}":
            raise RequestError("403 Forbidden")
        token, _, what = str(environ.get("PATH_INFO", "")).removeprefix("/").partition("/")
        if not compare_digest(token.encode("utf-8", "replace"), self.token.encode()):
            raise RequestError("403 Forbidden")
        method = environ["REQUEST_METHOD"]
        if what == "" and method == "GET":
            return "text/html", self._write_page()
        if what not in ANSWER_METHOD_BY_QUESTION:
            raise RequestError("404 Not Found")
        if method != "POST":
            raise RequestError("405 Method Not Allowed")
        return "application/json", json.dumps(self._reply_or_error(what, self._read_question(environ)))

    def _write_page(self) -> str:
        shown = show_text(self.edited_file, self.edited_file.text)
        data = shown["document"]
        assert isinstance(data, dict)
        page_data = {
            "file": str(self.edited_file.path),
            "text": self.edited_file.text,
            "changes": shown.get("changes"),
        }
        page_data["dtypes"] = [d.code for d in DTYPES.values()]
        return page_html(Document(data), page_data)

    def _read_question(self, environ: dict[str, Any]) -> RequestData:
        """Read the page's question from JSON. Raises RequestError."""
        if environ.get("HTTP_ORIGIN") != f"http://{LOCAL_HOST}:{self.port}":
            raise RequestError("403 Forbidden")
        if environ.get("CONTENT_TYPE", "").partition(";")[0] != "application/json":
            raise RequestError("415 Unsupported Media Type")
        length = environ.get("CONTENT_LENGTH") or ""
        if not length.isdecimal():
            raise RequestError("411 Length Required")
        if int(length) > MAX_REQUEST_BYTES:
            raise RequestError("413 Content Too Large")
        try:
            question = json.loads(environ["wsgi.input"].read(int(length)))
        except (ValueError, RecursionError):
            raise RequestError("400 Bad Request") from None
        if not isinstance(question, dict) or not isinstance(question.get("text"), str):
            raise RequestError("400 Bad Request")
        question["beside"] = _read_strings(question.get("beside", []))
        for key in ("add", "drop"):
            question[key] = [_read_pair(pair) for pair in _read_list(question.get(key, []))]
        return question

    def _reply_or_error(self, kind: str, question: RequestData) -> dict[str, object]:
        """Return the answer to a question, or the mistake in the question."""
        try:
            return ANSWER_METHOD_BY_QUESTION[kind](self, question)
        except FileConflictError as e:
            return {"error": str(e), "conflict": True}
        except TypelatticeError as e:
            return {"error": str(e)}

    def show_text(self, question: RequestData) -> dict[str, object]:
        """Return what the page shows of a text."""
        return show_text(self.edited_file, question["text"], question["beside"])

    def edit(self, question: RequestData) -> dict[str, object]:
        """Add and remove arrows in a text, and return what the page shows of the result."""
        text = change_covers(self.edited_file, question["text"], question["add"], question["drop"])
        return show_text(self.edited_file, text, question["beside"])

    def repairs(self, question: RequestData) -> dict[str, object]:
        """Return the nearest repairs of a text."""
        return propose_repairs(self.edited_file, question["text"])

    def save(self, question: RequestData) -> dict[str, object]:
        """Save the submitted text, and return how it now reads."""
        self.edited_file = save_text(self.edited_file, question["text"])
        return {
            "saved": str(self.edited_file.path),
            **show_text(self.edited_file, question["text"], question["beside"]),
        }


ANSWER_METHOD_BY_QUESTION: dict[str, Callable[[Application, RequestData], dict[str, object]]] = {
    "look": Application.show_text,
    "edit": Application.edit,
    "repairs": Application.repairs,
    "save": Application.save,
}


def _read_list(value: object) -> list[object]:
    if not isinstance(value, list) or len(value) > MAX_COVERS:
        raise RequestError("400 Bad Request")
    return value


def _read_strings(value: object) -> list[str]:
    if not all(isinstance(word, str) and "/" not in word and "\\" not in word for word in _read_list(value)):
        raise RequestError("400 Bad Request")
    return [str(word) for word in _read_list(value) if not str(word).endswith(".toml")]


def _read_pair(value: object) -> tuple[str, str]:
    match value:
        case [str(a), str(b)]:
            return a, b
    raise RequestError("400 Bad Request")


def serve(edited_file: EditedFile, port: int, ready: Callable[[str], None]) -> None:
    """Serve a edited_file until interrupted; call `ready` with the address. Raises ServerError.

    It answers one request after the other, so that two cannot write at once.
    """
    try:
        from waitress import create_server
        from waitress.channel import HTTPChannel
    except ImportError:
        raise ServerError("--edit needs the server waitress: pip install waitress") from None

    class Connection(HTTPChannel):  # type: ignore[misc]  # waitress has no types
        """A connection that closes an older idle one, so that strangers cannot occupy all of them.
        """

        def __init__(self, server: Any, *args: Any, **named: Any) -> None:
            held = [each for each in server.active_channels.values() if not each.will_close]
            idle = [each for each in held if not each.requests and not each.total_outbufs_len]
            if len(held) >= MAX_CONNECTIONS and idle:
                min(idle, key=attrgetter("creation_time")).will_close = True
            super().__init__(server, *args, **named)

    with _listening_socket(port) as listening:
        application = Application(edited_file, listening.getsockname()[1], token_urlsafe(TOKEN_BYTES))
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # do not warn about waiting requests
        server = create_server(
            application, sockets=[listening], threads=1, max_request_body_size=MAX_REQUEST_BYTES,
            channel_timeout=IDLE_SECONDS, cleanup_interval=1, connection_limit=10 * MAX_CONNECTIONS,
        )  # fmt: skip
        server.channel_class = Connection
        try:
            ready(application.address)
            with suppress(KeyboardInterrupt):
                server.run()
        finally:
            server.close()


def _listening_socket(port: int) -> socket:
    """Return a socket that only this machine can reach; port 0 chooses a free one. Raises ServerError."""
    try:
        return create_socket((LOCAL_HOST, port))
    except OSError as e:
        why = os.strerror(e.errno).lower() if e.errno else str(e)
        what = f"cannot listen on {LOCAL_HOST}:{port}: {why}"
        raise ServerError(f"{what}; choose another --port, or 0 for any") from None
