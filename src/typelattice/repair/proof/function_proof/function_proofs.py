"""Proofs of patched functions, which a process of its own makes for a search."""

from __future__ import annotations

import os
import pickle
import subprocess
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from select import select
from signal import SIGKILL

from typelattice.repair.proof.function_proof.proof_process import (
    FunctionVerdict,
    ProofRequest,
    list_changed_functions,
)

MAX_START_SECONDS = 300.0
MAX_ANSWER_SECONDS = 200.0
RUN_CODE = (
    "import sys; from typelattice.repair.proof.function_proof.proof_process import main; main(*sys.argv[1:])"
)


@dataclass(eq=False)
class FunctionProofs:
    """The process that proves the functions of a program.

    It starts when the first proof is asked for. `start_process` starts Python with some arguments, in the
    folder and the environment of the program's runs. `restore_files` undoes what the program and
    the calls did there. If the process ends early, nothing more is proved.
    """

    folder: Path
    start_process: Callable[[list[str]], subprocess.Popen[bytes]]
    restore_files: Callable[[], None]
    program: bytes
    process: subprocess.Popen[bytes] | None = None
    failure: str = ""

    def prove(
        self,
        request: ProofRequest,
        followed_files: Collection[str],
    ) -> list[FunctionVerdict]:
        """Prove the functions of a patch. The program is run once, when the first function is to be proved.

        The calls of all functions in `followed_files` are then kept.
        """
        if not list_changed_functions(request):
            return []
        if self.process is None and not self.failure:
            self._start(followed_files)
        if self.failure or self.process is None:
            return [FunctionVerdict("it", unproved_reason=self.failure)]
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(pickle.dumps(request).hex().encode() + b"\n")
            self.process.stdin.flush()
        answer = self._read_line(MAX_ANSWER_SECONDS)
        self.restore_files()
        if not answer:
            self._fail("the process that calls it ended, or took too long")
            return [FunctionVerdict("it", unproved_reason=self.failure)]
        verdicts: list[FunctionVerdict] = pickle.loads(bytes.fromhex(answer.decode()))
        return verdicts

    def _start(self, followed_files: Collection[str]) -> None:
        names = ("proof.pickle", "proof_files", "proof_printed", "proof_errors")
        program, files, printed, errors = (self.folder / name for name in names)
        program.write_bytes(self.program)
        files.write_bytes(pickle.dumps(sorted(followed_files)))
        self.process = self.start_process(["-c", RUN_CODE, *map(str, (program, files, printed, errors))])
        if self._read_line(MAX_START_SECONDS) != b"ready":
            self._fail("the program did not run again to record its calls")
        self.restore_files()

    def _read_line(self, seconds: float) -> bytes:
        """Read a line from the process, or return b"" if it ends or takes too long."""
        assert self.process is not None and self.process.stdout is not None
        if not select([self.process.stdout], [], [], seconds)[0]:
            return b""
        return self.process.stdout.readline().rstrip(b"\n")

    def _fail(self, reason: str) -> None:
        self.close()
        self.failure = reason

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, SIGKILL)
            self.process.communicate()
            self.process = None
