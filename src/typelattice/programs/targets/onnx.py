"""ONNX, through ndonnx: the functions of its namespace build the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import ndonnx
import numpy as np
import onnx
import spox

from typelattice.core.dtypes.dtypes import DTYPES, DType, DTypeError
from typelattice.core.engine.system import System
from typelattice.core.losses.range_and_overflow import PythonNumber
from typelattice.core.operands.adapters import native
from typelattice.core.operations.operations import OPERATIONS
from typelattice.core.operations.shapes import Shape
from typelattice.programs.calls.steps import Input, ProgramError, Step
from typelattice.programs.namespaces.array import Array
from typelattice.programs.namespaces.computing_libraries import array_api_module
from typelattice.programs.namespaces.computing_libraries.computing_library import ComputingLibrary
from typelattice.programs.namespaces.computing_libraries.ndonnx import NDONNX
from typelattice.programs.namespaces.namespace import Namespace
from typelattice.programs.namespaces.namespace_error import NamespaceError
from typelattice.programs.replay.run_on_arrays import run_steps
from typelattice.programs.targets import onnx_values
from typelattice.programs.targets.composed_functions import COMPOSED_FUNCTIONS, LibraryFunctions
from typelattice.programs.targets.export_checks import failure_message, input_dtype
from typelattice.programs.targets.graph_rules import graph_rules
from typelattice.programs.targets.onnx_values import NoOperatorError, OnnxValue, wider_dtype
from typelattice.programs.targets.tidy_onnx import tidy_model

WRONG_IN_NDONNX = ("cumulative_prod",)  # which gives NaN for negative numbers
CHOSEN_BY_PLAIN_NODES = (ndonnx.bool, ndonnx.uint64)  # ndonnx goes by float64, which loses integers
PLAIN_UNLESS_EMPTY = ("matmul",)  # one operator of ONNX, where ndonnx writes a branch for empty arrays


class OnnxGraph(NDONNX):
    """ndonnx, with the dtypes of ONNX that it lacks, and with functions composed of those that it has."""

    def __init__(self, cast_products: bool = False) -> None:
        super().__init__(ndonnx, array_api_module(ndonnx), "ndonnx", mutable=True)
        self.cast_products = cast_products
        self.functions = LibraryFunctions(self)

    def native_dtype(self, dtype: DType) -> Any:
        """Return ndonnx's dtype, or that of ml_dtypes if only ONNX has the dtype."""
        if dtype not in self._natives:
            try:
                return super().native_dtype(dtype)
            except NamespaceError:
                self._natives[dtype] = _find_onnx_dtype(dtype)
        return self._natives[dtype]

    def asarray(self, obj: Any, **options: Any) -> Any:
        if isinstance(obj, OnnxValue):
            return obj
        to = options.get("dtype")
        if isinstance(to, np.dtype):
            return OnnxValue(spox.opset.ai.onnx.v21.const(np.asarray(obj, to)))
        return super().asarray(obj, **options)

    def number_to_array(self, value: PythonNumber, to: Any, like: Any) -> Any:
        if isinstance(to, np.dtype):
            return self.asarray(value, dtype=to)
        return super().number_to_array(value, to, None)

    def device_of(self, data: Any) -> Any:
        return None if data is None or isinstance(data, OnnxValue) else super().device_of(data)

    def cast(self, data: Any, to: Any) -> Any:
        if data.dtype == to:
            return data
        if not isinstance(data, OnnxValue) and not isinstance(to, np.dtype):
            return super().cast(data, to)
        is_narrow = isinstance(to, np.dtype)
        made = onnx_values.cast(data.unwrap_spox(), to if is_narrow else to.unwrap_numpy())
        return OnnxValue(made) if is_narrow else self.module.asarray(made)

    def copy_array(self, data: Any, to: Any, **options: Any) -> Any:
        if isinstance(data, OnnxValue):  # a value of a graph never changes
            return data
        return super().copy_array(data, to, **options)

    def find_function(self, name: str) -> Callable[..., Any]:
        """Return a function of ndonnx's arrays and of OnnxValues: ndonnx's, ONNX's, or a composed one."""
        try:
            own: Callable[..., Any] | None = super().find_function(name)
        except NamespaceError:
            if name not in COMPOSED_FUNCTIONS and name not in onnx_values.FUNCTIONS:
                raise
            own = None
        return partial(self._call, name, own)

    def _call(self, name: str, own: Callable[..., Any] | None, *args: Any, **options: Any) -> Any:
        if name in OPERATIONS and OPERATIONS[name].call_form == "indexed":  # ndonnx has int64 places only
            array, places, *others = args
            args = (array, self.cast(places, self.native_dtype(DTYPES["int64"])), *others)
        given = _flatten((args, tuple(options.values())))
        narrow = [x.dtype for x in given if isinstance(x, OnnxValue)]
        narrow += [x for x in options.values() if isinstance(x, np.dtype)]
        if narrow:
            return self._call_of_narrow(name, own, narrow[0], args, options)
        if name == "where" and args[-1].dtype in CHOSEN_BY_PLAIN_NODES:
            return self._wrap(onnx_values.choose(*_unwrap(args)))
        if name in PLAIN_UNLESS_EMPTY and all(_has_elements(x) for x in args):
            with suppress(NoOperatorError):
                return self._wrap(onnx_values.FUNCTIONS[name](*_unwrap(args)))
        if own is not None and name not in WRONG_IN_NDONNX:
            try:
                return own(*args, **options)
            except (NotImplementedError, TypeError):
                if name not in COMPOSED_FUNCTIONS:
                    raise
        if own is None and name in onnx_values.FUNCTIONS:
            return self._wrap(onnx_values.FUNCTIONS[name](*_unwrap(args), **_unwrap(options)))
        return COMPOSED_FUNCTIONS[name](self.functions, *args, **options)

    def _call_of_narrow(
        self,
        name: str,
        own: Callable[..., Any] | None,
        narrow: Any,
        args: tuple[Any, ...],
        options: dict[str, Any],
    ) -> Any:
        """Call ONNX's operator, or compute in a wider dtype if ONNX has none of the narrow one."""
        refusal = NoOperatorError(f"ONNX has no {name} of {narrow}")
        requested = options.get("dtype")
        if name in onnx_values.FUNCTIONS and requested in (None, narrow):
            try:
                return self._wrap(onnx_values.FUNCTIONS[name](*_unwrap(args), **_unwrap(options)))
            except NoOperatorError as e:
                refusal = e
        if wider_dtype(narrow) is None:
            raise refusal
        if isinstance(requested, np.dtype):
            options = {**options, "dtype": self._native_of(wider_dtype(requested))}
        found = self._call(name, own, *self._widen(args), **self._widen(options))
        return self._narrow_again(found, narrow if requested is None else requested)

    def _widen(self, x: Any) -> Any:
        """Cast values of narrow dtypes to wider ones, also in lists and dictionaries."""
        if isinstance(x, (list, tuple)):
            return type(x)(map(self._widen, x))
        if isinstance(x, dict):
            return {key: self._widen(value) for key, value in x.items()}
        return self.cast(x, self._native_of(wider_dtype(x.dtype))) if isinstance(x, OnnxValue) else x

    def _narrow_again(self, x: Any, narrow: Any) -> Any:
        """Cast results that have the wider dtype of a narrow one to the narrow one."""
        if isinstance(x, (list, tuple)):
            made = [self._narrow_again(each, narrow) for each in x]
            return type(x)(*made) if hasattr(x, "_fields") else type(x)(made)
        is_wider = isinstance(narrow, np.dtype) and x.dtype == self._native_of(wider_dtype(narrow))
        return self.cast(x, narrow) if is_wider else x

    def _native_of(self, wide: Any) -> Any:
        return self.native_dtype(DTYPES[wide.name])

    def select_elements(self, data: Any, key: Any) -> Any:
        if not isinstance(data, OnnxValue):
            return super().select_elements(data, key)
        if wider_dtype(data.dtype) is None:
            raise NoOperatorError(f"no way is known to take elements of {data.dtype} in ONNX")
        return self._narrow_again(self._widen(data)[key], data.dtype)

    def put_elements(self, data: Any, key: Any, value: Any) -> Any:
        if not isinstance(data, OnnxValue):
            return super().put_elements(data, key, value)
        if wider_dtype(data.dtype) is None:
            raise NoOperatorError(f"no way is known to write elements of {data.dtype} in ONNX")
        changed = super().put_elements(self._widen(data), key, self._widen(value))
        return self._narrow_again(changed, data.dtype)

    def accumulate(self, name: str, to: Any, *arrays: Any, **options: Any) -> Any:
        """Call MatMulInteger. Cast the operands of another product to its accumulator only if asked to."""
        try:
            return super().accumulate(name, to, *arrays, **options)
        except NamespaceError:
            if not self.cast_products:
                raise
            return ComputingLibrary.accumulate(self, name, to, *arrays, **options)

    def call_custom(
        self,
        domain: str,
        name: str,
        to: Any,
        shape: Shape,
        arrays: Sequence[Any],
        settings: Mapping[str, Any],
    ) -> Any:
        return self._wrap(self.make_custom_node(domain, name, to, shape, arrays, settings))

    def _wrap(self, variable: Any) -> Any:
        """Return an array of ndonnx if it has the dtype of a variable, or else an OnnxValue."""
        plain = getattr(ndonnx, variable.type.dtype.name, None)
        return OnnxValue(variable) if plain is None else self.module.asarray(variable)


def _find_onnx_dtype(dtype: DType) -> Any:
    """Return the dtype of NumPy or ml_dtypes for a dtype of ONNX. Raises NamespaceError if ONNX lacks it."""
    try:
        found = native(dtype, "numpy")
        onnx.helper.np_dtype_to_tensor_dtype(found)
    except (DTypeError, TypeError, ValueError, KeyError) as e:
        raise NamespaceError(f"ONNX has no {dtype} ({e}); cast to a dtype that it has") from None
    return found


def _has_elements(x: Any) -> bool:
    """Return True if an array certainly has elements."""
    return all(isinstance(length, int) and length > 0 for length in x.shape)


def _flatten(x: Any) -> list[Any]:
    return [each for part in x for each in _flatten(part)] if isinstance(x, (tuple, list)) else [x]


def _unwrap(x: Any) -> Any:
    """Replace arrays by spox's variables, also in lists and dictionaries."""
    if isinstance(x, (list, tuple)):
        return type(x)(map(_unwrap, x))
    if isinstance(x, dict):
        return {key: _unwrap(value) for key, value in x.items()}
    return x.unwrap_spox() if hasattr(x, "unwrap_spox") else x


def write_model(
    steps: Sequence[Step], results: Sequence[int], system: System, cast_products: bool = False
) -> Any:
    """Write a program without implicit casts as an ONNX model. Raises ProgramError if ONNX lacks a step."""
    library = OnnxGraph(cast_products)
    xp = Namespace(graph_rules(system), library, False)
    arguments = {}
    given = {}
    for step in steps:
        if isinstance(step, Input):
            d = input_dtype(step, system)
            if d is None:  # a Python number of known value is a constant, not an input
                continue
            lengths = tuple(f"{step.text}_{i}" if n is None else n for i, n in enumerate(step.shape or ()))
            if step.shape is None:
                raise ProgramError(f"the input {step.text} has no shape; give one, e.g. {d}[3,4] or {d}[?,4]")
            arguments[step.text] = argument = _make_argument(library, step.text, d, lengths)
            given[step.text] = xp._context.wrap(argument, d)
    try:
        made = run_steps(steps, results, xp, given)
        # a part may be a Python number
        bare = [x.bare if isinstance(x, Array) else xp.asarray(x).bare for x in made]
        outputs = {f"result{i}" if len(made) > 1 else "result": x for i, x in enumerate(bare)}
        if any(isinstance(x, OnnxValue) for x in (*arguments.values(), *bare)):
            return tidy_model(spox.build(_unwrap(arguments), _unwrap(outputs)))
        return tidy_model(ndonnx.build(arguments, outputs))
    except ProgramError:
        raise
    except Exception as e:  # ndonnx and its builder raise many classes of errors for what they lack
        raise ProgramError(failure_message("ndonnx cannot build", e)) from e


def _make_argument(library: OnnxGraph, name: str, dtype: DType, shape: Sequence[int | str]) -> Any:
    """Make the input of a model. Raises ProgramError for a dtype that ONNX lacks."""
    try:
        own = library.native_dtype(dtype)
        if isinstance(own, np.dtype):
            return OnnxValue(spox.argument(spox.Tensor(own, tuple(shape))))
        return ndonnx.argument(shape=tuple(shape), dtype=own)
    except Exception as e:
        what = f"ONNX has no {dtype}, which the input {name} has"
        raise ProgramError(f"{what}; cast it first") from e
