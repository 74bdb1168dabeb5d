"""A namespace of the array API standard that computes with one library and promotes by one system."""
from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from threading import Lock
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from typelattice.engine.answer import Promotion
from typelattice.engine.operate import real
from typelattice.engine.system import System
from typelattice.facts.dtypes import DTYPES, DType, Kind, dtype
from typelattice.facts.operations import OPERATIONS
from typelattice.facts.range import Value
from typelattice.files.reader import system as find_system
from typelattice.files.text import systems
from typelattice.namespaces.array import COMPARISONS, OPERATORS, SIGNS, Array
from typelattice.namespaces.backend import BOTH, FFT, LACKS, LINALG, Backend, NamespaceError
from typelattice.namespaces.creation import CREATION
from typelattice.namespaces.functions import FORMS, OTHERS
from typelattice.namespaces.inspection import Info, inspection
from typelattice.namespaces.plan import Planner, Standing, number, scalar_of
from typelattice.namespaces.writing import in_place
from typelattice.operands.operand import Operand, operand

VERSIONS = ("2022.12", "2023.12", "2024.12")
class Namespace:
    """An array-API namespace: `system` says the dtypes, `backend` computes. `Array` is the class of its arrays.

    The functions are those of the standard that the library has; dtypes are attributes, those that both know.
    """

    def __init__(self, system: System, backend: Backend) -> None:
        self.system, self.backend = system, backend
        self.planner = Planner(system, backend)
        self.__name__ = f"typelattice.namespace({system.name!r}, {backend.name})"
        self.__array_api_version__ = VERSIONS[-1]
        self.Array: type[Array] = type("Array", (Array,), {"__slots__": (), "_space": self, "__module__": __name__})
        self.dtypes = {d.name: d for d in DTYPES.values() if d in system.order and backend.has(d)}
        vars(self).update(self.dtypes, pi=math.pi, e=math.e, inf=math.inf, nan=math.nan, newaxis=None)
        functions = {op: build(self, op) for op in OPERATIONS if (build := self._builder(op)) and self._has(op)}
        created = {name: make(self) for name, make in CREATION.items() if name != "from_dlpack" or self._has(name)}
        found = {**functions, **created, **inspection(self)}
        vars(self).update({name: f for name, f in found.items() if name not in (*LINALG, *FFT)})
        self.linalg = SimpleNamespace(**{name: found[name] for name in (*LINALG, *BOTH) if name in found})
        self.fft = SimpleNamespace(**{name: found[name] for name in FFT if name in found})
        self._operators(functions)
        if backend.root == "jax":
            self._tree()

    def __repr__(self) -> str:
        return f"<namespace {self.system.name} over {self.backend.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        named = self.system.name in systems() and find_system(self.system.name) is self.system
        return _again, (self.system.name if named else self.system, self.backend.name)

    def __deepcopy__(self, memo: object) -> Namespace:
        return self

    def __array_namespace_info__(self) -> Info:
        """What the namespace can do: its dtypes, default dtypes, devices."""
        return Info(self)

    if TYPE_CHECKING:  # the functions are attributes of each instance

        def __getattr__(self, name: str) -> Any: ...

    def versioned(self, version: str | None) -> Namespace:
        """Itself, if it follows that version of the standard. Raises NamespaceError."""
        if version is not None and version not in VERSIONS:
            raise NamespaceError(f"{version!r} is no version of the standard followed here; these are {', '.join(VERSIONS)}")
        return self

    # -- what functions take

    def array(self, op: str, x: Any) -> Array:
        """An array of this namespace. Raises NamespaceError for anything else."""
        if x.__class__ is self.Array:
            return x
        raise self.stranger(op, x)

    def number(self, op: str, x: Any) -> Value:
        """A Python number. Raises NamespaceError for anything else."""
        value = number(x)
        if value is None:
            raise self.stranger(op, x)
        return value

    def stranger(self, op: str, x: Any) -> NamespaceError:
        """The error of an object that is no array of this namespace."""
        if isinstance(x, Array):
            theirs = x._space
            same = "asarray(x.bare) of this one" if theirs.backend.name == self.backend.name else "from_dlpack of this one"
            return NamespaceError(f"{op} mixes an array of {theirs!r} with {self!r}; take it over with {same}")
        what = f"{type(x).__module__}.{type(x).__qualname__}".removeprefix("builtins.")
        return NamespaceError(f"{op} takes arrays of {self!r}, not a {what}; make it one with asarray")

    def both(self, op: str, x1: Any, x2: Any) -> tuple[Array, Any]:
        """Two operands without an array among them: the first number becomes one."""
        return self.asarray(self.number(op, x1)), x2

    def operands(self, op: str, xs: Sequence[Any]) -> list[Operand]:
        """What arrays and Python scalars are to the system."""
        cls, operand = self.Array, self.planner.operand
        return [operand(x._standing, x._data) if x.__class__ is cls else scalar_of(self.number(op, x)) for x in xs]

    def data(self, p: Promotion, xs: Sequence[Any]) -> tuple[Any, ...]:
        """The library's arrays of operands; Python scalars made some, as the promotion says."""
        like = next((x._data for x in xs if isinstance(x, Array)), None)
        if like is None:
            raise NamespaceError(f"{p.op} takes an array at least; make one with asarray")
        return tuple(x._data if isinstance(x, Array) else self.planner.number(self.number("", x), p, like) for x in xs)

    def bare(self, x: Any) -> Any:
        """The library's own arrays in place of ours, also within lists, tuples, dicts and slices."""
        if isinstance(x, Array):
            return self.array("indexing", x)._data
        if isinstance(x, (tuple, list)):
            return type(x)(map(self.bare, x)) if any(isinstance(i, (Array, tuple, list, slice)) for i in x) else x
        if isinstance(x, slice):
            return slice(*(i.__index__() if isinstance(i, Array) else i for i in (x.start, x.stop, x.step)))
        if isinstance(x, dict):
            return {k: self.bare(v) for k, v in x.items()}
        return x

    def dtype(self, given: object) -> DType:
        """A dtype that is asked for: ours, its name, or the library's own. Raises DTypeError, NamespaceError."""
        readable = not isinstance(given, (str, int, float, complex)) and not hasattr(given, "__dlpack__")
        found = (operand(given).dtype if readable else None) or dtype(given)
        self.backend.native(found)
        return found

    def default(self, kind: Kind) -> DType:
        """The default dtype of a kind: the system's, or where it has none, the library's."""
        found = self.system.defaults.get(kind)
        return found or Info(self).default_of(kind)

    # -- what functions give

    def made(self, data: Any, standing: Standing) -> Array:
        """An array of a standing."""
        result: Array = object.__new__(self.Array)
        result._data, result._standing = data, standing
        return result

    def wrap(self, data: Any, d: DType | None = None, weak: bool = False) -> Array:
        """The library's array as one of ours; NumPy's scalars too."""
        data = self.backend.array(data)
        return self.made(data, self.planner.of(data, d, weak))

    def own(self, data: Any, p: Promotion, given: DType | None) -> Any:
        """A part of a result: of the dtype given, or of that computed in or of its parts; Python's own stay what they are."""
        if not hasattr(data, "dtype"):
            return data
        d, compute = self.backend.dtype(data), p.compute or p.result
        if given is not None:
            to = given
        elif d.kind is Kind.FLOAT and compute.kind is Kind.COMPLEX:
            to = real(compute)
        else:
            to = compute if d.kind is compute.kind else d
        return self.wrap(self.backend.cast(data, self.backend.native(to)), to, p.weak and given is None and to is compute)

    def computed(
        self, op: str, p: Promotion, data: Sequence[Any], *args: Any, before: tuple[Any, ...] = (), **options: Any
    ) -> Array:
        """What the library's function gives for operands that are cast first; cast to the dtype of the result."""
        to, function = self.backend.native(p.compute or p.result), self.backend.function(op)
        out = self.carried(p, function, *before, *(self.backend.cast(x, to) for x in data), *args, **options)
        return self.wrap(self.backend.cast(self.backend.array(out), self.backend.native(p.result)), p.result, p.weak)

    def call(self, op: str, xs: Sequence[Any], **options: Any) -> Array:
        """An operation on arrays and Python scalars, carried out by the library's function of that name."""
        p = self.planner.promote(op, self.operands(op, xs))
        return self.computed(op, p, self.data(p, xs), **self.bare(options))

    def carried(self, p: Promotion, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """What a function of the library gives. Raises NamespaceError where it does not compute with these dtypes."""
        try:
            return function(*args, **options)
        except LACKS as e:
            raise self.lacking(p, e) from e

    def lacking(self, p: Promotion, cause: Exception) -> Exception:
        """The error of a function that the library does not have for these dtypes; our own as it is."""
        if isinstance(cause, NamespaceError):
            return cause
        what = " and ".join(dict.fromkeys(str(o) for o in p.operands))
        why = f"{self.backend.name} cannot compute {p.op} of {what} ({' '.join(str(cause).split())[:160]})"
        return NamespaceError(f"{why}; if that is about the dtype, cast to one that it computes with")

    def _operators(self, functions: dict[str, Callable[..., Any]]) -> None:
        for name, op in {**OPERATORS, **COMPARISONS, **SIGNS}.items():
            if op in functions:
                setattr(self.Array, f"__{name}__", functions[op])
        for name, op in OPERATORS.items():
            if op in functions:
                setattr(self.Array, f"__r{name}__", _reflected(functions[op]))
                setattr(self.Array, f"__i{name}__", in_place(self, functions[op]))

    def _builder(self, op: str) -> Callable[[Namespace, str], Callable[..., Any]] | None:
        return OTHERS.get(op) or FORMS.get((OPERATIONS[op].form, OPERATIONS[op].most))

    def _has(self, op: str) -> bool:
        try:
            self.backend.function(op)
        except NamespaceError:
            return False
        return True

    def _tree(self) -> None:
        """Arrays over JAX pass through its transformations."""
        import jax

        def flatten(x: Array) -> tuple[tuple[Any], tuple[DType, bool]]:
            return (x._data,), (x.dtype, x.weak)

        def unflatten(facts: tuple[DType, bool], children: tuple[Any]) -> Array:
            (data,), (d, weak) = children, facts
            if hasattr(data, "ndim") and hasattr(data, "dtype"):
                return self.wrap(data, None, weak)
            return self.made(data, self.planner.standing(d, weak, False))

        jax.tree_util.register_pytree_node(self.Array, flatten, unflatten)


def namespace(system: str | os.PathLike[str] | System, library: ModuleType) -> Namespace:
    """An array-API namespace that computes with a library and promotes by a system; the same for the same two.

    A file is read anew each time: keep the namespace, or the System, of one.

    `library`: numpy, torch, jax.numpy, dask.array, cupy, or another with the standard's functions. Raises UnknownSystemError or
    FormatError for the system, NamespaceError for the library.
    """
    found = find_system(system)
    with ONE_AT_A_TIME:
        return _namespace(found, library)


ONE_AT_A_TIME = Lock()  # two threads that ask first at the same moment are to get the same namespace


@cache
def _namespace(system: System, library: ModuleType) -> Namespace:
    return Namespace(system, Backend(library))


def _again(system: System | str, library: str) -> Namespace:
    """A pickled namespace; the one that is there, if its system is one that comes along."""
    return namespace(system, import_module(library))


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: function(other, self)
