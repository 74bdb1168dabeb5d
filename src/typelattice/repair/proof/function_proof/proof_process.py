"""A process that runs a program once, keeps calls of its functions, and then proves patches of them.

Requests come as lines on standard input, and the answers leave as lines on standard output.
"""

from __future__ import annotations

import inspect
import os
import pickle
import random
import runpy
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from select import select
from types import CodeType, ModuleType
from typing import Any, NoReturn

from typelattice.core.registry.libraries import libraries
from typelattice.repair.copies.call_outcomes import (
    AllowedNarrowing,
    ArrayData,
    CallOutcome,
    ObjectData,
    find_difference,
    list_float_widths,
    read_error,
    read_value,
)
from typelattice.repair.copies.measured_run import ReplacedFinder
from typelattice.repair.copies.program_to_run import ProgramToRun, load_function, read_program
from typelattice.repair.proof.function_proof.argument_kinds import (
    AS_RECORDED,
    CallVariation,
    copy_call,
    list_small_calls,
    list_variations,
)
from typelattice.repair.proof.function_proof.recorded_calls import (
    CallRecorder,
    FunctionKey,
    RecordedCall,
    RecordedFunction,
)
from typelattice.tracing.library_traits import may_be_forked

MAX_CALL_SECONDS = 10.0  # processor time for the unpatched function's calls; the others are left out
MAX_CALLERS = 12  # functions of a patch that are called, with their callers
MAX_PROOF_SECONDS = 60  # seconds for all calls of one proof
COMPLEX_WARNING = "Casting complex values to real"  # such a call counts as refused
WRITING_EVENTS = (
    "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.system", "os.exec", "os.fork", "os.posix_spawn",
    "subprocess.Popen", "socket.connect", "socket.bind", "shutil.rmtree", "shutil.copyfile",
)  # fmt: skip
ReplacedFiles = Mapping[str, tuple[bytes, bytes]]  # the unpatched and the patched content of each file


@dataclass(frozen=True, slots=True)
class Refutation:
    """A call of a patched function that differs: the number of its variation, and the difference."""

    variation: int
    difference: str


Answer = list[CallOutcome] | Refutation | str
"""The outcomes of calls, the first that differs, or why there are none."""


class SideEffectError(BaseException):
    """A function that writes a file, starts a process or opens a connection."""


@dataclass(frozen=True, slots=True)
class FunctionVerdict:
    """The outcome of a function's proof: a difference, or why nothing was proved, or the calls compared.

    `takes_floats` is False if the program passes the function no float arrays.
    """

    name: str
    difference: str = ""
    unproved_reason: str = ""
    call_count: int = 0
    takes_floats: bool = True

    @property
    def is_wrong_here(self) -> bool:
        """True if the program's own call gives something else."""
        return self.difference.startswith(f"{self.name} with {AS_RECORDED}:")


@dataclass(frozen=True, slots=True)
class ProofRequest:
    """The files of a patch, and the width of the goal in bits, or None if nothing may become narrower.

    `current` has the contents with the changes that are kept already: these are not proved again.
    `widening_lines` are the files and lines where a narrow float is widened. With `mends_failure`, calls that
    failed before may run.
    """

    files: ReplacedFiles
    current: Mapping[str, bytes]
    goal_width: int | None
    widening_lines: frozenset[tuple[str, int]] = frozenset()
    mends_failure: bool = False


def main(program_file: str, files_file: str, printed: str, errors: str) -> None:
    """Run a program, record calls of the functions in some files, and answer requests."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    requests = os.fdopen(os.dup(0), "r")
    for number, path in enumerate((os.devnull, printed, errors)):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), number)
    todo = read_program(program_file)
    recorder = CallRecorder(pickle.loads(Path(files_file).read_bytes()))
    owned = _run_program(todo, recorder)
    prover = FunctionProver(recorder.functions)
    answers.write("ready\n")
    for line in requests:
        verdicts = prover.prove(pickle.loads(bytes.fromhex(line)))
        answers.write(pickle.dumps(verdicts).hex() + "\n")
    del owned
    os._exit(0)


def _run_program(todo: ProgramToRun, recorder: CallRecorder) -> object:
    """Run a program as Python does, and record its calls. Return what keeps its names alive."""
    sys.argv[:] = [todo.target, *todo.argv]
    if todo.replaced_contents:
        sys.meta_path.insert(0, ReplacedFinder(todo.replaced_contents))
    module: object = ModuleType("__main__")
    with suppress(BaseException):  # the calls before an exception count, too
        if todo.function:
            module, args, named = load_function(todo)
            recorder.start()
            module(*args, **named)
        elif todo.runs_tests:
            sys.path.insert(0, os.getcwd())
            sys.argv += ["-p", "no:cacheprovider", "-q"]
            recorder.start()
            runpy.run_module(todo.target, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, os.getcwd() if todo.as_module else os.path.dirname(todo.target))
            assert isinstance(module, ModuleType)
            code = _load_main(todo, module)
            sys.modules["__main__"] = module
            recorder.start()
            exec(code, module.__dict__)
    recorder.stop()
    return module


def _load_main(todo: ProgramToRun, module: ModuleType) -> CodeType:
    """Load the code of a script or a module, and prepare its names."""
    if not todo.as_module:
        module.__file__ = todo.target
        return compile(Path(todo.target).read_bytes(), todo.target, "exec", dont_inherit=True)
    from importlib.util import find_spec

    spec = find_spec(todo.target)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = find_spec(f"{todo.target}.__main__")
    assert spec is not None and spec.loader is not None
    module.__spec__, module.__package__, module.__file__ = spec, spec.parent, spec.origin
    code: CodeType = spec.loader.get_code(spec.name)  # type: ignore[attr-defined]
    return code


class FunctionProver:
    """Calls the functions of a program with and without patches, and compares what they give.

    `order` has the numbers of each function's variations. Those that have refuted a patch come first, as they
    are likely to refute the next one.
    """

    def __init__(self, functions: Mapping[FunctionKey, RecordedFunction]) -> None:
        self.functions = functions
        self.variations: dict[FunctionKey, list[CallVariation]] = {}
        self.unpatched: dict[FunctionKey, list[CallOutcome] | str] = {}
        self.order: dict[FunctionKey, list[int]] = {}
        names = {name for library in libraries().values() for name in library.modules if name in sys.modules}
        unsafe = [name for name, x in libraries().items() if {*x.modules} & names and not may_be_forked(name)]
        self.forks = hasattr(os, "fork") and not unsafe

    def prove(self, request: ProofRequest) -> list[FunctionVerdict]:
        """Prove the functions that a patch changes."""
        codes = {file: _pair_functions(file, old, new) for file, (old, new) in request.files.items()}
        changed = list_changed_functions(request)
        verdicts: list[FunctionVerdict] = []
        for key in self.add_callers(changed):
            lines = {(key[0], line) for line in self.list_lines(key)}
            # a caller makes the narrow array itself, if it gets none
            meets_narrow = key not in changed or not lines.isdisjoint(request.widening_lines)
            verdict = self.prove_function(key, codes, request, meets_narrow)
            if key not in changed and verdict.unproved_reason:
                continue  # it is as it was, and its calls cannot be repeated
            calls = self.functions[key].calls if key in self.functions else ()
            takes_floats = not calls or any(_list_widths(call) for call in calls)
            verdicts.append(replace(verdict, takes_floats=takes_floats))
            if verdict.difference:
                break
        return verdicts

    def list_lines(self, key: FunctionKey) -> set[int]:
        """List the lines of a function that was called."""
        recorded = self.functions.get(key)
        return _list_lines(recorded.function.__code__) if recorded and recorded.function else set()

    def add_callers(self, changed: Sequence[FunctionKey]) -> list[FunctionKey]:
        """Return some functions, then those that name them in their code, then the callers of these."""
        found = [*changed]
        for key in found:  # grows on the way
            name = key[1].rpartition(".")[2]
            found += [
                other
                for other, recorded in self.functions.items()
                if other not in found
                and recorded.function is not None
                and name in _list_names(recorded.function.__code__)
            ][: MAX_CALLERS - len(found)]
        return found

    def prove_function(
        self,
        key: FunctionKey,
        codes: Mapping[str, Sequence[tuple[CodeType, CodeType]]],
        request: ProofRequest,
        meets_narrow: bool,
    ) -> FunctionVerdict:
        """Call one function without and with a patch. With `meets_narrow`, it has a narrow float itself."""
        name = key[1]
        recorded = self.functions.get(key)
        if recorded is None:
            return FunctionVerdict(name, unproved_reason="the program never calls it")
        if recorded.refusal or not recorded.calls or recorded.function is None:
            return FunctionVerdict(name, unproved_reason=recorded.refusal or "its arguments are too large")
        if key not in self.unpatched:
            self.variations[key] = self.list_variations(key, codes)
            self.unpatched[key] = self.call_unpatched(key, codes)
        old = self.unpatched[key]
        if isinstance(old, str):
            return FunctionVerdict(name, unproved_reason=old)
        allowed = [
            replace(
                _allow_narrowing(x, request.goal_width, meets_narrow), mends_failure=request.mends_failure
            )
            for x in self.variations[key]
        ]
        order = self.order.setdefault(key, [*range(len(old))])
        found = self.run_isolated(lambda: self.call_all(key, codes, order, 1, (old, allowed)))
        if isinstance(found, Refutation):
            order.remove(found.variation)
            order.insert(0, found.variation)
            return FunctionVerdict(name, difference=f"{name} {found.difference}")
        if isinstance(found, str):
            return FunctionVerdict(name, difference=f"{name} {found}")
        return FunctionVerdict(name, call_count=len(old))

    def list_variations(
        self, key: FunctionKey, codes: Mapping[str, Sequence[tuple[CodeType, CodeType]]]
    ) -> list[CallVariation]:
        """List the calls to compare: those that were recorded, and variations of small ones if these work."""
        recorded = self.functions[key]
        assert recorded.function is not None
        found: list[CallVariation] = []
        for call in recorded.calls:
            small = next((x for x in list_small_calls(call) if self.call_works(key, codes, x)), call)
            variations = list_variations(recorded.function, small)
            found += [CallVariation(AS_RECORDED, call, call), *variations[1:]]
        return found

    def call_works(
        self, key: FunctionKey, codes: Mapping[str, Sequence[tuple[CodeType, CodeType]]], call: RecordedCall
    ) -> bool:
        """Return True if an unpatched function takes a call."""
        self.variations[key] = [CallVariation(AS_RECORDED, call, call)]
        tried = self.run_isolated(lambda: self.call_all(key, codes, [0]))
        return isinstance(tried, list) and not tried[0].error

    def call_unpatched(
        self, key: FunctionKey, codes: Mapping[str, Sequence[tuple[CodeType, CodeType]]]
    ) -> list[CallOutcome] | str:
        """Call an unpatched function twice with each variation. Return its outcomes, or why none count."""
        first = self.run_isolated(lambda: self.call_all(key, codes, range(len(self.variations[key]))))
        if not isinstance(first, list):
            return str(first)
        order, same = range(len(first)), [AllowedNarrowing()] * len(first)
        second = self.run_isolated(lambda: self.call_all(key, codes, order, 0, (first, same)))
        if not isinstance(second, list):
            return "it gives other values at each call"
        if all(outcome.error for outcome in first):
            return f"it raises {first[0].error[0]} when it is called again"
        if any(_holds_function(outcome.result) for outcome in first):
            return "it returns a function"
        return first

    def call_all(
        self,
        key: FunctionKey,
        codes: Mapping[str, Sequence[tuple[CodeType, CodeType]]],
        order: Sequence[int],
        version: int = 0,
        expected: tuple[Sequence[CallOutcome], Sequence[AllowedNarrowing]] | None = None,
    ) -> Answer:
        """Call a function with some variations, with the unpatched code (0) or the patched code (1).

        With expected outcomes, stop at the first difference and return it.
        """
        recorded = self.functions[key]
        assert recorded.function is not None
        found: list[CallOutcome] = []
        with self.use_codes(codes, version), _call_quietly():
            started = time.process_time()
            for i in order:
                variation = self.variations[key][i]
                args, named = copy_call(variation.call)
                outcome = _call(recorded.function, args, named)
                found.append(outcome)
                if expected is None:
                    if time.process_time() - started > MAX_CALL_SECONDS:
                        break
                elif difference := find_difference(expected[0][i], outcome, expected[1][i]):
                    return Refutation(i, f"with {variation.kind}: {difference}")
        return found

    @contextmanager
    def use_codes(
        self, codes: Mapping[str, Sequence[tuple[CodeType, CodeType]]], version: int
    ) -> Iterator[None]:
        """Give all functions that a patch changes their unpatched or patched code."""
        before: list[tuple[Any, CodeType]] = []
        for file, pairs in codes.items():
            for pair in pairs:
                recorded = self.functions.get((file, pair[0].co_qualname, pair[0].co_firstlineno))
                if recorded is not None and recorded.function is not None:
                    before.append((recorded.function, recorded.function.__code__))
                    recorded.function.__code__ = pair[version]
        try:
            yield
        finally:
            for function, code in before:
                function.__code__ = code

    def run_isolated(self, call: Callable[[], Answer]) -> Answer:
        """Run calls in a fork, which leaves nothing behind. Return the outcomes, or why there are none."""
        if not self.forks:
            try:
                return call()
            except SideEffectError as e:
                return str(e)
        reading, writing = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python 3.12 warns if a library has started threads
            pid = os.fork()
        if pid == 0:
            os.close(reading)
            _answer_and_exit(call, writing)
        os.close(writing)
        return _read_answer(pid, reading)


def list_changed_functions(request: ProofRequest) -> list[FunctionKey]:
    """List the functions that a patch changes further than the changes that are kept already.

    Their keys are those of the unpatched file, as a patch may insert lines.
    """
    return [
        (file, old.co_qualname, old.co_firstlineno)
        for file, (old_content, new_content) in request.files.items()
        for (old, new), (_, kept) in zip(
            _pair_functions(file, old_content, new_content),
            _pair_functions(file, old_content, request.current.get(file, old_content)),
            strict=True,
        )
        if not _is_same_code(kept, new)
    ]


def _answer_and_exit(call: Callable[[], Answer], writing: int) -> NoReturn:
    """Run calls in a forked process, write their outcomes into a pipe, and end the process."""
    with suppress(BaseException):
        signal.alarm(0)
        _refuse_side_effects()
        answer: Answer
        try:
            answer = call()
        except SideEffectError as e:
            answer = str(e)
        except Exception as e:  # an argument that cannot be copied again
            answer = f"it cannot be called again ({type(e).__name__}: {e})"
        with os.fdopen(writing, "wb") as stream:
            pickle.dump(answer, stream)
    os._exit(0)


def _read_answer(pid: int, reading: int) -> Answer:
    """Read the answer of a forked process, which is killed if it takes too long."""
    chunks: list[bytes] = []
    end = time.monotonic() + MAX_PROOF_SECONDS
    with os.fdopen(reading, "rb", buffering=0) as stream:
        while select([stream], [], [], max(0.0, end - time.monotonic()))[0]:
            chunk = stream.read(1 << 20)
            if not chunk:
                break
            chunks.append(chunk)
        else:
            os.kill(pid, signal.SIGKILL)
            chunks = []
    os.waitpid(pid, 0)
    try:
        answer: Answer = pickle.loads(b"".join(chunks))
    except (pickle.UnpicklingError, EOFError):
        return "its calls end the process, or take too long"
    return answer


def _refuse_side_effects() -> None:
    """Raise SideEffectError at each write, process and connection of this process from now on."""

    def refuse(event: str, args: tuple[Any, ...]) -> None:
        writes = event == "open" and (
            (isinstance(args[1], str) and set(args[1]) & set("wax+"))
            or (isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR))
        )
        if (
            writes and isinstance(args[0], (str, bytes)) and args[0] != os.devnull
        ) or event in WRITING_EVENTS:
            raise SideEffectError("it has side effects outside its arguments")

    sys.addaudithook(refuse)


@contextmanager
def _call_quietly() -> Iterator[None]:
    """Drop warnings and output, but take a lost imaginary part as an error."""
    out = sys.stdout, sys.stderr
    with warnings.catch_warnings(), open(os.devnull, "w", encoding="utf-8") as nowhere:
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", message=COMPLEX_WARNING)
        sys.stdout = sys.stderr = nowhere
        try:
            yield
        finally:
            sys.stdout, sys.stderr = out


def _call(function: Callable[..., Any], args: list[Any], named: dict[str, Any]) -> CallOutcome:
    """Call a function, and read what it gave and what it left of its arguments."""
    states = _read_random_states()
    error: tuple[str, ...] = ()
    result: ArrayData | ObjectData | None = None
    try:
        result = read_value(function(*args, **named))
    except Exception as e:
        error = read_error(e)
    finally:
        _restore_random_states(states)
    left = read_value([args, named])
    assert isinstance(left, ObjectData)
    return CallOutcome(error, result, left)


def _read_random_states() -> list[tuple[Callable[[Any], Any], Any]]:
    """Read the states of the global random generators, with the functions that restore them."""
    found: list[tuple[Callable[[Any], Any], Any]] = [(random.setstate, random.getstate())]
    for library in libraries().values():
        for name in library.modules:
            generator = getattr(sys.modules.get(name), "random", None)
            for read, write in (("get_state", "set_state"), ("get_rng_state", "set_rng_state")):
                if hasattr(generator, read) and hasattr(generator, write):
                    found.append((getattr(generator, write), getattr(generator, read)()))
    return found


def _restore_random_states(states: Sequence[tuple[Callable[[Any], Any], Any]]) -> None:
    for restore, state in states:
        restore(state)


def _holds_function(value: ArrayData | ObjectData | None) -> bool:
    if not isinstance(value, ObjectData):
        return False
    is_function = value.type_name in ("builtins.function", "builtins.generator", "builtins.method")
    return is_function or any(_holds_function(item) for _, item in value.items)


def _allow_narrowing(
    variation: CallVariation, goal_width: int | None, meets_narrow: bool
) -> AllowedNarrowing:
    """Return the narrowing that the floats among a call's arguments allow. A method's object does not count.

    If the recorded call had no floats, and the function has a narrow float of its own, it allows the same.
    """
    if goal_width is None:
        return AllowedNarrowing()
    widths = _list_widths(variation.call)
    narrow = [width for width in widths if width <= goal_width]
    if meets_narrow and not widths and not _list_widths(variation.recorded):
        narrow = [goal_width]
    if not narrow:
        return AllowedNarrowing()
    if any(width > goal_width for width in widths):
        return AllowedNarrowing(error_width=min(narrow))
    return AllowedNarrowing(min(narrow), min(narrow))


def _list_widths(call: RecordedCall) -> set[int]:
    values = [x for name, x in call.parameters.items() if name not in ("self", "cls")]
    return {*list_float_widths([*values, *call.starred, *call.named.values()])}


def _list_names(code: CodeType) -> set[str]:
    """List the names that a function uses, with those of the functions in it."""
    inner = [_list_names(x) for x in code.co_consts if isinstance(x, CodeType)]
    return {*code.co_names, *code.co_freevars}.union(*inner)


def _list_lines(code: CodeType) -> set[int]:
    """List the lines of a function, with those of the functions in it."""
    lines = {line for _, _, line in code.co_lines() if line is not None}
    return lines.union(*(_list_lines(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def _is_same_code(a: CodeType, b: CodeType) -> bool:
    """Return True if two codes do the same, wherever they stand in their lines."""
    if a.co_code != b.co_code or a.co_names != b.co_names or len(a.co_consts) != len(b.co_consts):
        return False
    for x, y in zip(a.co_consts, b.co_consts, strict=True):
        if isinstance(x, CodeType) and isinstance(y, CodeType):
            if not _is_same_code(x, y):
                return False
        elif repr(x) != repr(y):
            return False
    return True


def _pair_functions(file: str, old: bytes, new: bytes) -> list[tuple[CodeType, CodeType]]:
    """Pair the functions of two versions of a file. A function within another belongs to the outer one."""
    codes = [compile(content, file, "exec", dont_inherit=True) for content in (old, new)]
    return [*zip(*(_list_functions(code) for code in codes), strict=False)]


def _list_functions(code: CodeType) -> Iterator[CodeType]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            if not inner.co_flags & inspect.CO_NEWLOCALS:  # the body of a class
                yield from _list_functions(inner)
            elif inner.co_name[0] != "<":
                yield inner
