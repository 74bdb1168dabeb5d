"""What functions of array libraries are, by any name that a library has for them: steps of a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from typelattice.facts.dtypes import Kind
from typelattice.facts.operations import OPERATIONS, Operation, operation
from typelattice.facts.range import Value
from typelattice.facts.suggest import nearest, short
from typelattice.operands.operand import SCALARS, Operand, scalar
from typelattice.programs.draft import Draft
from typelattice.programs.inputs import described
from typelattice.programs.names import dtype_named, meaning
from typelattice.programs.shapes import plain_axes
from typelattice.programs.site import Site
from typelattice.programs.step import AnyDType, Argument, DTypeOf, NamedDType, Ref

FUNCTIONS: Mapping[str, Operation] = {name: op for op in OPERATIONS.values() for name in op.functions}
PYTHONS = {"float": float, "int": int, "complex": complex, "bool": bool}
TYPED = ("accumulate", "cumulative")  # classes of operations that give the dtype that they are told
COMPUTED_IN = ("arithmetic", "subtract", "divide", "maths", "mean", "deviation", "extreme", "power", "modulo")
MAY_BE_NAMED = {  # what functions of a form may be given by name, beside their operands
    "reduction": ("axis", "keepdims", "dim", "keepdim", "correction", "ddof", "unbiased", "ord", "offset"),
    "along": ("axis", "dim", "n", "descending", "stable", "include_initial"),
    "several": ("axis", "dim"),
    "whole": (
        "axis", "axes", "dim", "dims", "shape", "shift", "repeats", "repetitions", "k",
        "source", "destination", "copy", "upper", "offset", "ord", "mode", "norm", "n", "s", "side",
        "fill_value", "device",
    ),
    "indexed": ("axis", "dim"),
    "parts": ("axis", "mode", "full_matrices"),
}  # fmt: skip
KEYWORDS = {
    "dim": "axis",
    "keepdim": "keepdims",
    "ddof": "correction",
    "dims": "axes",
}  # as the standard has it
ALONG = ("reduction", "along", "several", "indexed")  # forms whose first further argument is an axis
BY_AXIS = ("expand_dims", "squeeze", "flip")  # operations of another form of which that holds, too
VARIADIC = ("reshape", "broadcast_to", "permute_dims")  # those that may be given lengths, or axes, one by one
BOUNDS = (("min", "a_min", "clip_value_min"), ("max", "a_max", "clip_value_max"))  # what clip calls them
IGNORED = ("casting", "order", "subok", "name", "device", "copy", "requires_grad", "stream")
Maker = Callable[[Draft, Site, Sequence[Argument], dict[str, Argument]], Argument]


def call_function(
    draft: Draft, site: Site, name: str, args: Sequence[Argument], keywords: Mapping[str, Argument]
) -> Argument:
    """What a function of a library's gives: a step, or a plain value. Raises ProgramError."""
    library = site.owner
    given = {key: draft.static(value) for key, value in keywords.items()}
    given = {key: value for key, value in given.items() if value is not None and value is not False}
    kept_out = [key for key in given if key in ("out", "where")]
    if kept_out:
        instead = "write where(mask, x, ...)" if kept_out[0] == "where" else "give the result a name"
        raise site.refuse(f"{kept_out[0]}= writes into an array that is there already; {instead}")
    cast = dtype_named(name, library)
    if cast is not None and name not in FUNCTIONS and args:
        return _cast(draft, site, args[0], cast)
    if meaning("same", name, library) and args:
        return args[0]
    name = meaning("function", name, library) or name
    if name in MAKERS:
        return MAKERS[name](draft, site, args, given)
    if name not in FUNCTIONS:
        known = "the array API standard's, by any name that a library has for them"
        raise site.refuse(
            f"unknown function {short(name)}{nearest(name, (*FUNCTIONS, *MAKERS))}; functions are {known}"
        )
    return _operation(draft, site, name, FUNCTIONS[name], list(args), given)


def _operation(
    draft: Draft, site: Site, name: str, op: Operation, args: list[Argument], given: dict[str, Argument]
) -> Argument:
    """A call of an operation: its operands, which come first, and what else it is given."""
    dtype = _dtype(site, given.pop("dtype", None))
    if op.form == "each":
        raise site.refuse(f"{name} gives several arrays, each of its operand's dtype; ask of one")
    if op.form == "several" and len(args) and isinstance(args[0], tuple):
        operands, rest = list(args[0]), args[1:]
    elif op.form == "promotion":
        operands, rest = [_as_operand(draft, x) for x in args], []
    elif op.name == "clip":
        operands, rest = _with_bounds(args, given), []
    elif op.form in ("whole", "reduction", "along", "parts", "indexed"):
        most = op.most or op.least
        operands, rest = args[:most], args[most:]
        if op.form == "indexed" and len(operands) < most:
            raise site.refuse(f"{name} takes {most} operands in an expression, not {len(operands)}")
        if op.form not in ("indexed",) and not all(_plain(draft, x) for x in rest):
            operands, rest = args, []
    elif op.name == "round":
        operands, rest = args[:1], args[1:]
    else:
        operands, rest = args, []
        if op.form == "choice" and len(args) < (op.most or 0):
            raise site.refuse(f"{name} takes {op.most} operands in an expression, not {len(args)}")
    _check_keywords(site, op, given)
    given = {KEYWORDS.get(key, key): value for key, value in given.items()}
    rest = [draft.static(x) for x in rest]
    if op.name in VARIADIC and len(rest) > 1:
        rest = [tuple(rest)]
    if rest and op.name not in ("reshape", "broadcast_to") and (op.form in ALONG or op.name in BY_AXIS):
        given["axis"], *rest = rest
    if dtype is None:
        return draft.call(site, op, operands, rest, given)
    if op.of_class in TYPED or op.of_class == "like":
        return draft.call(site, op, operands, rest, given, dtype)
    if op.of_class not in COMPUTED_IN:
        raise site.refuse(f"{name} takes no dtype; cast with .astype(dtype)")
    operands = [x if draft.is_scalar(x) else draft.cast(site, x, dtype) for x in operands]
    return draft.call(site, op, operands, rest, given)


def _with_bounds(args: list[Argument], given: dict[str, Argument]) -> list[Argument]:
    """The arguments of clip, whose bounds may be given by name."""
    placed: list[Argument] = [*args, *[None] * (3 - len(args))]
    for i, names in enumerate(BOUNDS, 1):
        for name in names:
            placed[i] = given.pop(name, placed[i])
    return placed


def _check_keywords(site: Site, op: Operation, given: Mapping[str, Argument]) -> None:
    """Raises ProgramError of an argument by name that may say something of dtypes, or is no plain value."""
    may = MAY_BE_NAMED.get(op.form, ())
    for key, value in given.items():
        if key not in may and key not in IGNORED:
            known = f"{', '.join(may)} may be named" if may else "nothing may be named"
            raise site.refuse(f"{op.name} is given {key}; of its arguments {known}; cast with .astype(dtype)")
        if isinstance(value, Ref):
            raise site.refuse(f"{key} is given a value that is not known; give a number")


def _plain(draft: Draft, x: Argument) -> bool:
    """Whether an argument is known, and no array."""
    return not isinstance(draft.static(x), Ref)


def _as_operand(draft: Draft, x: Argument) -> Argument:
    """What asks for a common dtype takes dtypes, too."""
    return Ref(x.step) if isinstance(x, DTypeOf) else x


def _dtype(site: Site, x: Argument) -> AnyDType | None:
    """A dtype that is asked for; None if none is. Raises ProgramError of anything else."""
    if x is None or isinstance(x, (NamedDType, DTypeOf)):
        return x
    if isinstance(x, str):
        return NamedDType(x)
    if isinstance(x, Ref):
        return DTypeOf(x.step)  # result_type gives a dtype
    raise site.refuse(f"{short(str(x))} is no dtype; give one such as float32")


def _cast(draft: Draft, site: Site, x: Argument, to: AnyDType) -> Ref:
    """An explicit cast of an array, of a Python number, or of a list of them."""
    return draft.array_of(site, x, to) if isinstance(x, tuple) else draft.cast(site, x, to)


def _astype(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
    to = _dtype(site, args[1] if len(args) > 1 else given.get("dtype"))
    if not args or to is None:
        raise site.refuse("a cast needs an array and a dtype; write astype(x, float32)")
    return draft.cast(site, args[0], to)


def _asarray(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
    """An array of what holds numbers: an array is itself, a Python number or a list of them is made one."""
    if not args:
        raise site.refuse("an array of nothing; give a number, a list or an array")
    x, to = args[0], _dtype(site, given.get("dtype") or (args[1] if len(args) > 1 else None))
    if isinstance(x, tuple):
        return draft.array_of(site, x, to)
    if not draft.is_scalar(x):
        return x if to is None else draft.cast(site, x, to)
    if to is not None:
        return draft.cast(site, x, to)
    ref = draft.ref(site, x)
    return draft.created(site, "asarray", (ref,), {}, ref.step, None, ())


def _shaped(name: str) -> Maker:
    """What makes an array of a shape alone: zeros, ones, empty; of float's default dtype."""

    def make(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
        named = given.pop("shape", None)
        plain = [draft.static(x) for x in args] or [named]
        to = given.pop("dtype", None)
        if to is None and len(plain) == 2 and not isinstance(plain[1], int):
            to = plain.pop()
        lengths: Argument = plain[0] if len(plain) == 1 else tuple(plain)
        shape = plain_axes(lengths)
        if shape is None or (name == "eye" and not shape) or any(n < 0 for n in shape):
            raise site.refuse(f"the shape of {name} is not known; give numbers")
        if name == "eye":
            shape = (shape[0], shape[-1])
        like = scalar(Kind.FLOAT)
        taken = shape if name == "eye" else (shape,)
        return draft.created(site, name, taken, {}, like, _dtype(site, to), shape)

    return make


def _full(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
    filled = args[1] if len(args) > 1 else given.get("fill_value")
    shape = plain_axes(draft.static(args[0]) if args else given.get("shape"))
    if shape is None or filled is None or any(n < 0 for n in shape):
        raise site.refuse("full takes a shape of known lengths and a value; write full((2, 3), 1.5)")
    ref = draft.ref(site, filled)
    to = _dtype(site, args[2] if len(args) > 2 else given.get("dtype"))
    return draft.created(site, "full", (shape, ref), {}, ref.step, to, shape)


def _spaced(name: str) -> Maker:
    """What makes evenly spaced numbers: arange of the kind of its arguments, linspace of floats."""

    def make(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
        known = [draft.static(x) for x in args]
        to = _dtype(site, given.pop("dtype", None))
        bounds = [x for x in known if isinstance(x, (bool, int, float, complex))]
        if not bounds or len(bounds) < len(known):
            raise site.refuse(f"{name} takes numbers that are known; give them")
        kinds = [SCALARS[type(x)] for x in bounds]
        kind = max((Kind.FLOAT if name == "linspace" else Kind.SIGNED, *kinds), key=lambda k: k.rank)
        whole = [x for x in bounds if isinstance(x, int)]
        known_length = name == "arange" and len(whole) == len(bounds) and 0 not in bounds[2:]
        length = len(range(*whole)) if known_length else None
        if name == "linspace":
            number = bounds[2] if len(bounds) > 2 else given.get("num", 50)
            length = number if isinstance(number, int) else None
        return draft.created(site, name, bounds, given, scalar(kind), to, (length,))

    return make


def _python(name: str) -> Maker:
    """What takes a value out of an array, or makes a Python number of another."""

    def make(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
        parts = [draft.static(x) for x in args]
        real = [x for x in parts if isinstance(x, (bool, int, float))]
        if name == "complex" and len(real) == len(parts) == 2:
            return complex(*real)
        if len(parts) != 1:
            raise site.refuse(f"{name} takes one number; give it")
        x = parts[0]
        if isinstance(x, (bool, int, float, complex)):
            convert: Callable[[Any], Value] = PYTHONS[name]
            try:
                return convert(x)
            except (TypeError, ValueError, OverflowError) as e:
                raise site.refuse(f"Python refuses it: {e}; give another number") from None
        if not isinstance(x, Ref):
            raise site.refuse(f"{name} takes a number or an array of one element; give that")
        unknown = Operand(None, SCALARS[PYTHONS[name]], True, "scalar")
        known = scalar(Kind.BOOL) if name == "bool" else unknown
        return draft.opaque(site, name, known, (x.step,), ())

    return make


def _flatten(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
    return draft.call(site, operation("reshape"), args[:1], ((-1,),))


def _opaque(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
    """What no rule decides, as the text of a program has it: `opaque("float32[3]", x)`."""
    if not args or not isinstance(args[0], str):
        raise site.refuse("opaque needs to be told what it gives; write opaque('float32', x)")
    what, shape = described(args[0])
    made_of = [draft.ref(site, x).step for x in args[1:]]
    return draft.opaque(site, "opaque", what, made_of, shape)


MAKERS: Mapping[str, Maker] = {
    "opaque": _opaque,
    "astype": _astype,
    "asarray": _asarray,
    "full": _full,
    "flatten": _flatten,
    **{name: _shaped(name) for name in ("zeros", "ones", "empty", "eye")},
    **{name: _spaced(name) for name in ("arange", "linspace")},
    **{name: _python(name) for name in PYTHONS},
}
