"""Functions of libraries that take functions: `jax.vmap`, `jax.grad`, `lax.scan`, `tf.map_fn`.

names.txt gives each of them one of the words below.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.operands.operand import scalar_operand
from typelattice.core.operations.operations import find_operation
from typelattice.programs.calls.call_tables import NameSort, name_meaning
from typelattice.programs.calls.result_shapes import plain_axes
from typelattice.programs.calls.steps import NamedDType, Ref, Slice
from typelattice.programs.readers.source.python_values import (
    MISSING,
    BoundFunction,
    ClassValue,
    DefinedFunction,
    DottedName,
    InstanceValue,
    PythonFunction,
    ReadValue,
    Scope,
    list_leaves,
    map_leaves,
)
from typelattice.programs.readers.source.readings import Reading
from typelattice.programs.readers.source.syntax_reader import SourceReader
from typelattice.programs.replay.outcome import Outcome

FUNCTIONS = (DefinedFunction, BoundFunction, PythonFunction, DottedName, ClassValue)
WHOLE_AXIS = Slice(None, None, None)


def call_transform(
    reader: SourceReader, node: ast.AST, word: str, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """Read a call of a function that takes functions. Return MISSING if it is given none."""
    yield from ()
    values = [
        x
        for given in (*args, *keywords.values())
        for x in (given if isinstance(given, (list, tuple)) else (given,))
    ]
    if word != "gradients" and not any(isinstance(x, (*FUNCTIONS, InstanceValue)) for x in values):
        return MISSING
    return (yield TRANSFORMS[word](reader, node, args, keywords, scope))


def _same(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`jit(f)`: the function itself."""
    yield from ()
    return args[0]


def _gradient(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`grad(f)`: a function whose result is like the argument that it derives by."""
    yield from ()
    function, numbers = args[0], keywords.get("argnums", args[1] if len(args) > 1 else 0)
    has_aux = reader.known(keywords.get("has_aux", False)) is True
    is_holomorphic = reader.known(keywords.get("holomorphic", False)) is not False

    def derive(reader: SourceReader, node: ast.AST, *given: Any, **named: Any) -> Reading:
        value = yield reader.call(node, function, [*given], named, scope)
        several = has_aux and isinstance(value, tuple)
        derived = None if is_holomorphic else value[0] if several else value
        by = _like(reader, node, _chosen(given, reader.known(numbers)))
        made = (by, value[1]) if several else by
        return _refuse_call(reader, node, "derivative", _refusal_to_derive(reader, by, derived), made)

    return PythonFunction("grad", derive)


def _value_and_gradient(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`value_and_grad(f)`: the result of f, and one like the argument."""
    yield from ()
    function, numbers = args[0], keywords.get("argnums", args[1] if len(args) > 1 else 0)

    def derive(reader: SourceReader, node: ast.AST, *given: Any, **named: Any) -> Reading:
        value = yield reader.call(node, function, [*given], named, scope)
        by = _like(reader, node, _chosen(given, reader.known(numbers)))
        reason = _refusal_to_derive(reader, by, value)
        return _refuse_call(reader, node, "derivative", reason, (value, by))

    return PythonFunction("value_and_grad", derive)


def _chosen(given: tuple[Any, ...], numbers: Any) -> Any:
    return tuple(given[i] for i in numbers) if isinstance(numbers, tuple) else given[numbers]


def _like(reader: SourceReader, node: ast.AST, value: Any) -> Any:
    """Return arrays of the dtypes and shapes of others, in lists and dictionaries like theirs."""

    def make_like(leaf: Any) -> Any:
        array = _number_as_array(reader, node, leaf)
        if not isinstance(array, Ref):
            return leaf
        return reader.builder.add_call(reader.excerpt_of(node), find_operation("zeros_like"), [array])

    return map_leaves(value, make_like)


def _refusal_to_derive(reader: SourceReader, by: Any, result: Any = None) -> str:
    """Return why a library derives by no such arrays, or no such result, or an empty text."""
    arrays = [x for x in list_leaves(by) if isinstance(x, Ref) and reader.is_array(x)]
    owners = (reader.builder.steps[x.step].owner for x in arrays)
    if not any(name_meaning(NameSort.DERIVED_KINDS, "grad", owner) for owner in owners):
        return ""
    for each in arrays:
        outcome = _noted_outcome(reader, each)
        if outcome.operand is not None and outcome.operand.kind not in (Kind.FLOAT, Kind.COMPLEX):
            return f"it derives by {outcome}, which has no fractions"
    for each in filter(reader.is_array, list_leaves(result)[:1]):
        outcome = _noted_outcome(reader, each)
        if outcome.operand is not None and outcome.operand.kind is Kind.COMPLEX:
            return f"it derives {outcome}, and only real numbers are derived"
    return ""


def _noted_outcome(reader: SourceReader, array: Ref) -> Outcome:
    """Return what an array is under the system for which the program is read, and note that it was asked."""
    outcome = reader.answers.outcome_of(reader.builder.steps, array.step)
    reader.answers.note(str(outcome))
    return outcome


def _refuse_call(reader: SourceReader, node: ast.AST, name: str, reason: str, values: Any) -> Any:
    """Return the values of a call. If there is a reason, each array in them is a step that is refused."""
    excerpt = reader.excerpt_of(node)

    def refuse(leaf: Any) -> Any:
        is_array = isinstance(leaf, Ref)
        return reader.builder.add_refused(excerpt, name, reason, [leaf.step]) if is_array else leaf

    return map_leaves(values, refuse) if reason else values


def _map_rows(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`vmap(f)`: a function of rows, whose results have an axis more."""
    yield from ()
    function, axes = args[0], keywords.get("in_axes", args[1] if len(args) > 1 else 0)

    def over_rows(reader: SourceReader, node: ast.AST, *given: Any, **named: Any) -> Reading:
        known = reader.known(axes)
        each = known if isinstance(known, (tuple, list)) else [known] * len(given)
        rows = [_row(reader, node, x, axis) for x, axis in zip(given, each, strict=False)]
        length = next((n for x in given if (n := _length(reader, x)) is not None), None)
        return _stack(reader, node, (yield reader.call(node, function, rows, named, scope)), length)

    return PythonFunction("vmap", over_rows)


def _row(reader: SourceReader, node: ast.AST, value: Any, axis: Any = 0) -> Any:
    """Return the first rows of arrays along an axis."""
    if axis is None:
        return value
    at = 0 if not axis else (WHOLE_AXIS,) * axis + (0,)
    excerpt, builder = reader.excerpt_of(node), reader.builder
    return map_leaves(value, lambda x: builder.add_index(excerpt, x, at) if reader.is_array(x) else x)


def _length(reader: SourceReader, value: Any) -> int | None:
    """Return the length of the first array whose length is known."""
    shapes = (reader.shape_of(x) for x in list_leaves(value) if reader.is_array(x))
    return next((shape[0] for shape in shapes if shape and shape[0] is not None), None)


def _stack(reader: SourceReader, node: ast.AST, value: Any, length: int | None) -> Any:
    """Return arrays with an axis more at the front."""
    excerpt, builder = reader.excerpt_of(node), reader.builder

    def stack(leaf: Any) -> Any:
        if leaf is None:
            return None
        many = [reader.as_argument(node, leaf)] * (length if length in (1, 2) else 2)
        stacked = builder.add_call(excerpt, find_operation("stack"), many)
        shape = builder.shape_of(stacked)
        if shape is not None:
            builder.replace_shape(stacked, (length, *shape[1:]))
        return stacked

    return map_leaves(value, stack)


def _map_function(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`map(f, xs)`: f of each row, stacked."""
    function, xs = args[0], args[1] if len(args) > 1 else keywords.get("elems", keywords.get("xs"))
    made = yield reader.call(node, function, [_row(reader, node, xs)], {}, scope)
    return _stack(reader, node, made, _length(reader, xs))


def _bind(args: Sequence[Any], keywords: Mapping[str, Any], *names: str) -> list[Any]:
    """Return the arguments of a call in the order of its parameters, `name|another name`, up to the last."""
    named = [
        keywords[key] for name in names[len(args) :] for key in name.split("|") if key in keywords
    ]
    return [*args, *named]


def _choose(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`cond(p, f, g, *operands)`: the result of f or of g."""
    names = ("pred", "true_fun|true_fn", "false_fun|false_fn", "operand|operands")
    _, first, second, *operands = _bind(args, keywords, *names)
    if len(operands) == 1 and isinstance(operands[0], tuple) and _takes_several(first, operands[0]):
        operands = [*operands[0]]
    values = []
    for function in (first, second):
        values.append((yield reader.call(node, function, [*operands], {}, scope)))
    excerpt, why = reader.excerpt_of(node), reader.condition_text(node)
    return reader.branches.merge_values(excerpt, why, *values)


def _takes_several(function: ReadValue, operands: tuple[Any, ...]) -> bool:
    return isinstance(function, DefinedFunction) and len(function.node.args.args) == len(operands)


def _scan(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`scan(f, init, xs)`: what f carries on, and its results, stacked."""
    function, carry, *rest = _bind(args, keywords, "f", "init", "xs")
    xs = rest[0] if rest else None
    stated = keywords.get("length", rest[1] if len(rest) > 1 else None)
    length = _length(reader, xs) if xs is not None else reader.known(stated)
    if length is not None and not isinstance(length, int):
        raise reader.error(node, "a length that is no known whole number; give one")
    carry = _as_array(reader, node, carry)
    made = yield reader.call(node, function, [carry, _row(reader, node, xs)], {}, scope)
    if not isinstance(made, (tuple, list)) or len(made) != 2:
        raise reader.error(node, "a function that does not return what it carries and a result; return both")
    reason = _refusal_to_carry(reader, carry, made[0])
    stacked = _stack(reader, node, _as_array(reader, node, made[1]), length)
    return _refuse_call(reader, node, "loop", reason, (_as_array(reader, node, made[0]), stacked))


def _refusal_to_carry(reader: SourceReader, before: Any, after: Any) -> str:
    """Return why a library refuses what a loop carries on, or an empty text.

    It is of another dtype than at the beginning. A weak array may become any other of its kind.
    """
    for x, y in zip(list_leaves(before), list_leaves(after), strict=False):
        if not (isinstance(x, Ref) and isinstance(y, Ref)):
            continue
        first, second = _noted_outcome(reader, x), _noted_outcome(reader, y)
        if first.dtype is None or second.dtype is None or first.dtype is second.dtype:
            continue
        if not (first.operand and first.operand.weak):
            return f"the loop begins with {first} and carries on {second}"
    return ""


def _for_loop(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`fori_loop(a, b, f, init)`: what f carries on. Its dtypes do not change, or the library refuses it."""
    first, _, function, carry = _bind(args, keywords, "lower", "upper", "body_fun", "init_val")[:4]
    number = reader.builder.add_array_of_number(reader.excerpt_of(node), first)
    carry = _as_array(reader, node, carry)
    made = yield reader.call(node, function, [number, carry], {}, scope)
    reason = _refusal_to_carry(reader, carry, made)
    return _refuse_call(reader, node, "loop", reason, _as_array(reader, node, made))


def _while_loop(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`while_loop(test, f, init)`: what f carries on."""
    _, function, carry = _bind(args, keywords, "cond_fun|cond", "body_fun|body", "init_val|loop_vars")[:3]
    carry = _as_array(reader, node, carry)
    is_several = isinstance(carry, (list, tuple)) and _takes_several(function, tuple(carry))
    made = yield reader.call(node, function, [*carry] if is_several else [carry], {}, scope)
    reason = _refusal_to_carry(reader, carry, made)
    return _refuse_call(reader, node, "loop", reason, _as_array(reader, node, made))


def _of_elements(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`vectorize(f)`: a function of arrays. Its result has the dtype of f for their first elements."""
    yield from ()
    function = args[0]
    types = keywords.get("otypes")

    def over_elements(reader: SourceReader, node: ast.AST, *given: Any, **named: Any) -> Reading:
        excerpt, builder = reader.excerpt_of(node), reader.builder
        arrays = [reader.as_argument(node, x) for x in given]
        shapes = [builder.shape_of(x) for x in arrays]
        elements = [_element(reader, node, x) for x in arrays]
        made = reader.as_argument(node, (yield reader.call(node, function, elements, named, scope)))
        filled = builder.add_array_of_list(excerpt, (made,), None)
        if isinstance(types, (list, tuple)) and types:
            dtype: Any = reader.as_argument(node, types[0])
            filled = builder.add_cast(excerpt, filled, NamedDType(dtype) if isinstance(dtype, str) else dtype)
        known = [shape for shape in shapes if shape]
        builder.replace_shape(filled, known[0] if known and all(s == known[0] for s in known) else None)
        return filled

    return PythonFunction("vectorize", over_elements)


def _element(reader: SourceReader, node: ast.AST, value: Any) -> Any:
    """Return the first element of an array."""
    if not isinstance(value, Ref) or reader.builder.is_scalar(value):
        return value
    shape = reader.builder.shape_of(value)
    element = value
    for _ in shape or ():
        element = reader.builder.add_index(reader.excerpt_of(node), element, 0)
    if shape is None:
        element = reader.builder.add_index(reader.excerpt_of(node), value, 0)
        reader.builder.replace_shape(element, ())
    return element


def _along_axis(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`apply_along_axis(f, axis, x)`: an array of the dtype that f gives for a slice."""
    function, axis, x, *rest = args
    if not isinstance(function, (DefinedFunction, BoundFunction, PythonFunction)):
        return MISSING
    array = reader.as_argument(node, x)
    shape, number = reader.builder.shape_of(array), reader.known(axis)
    if shape is None or not isinstance(number, int) or not isinstance(array, Ref):
        raise reader.error(node, "the shape is not known; give its operand a shape")
    at = tuple(WHOLE_AXIS if i == number % len(shape) else 0 for i in range(len(shape)))
    part = reader.builder.add_index(reader.excerpt_of(node), array, at)
    made = reader.as_argument(node, (yield reader.call(node, function, [part, *rest], keywords, scope)))
    filled = reader.builder.add_array_of_list(reader.excerpt_of(node), (made,), None)
    inner = reader.builder.shape_of(made) if isinstance(made, Ref) else ()
    others = (shape[: number % len(shape)], shape[number % len(shape) + 1 :])
    reader.builder.replace_shape(filled, None if inner is None else (*others[0], *inner, *others[1]))
    return filled


def _of_pieces(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`piecewise(x, conditions, functions)`: an array like x, whatever the functions give."""
    for function in args[2] if isinstance(args[2], (list, tuple)) else ():
        if isinstance(function, FUNCTIONS):
            yield reader.call(node, function, [args[0], *args[3:]], keywords, scope)
    return _like(reader, node, reader.as_argument(node, args[0]))


def _of_indices(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`fromfunction(f, shape)`: f of arrays of indices, of the default dtype or the one asked for."""
    function, axes = args[0], args[1] if len(args) > 1 else keywords.get("shape")
    shape = plain_axes(reader.known(axes))
    if shape is None:
        raise reader.error(node, "the shape is not known; give numbers")
    asked = keywords.get("dtype")
    dtype: Any = NamedDType(asked) if isinstance(asked, str) else asked
    make, excerpt = reader.builder.add_created_array, reader.excerpt_of(node)
    indices = [make(excerpt, "zeros", (shape,), {}, scalar_operand(Kind.FLOAT), dtype, shape) for _ in shape]
    return (yield reader.call(node, function, indices, {}, scope))


def _traced(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`jit(f)` of JAX: a function that makes arrays of the numbers that it takes and gives."""
    yield from ()
    function, static = args[0], {"static_argnums", "static_argnames"} & {*keywords}

    def call(reader: SourceReader, node: ast.AST, *given: Any, **named: Any) -> Reading:
        taken = given if static else tuple(_as_array(reader, node, x) for x in given)
        return _as_array(reader, node, (yield reader.call(node, function, [*taken], named, scope)))

    return PythonFunction("jit", call)


def _as_array(reader: SourceReader, node: ast.AST, value: Any) -> Any:
    """Return values with arrays in place of Python numbers."""
    return map_leaves(value, lambda leaf: _number_as_array(reader, node, leaf))


def _number_as_array(reader: SourceReader, node: ast.AST, value: Any) -> Any:
    if reader.builder.is_scalar(value):
        return reader.builder.add_array_of_number(reader.excerpt_of(node), value)
    return value


def _jacobian(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`jacfwd(f)`: a function whose result has the dtype of the argument that it derives by."""
    derive = (yield _gradient(reader, node, args, keywords, scope)).compute

    def call(reader: SourceReader, node: ast.AST, *given: Any, **named: Any) -> Reading:
        made = yield derive(reader, node, *given, **named)
        for each in made if isinstance(made, tuple) else (made,):
            if isinstance(each, Ref):
                reader.builder.replace_shape(each, None)
        return made

    return PythonFunction("jacobian", call)


def _switch(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`switch(i, functions, *operands)`: the result of one of the functions."""
    _, functions, *operands = args
    values = []
    for function in functions:
        values.append((yield reader.call(node, function, [*operands], {}, scope)))
    return reader.any_item(node, values)


def _tree(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`tree_map(f, tree)`: the tree, with the result of f for each array in it."""
    function, *trees = args
    found = []
    for leaves in zip(*map(list_leaves, trees), strict=True):
        is_left_out = leaves[0] is None
        found.append(None if is_left_out else (yield reader.call(node, function, [*leaves], {}, scope)))
    results = iter(found)
    return map_leaves(trees[0], lambda leaf: next(results))


def _gradients(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`autograd.grad(y, xs)`: arrays like xs."""
    yield from ()
    inputs = args[1] if len(args) > 1 else keywords.get("inputs")
    made = _like(reader, node, inputs)
    made = _refuse_call(reader, node, "derivative", _refusal_to_derive(reader, made), made)
    return tuple(made) if isinstance(made, (tuple, list)) else (made,)


def _choose_known(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`cond(p, f, g)` of a library that computes at once: the result of one function, if p is known."""
    known = reader.known(args[0]) if args else None
    named = {"true_fn": 1, "true_fun": 1, "false_fn": 2, "false_fun": 2}
    functions = [*args, *(keywords[key] for key in named if key in keywords)]
    if isinstance(known, bool) and len(functions) >= 3:
        return (yield reader.call(node, functions[1 if known else 2], functions[3:], {}, scope))
    return (yield _choose(reader, node, args, keywords, scope))


def _cases(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`case([(p, f)], default=g)`: the result of one of the functions."""
    pairs = args[0] if args else keywords["pred_fn_pairs"]
    values = []
    for function in (*(pair[1] for pair in pairs), *args[1:2], *filter(None, (keywords.get("default"),))):
        values.append((yield reader.call(node, function, [], {}, scope)))
    return reader.any_item(node, values)


def _fold(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`foldl(f, xs)`: f of what it gave before and of each row."""
    function, xs = args[0], args[1] if len(args) > 1 else keywords["elems"]
    start = args[2] if len(args) > 2 else keywords.get("initializer")
    row = _row(reader, node, xs)
    carry = row if start is None else _as_array(reader, node, start)
    return (yield reader.call(node, function, [carry, row], {}, scope))


def _scan_rows(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`scan(f, xs)` of TensorFlow: all that f carries on, stacked."""
    xs = args[1] if len(args) > 1 else keywords["elems"]
    made = yield _fold(reader, node, args, keywords, scope)
    return _stack(reader, node, made, _length(reader, xs))


def _fold_list(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`fold(start, f, xs)`: an array like start. `reduce(f, xs)`: f of what came before and each array."""
    given = [*args, *(keywords[key] for key in ("acc", "function", "exprs") if key in keywords)]
    function = next(x for x in given if isinstance(x, FUNCTIONS))
    *start, xs = [x for x in given if x is not function]
    items: list[Any] = yield reader.read_items(node, xs)
    value, *rest = [*start, *items]
    for x in rest:
        value = yield reader.call(node, function, [value, x], {}, scope)
    return _like(reader, node, reader.as_argument(node, start[0])) if start else value


def _associative_scan(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`associative_scan(f, xs)`: arrays like f of two parts of them."""
    function, xs = args[0], args[1] if len(args) > 1 else keywords["elems"]
    return (yield reader.call(node, function, [xs, xs], {}, scope))


def _forward_derivative(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`jvp(f, xs, tangents)`: the result of f, and its derivative, which is like it."""
    xs = args[1] if isinstance(args[1], (list, tuple)) else [args[1]]
    made = yield reader.call(node, args[0], [*xs], {}, scope)
    found = [made] if isinstance(args[1], list) and isinstance(made, Ref) else made
    reason = _refusal_to_derive(reader, [*xs])
    return _refuse_call(reader, node, "derivative", reason, (found, _like(reader, node, found)))


def _backward_derivative(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`vjp(f, xs, cotangents)` of MLX: the results of f, and arrays like xs."""
    made = yield reader.call(node, args[0], [*args[1]], {}, scope)
    found, by = [made] if isinstance(made, Ref) else made, _like(reader, node, [*args[1]])
    return _refuse_call(reader, node, "derivative", _refusal_to_derive(reader, by), (found, by))


def _result_and_derivative(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`vjp(f, *xs)` of JAX: the result of f, and a function that gives arrays like xs."""
    xs = args[1:]
    made = yield reader.call(node, args[0], [*xs], {}, scope)

    def derive(reader: SourceReader, node: ast.AST, *given: Any) -> Reading:
        yield from ()
        by = _like(reader, node, tuple(xs))
        return _refuse_call(reader, node, "derivative", _refusal_to_derive(reader, by), by)

    return (made, PythonFunction("vjp", derive))


def _linearization(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`linearize(f, *xs)`: the result of f, and a function that gives an array like it."""
    made = yield reader.call(node, args[0], args[1:], {}, scope)

    def derive(reader: SourceReader, node: ast.AST, *given: Any) -> Reading:
        yield from ()
        return _like(reader, node, made)

    return (made, PythonFunction("linearize", derive))


def _call_at_once(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`eval_shape(f, *xs)`: an array of the dtype of the result of f."""
    return (yield reader.call(node, args[0], args[1:], keywords, scope))


def _jacobian_at(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`jacobian(f, x)`: an array of the dtype of x."""
    derive = yield _jacobian(reader, node, args[:1], keywords, scope)
    return (yield reader.call(node, derive, args[1:2], {}, scope))


def _of_blocks(
    reader: SourceReader, node: ast.AST, args: list[Any], keywords: dict[str, Any], scope: Scope
) -> Reading:
    """`map_blocks(f, *xs, dtype=None)`: f of arrays like xs, or what the dtype says."""
    function = next(x for x in args if isinstance(x, FUNCTIONS))
    arrays = [reader.as_argument(node, x) for x in args if x is not function]
    excerpt, asked = reader.excerpt_of(node), keywords.get("dtype")
    asked = keywords.get("return_dtype", asked)
    first = next((x for x in arrays if reader.is_array(x)), None)
    made: Any
    if asked is not None and isinstance(first, Ref):
        dtype: Any = reader.as_argument(node, asked)
        made = reader.builder.add_cast(excerpt, first, NamedDType(dtype) if isinstance(dtype, str) else dtype)
    else:
        made = reader.as_argument(node, (yield reader.call(node, function, arrays, {}, scope)))
    if isinstance(made, Ref):
        reader.builder.replace_shape(made, None)
    return made


TRANSFORMS: Mapping[str, Callable[..., Reading]] = {
    "same": _same,
    "gradient": _gradient,
    "gradients": _gradients,
    "value-and-gradient": _value_and_gradient,
    "rows": _map_rows,
    "jacobian": _jacobian,
    "map": _map_function,
    "axis": _along_axis,
    "choice": _choose,
    "choice-at-once": _choose_known,
    "cases": _cases,
    "fold": _fold,
    "fold-list": _fold_list,
    "scan-rows": _scan_rows,
    "associative": _associative_scan,
    "forward": _forward_derivative,
    "backward": _backward_derivative,
    "derivative": _result_and_derivative,
    "linearization": _linearization,
    "jacobian-at": _jacobian_at,
    "call": _call_at_once,
    "blocks": _of_blocks,
    "elements": _of_elements,
    "indices": _of_indices,
    "pieces": _of_pieces,
    "scan": _scan,
    "for": _for_loop,
    "switch": _switch,
    "traced": _traced,
    "tree": _tree,
    "while": _while_loop,
}
