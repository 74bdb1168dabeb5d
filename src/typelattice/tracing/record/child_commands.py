"""Commands of a program that start Python again, and commands that replace them to follow the process.

The new process sees the program's own arguments. No environment variable is set.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from types import ModuleType
from typing import Any, Protocol

from typelattice.base.errors.outside_errors import raise_if_from_outside
from typelattice.base.own_folders import PACKAGE_FOLDER

OPTIONS_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")  # options of Python that take the next word
COMBINABLE_FLAGS = frozenset("bBdEIOPqsSuv")  # options that may be combined, as in `-uB`
START_CODE = """
import os, sys
if sys.path[:1] == ['']: del sys.path[0]
try:
    import importlib.util
    spec = importlib.util.spec_from_file_location(
        'typelattice', {init!r}, submodule_search_locations=[{folder!r}]
    )
    sys.modules['typelattice'] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules['typelattice'])
    from typelattice.tracing.entry_points.run_child import run_child
    with open({settings!r}, 'rb') as file:
        given = file.read()
except Exception:  # whatever is wrong with us, the command runs as it was given
    os.execv(sys.executable, {words!r})
run_child(given, {kind!r}, {target!r}, {argv!r}, {words!r})
"""


class SettingsSaver(Protocol):
    """The part of a trace that follows child processes: it saves the settings of a new one in a file."""

    def save_settings(self) -> str:
        """Return the path of the file."""


@dataclass(frozen=True, slots=True)
class PythonCommand:
    """A command that runs Python: its options, then a script, a module (`-m`) or code (`-c`)."""

    options: tuple[str, ...]
    kind: str
    target: str
    argv: tuple[str, ...]


def read_command(words: Sequence[str]) -> PythonCommand | None:
    """Read the words of a command. Return None if it runs another program, or Python without a target.

    >>> read_command([sys.executable, "-u", "-W", "ignore", "train.py", "--epochs", "3"])
    PythonCommand(options=('-u', '-W', 'ignore'), kind='', target='train.py', argv=('--epochs', '3'))
    >>> read_command([sys.executable, "-m", "pytest"]).target
    'pytest'
    >>> read_command(["ls", "-l"])
    """
    if not words or not _is_this_python(words[0]):
        return None
    i = 1
    while i < len(words):
        word = words[i]
        if word in ("-c", "-m"):
            if i + 1 == len(words):
                return None
            return PythonCommand(tuple(words[1:i]), word, words[i + 1], tuple(words[i + 2 :]))
        if word in OPTIONS_WITH_VALUE:
            i += 2
        elif word[:2] in OPTIONS_WITH_VALUE or (
            word[:1] == "-" and word[1:] and {*word[1:]} <= COMBINABLE_FLAGS
        ):
            i += 1
        elif word[:1] == "-":  # the code comes from standard input, or Python only prints something
            return None
        else:
            return PythonCommand(tuple(words[1:i]), "", word, tuple(words[i + 1 :]))
    return None


def _is_this_python(word: str) -> bool:
    """Return True if a command is the interpreter of this process."""
    found = shutil.which(word)
    try:
        return found is not None and os.path.samefile(found, sys.executable)
    except OSError:
        return False


def followed_command(args: object, owner: SettingsSaver) -> list[str] | None:
    """Return the command that runs the same under the tracer, or None if it is not followed."""
    if not isinstance(args, (list, tuple)):
        return None
    try:
        words = [os.fsdecode(word) for word in args]
    except TypeError:
        return None
    command = read_command(words)
    if command is None:
        return None
    code = START_CODE.format(
        init=os.path.join(PACKAGE_FOLDER, "__init__.py"), folder=PACKAGE_FOLDER,
        settings=owner.save_settings(), kind=command.kind, target=command.target,
        argv=[*command.argv], words=words,
    )  # fmt: skip
    return [words[0], *command.options, "-c", code]


def patch_popen(module: ModuleType, active: Sequence[SettingsSaver]) -> None:
    """Make `subprocess.Popen` start followed processes while something is active."""
    popen: Any = getattr(module, "Popen", None)
    inner: Any = getattr(popen, "__init__", None)
    if inner is None or hasattr(inner, "of_typelattice"):
        return
    parameters = signature(inner)

    @wraps(inner)
    def start(self: Any, *args: Any, **named: Any) -> None:

        def read_words() -> tuple[dict[str, Any], list[str] | None]:
            given = parameters.bind(self, *args, **named).arguments
            plain = active and not given.get("shell") and given.get("executable") is None
            return given, followed_command(given["args"], active[-1]) if plain else None

        try:
            given, words = read_words()
        except Exception as e:  # a mistake of the program, which Popen reports, or ours
            raise_if_from_outside(e, read_words)
            words = None
        if words is None:
            inner(self, *args, **named)
            return
        asked = given.pop("args")
        given.pop("self")
        inner(self, words, **given)
        self.args = asked

    start.of_typelattice = True  # type: ignore[attr-defined]
    popen.__init__ = start
