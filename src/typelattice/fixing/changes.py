"""Changes of source text that may keep floats narrow, at the places that decide a wide dtype."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from typelattice.calls.steps import Call, Cast, Created, Input, Step
from typelattice.facts.dtypes import DTYPES, DType
from typelattice.facts.libraries import libraries
from typelattice.fixing.source import MAX_NAMES_TRIED, Edit, SourceFile
from typelattice.tracing.findings.cast_plans import POSITION_OPERATIONS
from typelattice.tracing.findings.dtype_argument_origin import DTYPE_POSITIONS
from typelattice.tracing.findings.predicted_run import PredictedRun
from typelattice.tracing.findings.widening_causes import WideningCause
from typelattice.tracing.library_traits import cast_text, has_rules
from typelattice.tracing.run_data.float_widths import dtype_at_width_of, is_integer

MAX_LATER_EXPRESSIONS = 6  # expressions after a widening that are cast instead
MAX_WIDENINGS = 40  # steps that widen because of one cause, where casts are tried
MAX_WIDENING_NODES = 4  # expressions of these steps
MAX_COMBINED = 4  # changes at each of two places that are tried together
LIST_OPERATIONS = {"concat", "stack"}  # both take a list of arrays, and a dtype
BUILTIN_NAMES = {*dir(builtins)}  # such as `float`, which is no array
LIST_NODES = (ast.List, ast.Tuple)


FILLING_OPERATIONS = {
    "zeros",
    "ones",
    "full",
    "empty",
    "eye",
    "zeros_like",
    "ones_like",
    "full_like",
    "empty_like",
}
UFUNC_BY_OPERATOR: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "power",
}  # fmt: skip
"""The function of each operator. It takes lists and numbers, as an array does beside the operator."""


@dataclass(frozen=True, slots=True)
class Change:
    """Edits that change one expression, at a line of a file."""

    file: str
    line: int
    edits: tuple[Edit, ...]


def propose_narrowing_changes(
    predicted_run: PredictedRun, cause: WideningCause, sources: Mapping[str, SourceFile]
) -> Iterator[Change]:
    """Yield the changes that may remove a cause, the best first, all within the given sources.

    A cast stands where the narrow array meets the wide one. Only an array that this place uses as it was
    made, or writes into, may be made narrow at once. Never made narrow are constants of a module or a class,
    positions, and state that an object keeps. Each place has several forms, the idiomatic ones first.
    """
    origin = _StepNode.find(predicted_run, cause.origin_steps[0], sources)
    widenings = [
        at for i in cause.widening_steps[:MAX_WIDENINGS]
        if (at := _StepNode.find(predicted_run, i, sources)) is not None
    ]  # fmt: skip
    widenings = [*{at.node: at for at in widenings}.values()][:MAX_WIDENING_NODES]
    widening = widenings[0] if widenings else None
    if origin and _is_fixed(origin):
        origin = None
    near = origin is not None and widening is not None and origin.scope is widening.scope
    is_cast = isinstance(predicted_run.steps[cause.origin_steps[0]], Cast)
    # a function that widens by itself gets narrow operands, or its result is cast
    near = near and (is_cast or cause.origin_steps[0] != cause.step)
    widenings = [at for at in widenings if not isinstance(predicted_run.steps[at.step], Cast)]
    is_used_at_once = any(cause.origin_steps[0] in predicted_run.inputs[i] for i in cause.widening_steps)
    step = predicted_run.steps[cause.origin_steps[0]]
    made = [*_changes_at_origin(predicted_run, cause, origin, widening, sources)] if origin else []
    if isinstance(step, Created) and step.op not in FILLING_OPERATIONS and not is_used_at_once:
        made = []  # what is computed from it, such as angles, stays wide until it meets the narrow array
    if step.op in POSITION_OPERATIONS:
        made = []
    found: list[Change] = []
    if origin and not near and made:
        found += _changes_like_array_at_hand(predicted_run, cause, origin)
    if near:
        found += made
    met = [c for at in widenings for c in _changes_at_widening(predicted_run, cause, at)]
    found += met
    if near:
        found += _combine(made, met)
    found += [c for at in widenings for c in _changes_of_passed_arrays(predicted_run, cause, at, sources)]
    found += [*made, *_changes_at_later_results(predicted_run, cause, sources)]
    yield from dict.fromkeys(found)


def _combine(made: Sequence[Change], met: Sequence[Change]) -> Iterator[Change]:
    """Yield changes of both lines of a remedy: where an array is made, and what is written into it."""
    for a in made[:MAX_COMBINED]:
        for b in met[:MAX_COMBINED]:
            if a.file == b.file and not {*a.edits} & {*b.edits}:
                spans = sorted((e.start, e.end) for e in (*a.edits, *b.edits))
                if all(x[1] <= y[0] for x, y in pairwise(spans)):
                    yield Change(a.file, a.line, (*a.edits, *b.edits))


def _is_fixed(at: _StepNode) -> bool:
    """Return True if an array outlives the calls that use it, so that callers that did not run may see it.

    Such are constants of a module that a function reads, values of a class, defaults of parameters, and
    attributes that are updated from themselves, such as the moments of an optimizer.
    """
    source, scope = at.source, at.scope
    if isinstance(scope, ast.ClassDef):
        return True
    if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)) and not source.is_in_body(at.node, scope):
        return True  # a default
    targets = source.list_targets(at.node)
    if isinstance(scope, ast.Module):
        return any(source.is_read_in_function(name) for name in targets) or (
            bool(targets) and source.is_imported
        )
    return any(source.is_updated_from_itself(name) for name in targets if not name.isidentifier())


def _list_states(at: _StepNode) -> list[str]:
    """List what the statement of a step updates from its own value: attributes, elements, or running sums."""
    source, statement = at.source, at.source.find_statement(at.node)
    targets = source.list_targets(at.node)
    if isinstance(statement, ast.AugAssign):
        return targets
    in_loop = source.is_in_loop(at.node)
    return [text for text in targets if in_loop or not text.isidentifier()]


def _holds_state(at: _StepNode, node: ast.AST) -> bool:
    """Return True if an expression reads what its own statement updates. It stays as wide as it is."""
    states = _list_states(at)
    return any(
        isinstance(inner, (ast.Name, ast.Attribute, ast.Subscript)) and at.source.text(inner) in states
        for inner in ast.walk(node)
    )


def _list_dtype_forms(at: _StepNode, names: Sequence[str], literal: str, otherwise: str = "") -> list[str]:
    """List the expressions of a float dtype like the arrays of some names, the idiomatic ones first.

    `result_type(x, 0.0)` is the dtype of a float array, and the default float for integers. The last forms
    leave everything as it was, `otherwise`, unless the array has the narrow dtype itself.
    """
    alias = at.find_library_alias()
    found = [f"{name}.dtype" for name in names]
    if alias:
        found += [f"{alias}.result_type({name}, 0.0)" for name in names]
        if len(names) > 1:
            found.append(f"{alias}.result_type({', '.join(names)}, 0.0)")
        found += [f"{alias}.result_type({alias}.asarray({name}), 0.0)" for name in names]
    if otherwise:
        found += [f"{literal} if {test} else {otherwise}" for test in _list_dtype_tests(names, literal)]
    return found


def _list_dtype_tests(names: Sequence[str], literal: str) -> list[str]:
    """List the conditions that an array has a dtype. The last ones also hold for lists and numbers."""
    plain = [f"{name}.dtype == {literal}" for name in names]
    safe = [f'getattr({name}, "dtype", None) == {literal}' for name in names]
    both = [" and ".join(tests) for tests in (plain, safe) if len(tests) > 1]
    return [*plain, *safe, *both]


def propose_agreeing_changes(
    predicted_run: PredictedRun, step_number: int, observed_dtype: DType, sources: Mapping[str, SourceFile]
) -> Iterator[Change]:
    """Yield changes that make a step give the observed dtype under the other systems as well.

    They pass `dtype=` to the call, or cast one operand, all operands or the result.
    """
    at = _StepNode.find(predicted_run, step_number, sources)
    if at is None:
        return
    alias, step, node = at.find_library_alias(), predicted_run.steps[step_number], at.node
    literal = f"{alias}.{observed_dtype.name}" if alias else f'"{observed_dtype.name}"'
    takes = isinstance(step, Created) or len(predicted_run.inputs[step_number]) == 1
    if isinstance(node, ast.Call) and takes and "dtype" not in [k.arg for k in node.keywords]:
        yield at.make_change(at.source.make_keyword_edit(node, f"dtype={literal}"))
    if isinstance(step, Created):
        return
    constants = (ast.Constant, ast.Starred, *LIST_NODES)
    operands = [operand for operand in _list_operands(at) if not isinstance(operand, constants)]
    single = [[operand] for operand in operands]
    for cast_together in [
        *single,
        *([operands] if len(operands) > 1 else []),
        *([[node]] if isinstance(node, ast.expr) else []),
    ]:
        yield at.make_change(
            *(
                at.source.make_replacement_edit(
                    operand, cast_text(at.library, at.source.operand_text(operand), literal)
                )
                for operand in cast_together
            )
        )


@dataclass(frozen=True, eq=False)
class _StepNode:
    """The node of a step in its source."""

    source: SourceFile
    file: str
    node: ast.expr | ast.stmt
    step: int
    library: str

    @classmethod
    def find(
        cls, predicted_run: PredictedRun, step_number: int, sources: Mapping[str, SourceFile]
    ) -> _StepNode | None:
        """Find the node of a step, or None if no given source has it or it is an input from elsewhere."""
        step = predicted_run.steps[step_number]
        if step.location is None or step.location.file not in sources:
            return None
        source = sources[step.location.file]
        nodes = source.find_nodes(step.location.line, step.text)
        if not nodes or (isinstance(step, Input) and not isinstance(nodes[0], ast.Call)):
            return None
        return cls(source, step.location.file, nodes[0], step_number, step.owner or "")

    @property
    def scope(self) -> ast.AST:
        return self.source.find_scope(self.node)

    def make_change(self, *edits: Edit, line: int = 0) -> Change:
        return Change(self.file, line or self.node.lineno, edits)

    def find_library_alias(self) -> str:
        """Return the file's name for an imported library, such as `np`, or "" if the file does not import it.

        A library without rules, such as pandas, uses the dtypes of another library, which text can name.
        """
        if not has_rules(self.library):
            return ""
        modules = libraries()[self.library].modules if self.library in libraries() else ()
        asked = {
            node.value.id
            for node in ast.walk(self.source.tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        }  # other imported names, such as `pi`, are not modules
        imported = [(name, whole) for name, whole in self.source.list_import_aliases() if name in asked]
        known = [(whole.count("."), name) for name, whole in imported if _is_of_step(whole, modules)]
        named = [name for depth, name in sorted(known, reverse=True) if depth < 2]
        text = self.source.text(self.node)
        return next((name for name in named if f"{name}." in text), named[0] if named else "")

    def narrow_dtype_text(self, predicted_run: PredictedRun, cause: WideningCause) -> str:
        """Return the narrow dtype as a file names it."""
        name = dtype_at_width_of(cause.wide_dtype, cause.narrow_dtype).name
        alias = self.find_library_alias()
        return f"{alias}.{name}" if alias else f'"{name}"'


def _is_of_step(step_text: str, modules: Sequence[str]) -> bool:
    return step_text.partition(".")[0] in modules


def _list_names(step_node: _StepNode, nodes: Sequence[ast.AST]) -> list[str]:
    """List the names and attributes in some nodes that may be arrays, in the order of the source."""
    names: list[str] = []
    modules = {name for name, _ in step_node.source.list_import_aliases()}
    for node in nodes:
        for inner in ast.walk(node):
            around = step_node.source.parent_by_node.get(inner)
            called = isinstance(around, ast.Call) and around.func is inner
            if isinstance(inner, (ast.Name, ast.Attribute)) and not called:
                text = step_node.source.text(inner)
                if text in BUILTIN_NAMES:
                    continue
                if text.partition(".")[0] not in modules and not (
                    isinstance(around, ast.Attribute) and isinstance(inner, ast.Name)
                ):
                    names.append(text.removesuffix(".T"))
    return [*dict.fromkeys(names)][:MAX_NAMES_TRIED]


def _list_operands(step_node: _StepNode) -> list[ast.expr]:
    """List the operands of a step that the source writes out."""
    match step_node.node:
        case ast.BinOp(left=a, right=b) | ast.AugAssign(target=a, value=b):
            return [a, b]
        case ast.Assign(targets=[ast.Subscript(value=a)], value=b):
            return [a, b]
        case ast.Compare(left=a, comparators=[b]):
            return [a, b]
        case ast.Call(func=function, args=args, keywords=keywords):
            modules = [name for name, _ in step_node.source.list_import_aliases()]
            owner = function.value if isinstance(function, ast.Attribute) else None
            own = (
                [] if owner is None or step_node.source.text(owner).partition(".")[0] in modules else [owner]
            )
            named = [k.value for k in keywords if k.arg not in (None, "axis", "dtype", "out")]
            return [*own, *(x for x in args if not isinstance(x, ast.Starred)), *named]
    return []


def _split_wide_and_narrow(
    predicted_run: PredictedRun, cause: WideningCause, step_node: _StepNode
) -> tuple[list[ast.expr], list[ast.expr]]:
    """Split the widening step's operands into those to cast and those that give the dtype."""
    expressions = _list_operands(step_node)
    step = predicted_run.steps[step_node.step]
    taken = step.operands if isinstance(step, Call) else predicted_run.inputs[step_node.step]
    if len(expressions) != len(taken):
        return expressions, expressions
    own = predicted_run.widths[step_node.step]
    pairs = [*zip(expressions, taken, strict=True)]
    wide = [g for g, p in pairs if predicted_run.widths[p] == own or is_integer(predicted_run.result_of(p))]
    narrow = [g for g, p in pairs if 0 < (predicted_run.widths[p] or 0) < (own or 0)]
    return wide or expressions, narrow or expressions


def _changes_at_widening(
    predicted_run: PredictedRun, cause: WideningCause, step_node: _StepNode
) -> Iterator[Change]:
    """Yield casts of the operands that widen others, at the widening step."""
    wide, narrow = _split_wide_and_narrow(predicted_run, cause, step_node)
    step, node, source = predicted_run.steps[step_node.step], step_node.node, step_node.source
    names = _list_names(step_node, narrow)
    literal = step_node.narrow_dtype_text(predicted_run, cause)
    forms = [*_list_dtype_forms(step_node, names, literal, "None"), literal]
    takes_list = step.op in LIST_OPERATIONS or len(predicted_run.inputs[step_node.step]) > len(wide)
    widens_by_itself = isinstance(step, Call) and cause.origin_steps[0] == cause.step
    if isinstance(node, ast.Call) and (takes_list or widens_by_itself):  # such as `numpy.cov`
        asked = next((k.value for k in node.keywords if k.arg == "dtype"), None)
        if asked is not None:
            forms = [*_list_dtype_forms(step_node, names, literal, source.text(asked)), literal]
        for dtype in forms:
            yield step_node.make_change(
                source.make_keyword_edit(node, f"dtype={dtype}")
                if asked is None
                else source.make_replacement_edit(asked, dtype)
            )
    if isinstance(node, ast.BinOp):
        yield from _changes_of_operator(step_node, node, wide)
    arrays = [x for x in wide if not isinstance(x, ast.Constant) and not _holds_state(step_node, x)]
    for dtype in [*_list_dtype_forms(step_node, names, literal), literal]:
        others = [x for x in arrays if dtype.removesuffix(".dtype") != source.text(x)]
        for x in others:
            yield from _list_casts(step_node, [x], dtype)
        if len(others) > 1:
            yield from _list_casts(step_node, others, dtype)
    at_hand = [*dict.fromkeys([*names, *source.list_arrays_at_hand(node)])]
    for x in arrays:
        yield from _list_guarded_casts(step_node, x, names, literal)
        if len(at_hand) > len(names):
            yield from _list_guarded_casts(step_node, x, at_hand, literal)


def _changes_of_operator(step_node: _StepNode, node: ast.BinOp, wide: Sequence[ast.expr]) -> Iterator[Change]:
    """Yield a call in the place of an operator with a library's number, which becomes a Python number."""
    alias, function = step_node.find_library_alias(), UFUNC_BY_OPERATOR.get(type(node.op))
    if not alias or function is None:
        return
    for number in wide:
        if isinstance(number, ast.Call) and _is_dtype(number.func) and len(number.args) == 1:
            plain = _plain_number_text(step_node, number)
            texts = [plain if x is number else step_node.source.text(x) for x in (node.left, node.right)]
            made = f"{alias}.{function}({', '.join(texts)})"
            yield step_node.make_change(step_node.source.make_replacement_edit(node, made))


def _list_casts(step_node: _StepNode, nodes: Sequence[ast.expr], dtype: str) -> Iterator[Change]:
    """Yield the ways to cast expressions: as arrays, or as lists."""
    source, alias = step_node.source, step_node.find_library_alias()
    if not any(isinstance(node, LIST_NODES) for node in nodes):
        yield step_node.make_change(
            *(
                source.make_replacement_edit(
                    node, cast_text(step_node.library, source.operand_text(node), dtype)
                )
                for node in nodes
            )
        )
    if alias:
        yield step_node.make_change(
            *(
                source.make_replacement_edit(node, f"{alias}.asarray({source.text(node)}, dtype={dtype})")
                for node in nodes
            )
        )


def _changes_of_passed_arrays(
    predicted_run: PredictedRun, cause: WideningCause, at: _StepNode, sources: Mapping[str, SourceFile]
) -> Iterator[Change]:
    """Yield casts of what callers pass, if the wide array of a widening step is a parameter."""
    scope = at.scope
    if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    wide, _ = _split_wide_and_narrow(predicted_run, cause, at)
    literal = at.narrow_dtype_text(predicted_run, cause)
    for parameter in dict.fromkeys(x.id for x in wide if isinstance(x, ast.Name)):
        for file, call, passed in _list_passed_arguments(scope, parameter, sources):
            if passed is None or isinstance(passed, (ast.Constant, ast.Starred)):
                continue
            caller = _StepNode(sources[file], file, passed, at.step, at.library)
            others = [x for x in call.args if x is not passed]
            names = [*_list_names(caller, others), *caller.source.list_arrays_at_hand(passed)]
            names = [*dict.fromkeys(names)]
            for dtype in [*_list_dtype_forms(caller, names, literal), literal]:
                yield from _list_casts(caller, [passed], dtype)
            yield from _list_guarded_casts(caller, passed, names, literal)


def _list_guarded_casts(
    step_node: _StepNode, node: ast.expr, names: Sequence[str], literal: str
) -> Iterator[Change]:
    """Yield casts that are made only beside an array of the narrow dtype."""
    source, alias = step_node.source, step_node.find_library_alias()
    text = source.text(node)
    casts = (
        []
        if isinstance(node, LIST_NODES)
        else [cast_text(step_node.library, source.operand_text(node), literal)]
    )
    casts += [f"{alias}.asarray({text}, dtype={literal})"] if alias else []
    for cast in casts:
        for test in _list_dtype_tests([name for name in names if name != text], literal):
            yield step_node.make_change(source.make_replacement_edit(node, f"({cast} if {test} else {text})"))


def _changes_at_origin(
    predicted_run: PredictedRun,
    cause: WideningCause,
    step_node: _StepNode,
    widening_node: _StepNode | None,
    sources: Mapping[str, SourceFile],
) -> Iterator[Change]:
    """Yield changes at the expression that makes the wide array."""
    node, step = step_node.node, predicted_run.steps[step_node.step]
    if not isinstance(node, ast.expr):
        return
    literal = step_node.narrow_dtype_text(predicted_run, cause)
    created = isinstance(step, Created) or (isinstance(node, ast.Call) and _creates_default_dtype(node, step))
    dtypes = _list_names_at_hand(predicted_run, cause, step_node, widening_node, created)
    takes = isinstance(step, (Cast, Created)) or any(k.arg == "dtype" for k in getattr(node, "keywords", ()))
    asked = _find_dtype_argument(node) if isinstance(node, ast.Call) and takes else None
    if isinstance(node, ast.Call) and _creates_default_dtype(node, step):
        forms = _list_dtype_forms(step_node, dtypes, literal, "None")
        for dtype in dict.fromkeys([*forms, literal]):
            yield step_node.make_change(step_node.source.make_keyword_edit(node, f"dtype={dtype}"))
    elif isinstance(node, ast.Call) and isinstance(step, Cast) and _is_dtype(node.func):
        yield from _changes_of_numpy_number(step_node, node, literal)
    elif asked is not None and isinstance(node, ast.Call):
        yield from _changes_of_dtype_argument(
            cause, step_node, node, asked, literal, dtypes, created, sources
        )
    if not isinstance(step, Created) and not step_node.source.is_unpacked(node):
        inner = (
            [] if cause.origin_steps[0] != cause.step else _list_names(step_node, _list_operands(step_node))
        )
        names = [*inner, *step_node.source.list_arrays_at_hand(node)]
        names = [*dict.fromkeys([*dtypes, *names])]
        text = step_node.source.operand_text(node)
        for dtype in [*_list_dtype_forms(step_node, names, literal), literal]:
            yield step_node.make_change(
                step_node.source.make_replacement_edit(node, cast_text(step_node.library, text, dtype))
            )
        yield from _list_guarded_casts(step_node, node, names, literal)


def _list_names_at_hand(
    predicted_run: PredictedRun,
    cause: WideningCause,
    step_node: _StepNode,
    widening_node: _StepNode | None,
    creates_array: bool,
) -> list[str]:
    """Name the arrays at hand, the narrow operands of the step that widens first."""
    known = step_node.source.list_names_before(step_node.node)
    near = widening_node is not None and widening_node.scope is step_node.scope
    names = _list_narrow_names(predicted_run, cause, widening_node) if near and widening_node else []
    found = [name for name in names if name.partition(".")[0] in known]
    at_hand = step_node.source.list_arrays_at_hand(step_node.node) if creates_array else ()
    return [*dict.fromkeys((*found, *at_hand))]


def _creates_default_dtype(node: ast.Call, step: Step) -> bool:
    """Return True if a call creates an array with the default dtype. The call's step may be an input."""
    if isinstance(step, Created):
        return step.dtype is None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return isinstance(step, Input) and name in DTYPE_POSITIONS and _find_dtype_argument(node) is None


def _changes_like_array_at_hand(
    predicted_run: PredictedRun, cause: WideningCause, step_node: _StepNode
) -> Iterator[Change]:
    """Yield changes that give a new array the dtype of an array at hand."""
    node, step = step_node.node, predicted_run.steps[step_node.step]
    if not isinstance(node, ast.Call) or not isinstance(step, Created):
        return
    asked = _find_dtype_argument(node) if step.dtype is not None else None
    scope = step_node.scope
    if (
        isinstance(asked, ast.Name)
        and isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef))
        and _is_parameter(scope, asked.id)
    ):
        return
    otherwise = "None" if asked is None else step_node.source.text(asked)
    literal = step_node.narrow_dtype_text(predicted_run, cause)
    for dtype in _list_dtype_forms(step_node, step_node.source.list_arrays_at_hand(node), literal, otherwise):
        if asked is not None:
            yield step_node.make_change(step_node.source.make_replacement_edit(asked, dtype))
        elif step.dtype is None:
            yield step_node.make_change(step_node.source.make_keyword_edit(node, f"dtype={dtype}"))


def _changes_at_later_results(
    predicted_run: PredictedRun, cause: WideningCause, sources: Mapping[str, SourceFile]
) -> Iterator[Change]:
    """Yield casts of later results that a cause made wide, in the order of the run."""
    found = (
        _StepNode.find(predicted_run, i, sources)
        for i in sorted({*cause.widening_steps, *cause.later_wide_steps})
    )
    nodes = {at.node: at for at in found if at is not None and isinstance(at.node, ast.expr)}
    nodes = {
        node: at
        for node, at in nodes.items()
        if not at.source.is_unpacked(node) and not _holds_state(at, node)
    }
    for node, at in islice(nodes.items(), MAX_LATER_EXPRESSIONS):
        # these names may be wide themselves
        own = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        names = [name for name in at.source.list_arrays_at_hand(node) if name not in own]
        literal = at.narrow_dtype_text(predicted_run, cause)
        for dtype in _list_dtype_forms(at, names, literal):
            text = cast_text(at.library, at.source.operand_text(node), dtype)
            yield at.make_change(at.source.make_replacement_edit(node, text))
        yield from _list_guarded_casts(at, node, names, literal)


def _list_narrow_names(
    predicted_run: PredictedRun, cause: WideningCause, widening_node: _StepNode
) -> list[str]:
    return _list_names(widening_node, _split_wide_and_narrow(predicted_run, cause, widening_node)[1])


def _is_dtype(function: ast.expr) -> bool:
    """Return True if a function is a dtype, as `np.float64` is."""
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in DTYPES or name in ("double", "longdouble")


def _changes_of_numpy_number(step_node: _StepNode, node: ast.Call, literal: str) -> Iterator[Change]:
    """Yield changes of a call such as `np.float64(2)` into a Python number, which does not widen arrays."""
    if len(node.args) == 1 and not node.keywords:
        plain = _plain_number_text(step_node, node)
        yield step_node.make_change(step_node.source.make_replacement_edit(node, plain))
    yield step_node.make_change(step_node.source.make_replacement_edit(node.func, literal))


def _plain_number_text(step_node: _StepNode, node: ast.Call) -> str:
    """Write the argument of a call such as `np.float64(2)` as a Python float."""
    (value,) = node.args
    text = step_node.source.text(value)
    if isinstance(value, ast.Constant) and type(value.value) in (int, float):
        return f"{text}.0" if text.isdecimal() else text
    return f"float({text})"


def _find_dtype_argument(call: ast.Call) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == "dtype":
            return keyword.value
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("astype", "to", "type"):
        return call.args[0] if call.args else None
    return call.args[1] if len(call.args) > 1 else None


def _changes_of_dtype_argument(
    cause: WideningCause,
    step_node: _StepNode,
    node: ast.Call,
    requested_dtype: ast.expr,
    literal: str,
    dtypes: Sequence[str],
    creates_array: bool,
    sources: Mapping[str, SourceFile],
) -> Iterator[Change]:
    """Yield changes of an argument that requests a wide dtype, including where a caller passes it."""
    scope = step_node.scope
    if isinstance(requested_dtype, ast.Name) and isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from _changes_at_callers(cause, step_node, scope, requested_dtype.id, literal, sources)
        if _is_parameter(scope, requested_dtype.id):
            return  # callers request a dtype, and get it
    source = _find_cast_source(node)
    names = [*dtypes]
    if source is not None and isinstance(source, (ast.Name, ast.Attribute)):
        own = step_node.source.text(source)
        names = [*names, own] if creates_array else [own, *names]
    otherwise = step_node.source.text(requested_dtype)
    forms = _list_dtype_forms(step_node, [*dict.fromkeys(names)], literal, otherwise)
    for dtype in dict.fromkeys([*forms, literal]):
        yield step_node.make_change(step_node.source.make_replacement_edit(requested_dtype, dtype))


def _find_cast_source(node: ast.Call) -> ast.expr | None:
    """Find the expression that a call casts: the object of `astype`, or the first argument."""
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("astype", "to", "type"):
        return node.func.value
    return node.args[0] if node.args else None


def _changes_at_callers(
    cause: WideningCause,
    step_node: _StepNode,
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    parameter: str,
    literal: str,
    sources: Mapping[str, SourceFile],
) -> Iterator[Change]:
    """Yield changes of calls that pass a parameter, or leave it to its default."""
    alias = step_node.find_library_alias()
    default = f"{alias}.{cause.wide_dtype}" if alias else f'"{cause.wide_dtype}"'
    for file, node, passed in _list_passed_arguments(function, parameter, sources):
        source = sources[file]
        array = source.text(node.args[0]) if node.args and isinstance(node.args[0], ast.Name) else ""
        otherwise = default if passed is None else source.text(passed)
        forms = _list_dtype_forms(step_node, [array] if array else [], literal, otherwise)
        for dtype in [*forms, literal]:
            edit = (
                source.make_replacement_edit(passed, dtype)
                if passed is not None
                else source.make_keyword_edit(node, f"{parameter}={dtype}")
            )
            yield Change(file, node.lineno, (edit,))


def _is_parameter(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    return name in {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}


def _list_passed_arguments(
    function: ast.FunctionDef | ast.AsyncFunctionDef, parameter: str, sources: Mapping[str, SourceFile]
) -> Iterator[tuple[str, ast.Call, ast.expr | None]]:
    """List the calls of a function by its name, each with its file and what it passes as a parameter."""
    positional = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    if parameter not in positional and parameter not in [a.arg for a in function.args.kwonlyargs]:
        return
    own = positional[1:] if positional[:1] in (["self"], ["cls"]) else positional
    for file, source in sources.items():
        for node in ast.walk(source.tree):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called != function.name:
                continue
            i = own.index(parameter) if parameter in own else len(node.args)
            passed = next((k.value for k in node.keywords if k.arg == parameter), None)
            if passed is None and i < len(node.args):
                passed = node.args[i]
            yield file, node, passed
