"""Changes of source text that may keep floats narrow, at the places that decide a wide dtype."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from typelattice.calls.steps import Call, Cast, Created, Input, Step
from typelattice.facts.dtypes import DTYPES, DType
from typelattice.facts.libraries import libraries
from typelattice.fixing.source import MAX_NAMES_TRIED, Edit, SourceFile
from typelattice.tracing.findings.dtype_argument_origin import DTYPE_POSITIONS
from typelattice.tracing.findings.predicted_run import PredictedRun
from typelattice.tracing.findings.widening_causes import WideningCause
from typelattice.tracing.library_traits import cast_text, has_rules
from typelattice.tracing.run_data.float_widths import dtype_at_width_of, is_integer

MAX_LATER_EXPRESSIONS = 6  # expressions after a widening that are cast instead
LIST_OPERATIONS = {"concat", "stack"}  # both take a list of arrays, and a dtype
LIST_NODES = (ast.List, ast.Tuple)


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

    If the widening is in the same scope, or another array is at hand, `dtype=` is added where the wide array
    is made. Otherwise the array is cast where it widens another, so that a constant of a module stays wide.
    At last, a later result is cast to the dtype of an array at hand there.
    """
    origin = _StepNode.find(predicted_run, cause.origin_steps[0], sources)
    widening = _StepNode.find(predicted_run, cause.step, sources)
    near = origin is not None and widening is not None and origin.scope is widening.scope
    near = (
        near and cause.origin_steps[0] != cause.step
    )  # if nothing else works, cast an operand, or the result
    found: list[Change] = []
    at_origin = [*_changes_at_origin(predicted_run, cause, origin, widening, sources)] if origin else []
    if origin and not near:
        found += _changes_like_array_at_hand(predicted_run, origin)
    if near:
        found += at_origin
    if widening:
        found += _changes_at_widening(predicted_run, cause, widening)
    found += [*at_origin, *_changes_at_later_results(predicted_run, cause, sources)]
    yield from dict.fromkeys(found)


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
    step = predicted_run.steps[step_node.step]
    dtypes = [f"{name}.dtype" for name in _list_names(step_node, narrow)]
    literal = step_node.narrow_dtype_text(predicted_run, cause)
    takes_list = step.op in LIST_OPERATIONS or len(predicted_run.inputs[step_node.step]) > len(wide)
    if isinstance(step_node.node, ast.Call) and takes_list:
        yield step_node.make_change(step_node.source.make_keyword_edit(step_node.node, f"dtype={literal}"))
    elif (
        isinstance(step_node.node, ast.Call)
        and isinstance(step, Call)
        and cause.origin_steps[0] == cause.step
    ):
        for dtype in [*dtypes, literal]:  # a function that widens by itself, such as `numpy.cov`
            yield step_node.make_change(step_node.source.make_keyword_edit(step_node.node, f"dtype={dtype}"))
    for dtype in [*dtypes, literal]:
        for node in wide:
            is_number = isinstance(node, ast.Constant)  # a written number does not widen an array
            if dtype.removesuffix(".dtype") != step_node.source.text(node) and not is_number:
                yield from _list_casts(step_node, node, dtype)


def _list_casts(step_node: _StepNode, node: ast.expr, dtype: str) -> Iterator[Change]:
    """Yield the ways to cast an expression: as an array, or as a list."""
    text = step_node.source.operand_text(node)
    alias = step_node.find_library_alias()
    if not isinstance(node, LIST_NODES):
        yield step_node.make_change(
            step_node.source.make_replacement_edit(node, cast_text(step_node.library, text, dtype))
        )
    if alias:
        made = f"{alias}.asarray({step_node.source.text(node)}, dtype={dtype})"
        yield step_node.make_change(step_node.source.make_replacement_edit(node, made))


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
    dtypes = _list_dtypes_at_hand(predicted_run, cause, step_node, widening_node, created)
    takes = isinstance(step, (Cast, Created)) or any(k.arg == "dtype" for k in getattr(node, "keywords", ()))
    asked = _find_dtype_argument(node) if isinstance(node, ast.Call) and takes else None
    if isinstance(node, ast.Call) and _creates_default_dtype(node, step):
        for dtype in dict.fromkeys([*dtypes, literal]):
            yield step_node.make_change(step_node.source.make_keyword_edit(node, f"dtype={dtype}"))
    elif isinstance(node, ast.Call) and isinstance(step, Cast) and _is_dtype(node.func):
        yield from _changes_of_numpy_number(step_node, node, literal)
    elif asked is not None and isinstance(node, ast.Call):
        yield from _changes_of_dtype_argument(step_node, node, asked, literal, dtypes, created, sources)
    if not isinstance(step, Created) and not step_node.source.is_unpacked(node):
        inner = (
            [] if cause.origin_steps[0] != cause.step else _list_names(step_node, _list_operands(step_node))
        )
        names = [*inner, *step_node.source.list_arrays_at_hand(node)]
        for dtype in dict.fromkeys([*dtypes, *(f"{name}.dtype" for name in names), literal]):
            yield step_node.make_change(
                step_node.source.make_replacement_edit(
                    node, cast_text(step_node.library, step_node.source.operand_text(node), dtype)
                )
            )


def _list_dtypes_at_hand(
    predicted_run: PredictedRun,
    cause: WideningCause,
    step_node: _StepNode,
    widening_node: _StepNode | None,
    creates_array: bool,
) -> list[str]:
    """Return the dtypes of arrays at hand, the narrow operands of the step that widens first."""
    known = step_node.source.list_names_before(step_node.node)
    near = widening_node is not None and widening_node.scope is step_node.scope
    names = _list_narrow_names(predicted_run, cause, widening_node) if near and widening_node else []
    found = [name for name in names if name.partition(".")[0] in known]
    return [
        f"{name}.dtype"
        for name in (*found, *(step_node.source.list_arrays_at_hand(step_node.node) if creates_array else ()))
    ]


def _creates_default_dtype(node: ast.Call, step: Step) -> bool:
    """Return True if a call creates an array with the default dtype. The call's step may be an input."""
    if isinstance(step, Created):
        return step.dtype is None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return isinstance(step, Input) and name in DTYPE_POSITIONS and _find_dtype_argument(node) is None


def _changes_like_array_at_hand(predicted_run: PredictedRun, step_node: _StepNode) -> Iterator[Change]:
    """Yield changes that give a new array the dtype of an array at hand."""
    node, step = step_node.node, predicted_run.steps[step_node.step]
    if not isinstance(node, ast.Call) or not isinstance(step, Created):
        return
    asked = _find_dtype_argument(node) if step.dtype is not None else None
    for name in step_node.source.list_arrays_at_hand(node):
        if asked is not None:
            yield step_node.make_change(step_node.source.make_replacement_edit(asked, f"{name}.dtype"))
        elif step.dtype is None:
            yield step_node.make_change(step_node.source.make_keyword_edit(node, f"dtype={name}.dtype"))


def _changes_at_later_results(
    predicted_run: PredictedRun, cause: WideningCause, sources: Mapping[str, SourceFile]
) -> Iterator[Change]:
    """Yield casts of later results that a cause made wide, in the order of the run."""
    found = (
        _StepNode.find(predicted_run, i, sources)
        for i in sorted({*cause.widening_steps, *cause.later_wide_steps})
    )
    nodes = {at.node: at for at in found if at is not None and isinstance(at.node, ast.expr)}
    nodes = {node: at for node, at in nodes.items() if not at.source.is_unpacked(node)}
    for node, at in islice(nodes.items(), MAX_LATER_EXPRESSIONS):
        # these names may be wide themselves
        own = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        for name in [name for name in at.source.list_arrays_at_hand(node) if name not in own]:
            text = cast_text(at.library, at.source.operand_text(node), f"{name}.dtype")
            yield at.make_change(at.source.make_replacement_edit(node, text))


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
        (value,) = node.args
        text = step_node.source.text(value)
        constant = isinstance(value, ast.Constant) and type(value.value) in (int, float)
        plain = f"{text}.0" if constant and text.isdecimal() else text if constant else f"float({text})"
        yield step_node.make_change(step_node.source.make_replacement_edit(node, plain))
    yield step_node.make_change(step_node.source.make_replacement_edit(node.func, literal))


def _find_dtype_argument(call: ast.Call) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == "dtype":
            return keyword.value
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("astype", "to", "type"):
        return call.args[0] if call.args else None
    return call.args[1] if len(call.args) > 1 else None


def _changes_of_dtype_argument(
    step_node: _StepNode,
    node: ast.Call,
    requested_dtype: ast.expr,
    literal: str,
    dtypes: Sequence[str],
    creates_array: bool,
    sources: Mapping[str, SourceFile],
) -> Iterator[Change]:
    """Yield changes of an argument that requests a wide dtype, including where a caller passes it."""
    if isinstance(requested_dtype, ast.Name):
        scope = step_node.scope
        if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _changes_at_callers(step_node, scope, requested_dtype.id, literal, sources)
        yield from _changes_at_assignment(step_node, requested_dtype.id, literal)
    source = _find_cast_source(node)
    alias = step_node.find_library_alias()
    if source is not None and alias and isinstance(source, (ast.Name, ast.Attribute)):
        joined = f"{alias}.result_type({step_node.source.text(source)}, {literal})"
        dtypes = [*dtypes, joined] if creates_array else [joined, *dtypes]
    for dtype in dict.fromkeys([*dtypes, literal]):
        yield step_node.make_change(step_node.source.make_replacement_edit(requested_dtype, dtype))


def _find_cast_source(node: ast.Call) -> ast.expr | None:
    """Find the expression that a call casts: the object of `astype`, or the first argument."""
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("astype", "to", "type"):
        return node.func.value
    return node.args[0] if node.args else None


def _changes_at_callers(
    step_node: _StepNode,
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    parameter: str,
    literal: str,
    sources: Mapping[str, SourceFile],
) -> Iterator[Change]:
    """Yield changes of calls that pass a parameter, or leave it to its default."""
    positional = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    if parameter not in positional and parameter not in [a.arg for a in function.args.kwonlyargs]:
        return
    for file, source in sources.items():
        for node in ast.walk(source.tree):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called != function.name:
                continue
            own = positional[1:] if positional[:1] in (["self"], ["cls"]) else positional
            i = own.index(parameter) if parameter in own else len(node.args)
            passed = next((k.value for k in node.keywords if k.arg == parameter), None)
            if passed is None and i < len(node.args):
                passed = node.args[i]
            array = source.text(node.args[0]) if node.args and isinstance(node.args[0], ast.Name) else ""
            for dtype in ([f"{array}.dtype"] if array else []) + [literal]:
                edit = (
                    source.make_replacement_edit(passed, dtype)
                    if passed is not None
                    else source.make_keyword_edit(node, f"{parameter}={dtype}")
                )
                yield Change(file, node.lineno, (edit,))


def _changes_at_assignment(step_node: _StepNode, name: str, literal: str) -> Iterator[Change]:
    """Yield changes of a module's constants that name a dtype, such as `DTYPE = np.float64`."""
    for node in step_node.source.tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == name for target in node.targets
        ):
            yield step_node.make_change(
                step_node.source.make_replacement_edit(node.value, literal), line=node.lineno
            )
