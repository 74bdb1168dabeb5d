"""Random programs as people write them for a library, which that library runs line by line.

Nothing here imports or reads what is tested: the functions stand in `tests/library_lines/`, a file a
library, written from knowledge of the libraries alone.
"""

from __future__ import annotations

import ast
import random
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

LINES = Path(__file__).parent / "library_lines"
LENGTH = 3  # of each axis of an array
TRIALS = 60  # lines tried for a program at most
NUMBERS = ("2", "3", "-1", "0.5", "2.5", "1e-3", "2", "1")
OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "&", "|", "^", "<<", ">>")
OFTEN = ("+", "-", "*", "/", ">")
IN_PLACE = ("+", "-", "*", "/", "//", "**", "&", "|")
# A refusal for one of these reasons is about values or shapes, or about a kernel: no dtype decides it.
NO_REASON_OF_DTYPE = (
    "negative integer powers", "zero", "singular", "Singular", "not positive", "converge", "index",
    "NaN", "nan", "infs", "shape", "size", "dimension", "unknown", "Index", "broadcast", "axis",
)  # fmt: skip


@dataclass(frozen=True)
class Library:
    """A library, the dtypes of its inputs, and the functions that make an input and tell what a value is.

    `dtype_of` puts a star after the dtype of a weak array.
    """

    name: str
    names: Mapping[str, Any]
    dtypes: tuple[str, ...]
    array: Callable[[str, Sequence[Any]], Any]
    dtype_of: Callable[[Any], str]
    written: Callable[[str], str]  # a dtype as its code writes it
    zero_d: bool = True


@dataclass(frozen=True)
class Line:
    """A line of a program: the names it binds with what they are afterwards, and the names that it uses."""

    text: str
    made: Mapping[str, str]
    used: frozenset[str]
    error: str = ""


@dataclass(frozen=True)
class LibraryProgram:
    """Lines that a library ran, and those that it refused, which left no trace; inputs as operand strings."""

    library: str
    seed: int
    inputs: Mapping[str, str]
    lines: tuple[Line, ...]


def what(x: Any, library: Library) -> str:
    """The dtype of an array, `Python float` of a Python number; empty of anything else."""
    if type(x) in (bool, int, float, complex):
        return f"Python {type(x).__name__}"
    try:
        return library.dtype_of(x)
    except (AttributeError, TypeError, ValueError):
        return ""


def run_program(library: Library, seed: int, most: int = 12) -> LibraryProgram:
    """A program of so many lines at most, made and run by its library."""
    dice = random.Random(f"{library.name} {seed}")
    scope, inputs = dict(library.names), dict[str, str]()
    few = dice.sample(library.dtypes, 3)
    for name, shape in (("x", "3"), ("y", "3"), ("m", "3,3"), ("n", "3,3"), ("s", "")):
        if not shape and not library.zero_d:
            continue
        dtype = dice.choice(few)
        lengths = [int(n) for n in shape.split(",")] if shape else []
        scope[name] = library.array(dtype, lengths)
        inputs[name] = f"{dtype}[{shape}]" if shape else f"{dtype}:0d"
    if dice.random() < 0.5:
        inputs["k"] = dice.choice(("2", "0.5", "3", "1.5"))
        scope["k"] = ast.literal_eval(inputs["k"])
    lines: list[Line] = []
    for trial in range(TRIALS):
        text = line(dice, library, scope, [*inputs, *(n for each in lines for n in each.made)], f"t{trial}")
        if text is None:
            continue
        done = run_line(text, scope, library)
        if done is not None:
            lines.append(done)
        if sum(not each.error for each in lines) >= most:
            break
    return LibraryProgram(library.name, seed, inputs, tuple(lines))


def run_line(text: str, scope: dict[str, Any], library: Library) -> Line | None:
    """Run a line; None if its result is nothing that a program has, or too large."""
    tree = ast.parse(text)
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    written = {
        n.value.id
        for n in ast.walk(tree)
        if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store) and isinstance(n.value, ast.Name)
    }
    used = frozenset(names & {*scope} - {*library.names})
    trial = dict(scope)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(text, trial)
    except Exception as e:
        return Line(text, {}, used, f"{type(e).__name__}: {e}"[:200])
    made = {name: what(trial[name], library) for name in sorted(bound | written)}
    if not all(made.values()) or any(_length(trial[name]) > 100 for name in made):
        return None
    scope.update({name: trial[name] for name in made})
    return Line(text, made, used)


def _length(x: Any) -> int:
    shape = getattr(x, "shape", ())
    found = 1
    for n in shape:
        if n is None or n != n or int(n) == 0:  # Dask does not know a length after a mask
            return 1000
        found *= int(n)
    return found


def line(
    dice: random.Random, library: Library, scope: Mapping[str, Any], known: Sequence[str], fresh: str
) -> str | None:
    """A line of code on the values that are known; None if none has what it needs."""
    kind = dice.random()
    templates = lines_of(library.name)
    if kind < 0.3:
        template = dice.choice(_operators(dice))
    elif kind < 0.4 and templates["in place"]:
        template = dice.choice(templates["in place"]).replace("?", dice.choice(IN_PLACE), 1)
    else:
        template = dice.choice(templates["functions"])
    return filled(dice, template, library, scope, list(dict.fromkeys(known)), fresh)


def _operators(dice: random.Random) -> Sequence[str]:
    sign = dice.choice(OFTEN) if dice.random() < 0.6 else dice.choice(OPERATORS)
    return (
        f"T = A {sign} B", f"T = A {sign} B", f"T = A {sign} NUM", f"T = NUM {sign} A", f"T = A {sign} Z",
        "T = -A", "T = abs(A)", "T = ~A", f"T = (A {sign} NUM) * B", "T = A if True else B",
        f"T = A {sign} C",
    )  # fmt: skip


SLOT = re.compile(r"(?<![.\w])(A|B|C|V|W|M|N|Z|MASK|INTS|NUM|INT|FLOAT|D|DF|T|U)\b|<([^<>]*)>")


def filled(
    dice: random.Random,
    template: str,
    library: Library,
    scope: Mapping[str, Any],
    known: Sequence[str],
    fresh: str,
) -> str | None:
    """A template with a value in each slot.

    A is any array or number, B one that goes with it, V and W have one axis, M and N two, Z none; MASK is
    of bools in A's shape, INTS of indices; D a dtype, DF one of floats; `<a|b>` is one of these texts.
    """
    chosen: dict[str, str] = {}

    def shaped(test: Callable[[tuple[int, ...]], bool], arrays: bool = True) -> str | None:
        found = []
        for name in known:
            shape = getattr(scope[name], "shape", None)
            if shape is None and not arrays and test(()):
                found.append(name)
            if shape is not None and test(tuple(int(n) for n in shape)):
                found.append(name)
        recent = found[-6:] if dice.random() < 0.7 else found
        return dice.choice(recent) if recent else None

    def shape_of(name: str) -> tuple[int, ...]:
        return tuple(int(n) for n in getattr(scope[name], "shape", ()))

    def fill(match: re.Match[str]) -> str:
        slot = match[1]
        if match[2] is not None:
            return SLOT.sub(fill, dice.choice(match[2].split("|")))
        if slot in chosen:
            return chosen[slot]
        name = None
        if slot in ("T", "U"):
            again = slot == "T" and dice.random() < 0.15
            chosen[slot] = dice.choice(known) if again else fresh + ("b" if slot == "U" else "")
            return chosen[slot]
        if slot == "NUM":
            return dice.choice(NUMBERS)
        if slot == "INT":
            return dice.choice(("2", "3", "1", "5"))
        if slot == "FLOAT":
            return dice.choice(("0.5", "2.5", "1e-3", "3.0"))
        if slot == "D":
            return library.written(dice.choice(library.dtypes))
        if slot == "DF":
            return library.written(dice.choice([d for d in library.dtypes if "float" in d]))
        if slot == "A":
            name = shaped(lambda s: True)
        elif slot in ("B", "C", "MASK"):
            own = shape_of(chosen["A"] if "A" in chosen else chosen.get("V") or chosen.get("M") or "x")
            if slot == "MASK":
                masks = [n for n in known if shape_of(n) == own and what(scope[n], library) == "bool"]
                name = dice.choice(masks) if masks else None
                if name is None:
                    return f"({chosen.get('A') or chosen.get('V') or chosen.get('M')} > {dice.choice('01')})"
            else:
                name = shaped(lambda s: s == own or s == (), arrays=False)
        elif slot in ("V", "W"):
            name = shaped(lambda s: s == (LENGTH,))
        elif slot in ("M", "N"):
            name = shaped(lambda s: s == (LENGTH, LENGTH))
        elif slot == "Z":
            name = shaped(lambda s: s == (), arrays=False)
        elif slot == "INTS":
            return "[0, 2]"
        if name is None:
            raise LookupError(slot)
        chosen.setdefault(slot, name)
        return name

    try:
        return SLOT.sub(fill, template)
    except LookupError:
        return None


@cache
def lines_of(name: str) -> Mapping[str, Sequence[str]]:
    """The templates of a library: of functions, and of what changes arrays in place."""
    found: dict[str, list[str]] = {"functions": [], "in place": []}
    for each in ("any", name):
        text = (LINES / f"{each}.txt").read_text("ascii")
        now = "functions"
        for row in text.splitlines():
            if row.startswith("["):
                now = row.strip("[]")
            elif row and not row.startswith("#"):
                found[now].append(row)
    return found


def library_of(name: str) -> Library:
    """A library by its name. Raises ModuleNotFoundError where it is not installed."""
    return MAKERS[name]()


INTS = ("int8", "int16", "int32", "int64", "uint8")
FLOATS = ("float32", "float64", "float32", "float64")


def _values(shape: Sequence[int]) -> Any:
    np = import_module("numpy")
    if len(shape) == 2:
        return np.array([[3, 1, 2], [1, 4, 1], [2, 1, 5]])
    return np.arange(1, 4) if shape else np.array(2)


def _numpy() -> Library:
    np = import_module("numpy")
    return Library(
        "numpy", {"np": np}, ("bool", *INTS, "uint16", "float16", *FLOATS, "complex64"),
        lambda d, shape: _values(shape).astype(d), lambda x: str(x.dtype), lambda d: f"np.{d}".replace(
            "np.bool", "bool"),
    )  # fmt: skip


def _torch() -> Library:
    torch, np = import_module("torch"), import_module("numpy")
    return Library(
        "torch", {"torch": torch, "np": np, "math": import_module("math"), "F": torch.nn.functional},
        ("bool", *INTS, "float16", "bfloat16", *FLOATS, "complex64"),
        lambda d, shape: torch.tensor(_values(shape).tolist()).to(getattr(torch, d)),
        lambda x: str(x.dtype).removeprefix("torch."), lambda d: f"torch.{d}",
    )  # fmt: skip


def _jax() -> Library:
    jax, np = import_module("jax"), import_module("numpy")
    jax.config.update("jax_enable_x64", True)
    return Library(
        "jax", {"jnp": jax.numpy, "np": np, "jax": jax},
        ("bool", *INTS, "float16", "bfloat16", *FLOATS, "complex64"),
        lambda d, shape: jax.numpy.asarray(_values(shape)).astype(d),
        lambda x: f"{x.dtype}{'*' if getattr(x, 'weak_type', False) else ''}",
        lambda d: f"jnp.{d}",
    )  # fmt: skip


def _tensorflow() -> Library:
    tf, np = import_module("tensorflow"), import_module("numpy")
    return Library(
        "tensorflow", {"tf": tf, "np": np}, ("bool", *INTS, "float16", "bfloat16", *FLOATS, "complex64"),
        lambda d, shape: tf.cast(tf.constant(_values(shape)), d), lambda x: str(x.dtype.name),
        lambda d: f"tf.{d}",
    )  # fmt: skip


def _mlx() -> Library:
    mx, np = import_module("mlx.core"), import_module("numpy")
    return Library(
        "mlx", {"mx": mx, "np": np},
        ("bool", *INTS, "float16", "bfloat16", "float32", "float32", "complex64"),
        lambda d, shape: mx.array(_values(shape).tolist()).astype(getattr(mx, d.replace("bool", "bool_"))),
        lambda x: str(x.dtype).removeprefix("mlx.core.").replace("bool_", "bool"),
        lambda d: f"mx.{d}".replace("mx.bool", "mx.bool_"),
    )  # fmt: skip


def _dask() -> Library:
    da, np = import_module("dask.array"), import_module("numpy")
    return Library(
        "dask", {"da": da, "np": np}, ("bool", *INTS, "uint16", "float16", *FLOATS, "complex64"),
        lambda d, shape: da.from_array(_values(shape).astype(d)), lambda x: str(x.dtype),
        lambda d: f"np.{d}".replace("np.bool", "bool"),
    )  # fmt: skip


def _strict() -> Library:
    xp: ModuleType = import_module("array_api_strict")
    return Library(
        "array-api-strict", {"xp": xp}, ("bool", *INTS, "uint16", *FLOATS, "complex64"),
        lambda d, shape: xp.asarray(_values(shape).tolist(), dtype=getattr(xp, d)),
        lambda x: str(x.dtype).removeprefix("array_api_strict."), lambda d: f"xp.{d}",
    )  # fmt: skip


MAKERS: Mapping[str, Callable[[], Library]] = {
    "numpy": _numpy, "torch": _torch, "jax": _jax, "tensorflow": _tensorflow, "mlx": _mlx, "dask": _dask,
    "array-api-strict": _strict,
}  # fmt: skip
