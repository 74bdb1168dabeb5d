"""Graphs in two formats, each computed by a runtime of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from typelattice.conformance.agreement.way import Answers, AskedProgram, missing_modules, no_answers
from typelattice.conformance.agreement.ways.arrays import arrays_of_ones, prefix_of, run_quietly, strip_weak
from typelattice.conformance.recording.library import CannotAskError
from typelattice.core.engine.system import System
from typelattice.programs.program.program import Program


class _Graph:
    """A graph of the steps before the first refused one, run by a runtime."""

    name = ""
    modules: tuple[str, ...] = ()

    @property
    def missing(self) -> str:
        return missing_modules(*self.modules)

    def ask(self, system: System, programs: Sequence[AskedProgram]) -> list[Answers]:
        return [self._ask_program(system, asked) for asked in programs]

    def _ask_program(self, system: System, asked: AskedProgram) -> Answers:
        arrays = [
            i
            for i, o in enumerate(asked.replay[: asked.computable])
            if o.operand is not None and o.operand.tier != "scalar"
        ]
        found = no_answers(asked)
        if not arrays:
            return found
        whole = Program(prefix_of(asked, asked.computable).steps, tuple(arrays), asked.program.source)
        places = dict(enumerate(arrays))
        run_quietly(asked, lambda: self.run(system, whole), found, places)
        return [
            None if each is None else strip_weak(each, word)
            for each, word in zip(found, asked.expected, strict=True)
        ]

    def run(self, system: System, program: Program) -> tuple[Any, ...]:
        """Write the graph, and compute all results from ones."""
        raise NotImplementedError


class OnnxByRuntime(_Graph):
    """The graph as an ONNX model, computed by onnxruntime."""

    name = "onnx (onnxruntime)"
    modules = ("numpy", "onnx", "ndonnx", "onnxruntime")

    def run(self, system: System, program: Program) -> tuple[Any, ...]:
        model = program.to_onnx(system)
        session = import_module("onnxruntime").InferenceSession(model.SerializeToString())
        given = arrays_of_ones(program, import_module("numpy").ones)
        return tuple(session.run(None, {x.name: given[x.name] for x in session.get_inputs()}))


class StableHloByXla(_Graph):
    """The graph as a StableHLO module, compiled by XLA for a CPU.

    XLA runs in a process of its own, since it ends its process for some dtypes of few bits.
    """

    name = "stablehlo (xla)"
    modules = ("numpy", "jax", "ml_dtypes")

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def ask(self, system: System, programs: Sequence[AskedProgram]) -> list[Answers]:
        try:
            return super().ask(system, programs)
        finally:
            self._end()

    def run(self, system: System, program: Program) -> tuple[Any, ...]:
        with import_module("jax").enable_x64(True):
            text = program.to_stablehlo(system)
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", XLA_SCRIPT],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            print(json.dumps(text), file=self._process.stdin, flush=True)
            found = json.loads(self._process.stdout.readline())
        except (OSError, ValueError):
            self._end()
            raise CannotAskError("XLA ended its process") from None
        if isinstance(found, str):
            raise CannotAskError(found)
        return tuple(SimpleNamespace(dtype=name) for name in found)

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


XLA_SCRIPT = r"""
import json, re, sys
import jax, numpy as np, ml_dtypes
from jax.extend.backend import get_backend
from jaxlib.xla_client import CompileOptions, DeviceList

jax.config.update("jax_enable_x64", True)
cpu = get_backend("cpu")
device = cpu.local_devices()[0]


def dtype_of(word):
    is_complex, kind, bits, more = re.fullmatch(r"(complex<)?(ui|i|bf|f)(\d+)(\w*)>?", word.lower()).groups()
    if is_complex:
        return np.dtype(f"complex{2 * int(bits)}")
    if (kind, bits) == ("i", "1"):
        return np.dtype(bool)
    spelled = {"ui": "uint", "i": "int", "bf": "bfloat", "f": "float"}[kind] + bits + (more and f"_{more}")
    return np.dtype(getattr(ml_dtypes, spelled, spelled))


for line in sys.stdin:
    try:
        text = json.loads(line)
        head = re.search(r"func.func public @main\((.*?)\) -> ", text, re.DOTALL)[1]
        types = re.findall(r"%arg\d+: tensor<((?:\d+x)*)([^>]*(?:<[^>]*>)?)>", head)
        given = [np.ones([int(n) for n in sizes.split("x")[:-1]], dtype_of(word)) for sizes, word in types]
        made = cpu.compile_and_load(text, DeviceList((device,)), CompileOptions())
        placed = [jax.device_put(x, device) for x in given]
        results = made.execute_sharded(placed).disassemble_into_single_device_arrays()
        print(json.dumps([str(shards[0].dtype) for shards in results]), flush=True)
    except Exception as e:
        print(json.dumps(f"{type(e).__name__}: {' '.join(str(e).split())[:160]}"), flush=True)
"""
GRAPH_WAYS = (OnnxByRuntime(), StableHloByXla())
