"""A program: a straight-line list of operations, and the outcome of each under a system."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from typelattice.calls.steps import Input, ProgramError, Step
from typelattice.disk.read import read_bytes
from typelattice.engine.system import System
from typelattice.facts.dtypes import DType
from typelattice.files.reader import system as find_system
from typelattice.operands.operand import Operand
from typelattice.programs.json.read import read_json
from typelattice.programs.json.write import write_program
from typelattice.programs.program_text import write_text
from typelattice.programs.replay.divergences import Divergences, find_divergences
from typelattice.programs.replay.implicit_casts import ImplicitCast, implicit_casts
from typelattice.programs.replay.outcome import Outcome
from typelattice.programs.replay.replay import replay_steps
from typelattice.programs.replay.run_on_arrays import run_steps
from typelattice.programs.replay.write_out_casts import check_no_implicit_cast, write_out_casts
from typelattice.support.display_hooks import NotebookDisplay
from typelattice.support.error_texts import spelling_hint

if TYPE_CHECKING:
    from typelattice.recorded.recorded_answer import RecordedAnswer

MAX_MODEL_BYTES = 2**31  # bytes: more than a protocol buffer may have
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

    def __str__(self) -> str:
        from typelattice.explanations.recorded_answer_in_english import describe_answer  # slow to import
        from typelattice.recorded.never_asked import NEVER_ASKED_NOTE

        lines = [f"under {self.name}"]
        for step, outcome in zip(self.program.steps, self.outcomes, strict=True):
            where = f"  ({step.location})" if step.location else ""
            why = f": {outcome.reason}" if outcome.reason else ""
            did = f"; {seen.library} {describe_answer(seen)}" if (seen := outcome.recorded_departure) else ""
            lines.append(f"{step.text}: {outcome.text_with_mark}{why}{did}{where}")
        if any(outcome.is_unrecorded for outcome in self.outcomes):
            lines.append(NEVER_ASKED_NOTE)
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, eq=False)
class Program(NotebookDisplay):
    """A straight-line program: a list of steps that use earlier steps.

    `results` has the numbers of its results. `typelattice.program` makes one from an expression, lines
    of Python or a function.

    >>> import typelattice as tl
    >>> p = tl.program("x * 2.0", x="int32")
    >>> [step.text for step in p.steps]
    ['x', '2.0', 'x * 2.0']
    """

    steps: tuple[Step, ...] = field(repr=False)
    results: tuple[int, ...]
    source: str = ""

    @property
    def inputs(self) -> Mapping[str, Operand | str]:
        """The operand of each input, by the input's name."""
        return {step.text: step.fixed_result for step in self.steps if isinstance(step, Input)}

    def __str__(self) -> str:
        """Return Python text that reads back as the same program, one line for each step."""
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
        return Replay(self, found, replay_steps(self.steps, found))

    def divergences(self, *systems: AnySystem) -> Divergences:
        """Return the divergences between systems: steps that differ by themselves, and steps that follow.

        >>> from typelattice import program
        >>> print(program("a*2.0 + b", a="int8", b="float16").divergences("numpy", "jax", "torch"))
        diverges  a*2.0: numpy float64, jax float64*, torch float32
        inherits  a*2.0 + b: numpy float64, jax float16, torch float32
        """
        replays = [self.under(system) for system in systems]
        return find_divergences(self.steps, [made.name for made in replays], replays)

    def casts(self, system: AnySystem) -> tuple[ImplicitCast, ...]:
        """Return the implicit casts of a system: the operand, the loss and the bytes of each.

        >>> from typelattice import program
        >>> p = program("x * 2.0 + y", x="int32[1000]", y="float32[1000]")
        >>> [(p.steps[c.operand].text, c.target, c.bytes) for c in p.casts("numpy")]
        [('x', float64, 8000), ('2.0', float64, 8), ('y', float64, 8000)]
        """
        return tuple(implicit_casts(self.steps, self.under(system).outcomes))

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
        steps, results = write_out_casts(self.steps, self.results, self.under(system).outcomes)
        return Program(steps, results, self.source)

    def check(self) -> None:
        """Raise ProgramError if an implicit cast is left. A program from `explicit` passes."""
        check_no_implicit_cast(self.steps)

    def run(self, xp: object, /, **given: object) -> object:
        """Compute the program with an array-API namespace. Return its result, or a tuple of several results.

        Raises ProgramError if an input is missing, or if a step cannot run there.

        >>> import numpy
        >>> from typelattice import namespace, program
        >>> p = program("x * 2.5 + y", x="int32[2]", y="float16[2]")
        >>> p.run(namespace("jax", numpy), x=numpy.asarray([1, 2], "int32"), y=numpy.ones(2, "float16"))
        <float16 under jax over numpy: [3.5 6. ]>
        """
        found = run_steps(self.steps, self.results, xp, given)
        return found[0] if len(found) == 1 else found

    def to_onnx(self, system: AnySystem) -> Any:
        """Return the program under a system as an ONNX model (an onnx.ModelProto), with every cast written.

        Inputs need shapes, with a `?` for an unknown length: `float32[?,4]`. Raises ProgramError if the
        system refuses a step, if ONNX lacks one, or if ndonnx is not installed.
        """
        chosen, typed = find_system(system), self.explicit(system)
        target = _import_graph_module("onnx", "targets.onnx", "ndonnx")
        return target.write_model(typed.steps, typed.results, chosen)

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
        """Return the program as JSON, which `Program.from_json` reads."""
        return write_program(self.steps, self.results, self.source)

    @classmethod
    def from_json(cls, text: str) -> Program:
        """Return the program of a JSON text. Raises ProgramError, with the place, if it has a mistake."""
        return cls(*read_json(text))

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
        reader = _import_graph_module("onnx", "onnx_import.read_model", "onnx")
        steps, results = reader.read_model(data, name)
        return cls(steps, results, name if file else "")

    def step(self, text: str) -> int:
        """Return the number of the last step of a text. Raises ProgramError if no step has it."""
        for i in reversed(range(len(self.steps))):
            if self.steps[i].text == text:
                return i
        texts = [step.text for step in self.steps]
        raise ProgramError(f"no step {text[:60]!r}{spelling_hint(text, texts)}")


def _import_graph_module(graph_format: str, module: str, library: str) -> Any:
    """Import the module that writes or reads graphs of a format. Raises ProgramError without its library."""
    try:
        return import_module(f"typelattice.programs.{module}")
    except ModuleNotFoundError as e:
        if (e.name or "").partition(".")[0] != library:
            raise
        what = f"{graph_format} needs {library}, which is not here"
        raise ProgramError(f"{what}: pip install {library}") from None
