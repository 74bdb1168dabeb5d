"""The code that the file has, in place of rewritten code, for everything that reads the code of a function.

Only the interpreter runs rewritten code. Compilers of bytecode, picklers, debuggers and `dis` read code by
the attributes of functions, generators, frames and tracebacks. As soon as code is rewritten, these attributes
give the original code and its instructions. So no decorator and no compiler is known by name.
"""

from __future__ import annotations

import atexit
import builtins
import ctypes
import gc
import sys
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from dis import get_instructions
from types import (
    AsyncGeneratorType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    TracebackType,
)
from typing import Any
from weakref import ref

from typelattice.tracing.rewrite.bytecode import UnknownBytecodeError
from typelattice.tracing.rewrite.hidden_calls import HiddenCalls

globals()["__builtins__"] = {**vars(builtins)}  # copied, because a program may replace some of them
CODES_BEFORE_CLEANUP = 64  # rewritten codes, below which none is looked for that was deleted
CODE_ATTRIBUTES = (  # the attributes that show code
    (FunctionType, "__code__"),
    (GeneratorType, "gi_code"),
    (CoroutineType, "cr_code"),
    (AsyncGeneratorType, "ag_code"),
    (FrameType, "f_code"),
)


@dataclass(slots=True)
class CodePair:
    """A rewritten code, as long as something can run it, and the original.

    `offsets` maps instructions, once something has asked for one.
    """

    rewritten: ref[CodeType]
    original: CodeType
    offsets: dict[int, int] | None = None

    def original_offset(self, rewritten: CodeType, offset: int) -> int:
        """Return the offset in the original code for the offset of an instruction of the rewritten code."""
        if self.offsets is None:
            self.offsets = map_offsets(rewritten, self.original)
        return self.offsets.get(offset, offset)


class HiddenCode:
    """The pairs of rewritten and original code of this process, by the identity of each code.

    `outermost` has the ids of codes of ours that run a program. A program sees no frame below its own.
    `running_code` and `set_running_code` read and replace the code of a function that Python runs.
    """

    def __init__(self) -> None:
        self.by_rewritten: dict[int, CodePair] = {}
        self.by_original: dict[int, CodePair] = {}
        self.next_cleanup = CODES_BEFORE_CLEANUP  # the number of codes that starts the next removal
        self.outermost: set[int] = set()
        attribute = vars(FunctionType)["__code__"]
        self.running_code: Callable[[FunctionType], CodeType] = attribute.__get__
        self.set_running_code: Callable[[FunctionType, CodeType], None] = attribute.__set__
        self.hidden_calls = HiddenCalls(lambda code: id(code) in self.by_original)
        self._own_attributes: list[tuple[type, str, Any]] = []

    def add_pairs(self, rewritten: CodeType, original: CodeType) -> None:
        """Hide a rewritten code and the codes within it. Raises UnknownBytecodeError if they differ."""
        pairs = [*pair_codes(rewritten, original)]
        if len(self.by_rewritten) >= self.next_cleanup:
            self.forget_deleted()
        for code, code_in_file in pairs:
            pair = CodePair(ref(code), code_in_file)
            self.by_rewritten[id(code)] = self.by_original[id(code_in_file)] = pair
        self.hide()

    def forget_deleted(self) -> None:
        """Forget the codes that nothing can run any more. The next time is when there are twice as many."""
        for known in (self.by_rewritten, self.by_original):  # a callback could swallow a signal
            for i in [i for i, pair in known.items() if pair.rewritten() is None]:
                del known[i]
        self.next_cleanup = max(CODES_BEFORE_CLEANUP, 2 * len(self.by_rewritten))

    def add_outermost(self, function: Callable[..., Any]) -> None:
        """Hide the frame of a function of ours that runs a program, and all frames below it."""
        self.outermost.add(id(function.__code__))

    def hide(self) -> None:
        """Replace the attributes that show code. They stay so: rewritten functions may outlive a run."""
        if self._own_attributes:
            return
        atexit.register(self.restore)
        self.hidden_calls.hide()
        inner = {(cls, name): vars(cls)[name] for cls, name in CODE_ATTRIBUTES}
        code_of = inner[FrameType, "f_code"].__get__
        back, last, last_of_traceback = (
            vars(cls)[name]
            for cls, name in ((FrameType, "f_back"), (FrameType, "f_lasti"), (TracebackType, "tb_lasti"))
        )
        frame_of = vars(TracebackType)["tb_frame"].__get__

        def set_code(function: FunctionType, code: CodeType) -> None:
            self.set_running_code(function, self.rewritten_code(code) or code)

        def frame_below(frame: FrameType) -> FrameType | None:
            found: FrameType | None = back.__get__(frame)
            return None if found is not None and id(code_of(found)) in self.outermost else found

        def offset_in_frame(frame: FrameType) -> int:
            return self.original_offset(code_of(frame), last.__get__(frame))

        def offset_in_traceback(traceback: TracebackType) -> int:
            return self.original_offset(
                code_of(frame_of(traceback)), last_of_traceback.__get__(traceback)
            )

        for (cls, name), attribute in inner.items():
            setter = set_code if cls is FunctionType else attribute.__set__
            self._replace(cls, name, property(self._code_getter(attribute.__get__), setter))
        self._replace(FrameType, "f_back", property(frame_below, back.__set__))
        self._replace(FrameType, "f_lasti", property(offset_in_frame, last.__set__))
        self._replace(TracebackType, "tb_lasti", property(offset_in_traceback, last_of_traceback.__set__))
        if sys.version_info >= (3, 12):
            self._watch_rewritten_code()

    def restore(self) -> None:
        """Give Python's classes their own attributes again, and forget all codes.

        Python deletes its classes last. A code that they kept alive until then would call those who wait for
        its deletion when nothing can run any more.
        """
        self.hidden_calls.restore()
        for cls, name, attribute in self._own_attributes:
            _set_attribute(cls, name, attribute)
        self._own_attributes.clear()
        self.by_rewritten.clear()
        self.by_original.clear()

    def _replace(self, cls: type, name: str, attribute: property) -> None:
        self._own_attributes.append((cls, name, vars(cls)[name]))
        _set_attribute(cls, name, attribute)

    def _code_getter(self, read: Callable[[Any], CodeType]) -> Callable[[Any], CodeType]:
        find = self.by_rewritten.get

        def shown_code(x: Any) -> CodeType:
            code = read(x)
            pair = find(id(code))
            return code if pair is None or pair.rewritten() is not code else pair.original

        return shown_code

    def original_offset(self, code: CodeType, offset: int) -> int:
        """Return the offset of an instruction in the code that the file has."""
        pair = self.by_rewritten.get(id(code))
        if pair is None or pair.rewritten() is not code or offset < 0:
            return offset
        return pair.original_offset(code, offset)

    def rewritten_code(self, original: CodeType) -> CodeType | None:
        """Return the code that runs in place of one of a file, or None."""
        pair = self.by_original.get(id(original))
        return pair.rewritten() if pair is not None and pair.original is original else None

    def find_rewritten(self, code: CodeType, file: str) -> CodeType | None:
        """Find the code that runs in place of an equal code of a file, or None."""
        for pair in self.by_original.values():
            if pair.original.co_filename == file and pair.original == code:
                return pair.rewritten()
        return None

    def _watch_rewritten_code(self) -> None:
        """Let tools that watch one code, which they read from a function, watch the code that runs."""
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        set_events = monitoring.set_local_events

        def set_local_events(tool_id: int, code: CodeType, event_set: int, /) -> None:
            set_events(tool_id, code, event_set)
            rewritten = self.rewritten_code(code)
            if rewritten is not None:
                set_events(tool_id, rewritten, event_set)

        monitoring.set_local_events = set_local_events


def _set_attribute(cls: type, name: str, attribute: object) -> None:
    """Set an attribute of a class that Python itself made, and tell Python that the class changed."""
    (names,) = gc.get_referents(vars(cls))
    names[name] = attribute
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(cls))


HIDDEN_CODE = HiddenCode()  # of this process: the attributes of Python's classes are, too


# -- pairs of codes, and of instructions


def pair_codes(rewritten: CodeType, original: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Yield two codes and the pairs of codes within them. Raises UnknownBytecodeError if one has no pair."""
    yield rewritten, original
    candidates: dict[Hashable, list[CodeType]] = {}
    for code in _inner_codes(original):
        candidates.setdefault(_code_key(code), []).append(code)
    for code in _inner_codes(rewritten):
        found = candidates.get(_code_key(code), [])
        if len(found) > 1:  # such as two lambdas of one line
            place = _first_place(code)
            found.sort(key=lambda each: _first_place(each) != place)
            found = found if _first_place(found[0]) == place else []
        if not found:
            raise UnknownBytecodeError(
                f"the code of {code.co_qualname} has no original; trace it with another Python"
            )
        yield from pair_codes(code, found.pop(0))


def _inner_codes(code: CodeType) -> list[CodeType]:
    return [x for x in code.co_consts if isinstance(x, CodeType)]


def _code_key(code: CodeType) -> Hashable:
    """Return what a rewriting keeps of a code: its name, its parameters and its first line."""
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return code.co_qualname, code.co_firstlineno, parameters, code.co_flags


def _first_place(code: CodeType) -> tuple[int, int] | None:
    """Return the first line and column of a code, which a rewriting keeps, too."""
    places = [(line, column) for line, _, column, _ in code.co_positions() if line and column is not None]
    return min(places, default=None)


def map_offsets(rewritten: CodeType, original: CodeType) -> dict[int, int]:
    """Map the offset of each rewritten instruction to the original one with the same place in the source.

    Of several with one place, the first has the same operation. If none has its place, it is the first of
    the line. During a call, Python points at the caches of the instruction, which are mapped as well.
    """
    exact: dict[Hashable, list[int]] = {}
    loose: dict[Hashable, int] = {}
    for each in get_instructions(original):
        place = each.positions
        exact.setdefault((each.opname, place), []).append(each.offset)
        loose.setdefault(place, each.offset)
        loose.setdefault(place and place.lineno, each.offset)
    offsets: dict[int, int] = {}
    instructions = [*get_instructions(rewritten)]
    ends = [*(each.offset for each in instructions[1:]), len(rewritten.co_code)]
    for each, end in zip(instructions, ends, strict=True):
        place = each.positions
        same = exact.get((each.opname, place))
        if same:
            found = same[0] if len(same) == 1 else same.pop(0)
        else:
            found = loose.get(place, loose.get(place and place.lineno, 0))
        for i in range(0, end - each.offset, 2):
            offsets[each.offset + i] = found + (i if same else 0)
    return offsets
