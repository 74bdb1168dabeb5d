"""What functions of array libraries are, by any name that a library has for them: steps of a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from typelattice.facts.operations import OPERATIONS, Operation
from typelattice.facts.suggest import nearest, short
from typelattice.programs.arranging import ARRANGERS
from typelattice.programs.draft import Draft
from typelattice.programs.makers import MAKERS, asked_dtype, cast_to
from typelattice.programs.names import dtype_named, meaning
from typelattice.programs.several import PARTS, RESULT, Several, count_of, gives_several
from typelattice.programs.site import Site
from typelattice.programs.step import Argument, DTypeOf, NamedDType, Ref

FUNCTIONS: Mapping[str, Operation] = {name: op for op in OPERATIONS.values() for name in op.functions}
TYPED = (  # operations that give the dtype that they are told, and classes of such
    "accumulate", "cumulative", "like", "cov", "corrcoef",
)  # fmt: skip
COMPUTED_IN = ("arithmetic", "subtract", "divide", "maths", "mean", "deviation", "extreme", "power", "modulo")
MAY_BE_NAMED = {  # what functions of a form may be given by name, beside their operands
    "promotion": ("kind",),
    "reduction": (
        "axis", "keepdims", "dim", "keepdim", "correction", "ddof", "unbiased", "ord", "offset", "q",
    ),
    "along": ("axis", "dim", "n", "descending", "stable", "include_initial"),
    "several": ("axis", "dim"),
    "whole": (
        "axis", "axes", "dim", "dims", "shape", "shift", "repeats", "repetitions", "k",
        "source", "destination", "copy", "upper", "offset", "ord", "mode", "norm", "n", "s", "side",
        "fill_value", "device",
    ),
    "indexed": ("axis", "dim"),
    "parts": ("axis", "mode", "full_matrices", "bins", "range"),
}  # fmt: skip
KEYWORDS = {
    "dim": "axis",
    "keepdim": "keepdims",
    "ddof": "correction",
    "dims": "axes",
}  # as the standard has it
ALONG = ("reduction", "along", "several", "indexed")  # forms whose first further argument is an axis
BEFORE_AXIS = {"norm": "ord", "percentile": "q", "quantile": "q"}  # what comes before the axis, by operation
BY_AXIS = ("expand_dims", "squeeze", "flip")  # operations of another form of which that holds, too
VARIADIC = ("reshape", "broadcast_to", "permute_dims")  # those that may be given lengths, or axes, one by one
BOUNDS = (("min", "a_min", "clip_value_min"), ("max", "a_max", "clip_value_max"))  # what clip calls them
IGNORED = ("casting", "order", "subok", "name", "device", "copy", "requires_grad", "stream")


def is_function(name: str, library: str | None) -> bool:
    """Whether a library's function of a name is known, as an operation or as a way to make an array."""
    if name in FUNCTIONS or name in MAKERS or dtype_named(name, library) or meaning("same", name, library):
        return True
    return meaning("function", name, library) is not None


def gives_told(op: Operation) -> bool:
    """Whether an operation gives the dtype that it is told, whatever it would compute in."""
    return op.of_class in TYPED or op.name in TYPED


def call_function(
    draft: Draft, site: Site, name: str, args: Sequence[Argument], keywords: Mapping[str, Argument]
) -> Argument | Several:
    """What a function of a library's gives: a step, several, or a plain value. Raises ProgramError."""
    library = site.owner
    given = {key: draft.static(value) for key, value in keywords.items()}
    given = {key: value for key, value in given.items() if value is not None and value is not False}
    kept_out = [key for key in given if key in ("out", "where")]
    if kept_out:
        instead = "write where(mask, x, ...)" if kept_out[0] == "where" else "give the result a name"
        raise site.refuse(f"{kept_out[0]}= writes into an array that is there already; {instead}")
    cast = dtype_named(name, library)
    if cast is not None and name not in FUNCTIONS and args:
        return cast_to(draft, site, args[0], cast)
    if meaning("same", name, library) and args:
        return args[0]
    name = meaning("function", name, library) or name
    if name in MAKERS:
        return MAKERS[name](draft, site, args, given)
    if name in ARRANGERS and args:
        return ARRANGERS[name](draft, site, args, given)
    if name not in FUNCTIONS:
        known = "the array API standard's, by any name that a library has for them"
        near = nearest(name, (*FUNCTIONS, *MAKERS, *ARRANGERS))
        raise site.refuse(f"unknown function {short(name)}{near}; functions are {known}")
    return _operation(draft, site, name, FUNCTIONS[name], list(args), given)


def _operation(
    draft: Draft, site: Site, name: str, op: Operation, args: list[Argument], given: dict[str, Argument]
) -> Argument | Several:
    """A call of an operation: its operands, which come first, and what else it is given."""
    dtype = asked_dtype(site, given.pop("dtype", None))
    if op.form == "each":
        operands, rest = args, []
    elif op.form == "told":
        rest, operands = args[:1], args[1:]
        if not rest or not isinstance(rest[0], str):
            raise site.refuse(f"{name} takes a text and arrays; write {name}('ij,jk->ik', x, y)")
    elif op.form == "several" and len(args) and isinstance(args[0], tuple):
        operands, rest = list(args[0]), args[1:]
    elif op.form == "promotion":
        operands, rest = [_as_operand(draft, x) for x in args], []
        if given.get("kind") not in (None, "float", "complex"):
            raise site.refuse(f"{name} knows no such kind; it is 'float' or 'complex'")
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
    if dtype is None and op.form in ("reduction", "along") and (gives_told(op) or op.of_class in COMPUTED_IN):
        told = [i for i, x in enumerate(rest) if isinstance(x, (str, NamedDType, DTypeOf))]
        dtype = asked_dtype(site, rest.pop(told[0])) if told else None  # by position, as NumPy has it
    if rest and op.name in BEFORE_AXIS:
        before, *rest = rest
        given |= {} if before is None else {BEFORE_AXIS[op.name]: before}
    if rest and op.name not in ("reshape", "broadcast_to") and (op.form in ALONG or op.name in BY_AXIS):
        given["axis"], *rest = rest
    if gives_several(op) and dtype is None:
        return _several(draft, site, op, operands, rest, given)
    if dtype is None:
        return draft.call(site, op, operands, rest, given)
    if gives_told(op):
        return draft.call(site, op, operands, rest, given, dtype)
    if op.of_class not in COMPUTED_IN:
        raise site.refuse(f"{name} takes no dtype; cast with .astype(dtype)")
    operands = [x if draft.is_scalar(x) else draft.cast(site, x, dtype) for x in operands]
    return draft.call(site, op, operands, rest, given)


def _several(
    draft: Draft,
    site: Site,
    op: Operation,
    operands: list[Argument],
    rest: list[Argument],
    given: dict[str, Argument],
) -> Several:
    """The results of an operation that gives several; each of `meshgrid(x, y)` has one operand of its own."""
    refs = [draft.ref(site, x) for x in operands]

    def made(i: int) -> Ref:
        own, others = ([refs[i]], [*refs[:i], *refs[i + 1 :]]) if op.form == "each" else (refs, [])
        return draft.call(site, op, own, [*others, *rest], {**given, RESULT: i})

    shape = draft.shape(refs[0]) if refs else None
    axis = [given["axis"]] if "axis" in given and op.name == "unstack" else rest
    return Several(op.name, count_of(op, len(refs), shape, axis), (*PARTS.get(op.name, {}),), made, {})


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
