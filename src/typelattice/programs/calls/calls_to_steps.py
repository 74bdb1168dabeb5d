"""Calls bound to their rows of the table, and turned into steps of a program.

Code that reads calls needs two functions. `call_function(builder, excerpt, "sum", [x, 0], {"dtype": to})`
adds the steps of a library's function. `call_method` in methods.py adds the steps of an array's method.
`excerpt.owner` is the library. Only `bind` sorts the arguments into operands, dtype, out, and those that a
step keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.core.books.read_book import INNER_FUNCTION_PREFIX
from typelattice.core.dtypes.dtypes import DTYPES, Kind
from typelattice.core.operands.read_objects import operand
from typelattice.core.operations.operations import Operation
from typelattice.programs.calls.call_custom_operation import call_custom_operation
from typelattice.programs.calls.call_tables import (
    ANY_RESULT_COUNT_MARK,
    OPERATION_BY_FUNCTION,
    SAME_ARGUMENTS_PREFIX,
    NameSort,
    ParameterRow,
    ResultRow,
    Signature,
    attribute_dtype,
    find_creator_signature,
    find_equivalents,
    find_signature,
    follows_condition,
    is_identity,
    is_undescribed,
    name_meaning,
    parameter_of_all,
    takes_list,
)  # fmt: skip
from typelattice.programs.calls.compositions import add_composition, find_composition, find_object_call
from typelattice.programs.calls.creation_and_cast_handlers import (
    COMPOSITION_HANDLERS,
    CREATION_HANDLERS,
    add_cast_to,
)
from typelattice.programs.calls.function_call import FunctionCall, requested_dtype
from typelattice.programs.calls.multiple_results import (
    STANDS_FOR_KEYWORD,
    MultipleResults,
    count_results,
    has_multiple_results,
)
from typelattice.programs.calls.program_builder import RESULT_KEYWORD, ProgramBuilder
from typelattice.programs.calls.result_shapes import result_shape
from typelattice.programs.calls.steps import (
    SAME_KIND_KEYWORD_AND_VALUE,
    Argument,
    DTypeArgument,
    DTypeOf,
    Excerpt,
    NamedDType,
    ProgramError,
    Ref,
    UnknownFunctionError,
)

CLASSES_COMPUTED_IN_DTYPE = (
    "arithmetic", "subtraction", "division", "maths", "averages", "deviation", "extreme", "power", "modulo",
    "products",
)  # fmt: skip
CLASS_CAST_AFTERWARDS = "absolute"  # in this class `dtype` states the dtype of the result
CLASSES_NEEDING_FLOATS = ("maths", "division")  # classes without integer loops in NumPy
FORMS_OF_OPERANDS_ALONE = ("separate", "promotion", "cases")  # forms that take any number of operands
FORMS_WHERE_ALL_PROMOTE = (
    *FORMS_OF_OPERANDS_ALONE,
    "elementwise",
    "pair",
    "choice",
    "subscripts",
)  # forms without other arguments
FORMS_NEEDING_ALL_OPERANDS = ("choice", "indexed")  # in these forms, an expression needs all operands


@dataclass(frozen=True, slots=True)
class BoundCall:
    """A call with its arguments bound to the parameters of its row.

    - `args` and `keywords` are the arguments that a step keeps, by position and by name.
    - `out` is the array that receives the result.
    - `joined_arguments` are arguments that promote with the first operand before the operation runs.
    - `allows_any_cast`: NumPy's `casting="unsafe"` allows a dtype or an output of any kind.
    """

    operation: Operation
    signature: Signature
    operands: tuple[Argument, ...]
    args: tuple[Argument, ...]
    keywords: Mapping[str, Argument]
    dtype: DTypeArgument | None = None
    out: Argument = None
    joined_arguments: tuple[tuple[Operation, Argument], ...] = ()
    allows_any_cast: bool = False


def is_function(name: str, library: str | None) -> bool:
    """Return True if a library's function of a name is an operation, or makes an array."""
    if (
        name in OPERATION_BY_FUNCTION
        or name in CREATION_HANDLERS
        or attribute_dtype(name, library)
        or is_identity(name, library)
    ):
        return True
    return name_meaning(NameSort.CREATION_FUNCTION, name, library) is not None


def count_leading_operands(operation: Operation | None) -> int | None:
    """Return the number of leading arguments that are operands, or None if any by position may be one."""
    if operation is None or operation.call_form in FORMS_WHERE_ALL_PROMOTE:
        return None
    return 1 if operation.call_form == "list" else operation.max_operands


def call_function(
    builder: ProgramBuilder,
    excerpt: Excerpt,
    name: str,
    args: Sequence[Argument],
    keywords: Mapping[str, Argument],
) -> Argument | MultipleResults:
    """Add the steps of a call of a library's function. Return one result, several, or a plain value.

    A function without a library may be an operation that a system defines. Raises ProgramError.
    """
    if excerpt.owner is None and name in builder.custom_operations:
        return call_custom_operation(builder, excerpt, builder.custom_operations[name], args, keywords)
    call = FunctionCall(builder, excerpt, name, args, keywords)
    is_inner = name.startswith(INNER_FUNCTION_PREFIX) and not name.endswith("__")
    return _call_named(call) if is_inner else _call_composed(call)


def call_object(
    call: FunctionCall, object_args: Sequence[Argument], object_keywords: Mapping[str, Argument]
) -> Argument | MultipleResults:
    """Add the steps of a call of an object, as a book describes it: `nn.Linear(4, 2)(x)`.

    `call` has the arguments of the call. The others are those that made the object. Raises ProgramError.
    """
    composed = find_object_call(call, object_args, object_keywords)
    if composed is None:
        known = ", ".join(call.keywords) or "these arguments"
        raise call.excerpt.error(f"no row describes it with {known}; leave out what decides no dtype")
    return add_composition(call.builder, call.excerpt, *composed, _call_composed, _call_named)


def _call_composed(call: FunctionCall) -> Argument | MultipleResults:
    """Add the steps of a composition, or None for any other function. Raises ProgramError."""
    builder = call.builder
    library = builder.find_owner(call.excerpt, [x.step for x in call.args if isinstance(x, Ref)])
    composed = (
        None
        if builder.find_observed_operand
        else find_composition(call.name, library, call.args, call.keywords, builder.is_number_of_source)
    )
    if composed is not None:
        return add_composition(builder, call.excerpt, *composed, _call_composed, _call_named)
    if is_undescribed(call.name.split("."), library):
        raise UnknownFunctionError(str(_unknown_function_error(call)))
    if "." in call.name and not find_equivalents(call.name, library):  # no row with the module fits
        return _call_composed(replace(call, name=call.name.rpartition(".")[2]))
    return _call_named(call)


def _call_named(call: FunctionCall) -> Argument | MultipleResults:
    """Add the steps of a function recognised only by its name. Raises ProgramError."""
    builder, excerpt, name, args, library = call.builder, call.excerpt, call.name, call.args, call.library
    given = {key: builder.known_number(value) for key, value in call.keywords.items()}
    given = {key: value for key, value in given.items() if value is not None}
    cast = attribute_dtype(name, library)
    if cast is not None and name not in OPERATION_BY_FUNCTION and args:
        return add_cast_to(builder, excerpt, args[0], cast)
    if is_identity(name, library) and args:
        return args[0]
    function = name_meaning(NameSort.CREATION_FUNCTION, name, library) or name
    if args and isinstance(args[0], tuple) and _flattens_first(function, args, call.keywords):
        flat = tuple(
            builder.add_call(excerpt, OPERATION_BY_FUNCTION["reshape"], [x], ((-1,),)) for x in args[0]
        )
        args = [flat, *args[2:]]
    return _call_operation(FunctionCall(builder, excerpt, function, args, given))


def _flattens_first(name: str, args: Sequence[Argument], keywords: Mapping[str, Argument]) -> bool:
    """Return True if a call flattens its arrays before it joins them: `concat([x, y], axis=None)`."""
    axis = args[1] if len(args) > 1 else keywords.get("axis", 0)
    return axis is None and name in OPERATION_BY_FUNCTION and OPERATION_BY_FUNCTION[name].name == "concat"


def _call_operation(call: FunctionCall) -> Argument | MultipleResults:
    """Add the steps of a function that makes an array, is an operation, or has the dtypes of operations."""
    builder, excerpt, name, library = call.builder, call.excerpt, call.name, call.library
    if name in CREATION_HANDLERS:
        bound = bind_creator(call)
        made_by = bound.pop(STANDS_FOR_KEYWORD, None)
        made = CREATION_HANDLERS[name](replace(call, args=(), keywords=bound))
        if made_by is not None and isinstance(made, Ref):
            builder.mark_made_by(made, (STANDS_FOR_KEYWORD, str(made_by)))
        return made
    equivalents = find_equivalents(name, library) if call.args else ()
    if equivalents and (builder.find_observed_operand or name in OPERATION_BY_FUNCTION):
        return _call_equivalents(call, equivalents)
    if name in COMPOSITION_HANDLERS and call.args and name_meaning(NameSort.COMPOSED, name, library):
        plain = {key: value for key, value in call.keywords.items() if value is not False}
        result: Argument | MultipleResults = COMPOSITION_HANDLERS[name](replace(call, keywords=plain))
        if result is not NotImplemented:
            return result
    if name in OPERATION_BY_FUNCTION:
        return build_steps(builder, excerpt, bind_call(call))
    if equivalents:
        return _call_equivalents(call, equivalents)
    raise UnknownFunctionError(str(_unknown_function_error(call)))


def _unknown_function_error(call: FunctionCall) -> ProgramError:
    known = "the array API standard's, by any name that a library has for them"
    names = (
        *call.builder.custom_operations, *OPERATION_BY_FUNCTION, *CREATION_HANDLERS, *COMPOSITION_HANDLERS,
    )  # fmt: skip
    near = "" if call.name in names else spelling_hint(call.name, names)
    return call.excerpt.error(
        f"unknown function {quote_short(call.name)}{near}; functions are {known}; "
        "`typelattice explain --list-ops` lists them"
    )


def bind_call(call: FunctionCall) -> BoundCall:
    """Bind the arguments of a function that is an operation to the parameters of its row.

    Raises ProgramError for an argument that the row does not have, or that affects dtypes without a rule.
    """
    builder, excerpt, name, args = call.builder, call.excerpt, call.name, call.args
    op = OPERATION_BY_FUNCTION[name]
    row = find_signature(op, call.library)
    text: tuple[Argument, ...] = ()
    if row.first_role == "text":
        if not args or not isinstance(args[0], str):
            raise excerpt.error(f"{name} takes a text and arrays; write {name}('ij,jk->ik', x, y)")
        text, args = (args[0],), args[1:]
        if len(args) == 1 and isinstance(args[0], tuple) and takes_list(op.name, call.library):
            args = args[0]
    operands, positional = _split_operands(op, row, args)
    values = _bind_values(replace(call, name=op.name, args=positional), row, op)
    if values is None:  # too many arguments: the builder refuses them
        operands, values = list(args), {}
    if (
        op.call_form in FORMS_NEEDING_ALL_OPERANDS
        and len(operands) < (op.max_operands or 0)
        and not builder.find_observed_operand
    ):
        raise excerpt.error(f"{name} takes {op.max_operands} operands in an expression, not {len(operands)}")
    add_named_operands(op, row, operands, values)
    if op.call_form == "promotion":
        operands = [Ref(x.step) if isinstance(x, DTypeOf) else x for x in operands]
        if values.get("kind") not in (None, "float", "complex"):
            raise excerpt.error(f"{name} knows no such kind; it is 'float' or 'complex'")
    dtype, out = requested_dtype(excerpt, values.pop("dtype", None)), values.pop("out", None)
    if builder.find_observed_operand and not isinstance(out, Ref):
        out = None
    casting = call.keywords.get("casting")
    if casting == "safe" and (dtype is not None or out is not None):
        message = f"{name} is given casting='safe' and a dtype or an output"
        raise excerpt.error(f"{message}; leave the casting out")
    joined = tuple(_take_joined(row, values))
    args_kept = (
        *text,
        *(values.pop(p.name) for p in row.parameters if p.role == "position" and p.name in values),
    )
    return BoundCall(op, row, tuple(operands), args_kept, values, dtype, out, joined, casting == "unsafe")


def bind_creator(call: FunctionCall) -> dict[str, Argument]:
    """Bind the arguments of a function that makes an array: each by the name that its row has for it."""
    row = find_creator_signature(call.name)
    values = _bind_values(call, row)
    if values is None:
        count, takes = len(call.args), ", ".join(row.kept_parameter_names)
        raise call.excerpt.error(f"{call.name} is given {count} arguments; it takes {takes}")
    return values


def build_steps(builder: ProgramBuilder, excerpt: Excerpt, call: BoundCall) -> Argument | MultipleResults:
    """Build the steps of a bound call: casts to the requested dtype, the operation, and the write."""
    op, row, operands, dtype = call.operation, call.signature, list(call.operands), call.dtype
    for joins, other in call.joined_arguments:
        operands[0] = _join_with_argument(builder, excerpt, joins, operands[0], other)
    if any(r.call for r in row.results):
        if not row.multiple_results_parameter or row.multiple_results_parameter in call.keywords:
            return _make_results_by_calls(builder, excerpt, call)
    elif dtype is None and (
        op.call_form == "separate" or (has_multiple_results(op) and STANDS_FOR_KEYWORD not in call.keywords)
    ):
        return _make_multiple_results(builder, excerpt, op, operands, list(call.args), dict(call.keywords))
    if dtype is None or op.takes_dtype:
        result = builder.add_call(excerpt, op, operands, call.args, call.keywords, dtype)
    else:
        result = _compute_in_dtype(builder, excerpt, call, operands, dtype)
    if call.out is None:
        return result
    marks = (
        (SAME_KIND_KEYWORD_AND_VALUE,)
        if op.call_form in ("elementwise", "pair") and not call.allows_any_cast
        else ()
    )
    return builder.add_setitem(excerpt, call.out, ..., result, marks=marks)


def _compute_in_dtype(
    builder: ProgramBuilder,
    excerpt: Excerpt,
    call: BoundCall,
    operands: Sequence[Argument],
    dtype: DTypeArgument,
) -> Ref:
    """Add an operation that computes in the requested dtype, with casts before or after it."""
    op = call.operation
    _check_same_kind(builder, excerpt, op, operands, dtype, call.allows_any_cast)
    if op.operation_class == CLASS_CAST_AFTERWARDS or op.call_form == "list":
        return builder.add_cast(
            excerpt, builder.add_call(excerpt, op, operands, call.args, call.keywords), dtype
        )
    if op.operation_class not in CLASSES_COMPUTED_IN_DTYPE:
        raise excerpt.error(f"{op.name} takes no dtype; cast with .astype(dtype)")
    mixed = any(
        x is not None and not builder.is_scalar(x) for x in operands
    )  # without arrays, numbers are also cast
    uncast = [x is None or (mixed and builder.is_scalar(x)) for x in operands]
    operands = [
        x if k else builder.add_cast(excerpt, x, dtype) for x, k in zip(operands, uncast, strict=True)
    ]
    result = builder.add_call(excerpt, op, operands, call.args, call.keywords)
    target = builder.dtype_of(dtype)
    if (
        op.operation_class in ("averages", "deviation")
        and target is not None
        and target.kind.category <= Kind.SIGNED.category
    ):
        return builder.add_cast(excerpt, result, dtype)  # NumPy's mean with dtype=int8 is int8
    return result


def _check_same_kind(
    builder: ProgramBuilder,
    excerpt: Excerpt,
    operation: Operation,
    operands: Sequence[Argument],
    requested: DTypeArgument,
    casts_all: bool,
) -> None:
    """Check that operands may be cast to the dtype requested of NumPy. Raises ProgramError.

    A ufunc never lowers the kind: `np.add(x, y, dtype=np.float64)` refuses a complex array, and accepts a
    wider float. Neither does `np.concatenate`.
    """
    is_ufunc = operation.call_form in ("elementwise", "pair", "list") and name_meaning(
        NameSort.REFUSES_HIGHER_KINDS, "dtype", excerpt.owner
    )
    to = builder.dtype_of(requested)
    if to is None or not is_ufunc:
        return
    if operation.operation_class in CLASSES_NEEDING_FLOATS and to.kind not in (Kind.FLOAT, Kind.COMPLEX):
        raise excerpt.error(f"{operation.name} has no loop that computes in {to}; ask for a float")
    for x in () if casts_all else operands:
        number = builder.known_number(x)
        own = builder.dtype_of(x) if isinstance(x, Ref) else None
        if isinstance(number, (bool, int, float, complex)):
            kind = operand(number).kind
            lowered = kind.category > to.kind.category
        else:
            kind = to.kind if own is None else own.kind
            kind = (
                Kind.FLOAT
                if operation.operation_class == CLASS_CAST_AFTERWARDS and kind is Kind.COMPLEX
                else kind
            )
            lowered = kind.position > to.kind.position
        if lowered:
            message = f"{operation.name} casts no {kind.python_name} to {to}, which is of a lower kind"
            raise excerpt.error(f"{message}; cast it with .astype({to})")


# -- arguments


def _split_operands(
    operation: Operation, row: Signature, args: Sequence[Argument]
) -> tuple[list[Argument], list[Argument]]:
    """Split the positional arguments into the operands and the rest."""
    if row.first_role == "list" and args and isinstance(args[0], tuple):
        return [*args[0]], [*args[1:]]
    if row.first_role == "operand":
        return [], [*args]
    if operation.call_form == "cases" and len(args) > 1 and isinstance(args[1], tuple):
        return [*args[1]], [*args[2:]]
    if row.first_role in ("list", "text") or operation.call_form in FORMS_OF_OPERANDS_ALONE:
        return [*args], []
    most = operation.max_operands or operation.min_operands
    return [*args[:most]], [*args[most:]]


def add_named_operands(
    operation: Operation, row: Signature, operands: list[Argument], values: dict[str, Argument]
) -> None:
    """Add the operands that were passed by name."""
    for at, parameter in enumerate((p for p in row.parameters if p.role == "operand"), len(operands)):
        if parameter.name in values:
            operands += [None] * (at + 1 - len(operands))
            operands[at] = values.pop(parameter.name)
        elif operation.call_form == "cases":
            operands.append(0)


def _bind_values(
    call: FunctionCall, row: Signature, operation: Operation | None = None
) -> dict[str, Argument] | None:
    """Bind the arguments after the operands to parameters, or None for more arguments than parameters."""
    builder, excerpt, name, is_creator = call.builder, call.excerpt, call.name, operation is None
    placed = _place_arguments(
        builder,
        row,
        call.args,
        is_creator,
        operation is not None and count_leading_operands(operation) is None,
    )
    if placed is None:
        return None
    placed += [(_find_parameter(call, row, key, value), value) for key, value in call.keywords.items()]
    values: dict[str, Argument] = {}
    for parameter, value in placed:
        if parameter is None or value is None or parameter.name in values:
            continue
        if parameter.role == "deciding" and value in parameter.allowed_values:
            continue
        if parameter.role == "deciding":
            message = f"{name} is given {parameter.name}"
            raise excerpt.error(f"{message}, on which its dtype depends by no rule; leave it out")
        if value is False and parameter.role not in ("operand", "position", "joined"):
            continue
        if parameter.must_be_float and isinstance(value, int):
            raise excerpt.error(f"{parameter.name} is no float, which changes the result; write {value}.0")
        if parameter.must_be_real and isinstance(value, complex):
            message = f"{parameter.name} is complex, which {name} of real values refuses"
            raise excerpt.error(f"{message}; leave it out")
        if isinstance(value, Ref) and parameter.role in ("position", "name", "initial") and not is_creator:
            if builder.find_observed_operand:
                continue
            raise excerpt.error(f"{parameter.name} is given a value that is not known; give a number")
        values[parameter.name] = value
    return values


def _place_arguments(
    builder: ProgramBuilder,
    row: Signature,
    positional: Sequence[Argument],
    is_creator: bool,
    all_take_part: bool,
) -> list[tuple[ParameterRow | None, Argument]] | None:
    """Find the parameter of each argument after the operands, or None for more arguments than parameters."""
    unplaced = [p for p in row.positional_parameters if p.role not in ("operands", "list", "text")]
    dtype_parameter = row.find_parameter("dtype")
    placed: list[tuple[ParameterRow | None, Argument]] = []
    remaining = [*positional]
    while remaining:
        value = remaining.pop(0)
        if dtype_parameter and _is_dtype(value) and not (unplaced and unplaced[0].role == "dtype"):
            placed.append((dtype_parameter, value))  # NumPy and others have it at different positions
            continue
        if not unplaced:
            if row.ignores_other_arguments or (
                builder.find_observed_operand and not all_take_part and not may_affect_dtype(builder, value)
            ):
                continue
            return None
        parameter = unplaced.pop(0)
        if parameter.role != "operand":
            value = builder.known_number(value)
        may_be_array = is_creator or parameter.role in ("operand", "where", "out", "joined", "dtype")
        if isinstance(value, Ref) and not may_be_array and not builder.find_observed_operand:
            return None
        count = _count_spread(parameter, value, remaining)
        if count:
            value, remaining = (value, *map(builder.known_number, remaining[:count])), remaining[count:]
        placed.append((parameter, value))
    return placed


def _count_spread(parameter: ParameterRow, value: Argument, rest: Sequence[Argument]) -> int:
    """Count the arguments after the first that belong to the same parameter: 2 in x.reshape(2, 3, 4)."""
    if not parameter.is_variadic or isinstance(value, tuple):
        return 0
    return next((i for i, x in enumerate(rest) if not isinstance(x, (int, Ref))), len(rest))


def _take_joined(row: Signature, values: dict[str, Argument]) -> Iterator[tuple[Operation, Argument]]:
    """Take the arguments that join the first operand, each with the operation that joins them."""
    for p in row.parameters:
        if p.role != "joined" or p.name not in values:
            continue
        if p.joined_by != "result_type":
            yield OPERATION_BY_FUNCTION[p.joined_by], values.pop(p.name)
        elif _may_promote(values[p.name]):
            yield OPERATION_BY_FUNCTION[p.joined_by], values[p.name]


def _is_dtype(x: Argument) -> bool:
    return isinstance(x, (NamedDType, DTypeOf)) or (isinstance(x, str) and x in DTYPES)


def _may_promote(x: Argument) -> bool:
    """Return True if an argument that joins an operand may change its dtype. A real Python number cannot."""
    return isinstance(x, (Ref, tuple, complex))


def may_affect_dtype(builder: ProgramBuilder, argument: Argument) -> bool:
    """Return True if an unknown argument may affect a dtype: an array, a complex number or a dtype."""
    if isinstance(argument, tuple):
        return any(may_affect_dtype(builder, item) for item in argument)
    if isinstance(argument, Ref):
        o = builder.find_observed_operand(argument.step) if builder.find_observed_operand else None
        # a 0-d integer may be an axis
        whole = o is not None and o.tier == "0d" and o.kind in (Kind.SIGNED, Kind.UNSIGNED)
        return not whole and (o is None or o.kind is not Kind.BOOL)
    return isinstance(argument, (complex, NamedDType, DTypeOf))


def _is_ignored(row: Signature, key: str) -> bool:
    parameter = row.find_parameter(key) or parameter_of_all(key)
    return parameter is not None and parameter.role == "ignored"


def _find_parameter(call: FunctionCall, row: Signature, key: str, value: Argument) -> ParameterRow | None:
    """Find the parameter of a named argument, or None if the argument does not affect dtypes.

    Raises ProgramError for an argument that is not known.
    """
    parameter = row.find_parameter(key) or parameter_of_all(key)
    if key == STANDS_FOR_KEYWORD:
        return ParameterRow((STANDS_FOR_KEYWORD,), "name")
    if parameter is not None:
        return None if parameter.role == "ignored" else parameter
    if row.ignores_other_arguments or (
        call.builder.find_observed_operand and not may_affect_dtype(call.builder, value)
    ):
        return None
    settings = ", ".join(row.kept_parameter_names)
    allowed = f"{settings} may be named" if settings else "nothing may be named"
    suggestion = spelling_hint(key, [p.name for p in row.parameters if p.role != "ignored"])
    message = f"{call.name} is given {key}{suggestion}"
    raise call.excerpt.error(f"{message}; of its arguments {allowed}; cast with .astype(dtype)")


# -- several results, and expressions that replace a function


def _join_with_argument(
    builder: ProgramBuilder, excerpt: Excerpt, operation: Operation, joined_operand: Argument, other: Argument
) -> Argument:
    """Join an operand with another argument: an array, a list of numbers, or a number."""
    if isinstance(other, tuple):
        other = tuple(float(i) if isinstance(i, int) else i for i in other)
    keeps_shape = operation.call_form == "promotion"  # else the axis of the call decides the shape
    join = builder.add_call(excerpt, operation, [joined_operand, other], has_known_shape=keeps_shape)
    return (
        builder.add_cast(excerpt, joined_operand, DTypeOf(join.step))
        if operation.call_form == "promotion"
        else join
    )


def _make_results_by_calls(builder: ProgramBuilder, excerpt: Excerpt, call: BoundCall) -> MultipleResults:
    """Return several results, each by its own call, such as values and indices of PyTorch's `max(x, 0)`."""
    refs = [builder.ensure_ref(excerpt, x) for x in call.operands]
    results = call.signature.results

    def make_result(i: int) -> Ref:
        result: ResultRow = results[i]
        ref = builder.add_call(excerpt, OPERATION_BY_FUNCTION[result.call], refs, call.args, call.keywords)
        if result.matches_dtype_only:
            first = OPERATION_BY_FUNCTION[results[0].call]
            shape = result_shape(first, [builder.shape_of(x) for x in refs], call.args, call.keywords)
            builder.mark_same_dtype_as(ref, (STANDS_FOR_KEYWORD, call.operation.name), shape)
        return ref

    return MultipleResults(call.operation.name, len(results), tuple(r.name for r in results), make_result, {})


def _make_multiple_results(
    builder: ProgramBuilder,
    excerpt: Excerpt,
    operation: Operation,
    operands: list[Argument],
    args: list[Argument],
    keywords: dict[str, Argument],
) -> MultipleResults:
    """Return the results of an operation with one for each operand, such as `meshgrid(x, y)`."""
    if operation.call_form == "separate" and len(operands) == 1 and isinstance(operands[0], tuple):
        operands = [*operands[0]] if takes_list(operation.name, excerpt.owner) else operands
    refs = [builder.ensure_ref(excerpt, x) for x in operands]

    def make_result(i: int) -> Ref:
        own, others = (
            ([refs[i]], [*refs[:i], *refs[i + 1 :]]) if operation.call_form == "separate" else (refs, [])
        )
        return builder.add_call(excerpt, operation, own, [*others, *args], {**keywords, RESULT_KEYWORD: i})

    shape = builder.shape_of(refs[0]) if refs else None
    fields = (
        ()
        if operation.call_form == "separate"
        else tuple(r.name for r in find_signature(operation, None).results)
    )
    given = [keywords["axis"]] if "axis" in keywords and operation.name == "unstack" else args
    if operation.name == "split" and given and "axis" in keywords:
        given = [*given[:1], keywords["axis"]]
    library = builder.find_owner(excerpt, [ref.step for ref in refs])
    count = count_results(operation, len(refs), shape, given, library)
    return MultipleResults(operation.name, count, fields, make_result, {})


def _call_equivalents(call: FunctionCall, equivalents: Sequence[str]) -> Argument | MultipleResults:
    """Add a function with the dtypes of operations, but other values: `topk` as `sort` and `argsort`."""
    builder, excerpt, name, args = call.builder, call.excerpt, call.name, call.args
    if equivalents[0].startswith(SAME_ARGUMENTS_PREFIX):
        same, given = (
            equivalents[0].removeprefix(SAME_ARGUMENTS_PREFIX),
            {**call.keywords, STANDS_FOR_KEYWORD: name},
        )
        return build_steps(builder, excerpt, bind_call(replace(call, name=same, keywords=given)))
    if follows_condition(name):  # the first argument is a condition, the second the array
        args = [*args[1:2], *args[:1], *args[2:]]
    several = equivalents[-1] == ANY_RESULT_COUNT_MARK
    ops = [OPERATION_BY_FUNCTION[like] for like in equivalents if like != ANY_RESULT_COUNT_MARK]
    count, row = ops[0].max_operands or len(args), find_signature(ops[0], call.library)
    named = {key: x for key, x in call.keywords.items() if key != "dtype" and not _is_ignored(row, key)}
    if not row.ignores_other_arguments and any(
        may_affect_dtype(builder, x) for x in (*args[count:], *named.values())
    ):
        raise excerpt.error(f"the dtype of {name} depends on more than its operands; leave the others out")
    operand_refs, dtype = [call.ensure_ref(x) for x in args[:count]], call.dtype
    if dtype is not None and not ops[0].takes_dtype:
        raise excerpt.error(f"{name} takes no dtype; cast with .astype(dtype)")

    def make_result(i: int) -> Ref:
        op = ops[0] if several else ops[i]
        operands = operand_refs[: op.max_operands or len(operand_refs)]
        ref = builder.add_call(excerpt, op, operands, (), {STANDS_FOR_KEYWORD: name}, dtype)
        builder.forget_shape(ref)
        return ref

    if several:
        return MultipleResults(name, None, (), make_result, {})
    return (
        make_result(0)
        if len(ops) == 1
        else MultipleResults(name, len(ops), ("values", "indices")[: len(ops)], make_result, {})
    )
