"""Graphs in two formats, each computed by a runtime of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from typelattice.conformance.agreement.way import Answers, AskedProgram
from typelattice.conformance.agreement.ways.runs import CannotComputeError, Run, as_weak_as_expected
from typelattice.core.engine.system import System
from typelattice.programs.calls.steps import ProgramError
from typelattice.programs.program.program import Program

FATAL = 4  # the severity of messages that onnxruntime prints
LACKING_PATTERN = re.compile(r"ONNX has no \w+(?: (?:of|to) \w+)*")
NO_KERNEL_PATTERN = re.compile(r"Could not find an implementation for (\w+)")
NO_DTYPE_PATTERN = re.compile(r"tensor\((\w+)\) is not currently registered")


class OnnxByRuntime(Run):
    """The graph as an ONNX model, computed by onnxruntime. Products add up in casts to their accumulators."""

    name = "onnx (onnxruntime)"
    modules = ("numpy", "onnx", "ndonnx", "onnxruntime")

    def ask(self, system: System, programs: Sequence[AskedProgram]) -> list[Answers]:
        self._runtime, self._onnx = import_module("onnxruntime"), import_module("onnx")
        self._options = self._runtime.SessionOptions()
        self._options.log_severity_level = FATAL
        return as_weak_as_expected(super().ask(system, programs), programs)

    def compute(self, system: System, program: Program) -> Sequence[str]:
        try:
            model = program.to_onnx(system, cast_products=True)
        except ProgramError as e:
            lacks = LACKING_PATTERN.search(str(e))
            raise CannotComputeError(lacks[0]) if lacks else e from None
        try:
            session = self._runtime.InferenceSession(model.SerializeToString(), self._options)
            given = {x.name: self._value_of_ones(x) for x in model.graph.input}
            made = session.run_with_ort_values(None, given)
        except Exception as e:  # onnxruntime has a class of errors for each status
            raise self._describe_failure(model, e) from e
        return [self._dtype_of(x.data_type()) for x in made]

    def _value_of_ones(self, described: Any) -> Any:
        """Make an input of ones. Dtypes that NumPy lacks are given by their bits."""
        tensor = described.type.tensor_type
        numpy = import_module("numpy")
        own = self._onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        ones = numpy.ones([each.dim_value for each in tensor.shape.dim], own)
        make = self._runtime.OrtValue.ortvalue_from_numpy_with_onnx_type
        if own.name.endswith("int4"):  # two in a byte
            ones = numpy.full(ones.shape, 0x11, "uint8")
        return make(numpy.ascontiguousarray(ones), tensor.elem_type)

    def _dtype_of(self, type_name: str) -> str:
        """Return the dtype of a value's type, such as `tensor(float16)`."""
        word = type_name.partition("(")[2].rstrip(")").upper()
        number = self._onnx.TensorProto.DataType.Value(word)
        return str(self._onnx.helper.tensor_dtype_to_np_dtype(number).name)

    def _describe_failure(self, model: Any, error: Exception) -> Exception:
        """Return an error that names the operator and dtype that onnxruntime lacks, if this is why."""
        words = " ".join(str(error).split())
        if missing := NO_KERNEL_PATTERN.search(words):
            inferred = self._onnx.shape_inference.infer_shapes(model).graph
            values = (*inferred.input, *inferred.value_info, *inferred.output)
            dtypes = {x.name: x.type.tensor_type.elem_type for x in values}
            nodes = (node for node in inferred.node if node.op_type == missing[1])
            named = (dtypes[name] for node in nodes for name in node.input if name in dtypes)
            dtype = next((self._onnx.TensorProto.DataType.Name(d).lower() for d in named), "")
            return CannotComputeError(f"onnxruntime has no kernel for {missing[1]} of {dtype}")
        if missing := NO_DTYPE_PATTERN.search(words):
            return CannotComputeError(f"onnxruntime has no {missing[1]}")
        return error


class StableHloByXla(Run):
    """The graph as a StableHLO module, compiled by XLA for a CPU.

    XLA runs in a process of its own, since it ends its process for some dtypes of few bits.
    """

    name = "stablehlo (xla)"
    modules = ("numpy", "jax", "ml_dtypes")

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def ask(self, system: System, programs: Sequence[AskedProgram]) -> list[Answers]:
        try:
            return as_weak_as_expected(super().ask(system, programs), programs)
        finally:
            self._end()

    def compute(self, system: System, program: Program) -> Sequence[str]:
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
            raise CannotComputeError("XLA ends its process") from None
        if isinstance(found, str):
            raise CannotComputeError(f"XLA: {found}")
        return [str(name) for name in found]

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
