"""A program: a straight-line list of operations, and the outcome of each under a system."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from typelattice.base.disk.read import read_bytes
from typelattice.base.errors.error_texts import clip_text, spelling_hint
from typelattice.base.objects.display_hooks import NotebookDisplay
from typelattice.core.dtypes.dtypes import DType
from typelattice.core.engine.system import System
from typelattice.core.operands.operand import Operand
from typelattice.core.system_files.reader import system as find_system
from typelattice.programs.calls.steps import Input, ProgramError, Step
from typelattice.programs.namespaces.namespace import Namespace
from typelattice.programs.program.program_text import write_text
from typelattice.programs.readers.json.read import read_json
from typelattice.programs.readers.json.write import write_program
from typelattice.programs.readers.source.read_source import Source
from typelattice.programs.readers.source.syntax_reader import UnreadLine
from typelattice.programs.replay.compare_graphs import list_changed_dtypes
from typelattice.programs.replay.divergences import Divergences, find_divergences
from typelattice.programs.replay.implicit_casts import ImplicitCast, implicit_casts
from typelattice.programs.replay.outcome import Outcome
from typelattice.programs.replay.replay import replay_steps
from typelattice.programs.replay.run_on_arrays import run_steps
from typelattice.programs.replay.write_out_casts import check_no_implicit_cast, write_out_casts

if TYPE_CHECKING:
    from typelattice.core.evidence.recorded_answer import RecordedAnswer

MAX_MODEL_BYTES = 2**31  # bytes: more than a protocol buffer may have
MAX_REPR_SOURCE_CHARS = 60
AnySystem = System | str | os.PathLike[str]


@dataclass(frozen=True, slots=True, eq=False)
class Replay(Sequence[Outcome], NotebookDisplay):
    """The outcomes of a program's steps under a system. `replay[-1]` is the outcome of the last step.

    >>> import typelattice as tl
    >>> replay = tl.program("x * 2.0", x="int32").under("torch")
    >>> replay.dtype, str(replay[-1].operand)
    (float32, 'float32')
    """

    program: Program
    system: System | Mapping[str, System]
    outcomes: tuple[Outcome, ...] = field(repr=False)

    @overload
    def __getitem__(self, i: int) -> Outcome: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[Outcome, ...]: ...
    def __getitem__(self, i: int | slice) -> Outcome | tuple[Outcome, ...]:
        return self.outcomes[i]

    def __len__(self) -> int:
        return len(self.outcomes)

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.outcomes)

    @property
    def name(self) -> str:
        """The name of the system, or the names of several systems."""
        return (
            self.system.name
            if isinstance(self.system, System)
            else " and ".join(s.name for s in self.system.values())
        )

    @property
    def result(self) -> Outcome:
        """The outcome of the program's first result."""
        return self.outcomes[self.program.results[0]]

    @property
    def dtype(self) -> DType | None:
        """The dtype of the program's result, or None if a step is refused or the result is a number."""
        return self.result.operand.dtype if self.result.operand else None

    @property
    def refusals(self) -> tuple[tuple[Step, Outcome], ...]:
        """The steps that the system refuses, without the later steps that need them."""
        pairs = zip(self.program.steps, self.outcomes, strict=True)
        return tuple((step, outcome) for step, outcome in pairs if outcome.is_refused)

    @property
    def departures(self) -> tuple[tuple[Step, RecordedAnswer], ...]:
        """The steps where the library departs from its rule, with its answers. Later steps follow the rule.

        >>> import typelattice as tl
        >>> replay = tl.program("x / y", x="int8", y="float32").under("ndonnx")
        >>> [(step.text, seen.dtype) for step, seen in replay.departures], replay.dtype
        ([('x / y', float64)], float32)
        """
        pairs = zip(self.program.steps, self.outcomes, strict=True)
        return tuple((step, seen) for step, outcome in pairs if (seen := outcome.recorded_departure))

    def __repr__(self) -> str:
        return f"<{repr(self.program)[1:-1]}, under {self.name}>"

    def __str__(self) -> str:
        from typelattice.core.evidence.never_asked import NEVER_ASKED_NOTE
        from typelattice.core.explanations.recorded_answer_in_english import describe_answer  # slow to import

        lines = [f"under {self.name}"]
        for step, outcome in zip(self.program.steps, self.outcomes, strict=True):
            where = f"  ({step.location})" if step.location else ""
            why = f": {outcome.reason}" if outcome.reason else ""
            why += f" ({outcome.asked})" if outcome.asked else ""
            did = f"; {seen.library} {describe_answer(seen)}" if (seen := outcome.recorded_departure) else ""
            lines.append(f"{step.text}: {outcome.text_with_mark}{why}{did}{where}")
        if any(outcome.is_unrecorded for outcome in self.outcomes):
            lines.append(NEVER_ASKED_NOTE)
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, eq=False)
class Program(NotebookDisplay):
    """A straight-line program: a list of steps that use earlier steps.

    `results` has the numbers of its results. `typelattice.program` makes one from an expression, lines
    of Python or a function. If its source asks for dtypes, `if y.dtype == np.float32`, `readings` has the
    steps under each system, and `steps` are those under the system that `branches_of` names.

    >>> import typelattice as tl
    >>> p = tl.program("x * 2.0", x="int32")
    >>> [step.text for step in p.steps]
    ['x', '2.0', 'x * 2.0']
    """

    steps: tuple[Step, ...] = field(repr=False)
    results: tuple[int, ...]
    source: str = ""
    readings: SourceReadings | None = field(default=None, repr=False)
    branches_of: str = field(default="", repr=False)

    @property
    def inputs(self) -> Mapping[str, Operand | str]:
        """The operand of each input, by the input's name."""
        return {step.text: step.fixed_result for step in self.steps if isinstance(step, Input)}

    def __repr__(self) -> str:
        source = clip_text(" ".join(self.source.split()), MAX_REPR_SOURCE_CHARS)
        return f"<program of {len(self.steps):,} step{'s' * (len(self.steps) != 1)}: {source}>"

    def __str__(self) -> str:
        """Return Python text that reads back as the same program, one line for each step.

        If the source asks for dtypes, it is the text of the branches of the system that `branches_of` names.
        """
        return write_text(self.steps, self.results)

    def under(self, system: AnySystem | Mapping[str, AnySystem]) -> Replay:
        """Return the outcome of each step.

        `system` is one system for all steps, or a mapping from libraries to systems, for code that mixes
        libraries. Raises DTypeError or OperandError if an input is not an operand of the system. Raises
        UnknownSystemError or FormatError if the system cannot be read. Raises ProgramError if a step belongs
        to a library without a system.

        >>> from typelattice import program
        >>> p = program("np.int16(1) + 1 + jnp.int16(1)")
        >>> p.under("numpy").dtype, p.under({"numpy": "numpy1", "jax": "jax"}).dtype
        (int16, int64)
        """
        if isinstance(system, Mapping):
            found: System | Mapping[str, System] = {name: find_system(s) for name, s in system.items()}
        else:
            found = find_system(system)
        read = self.read_under(found)
        return Replay(read, found, replay_steps(read.steps, found))

    def read_under(self, system: System | Mapping[str, System]) -> Program:
        """Return the program with the branches that a system takes: this one if its source asks for no dtype.

        Raises ProgramError if the source is not at hand, and the branches are those of another system.
        """
        if self.readings is not None:
            return self.readings.read_under(self, system)
        name = system.name if isinstance(system, System) else ""
        if self.branches_of not in ("", name):
            what = f"its branches are those of {self.branches_of}"
            other = name or "another system"
            raise ProgramError(f"{what}, and {other} may take others; ask {self.branches_of}, or its source")
        return self

    @property
    def unread(self) -> tuple[UnreadLine, ...]:
        """The lines of the source that were not read, with the reason. The results do not depend on them.

        >>> from typelattice import program
        >>> print(*program("log = open('a.txt')\\ny = x * 2.5\\ny", x="int8").unread)
        line 1, log = open('a.txt'): "open('a.txt')": it is Python's open, which is not carried out here; ...
        """
        return () if self.readings is None else self.readings.reading.unread

    def divergences(self, *systems: AnySystem) -> Divergences:
        """Return the divergences between systems: steps that differ by themselves, and steps that follow.

        >>> from typelattice import program
        >>> print(program("a*2.0 + b", a="int8", b="float16").divergences("numpy", "jax", "torch"))
        diverges  a*2.0: numpy float64, jax float64*, torch float32
        inherits  a*2.0 + b: numpy float64, jax float16, torch float32
        """
        replays = [self.under(system) for system in systems]
        programs = [made.program.steps for made in replays]
        return find_divergences(programs, [made.name for made in replays], replays)

    def casts(self, system: AnySystem) -> tuple[ImplicitCast, ...]:
        """Return the implicit casts of a system: the operand, the loss and the bytes of each.

        >>> from typelattice import program
        >>> p = program("x * 2.0 + y", x="int32[1000]", y="float32[1000]")
        >>> [(p.steps[c.operand].text, c.target, c.bytes) for c in p.casts("numpy")]
        [('x', float64, 8000), ('2.0', float64, 8), ('y', float64, 8000)]
        """
        replay = self.under(system)
        return tuple(implicit_casts(replay.program.steps, replay.outcomes))

    def explicit(self, system: AnySystem) -> Program:
        """Return the program with each implicit cast written out: a typed graph, the same under every system.

        Raises ProgramError if the system refuses a step.

        >>> from typelattice import program
        >>> print(program("x * 2.0", x="int32").explicit("torch"))
        def program(x: "int32"):
            t2 = astype(x, float32)
            t3 = astype(2.0, float32)
            t4: "float32" = t2 * t3
            return t4
        """
        replay = self.under(system)
        read = replay.program
        steps, results = write_out_casts(read.steps, read.results, replay.outcomes, find_system(system))
        return Program(steps, results, self.source)

    def check(self, *, before: Program | None = None) -> None:
        """Raise ProgramError if an implicit cast is left. A program from `explicit` passes.

        `before` is the typed graph before a pass of a compiler, and this program the graph after it. Then the
        error also lists each call with other operand dtypes, another accumulator or another result, and each
        result of the program with another dtype. Calls that only one graph has are not compared.

        >>> from typelattice import program
        >>> typed = program("x * 2.5", x="int32[3]").explicit("torch")
        >>> wide = program("x * 2.5", x="int32[3]").explicit("numpy")
        >>> wide.check(before=typed)
        Traceback (most recent call last):
        typelattice.ProgramError: ...
        """
        check_no_implicit_cast(self.steps)
        if before is not None:
            changed = list_changed_dtypes((before.steps, before.results), (self.steps, self.results))
            if changed:
                raise ProgramError("\n".join(["a pass changed dtypes:", *changed]))

    def run(self, xp: object, /, **given: object) -> object:
        """Compute the program with an array-API namespace. Return its result, or a tuple of several results.

        A source that asks for dtypes is run with the branches of the namespace's system. Another library's
        module is run with those of `branches_of`. Raises ProgramError if an input is missing, or if a step
        cannot run there.

        >>> import numpy
        >>> from typelattice import namespace, program
        >>> p = program("x * 2.5 + y", x="int32[2]", y="float16[2]")
        >>> p.run(namespace("jax", numpy), x=numpy.asarray([1, 2], "int32"), y=numpy.ones(2, "float16"))
        <float16 under jax over numpy: [3.5 6. ]>
        """
        read = self.read_under(xp.system) if self.branches_of and isinstance(xp, Namespace) else self
        found = run_steps(read.steps, read.results, xp, given)
        return found[0] if len(found) == 1 else found

    def to_onnx(self, system: AnySystem, *, cast_products: bool = False) -> Any:
        """Return the program under a system as an ONNX model (an onnx.ModelProto), with every cast written.

        Inputs need shapes, with a `?` for an unknown length: `float32[?,4]`. Of products, ONNX states the
        accumulator of MatMulInteger only. `cast_products` casts the operands of others to their accumulator.
        Raises ProgramError if the system refuses a step, if ONNX lacks one, or if ndonnx is not installed.
        """
        chosen, typed = find_system(system), self.explicit(system)
        target = _import_graph_module("onnx", "targets.onnx", "ndonnx")
        return target.write_model(typed.steps, typed.results, chosen, cast_products)

    def to_stablehlo(self, system: AnySystem) -> str:
        """Return the program under a system as StableHLO text, with every cast written.

        Inputs need shapes. Raises ProgramError if the system refuses a step, if JAX lacks one, or if JAX is
        not installed.
        """
        chosen, typed = find_system(system), self.explicit(system)
        target = _import_graph_module("stablehlo", "targets.stablehlo", "jax")
        found: str = target.write_module(typed.steps, typed.results, chosen)
        return found

    def to_json(self) -> str:
        """Return the program as JSON, which `Program.from_json` reads.

        It has the branches of one system, `branches_of`, and only this system can be asked of what is read.
        """
        return write_program(self.steps, self.results, self.source, self.branches_of)

    @classmethod
    def from_json(cls, text: str) -> Program:
        """Return the program of a JSON text. Raises ProgramError, with the place, if it has a mistake."""
        steps, results, source, branches_of = read_json(text)
        return cls(steps, results, source, branches_of=branches_of)

    @classmethod
    def from_onnx(cls, model: Any) -> Program:
        """Read the typed graph of an ONNX model: a path, bytes, or an onnx.ModelProto. Nothing in it is run.

        Operators become steps if an operation of ours does the same, attributes included. Other nodes are
        opaque, with the dtype that ONNX states. Raises ProgramError, which names the node, if the model is
        damaged or casts implicitly, and if onnx is not installed. Raises FileError if the file cannot be
        read.
        """
        file = isinstance(model, (str, os.PathLike))
        name = Path(model).name if file else "it"
        data = read_bytes(Path(model), MAX_MODEL_BYTES) if file else model
        reader = _import_graph_module("onnx", "readers.onnx_import.read_model", "onnx")
        steps, results = reader.read_model(data, name)
        return cls(steps, results, name if file else "")

    def step(self, text: str) -> int:
        """Return the number of the last step of a text. Raises ProgramError if no step has it."""
        for i in reversed(range(len(self.steps))):
            if self.steps[i].text == text:
                return i
        texts = [step.text for step in self.steps]
        raise ProgramError(f"no step {text[:60]!r}{spelling_hint(text, texts)}")


class SourceReadings:
    """The readings of a source under systems. Systems that answer its questions alike share one."""

    def __init__(self, source: Source) -> None:
        self.source, self.reading = source, source.read()
        self._by_answers = {self.reading.answers: self.reading}

    def read_under(self, program: Program, system: System | Mapping[str, System]) -> Program:
        """Return the program under a system: the same one if its source asks for no dtype."""
        if not self.reading.answers:
            return program
        reading = self.source.read(system)
        alike = self._by_answers.setdefault(reading.answers, reading)
        return replace(program, steps=alike.steps, results=alike.results, branches_of=reading.system)


def _import_graph_module(graph_format: str, module: str, library: str) -> Any:
    """Import the module that writes or reads graphs of a format. Raises ProgramError without its library."""
    try:
        return import_module(f"typelattice.programs.{module}")
    except ModuleNotFoundError as e:
        if (e.name or "").partition(".")[0] != library:
            raise
        what = f"{graph_format} needs {library}, which is not here"
        raise ProgramError(f"{what}: pip install {library}") from None
