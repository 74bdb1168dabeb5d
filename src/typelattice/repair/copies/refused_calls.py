"""Calls that end a program by the dtypes of their operands, and the casts with which they run.

The process in which the program failed reads them: it still has the operands, so it tries each cast there.
"""

from __future__ import annotations

import ast
import copy
import io
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, replace
from types import FrameType, TracebackType
from typing import Any

from typelattice.core.dtypes.dtypes import DTYPE_BY_OTHER_NAME, DTYPES, DType, Kind
from typelattice.core.operands.adapters import native
from typelattice.core.registry.libraries import libraries, library_of
from typelattice.programs.readers.source.syntax_operators import OPERATOR_BY_SYNTAX
from typelattice.repair.copies.call_outcomes import read_value
from typelattice.repair.copies.kept_values import is_array, list_attributes, list_bound_values
from typelattice.tracing.library_traits import cast_text, converting_methods, in_range_texts
from typelattice.tracing.run_data.float_widths import dtype_width

MAX_FRAMES = 8  # functions around a failure where casts are tried
MAX_PLACES = 2  # functions where some cast lets the failed expression run
MAX_OPERANDS = 12
MAX_HELD_ARRAYS = 64  # arrays of an object that are looked at
DTYPE_WORD_PATTERN = re.compile(r"[A-Za-z]\w+")
NAME_OF_FLOAT_IN_C = "float32"  # what compiled code calls "float" in its errors
ITEM_NAME = "each"  # the variable of a cast of all arrays in a list
WIDER_FLOATS = ("float32", "float64")  # for functions that compute in no narrower float
INTEGER = "int64"  # for functions that take integers alone
INTEGER_WORDS = {"int", "int64", "integer", "integers", "long"}  # in the error of such a function
NODES_THAT_NAME = (ast.Name, ast.Attribute)  # whose dtype a cast asks for; other nodes would run twice
Span = tuple[int, int, int, int]  # first line, last line, first column and the column after the last


@dataclass(frozen=True, slots=True)
class RefusedOperand:
    """An array operand of a refused call, or a list of arrays, with the dtypes of its arrays.

    `is_written` is True if the expression writes into it.
    """

    span: Span
    text: str
    dtypes: tuple[str, ...]
    library: str
    is_list: bool = False
    is_written: bool = False


@dataclass(frozen=True, slots=True)
class WorkingCast:
    """Operands of a call, by their numbers, and the dtype to which a cast lets the call run.

    `like` is an expression of an array with this dtype, or "". `casts_back` is True if the result also has
    this dtype and may be cast back to that of the operand.
    """

    operands: tuple[int, ...]
    dtype: str
    like: str
    casts_back: bool = False


@dataclass(frozen=True, slots=True)
class RefusedCall:
    """An expression or a statement that fails, its operands, and the casts with which it runs.

    `targets` are the dtypes to which its operands may have to be cast, the likeliest first. `rewrites` are
    texts in the place of expressions, with which a number fits that a dtype does not hold.
    """

    file: str
    span: Span
    operands: tuple[RefusedOperand, ...]
    targets: tuple[str, ...]
    casts: tuple[WorkingCast, ...]
    rewrites: tuple[tuple[Span, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception that ended a program, the calls on the way to it from the innermost, and bound names."""

    reason: str
    calls: tuple[RefusedCall, ...]
    bound_names: frozenset[str] = frozenset()

    @property
    def is_by_dtype(self) -> bool:
        """True if a change of operands lets one of the calls run, or if an array may be made otherwise."""
        return any(call.casts or call.rewrites or (call.targets and call.operands) for call in self.calls)

    @property
    def place(self) -> tuple[str, Span] | None:
        """The innermost call of the program's own code, or None if there is none."""
        return (self.calls[0].file, self.calls[0].span) if self.calls else None


def read_failure(error: BaseException, contents: Mapping[str, bytes]) -> Failure:
    """Read the failure of a program, in the process that it ended. `contents` are the files that may change.

    Casts are tried in the innermost functions where some let the failed expression run.
    """
    errors = [*_list_causes(error)]
    words = [word for each in errors for word in DTYPE_WORD_PATTERN.findall(str(each))]
    named = [*dict.fromkeys(found.name for word in words if (found := _read_dtype_word(word)) is not None)]
    named += [INTEGER] if not INTEGER_WORDS.isdisjoint(word.lower() for word in words) else []
    is_out_of_range = any(isinstance(each, OverflowError) for each in errors)
    frames = [pair for each in reversed(errors) for pair in reversed([*_list_frames(each.__traceback__)])]
    frames = [(frame, at) for frame, at in frames if frame.f_code.co_filename in contents]
    bound = list_bound_values(frames[-1][0].f_globals) if frames else {}
    calls: dict[_FailedExpression, RefusedCall] = {}
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        for frame, instruction in frames[:MAX_FRAMES]:
            failed = _FailedExpression.find(frame, instruction, contents[frame.f_code.co_filename])
            if failed is not None and is_out_of_range:
                calls[failed] = failed.read_out_of_range()
            elif failed is not None:
                calls[failed] = failed.read_call(named)
            if sum(bool(call.casts or call.rewrites) for call in calls.values()) == MAX_PLACES:
                break
        if not is_out_of_range and not any(call.casts for call in calls.values()):
            calls = {failed: failed.try_other_targets(call, named) for failed, call in calls.items()}
    return Failure(f"{type(error).__name__}: {error}", tuple(calls.values()), frozenset(bound))


def _list_causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception, and those during whose handling it was raised."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        yield error
        error = error.__cause__ or error.__context__


def _list_frames(trace: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while trace is not None:
        yield trace.tb_frame, trace.tb_lasti
        trace = trace.tb_next


def _read_dtype_word(word: str) -> DType | None:
    """Return the float that a word of an error names, such as `Half` or `float64`, or None."""
    lower = word.lower()
    name = NAME_OF_FLOAT_IN_C if lower == "float" else lower
    found = DTYPES.get(name) or DTYPE_BY_OTHER_NAME.get(name)
    return found if found is not None and dtype_width(found) is not None else None


class _FailedExpression:
    """An expression or a statement of a frame that fails, and its operands with their values."""

    def __init__(self, frame: FrameType, node: ast.expr | ast.stmt, source: str) -> None:
        self.frame, self.node, self.source = frame, node, source
        self.names = {**frame.f_globals, **frame.f_locals}
        self.operands: list[RefusedOperand] = []
        self.values: list[Any] = []
        self.nodes: list[ast.expr] = []
        self.held: dict[str, str] = {}  # dtypes of objects such as layers, each with an array that has it

    @classmethod
    def find(cls, frame: FrameType, instruction: int, content: bytes) -> _FailedExpression | None:
        """Find the node of a frame's instruction, or None if the source does not have it."""
        positions = [*frame.f_code.co_positions()][instruction // 2]
        with suppress(SyntaxError, ValueError):
            tree, source = ast.parse(content), content.decode("utf-8-sig")
            node = _find_node(tree, positions)
            return cls(frame, node, source) if node is not None else None
        return None

    def read_call(self, named: Sequence[str]) -> RefusedCall:
        """Read the operands, and try the casts. `named` are the dtypes that the error names."""
        for node, is_written in _list_operand_nodes(self.node):
            if len(self.operands) < MAX_OPERANDS:
                self.add_operand(node, is_written)
        targets = self.list_targets(named)
        casts = [*self.list_working_casts(targets)] if targets and self.fails_again() else []
        span = _span(self.node)
        file = self.frame.f_code.co_filename
        return RefusedCall(file, span, tuple(self.operands), tuple(targets), tuple(casts))

    def read_out_of_range(self) -> RefusedCall:
        """Read an expression with a number that a dtype does not hold, and the texts with which it runs."""
        rewrites = tuple(dict.fromkeys(self.list_working_rewrites())) if self.fails_again() else ()
        return RefusedCall(self.frame.f_code.co_filename, _span(self.node), (), (), (), rewrites)

    def list_working_rewrites(self) -> Iterator[tuple[Span, str]]:
        """Yield texts in the place of expressions with which the failed expression runs."""
        node = self.node
        operation = OPERATOR_BY_SYNTAX.get(type(node.op), "") if isinstance(node, ast.BinOp) else ""
        for library, known in libraries().items():
            modules = [sys.modules[name] for name in known.modules if name in sys.modules]
            list_texts = in_range_texts(library) if modules else None
            if list_texts is None:
                continue
            alias = next((name for name, value in self.names.items() if value in modules), "")
            with suppress(Exception):  # an error of the program: an expression cannot be evaluated alone
                for part, text in list_texts(node, operation, alias, self.text_of, self.evaluate):
                    if self.runs_with_text(_span(part), text):
                        yield _span(part), text

    def text_of(self, node: ast.AST) -> str:
        return ast.get_source_segment(self.source, node) or ""

    def runs_with_text(self, span: Span, text: str) -> bool:
        """Return True if the expression runs with another text in the place of a part."""
        try:
            self.evaluate_with_texts({span: text}, self.names)
        except Exception:  # an error of the program
            return False
        return True

    def try_other_targets(self, call: RefusedCall, named: Sequence[str]) -> RefusedCall:
        """Return the call with casts to dtypes that no operand has, if it runs with some."""
        others = self.list_other_targets(named)
        casts = [*self.list_working_casts(others, True)] if others and self.fails_again() else []
        return replace(call, targets=tuple(others), casts=tuple(casts)) if casts else call

    def add_operand(self, node: ast.expr, is_written: bool) -> None:
        """Evaluate an operand. Keep it if it is an array or a list of arrays; else look into it."""
        try:
            value = self.evaluate(node)
        except Exception:  # an error of the program
            return
        items = value if isinstance(value, (list, tuple)) else [value]
        dtypes = [x for x in map(_dtype_name, items) if x]
        if items and len(dtypes) == len(items):
            library = library_of(type(items[0]).__module__.partition(".")[0]) or ""
            text = ast.get_source_segment(self.source, node) or ""
            is_list = isinstance(value, (list, tuple))
            self.operands.append(
                RefusedOperand(_span(node), text, tuple(dtypes), library, is_list, is_written)
            )
            self.values.append(value)
            self.nodes.append(node)
        elif not is_written and not isinstance(value, (list, tuple)):
            text = ast.get_source_segment(self.source, node) or ""
            for name, dtype in _list_held_dtypes(value):
                path = f"{text}.{name}"
                is_path = all(part.isidentifier() for part in path.split("."))
                self.held.setdefault(dtype, path if is_path else "")

    def evaluate(self, node: ast.expr) -> Any:
        """Evaluate an expression of the frame once more."""
        return eval(compile(ast.Expression(node), "<again>", "eval"), self.names)

    def evaluate_with(self, values: Mapping[int, Any]) -> Any:
        """Run the expression or the statement with other values of some operands. Raises its exception.

        Return the value of an expression.
        """
        names = {**self.names, **{f"_operand_{i}": value for i, value in values.items()}}
        return self.evaluate_with_texts({_span(self.nodes[i]): f"_operand_{i}" for i in values}, names)

    def evaluate_with_texts(self, text_by_span: Mapping[Span, str], names: Mapping[str, Any]) -> Any:
        """Run the expression or the statement with other texts of some parts. Raises its exception."""
        node = _Replacer(text_by_span).visit(copy.deepcopy(self.node))
        whole = ast.Expression(node) if isinstance(node, ast.expr) else ast.Module([node], [])
        mode = "eval" if isinstance(node, ast.expr) else "exec"
        return eval(compile(ast.fix_missing_locations(whole), "<again>", mode), {**names})

    def fails_again(self) -> bool:
        """Return True if the expression, as it is, fails once more: its operands are to blame."""
        if isinstance(self.node, (ast.Raise, ast.Return, ast.Assert)):
            return False
        try:
            self.evaluate_with({})
        except Exception:
            return True
        return False

    def list_targets(self, named: Sequence[str]) -> list[str]:
        """List the float dtypes to which operands may have to be cast, the likeliest first.

        They are those of a layer's weights, of an array that is written into, those that the error names, and
        those of the other operands: first of most of them, then the narrowest.
        """
        taken = [name for each in self.operands for name in dict.fromkeys(each.dtypes)]
        written = [name for each in self.operands if each.is_written for name in each.dtypes]
        others = [name for name in named if name not in taken]
        usual = sorted({*taken}, key=lambda name: (-taken.count(name), _width(name)))
        found = [*self.held, *written, *others, *usual]
        floats = [*dict.fromkeys(name for name in found if _width(name))]
        return floats if len({*floats, *taken}) > 1 else []

    def list_other_targets(self, named: Sequence[str]) -> list[str]:
        """List the dtypes for a function that computes in no narrow float, or takes integers alone."""
        taken = {name for each in self.operands for name in each.dtypes}
        least = min((width for name in taken if (width := _width(name))), default=None)
        wider = [name for name in WIDER_FLOATS if least is not None and _width(name) > least]
        reads = isinstance(self.node, (ast.Call, ast.Subscript))
        if INTEGER in named and reads and not any(x.is_written for x in self.operands):
            return [INTEGER, *wider]
        return wider

    def list_working_casts(
        self, targets: Sequence[str], may_cast_back: bool = False
    ) -> Iterator[WorkingCast]:
        """Yield the casts of operands with which the expression runs."""
        for target in targets:
            like = self.held.get(target, "") or next(
                (
                    x.text for x, node in zip(self.operands, self.nodes, strict=True)
                    if {*x.dtypes} == {target} and not x.is_list and isinstance(node, NODES_THAT_NAME)
                ),
                "",
            )  # fmt: skip
            for operands in self.list_odd_operands(target):
                if self.runs_with_cast(operands, DTYPES[target]):
                    if may_cast_back and _width(target) and self.gives(target, operands):
                        yield WorkingCast(operands, target, like, casts_back=True)
                    yield WorkingCast(operands, target, like)

    def gives(self, target: str, operands: Sequence[int]) -> bool:
        """Return True if the call gives an array of a dtype to which its only floats are cast."""
        taken = {name for each in self.operands for name in each.dtypes if _width(name)}
        if not isinstance(self.node, ast.Call) or len(taken) > 1 or self.operands[operands[0]].is_list:
            return False
        values = {i: _cast(self.values[i], DTYPES[target]) for i in operands}
        return _dtype_name(self.evaluate_with(values)) == target

    def list_odd_operands(self, target: str) -> Iterator[tuple[int, ...]]:
        """Yield the operands with another dtype than the target: all floats, each of them, each integer."""
        odd = [i for i, x in enumerate(self.operands) if {*x.dtypes} != {target} and not x.is_written]
        real = DTYPES[target].kind is not Kind.COMPLEX
        odd = [i for i in odd if not real or all(not _is_complex(name) for name in self.operands[i].dtypes)]
        floats = [i for i in odd if any(map(_width, self.operands[i].dtypes))]
        if not _width(target):  # an index, and not the array that it selects from
            yield from ((i,) for i in odd)
            return
        if floats:
            yield tuple(floats)
        if len(floats) > 1:
            yield from ((i,) for i in floats)
        yield from ((i,) for i in odd if i not in floats)

    def runs_with_cast(self, operands: Sequence[int], dtype: DType) -> bool:
        """Return True if the expression runs with these operands cast, and writes into none of the casts."""
        try:
            values = {i: _cast(self.values[i], dtype) for i in operands}
            before = {i: repr(read_value(value)) for i, value in values.items()}
            if dtype.kind.category < Kind.FLOAT.category and not all(
                _is_exact(self.values[i], value) for i, value in values.items()
            ):
                return False
            self.evaluate_with(values)
            return all(repr(read_value(value)) == before[i] for i, value in values.items())
        except Exception:  # an error of the program
            return False


class _Replacer(ast.NodeTransformer):
    """Puts other texts in the place of some expressions."""

    def __init__(self, text_by_span: Mapping[Span, str]) -> None:
        self.text_by_span = text_by_span

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            text = self.text_by_span.get(_span(node))
            if text is not None:
                return ast.parse(text, mode="eval").body
        return self.generic_visit(node)


def _find_node(tree: ast.Module, positions: tuple[int | None, ...]) -> ast.expr | ast.stmt | None:
    """Find the expression at a position, or the assignment whose target it is."""
    parents = {inner: node for node in ast.walk(tree) for inner in ast.iter_child_nodes(node)}
    line, last_line, column, last_column = positions
    found: ast.expr | ast.stmt | None = None
    for node in ast.walk(tree):  # from the outermost: a call that is a statement is an expression
        if isinstance(node, (ast.expr, ast.stmt)) and _span(node) == (line, last_line, column, last_column):
            found = node
    if isinstance(found, ast.Subscript) and not isinstance(found.ctx, ast.Load):
        around = parents.get(found)
        return around if isinstance(around, (ast.Assign, ast.AugAssign)) else None
    return found


def _span(node: ast.expr | ast.stmt) -> Span:
    return node.lineno, node.end_lineno or 0, node.col_offset, node.end_col_offset or 0


def _list_operand_nodes(node: ast.expr | ast.stmt) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the operands of an expression or a statement, each with True if it is written into."""
    match node:
        case ast.BinOp(left=left, right=right):
            yield from ((left, False), (right, False))
        case ast.Subscript(value=array, slice=index):
            indices = index.elts if isinstance(index, ast.Tuple) else [index]
            yield from ((each, False) for each in (*indices, array) if not isinstance(each, ast.Slice))
        case ast.Compare(left=left, comparators=others):
            yield from ((each, False) for each in (left, *others))
        case ast.AugAssign(target=target, value=value):
            yield _as_loaded(target), True
            yield value, False
        case ast.Assign(targets=[ast.Subscript(value=array)], value=value):
            yield from ((array, True), (value, False))
        case ast.Call(func=function, args=args, keywords=keywords):
            yield function, False  # a layer's own weights come before those of the model around it
            if isinstance(function, ast.Attribute):
                writes = function.attr.endswith("_") and not function.attr.endswith("__")
                yield function.value, writes
            for argument in args:
                items = argument.elts if isinstance(argument, (ast.List, ast.Tuple)) else [argument]
                yield from ((item, False) for item in items if not isinstance(item, ast.Starred))
            yield from ((k.value, k.arg == "out") for k in keywords)


def _is_exact(value: Any, cast: Any) -> bool:
    """Return True if a cast of an array, or of each array of a list, keeps all its numbers."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_exact, value, cast))
    return bool((value == cast).all())


def _as_loaded(target: ast.expr) -> ast.expr:
    """Return the target of an assignment as an expression that reads it."""
    loaded = copy.deepcopy(target)
    for inner in ast.walk(loaded):
        if hasattr(inner, "ctx"):
            inner.ctx = ast.Load()
    return loaded


def _dtype_name(value: Any) -> str:
    """Return the dtype of an array of numbers, or "" for anything else."""
    if not is_array(value):
        return ""
    name = str(getattr(value.dtype, "name", value.dtype)).rpartition(".")[2]
    known = DTYPES.get(name)
    return name if known is not None and known.kind is not Kind.BOOL else ""


def _width(name: str) -> int:
    return dtype_width(DTYPES[name]) or 0


def _is_complex(name: str) -> bool:
    return DTYPES[name].kind is Kind.COMPLEX


def _list_held_dtypes(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the arrays that an object holds, such as the weights of a layer, with their float dtypes."""
    arrays: list[tuple[str, Any]] = []
    for yield_arrays in dict.fromkeys(converting_methods().values()):
        with suppress(Exception):  # an error of the program's own class
            arrays += yield_arrays(value)
    arrays = arrays or [*list_attributes(value).items()]
    for name, array in arrays[:MAX_HELD_ARRAYS]:
        with suppress(Exception):
            dtype = _dtype_name(array)
            if dtype and _width(dtype):
                yield name, dtype


def _cast(value: Any, dtype: DType) -> Any:
    """Cast an array, or each array of a list, as the text of a cast would."""
    if isinstance(value, (list, tuple)):
        return [_cast(item, dtype) for item in value]
    module = type(value).__module__.partition(".")[0]
    text = cast_text(library_of(module) or "", "value", "dtype", module)
    names = {"value": value, "dtype": native(dtype, module), module: sys.modules.get(module)}
    cast = eval(text, names)
    # a copy, so that a write into a cast that changes nothing is seen as one
    return cast.clone() if hasattr(cast, "clone") else copy.copy(cast)
