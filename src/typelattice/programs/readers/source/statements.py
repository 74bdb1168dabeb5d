"""Readers of statements: each returns how the statement ends."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from typelattice.programs.calls.program_inputs import names_dtype
from typelattice.programs.calls.steps import InvalidCallError, NamedDType, ProgramError, Ref
from typelattice.programs.readers.source.branches import (
    BREAK_END,
    CONTINUE_END,
    NORMAL_END,
    Branch,
    Contents,
    Ending,
    PendingExits,
    bound_names,
)
from typelattice.programs.readers.source.class_definitions import decorate, read_class_definition
from typelattice.programs.readers.source.contexts import may_swallow, read_context
from typelattice.programs.readers.source.dictionaries import is_decided_by_values, read_key, remove_key
from typelattice.programs.readers.source.elements import read_in_place
from typelattice.programs.readers.source.expressions import read_defaults
from typelattice.programs.readers.source.patterns import match_pattern
from typelattice.programs.readers.source.python_values import (
    MISSING,
    ClassValue,
    ContextValue,
    DefinedFunction,
    DottedName,
    ImportedModule,
    ImportedName,
    InstanceValue,
    IteratorValue,
    LibraryRefusal,
    RaisedError,
    ReadValue,
    Scope,
    UnknownError,
    UnknownValue,
)
from typelattice.programs.readers.source.readings import ITERATION_END, Reading
from typelattice.programs.readers.source.syntax_reader import (
    PASSES_OF_OPEN_LOOP,
    ForeignFunctionError,
    SettingError,
    SourceReader,
    WorkLimitError,
)
from typelattice.programs.readers.source.targets import assign_target
from typelattice.programs.readers.source.value_branches import merge_branches, read_branch

MAX_PASSES_BY_VALUES = 12  # of a loop whose test the values of arrays decide, until its dtypes stay the same
MAX_PASSES_BY_BREAK = 16  # of a loop that only a break ends, which the values of arrays decide
LOOPS = (ast.For, ast.While)


def read_block(reader: SourceReader, lines: Sequence[ast.stmt], scope: Scope) -> Reading:
    """Read lines. Return how they end. A line that cannot be read is left out, and what it binds unknown."""
    for line in lines:
        ending = yield read_statement(reader, line, scope)
        if ending is not NORMAL_END:
            return ending
    return NORMAL_END


def read_statement(reader: SourceReader, line: ast.stmt, scope: Scope) -> Reading:
    """Read a statement. If it cannot be read, what it binds is unknown."""
    read = STATEMENT_READERS.get(type(line))
    if read is None:
        raise reader.error(line, "it is nothing that a program is made of; write assignments and return")
    journals, calls, loops = [*reader.branches.journals], [*reader.calls], [*reader.loops]
    tries = len(reader.tries)
    try:
        return (yield read(reader, line, scope)) or NORMAL_END
    except SettingError:
        raise
    except InvalidCallError as e:
        raise RaisedError(LibraryRefusal, (), e) from None
    except ProgramError as e:
        reader.branches.journals, reader.calls, reader.loops = journals, calls, loops
        reader.tries = reader.tries[:tries]
        if isinstance(line, ast.Return):
            return Ending("return", UnknownValue(e))
        if leaves_block(line):
            raise
        if reader.tries:
            reader.leave_out_error(line, RaisedError(UnknownError, (), e))
        has_forgotten = forget_results(reader, line, e, scope)
        if has_forgotten or not isinstance(line, ast.Expr) or not isinstance(e, ForeignFunctionError):
            reader.skip(line, e)
        return NORMAL_END


def read_line_of_module(reader: SourceReader, line: ast.stmt, scope: Scope) -> Reading:
    """Read a line of a file outside of its functions.

    If it cannot be read, only the lines that use what it binds are listed as unread.
    """
    before = dict(reader.unread)
    yield read_statement(reader, line, scope)
    if not isinstance(line, (ast.Expr, ast.AugAssign)):
        reader.unread = before


def leaves_block(line: ast.stmt) -> bool:
    """Return True if a statement has a `break`, `continue` or `return` of what is around it."""
    waiting: list[tuple[ast.AST, bool]] = [(line, isinstance(line, LOOPS))]
    while waiting:
        node, in_loop = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.Return, ast.Yield, ast.YieldFrom)) or (
                isinstance(child, (ast.Break, ast.Continue)) and not in_loop
            ):
                return True
            if not isinstance(child, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
                waiting.append((child, in_loop or isinstance(child, LOOPS)))
    return False


def may_leave(loop: ast.While) -> bool:
    """Return True if a loop may end by a statement in it, or by an error."""
    ends = (ast.Break, ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Assert)
    may_fail = (ast.Call, ast.Subscript)
    return any(isinstance(node, (*ends, *may_fail)) for node in ast.walk(loop))


def forget_results(reader: SourceReader, line: ast.stmt, error: ProgramError, scope: Scope) -> bool:
    """Make unknown what a line that was not read binds, and the lists and objects that it names.

    Return False if there is nothing of it: the dtype of an array is the same after any call.
    """
    unknown, has_forgotten = UnknownValue(error), False
    for name in bound_names([line]):
        reader.bind(scope, name, unknown)
        has_forgotten = True
    for node in ast.walk(line):
        if not isinstance(node, ast.Name):
            continue
        binding = scope.find(node.id)
        value = binding.names.get(node.id) if binding else None
        if isinstance(value, (list, dict, set, InstanceValue)) and may_change(line, node.id):
            reader.branches.forget(value, error)
            has_forgotten = True
        elif isinstance(value, IteratorValue):
            value.lose(error)
            has_forgotten = True
        elif isinstance(value, UnknownValue) and may_change(line, node.id):
            for each in value.one_of:
                if isinstance(each, (list, dict, set, InstanceValue)):
                    reader.branches.forget(each, error)
                    has_forgotten = True
    return has_forgotten


def may_change(line: ast.stmt, name: str) -> bool:
    """Return True if a line calls a method of a name, passes it on, or assigns to a part of it."""
    for node in ast.walk(line):
        match node:
            case ast.Call(func=ast.Attribute(value=of)) if _begins_with(of, name):
                return True
            case ast.Call(args=args, keywords=keywords):
                given = [*args, *(k.value for k in keywords)]
                if any(isinstance(x, ast.Name) and x.id == name for x in given):
                    return True
            case ast.Subscript(ctx=ast.Store() | ast.Del()) | ast.Attribute(ctx=ast.Store() | ast.Del()):
                if _begins_with(node, name):
                    return True
            case ast.AugAssign(target=target) if _begins_with(target, name):
                return True
    return False


def _begins_with(node: ast.expr, name: str) -> bool:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return isinstance(node, ast.Name) and node.id == name


# -- simple statements


def read_expression_line(reader: SourceReader, line: ast.Expr, scope: Scope) -> Reading:
    yield reader.read_expression(line.value, scope)


def read_assignment(reader: SourceReader, line: ast.Assign, scope: Scope) -> Reading:
    """Read `x = y = value`."""
    value = yield reader.read_expression(line.value, scope)
    for target in line.targets:
        yield assign_target(reader, target, value, scope)
    reader.share_names([each.id for each in (*line.targets, line.value) if isinstance(each, ast.Name)])


def read_annotated_assignment(reader: SourceReader, line: ast.AnnAssign, scope: Scope) -> Reading:
    """Read `x: annotation = value`. The annotation may be a dtype that the text of a program states."""
    if scope.kind == "class" and isinstance(line.target, ast.Name):
        annotations = scope.names.setdefault("__annotations__", {})
        annotations[line.target.id] = ast.unparse(line.annotation)
    if line.value is None:
        return
    value = yield reader.read_expression(line.value, scope)
    match line.annotation:
        case ast.Constant(value=str(text)) if isinstance(value, Ref) and names_dtype(text):
            reader.builder.set_stated_dtype(value, NamedDType(text))
    yield assign_target(reader, line.target, value, scope)


def read_import(reader: SourceReader, line: ast.Import, scope: Scope) -> Reading:
    yield from ()
    for alias in line.names:
        path = tuple(alias.name.split("."))
        file = reader.files.find_module(line, alias.name, 0) if reader.files is not None else None
        if file is not None and (alias.asname or len(path) == 1):
            reader.bind(scope, alias.asname or path[0], ImportedModule(file))
            continue
        reader.bind(scope, alias.asname or path[0], DottedName.of_path(path if alias.asname else path[:1]))


def read_imported_name(reader: SourceReader, node: ast.AST, imported: ImportedName) -> Reading:
    """Read a name in another file of the package, with the lines that it needs there."""
    assert reader.files is not None
    file, name = reader.files.open(imported.path), imported.name
    if name not in file.scope.names:
        for line in file.list_needed_lines(name):
            reader.count_passes(line)
            yield read_line_of_module(reader, line, file.scope)
    if name not in file.scope.names:
        raise reader.error(node, f"{imported.path.name} has no {name}; import it from where it is")
    found = file.scope.names[name]
    if isinstance(found, ImportedName) and found != imported:  # which imports it, too
        return (yield read_imported_name(reader, node, found))
    return found


def read_import_from(reader: SourceReader, line: ast.ImportFrom, scope: Scope) -> Reading:
    """Read `from module import name`. A name of Python's `__future__` or `typing` means nothing here."""
    for alias in line.names:
        if alias.name == "*":
            raise reader.error(line, "names that are not written out; import each by its name")
        if reader.files is not None:
            of_package = reader.files.find_name(line, line.module or "", line.level, alias.name)
            if of_package is not None:
                reader.bind(scope, alias.asname or alias.name, of_package)
                continue
        module = DottedName.of_path(tuple((line.module or "").split(".")))
        value = (
            reader.attribute_of_name(line, module, alias.name) if line.module else DottedName((alias.name,))
        )
        reader.bind(scope, alias.asname or alias.name, value)
    yield from ()


def read_function_definition(reader: SourceReader, line: ast.FunctionDef, scope: Scope) -> Reading:
    """Define a function, and apply its decorators."""
    defaults = yield read_defaults(reader, line.args, scope)
    function = DefinedFunction(line, scope, defaults, is_generator=_yields(line))
    value = yield decorate(reader, line, function, scope)
    reader.bind(scope, line.name, value)


def _yields(function: ast.FunctionDef) -> bool:
    """Return True if a function is a generator."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)
    return False


def read_class(reader: SourceReader, line: ast.ClassDef, scope: Scope) -> Reading:
    names = Scope(parent=scope, kind="class")
    name_privately(line)
    for each in line.body:
        yield read_statement(reader, each, names)
    value = yield read_class_definition(reader, line, names, scope)
    reader.bind(scope, line.name, value)


def name_privately(line: ast.ClassDef) -> None:
    """Give the private names in a class the name of the class, as Python does: `__x` is `_Class__x`."""
    for node in ast.walk(line):
        for field in ("id", "attr"):
            name = getattr(node, field, "")
            if isinstance(name, str) and name.startswith("__") and not name.endswith("__"):
                setattr(node, field, f"_{line.name.lstrip('_')}{name}")


def read_return(reader: SourceReader, line: ast.Return, scope: Scope) -> Reading:
    value = None if line.value is None else (yield reader.read_expression(line.value, scope))
    return Ending("return", value)


def read_pass(reader: SourceReader, line: ast.stmt, scope: Scope) -> Reading:
    yield from ()


def read_break(reader: SourceReader, line: ast.Break, scope: Scope) -> Reading:
    yield from ()
    return BREAK_END


def read_continue(reader: SourceReader, line: ast.Continue, scope: Scope) -> Reading:
    yield from ()
    return CONTINUE_END


def read_global(reader: SourceReader, line: ast.Global, scope: Scope) -> Reading:
    yield from ()
    outer = scope
    while outer.parent is not None:
        outer = outer.parent
    scope.outer_names |= dict.fromkeys(line.names, outer)


def read_nonlocal(reader: SourceReader, line: ast.Nonlocal, scope: Scope) -> Reading:
    yield from ()
    for name in line.names:
        binding = scope.parent.find(name) if scope.parent else None
        if binding is None:
            raise reader.error(line, f"no function around it binds {name}; bind it there first")
        scope.outer_names[name] = binding


def read_delete(reader: SourceReader, line: ast.Delete, scope: Scope) -> Reading:
    """Read `del name`, and `del` of an item or an attribute."""
    for target in line.targets:
        match target:
            case ast.Name(id=name):
                reader.branches.will_change(scope)
                scope.names.pop(name, None)
            case ast.Subscript():
                container = yield reader.read_expression(target.value, scope)
                key = yield reader.read_expression(target.slice, scope)
                if not isinstance(container, (list, dict)):
                    raise reader.error(target, "elements of an array that are deleted; take the others")
                at = read_key(reader, target, key)
                if isinstance(container, dict) and is_decided_by_values(container, at):
                    remove_key(reader, target, container)
                    continue
                reader.check_items(container)
                reader.branches.will_change(container)
                try:
                    del container[slice(at.start, at.stop, at.step) if hasattr(at, "start") else at]
                except (IndexError, KeyError, TypeError) as e:
                    raise reader.raised(target, e) from None
            case ast.Attribute(attr=name):
                owner = yield reader.read_expression(target.value, scope)
                if isinstance(owner, InstanceValue):
                    reader.branches.will_change(owner)
                    owner.attributes.pop(name, None)


def read_assert(reader: SourceReader, line: ast.Assert, scope: Scope) -> Reading:
    """Read an assertion. It says nothing if it cannot be read, or if the values of arrays decide."""
    count = len(reader.builder.steps)
    try:
        truth = yield reader.read_truth(line, (yield reader.read_expression(line.test, scope)))
    except (SettingError, InvalidCallError):
        raise
    except ProgramError:
        truth = None
    if truth is None:
        reader.leave_out_error(line, AssertionError)
    if truth is False:
        where = reader.error(line, "the assertion does not hold; give other values")
        raise RaisedError(AssertionError, (), where)
    if not any(isinstance(node, (ast.NamedExpr, ast.Call)) for node in ast.walk(line)):
        reader.drop_steps(count)


def read_raise(reader: SourceReader, line: ast.Raise, scope: Scope) -> Reading:
    """Read `raise error`."""
    raised = None if line.exc is None else (yield reader.read_expression(line.exc, scope))
    if raised is None:
        current = scope.find(CURRENT_ERROR)
        if current is None:
            raise reader.error(line, "no error is handled here; name one")
        raise current.names[CURRENT_ERROR]
    where = reader.error(line, "an error that is raised whatever the arrays are; give other values")
    match raised:
        case RaisedError():
            raise RaisedError(raised.of, raised.args_given, where)
        case type() | DottedName() | ClassValue():
            raise RaisedError(raised, (), where)
        case InstanceValue(of=of):
            raise RaisedError(of, tuple(raised.attributes.get("args", ())), where)
    raise where


CURRENT_ERROR = "<the error that is handled>"


# -- branches


def read_if(reader: SourceReader, line: ast.If, scope: Scope) -> Reading:
    """Read the branch that the test chooses, or both if the values of arrays decide."""
    test = yield reader.read_expression(line.test, scope)
    truth = yield reader.read_truth(line.test, test)
    if truth is not None:
        return (yield read_block(reader, line.body if truth else line.orelse, scope))
    first = yield read_branch(reader, read_block(reader, line.body, scope))
    second = yield read_branch(reader, read_block(reader, line.orelse, scope))
    return merge_branches(reader, line.test, first, second)


# -- loops


def read_for(reader: SourceReader, line: ast.For, scope: Scope) -> Reading:
    """Read each pass of a loop over known items."""
    iterator = yield reader.read_iterator(line.iter, (yield reader.read_expression(line.iter, scope)))

    def begin_pass() -> Reading:
        item = yield iterator.advance()
        if item is ITERATION_END:
            return False
        yield assign_target(reader, line.target, item, scope)
        return None if iterator.is_of_unknown_length or iterator.leaves_out_items else True

    return (yield read_loop(reader, line, begin_pass, scope))


def read_while(reader: SourceReader, line: ast.While, scope: Scope) -> Reading:
    """Read the passes of a loop, as long as its test is known to be true."""
    if isinstance(line.test, ast.Constant) and line.test.value and not may_leave(line):
        raise WorkLimitError(str(reader.error(line, "a loop without an end; end it with break or return")))

    def begin_pass() -> Reading:
        return (yield reader.read_truth(line.test, (yield reader.read_expression(line.test, scope))))

    return (yield read_loop(reader, line, begin_pass, scope))


def read_loop(
    reader: SourceReader, line: ast.For | ast.While, begin_pass: Callable[[], Reading], scope: Scope
) -> Reading:
    """Read a loop. `begin_pass` reads whether there is another pass: None if the values of arrays decide.

    Then it is read until the dtypes of all names stay the same from one pass to the next.
    """
    breaks, branches = PendingExits(), reader.branches
    ending, ends_by_breaks, watch = NORMAL_END, False, LoopWatch(reader, line, scope)
    while (another := (yield begin_pass())) is not False:
        reader.count_passes(line, PASSES_OF_OPEN_LOOP if isinstance(line, ast.While) else 1)
        if another is None or (breaks.is_taken and isinstance(line, ast.While)):
            if watch.is_settled(another is None):
                ends_by_breaks = another is True
                break
            if another is None:
                branches.add_exit(breaks, Branch(BREAK_END, {}), watch.excerpt, watch.why)
        ending = yield read_pass_of_loop(reader, line, breaks, scope)
        if ending is not NORMAL_END:
            break
    if ending is NORMAL_END and not ends_by_breaks:
        ending = yield read_ending(reader, line.orelse, scope)
    if not breaks.is_taken:
        return NORMAL_END if ending is BREAK_END else end_block(ending)
    if ending.error is not None:
        reader.leave_out_error(line, ending.error)
    if ending.sort == "return":
        branches.add_exit(reader.calls[-1], Branch(ending, {}), watch.excerpt, watch.why)
    exits = branches.close_exits(breaks)
    if ends_by_breaks or ending.sort in ("return", "raise"):
        branches.apply(exits)
    else:
        branches.merge(watch.excerpt, watch.why, exits, {})
    return NORMAL_END


class LoopWatch:
    """The dtypes of all names from pass to pass, in a loop of which nobody knows how often it runs."""

    def __init__(self, reader: SourceReader, line: ast.For | ast.While, scope: Scope) -> None:
        self.reader, self.line, self.scope = reader, line, scope
        self.excerpt = reader.excerpt_of(line)
        self.why = f"as the values of arrays decide how often line {line.lineno} runs"
        self.passes = 0
        self.before: dict[str, tuple[str, str]] = {}

    def is_settled(self, by_values: bool) -> bool:
        """Return True if another pass would change nothing. `by_values`: the values of arrays end the loop.

        After many passes known numbers may differ. Raises ProgramError if the dtypes then still change.
        """
        now, before = describe_names(self.reader, self.scope), self.before
        self.before, self.passes = now, self.passes + 1
        if now == before:
            return True
        if self.passes <= (MAX_PASSES_BY_VALUES if by_values else MAX_PASSES_BY_BREAK):
            return False
        if now.keys() == before.keys() and all(now[name][0] == before[name][0] for name in now):
            return True
        raise self.reader.error(self.line, "its dtypes change with each pass; write the passes out")


def read_pass_of_loop(
    reader: SourceReader, line: ast.For | ast.While, breaks: PendingExits, scope: Scope
) -> Reading:
    """Read a pass of a loop. Return how it ends: normal if another pass may follow."""
    continues, branches, excerpt = PendingExits(), reader.branches, reader.excerpt_of(line)
    why = f"as the values of arrays decide at line {line.lineno}"
    reader.loops.append((breaks, continues))
    ending = yield read_ending(reader, line.body, scope)
    reader.loops.pop()
    if not continues.is_taken:
        return NORMAL_END if ending is CONTINUE_END else ending
    if ending.sort in ("normal", "continue"):
        branches.merge(excerpt, why, branches.close_exits(continues), {})
        return NORMAL_END
    if ending.sort == "break":
        branches.add_exit(breaks, Branch(ending, {}), excerpt, why)
    elif ending.sort == "return":
        branches.add_exit(reader.calls[-1], Branch(ending, {}), excerpt, why)
    branches.apply(branches.close_exits(continues))
    return NORMAL_END


def read_ending(reader: SourceReader, lines: Sequence[ast.stmt], scope: Scope) -> Reading:
    """Read lines. Return how they end, also if they raise an error."""
    return (yield read_ending_of(read_block(reader, lines, scope)))


def read_ending_of(reading: Reading) -> Reading:
    """Return how lines end, also if they raise an error."""
    try:
        return (yield reading)
    except RaisedError as e:
        return Ending("raise", error=e)


def end_block(ending: Ending) -> Ending:
    """Return an ending, or raise its error."""
    if ending.error is not None:
        raise ending.error
    return ending


def read_function_body(
    reader: SourceReader, node: ast.AST, lines: Sequence[ast.stmt], scope: Scope
) -> Reading:
    """Read the lines of a function. Return what it returns, from any of its ways out."""
    exits, loops, branches = PendingExits(), reader.loops, reader.branches
    reader.calls.append(exits)
    reader.loops = []
    try:
        ending = yield read_ending(reader, lines, scope)
    except Exception:  # a `finally` would also run when a generator that nobody resumes is thrown away
        reader.calls.pop()
        reader.loops = loops
        raise
    reader.calls.pop()
    reader.loops = loops
    if not exits.is_taken:
        return end_block(ending).value
    value = exits.value
    if ending.error is not None:
        reader.leave_out_error(node, ending.error)
        branches.apply(branches.close_exits(exits))
        return value
    excerpt, why = reader.excerpt_of(node), "as the values of arrays decide which line returns"
    contents = branches.close_exits(exits)
    value = branches.merge_values(excerpt, why, value, ending.value, (contents, {}))
    branches.merge(excerpt, why, contents, {})
    return value


def describe_names(reader: SourceReader, scope: Scope) -> dict[str, tuple[str, str]]:
    """Describe the value of each name of a function: by its dtype and shape, and by a known value."""
    found: dict[str, tuple[str, str]] = {}
    waiting: list[tuple[str, Any]] = [*scope.of_kind("function", "module", "class").names.items()]
    seen: set[int] = set()
    while waiting:
        name, value = waiting.pop()
        known = reader.known(value) if isinstance(value, Ref) else value
        if isinstance(known, (bool, int, float, complex, str)):
            found[name] = type(known).__name__, repr(known)
        elif isinstance(value, Ref):
            outcome = reader.answers.outcome_of(reader.builder.steps, value.step)
            shape = reader.builder.shape_of(value)
            is_scalar = outcome.operand is not None and outcome.operand.tier == "scalar"
            kind = outcome.operand.kind.python_name if outcome.operand and is_scalar else str(outcome)
            found[name] = kind, "" if is_scalar else str(shape)
        elif isinstance(value, (list, tuple, dict, InstanceValue)) and id(value) not in seen:
            seen.add(id(value))
            held = value.attributes if isinstance(value, InstanceValue) else value
            pairs = held.items() if isinstance(held, dict) else enumerate(held)
            waiting += [(f"{name}.{key}", each) for key, each in pairs]
            found[name] = type(value).__name__, str(len(held))
    reader.answers.note(tuple(sorted((name, kind) for name, (kind, _) in found.items())))
    return found


# -- errors and contexts


def read_try(reader: SourceReader, line: ast.Try, scope: Scope) -> Reading:
    """Read lines whose errors are handled: those of Python's own values, and refusals of the system."""
    reader.tries.append([])
    ending = (
        yield read_ending(reader, line.body, scope) if not line.handlers else read_tried(reader, line, scope)
    )
    error, possible = ending.error, reader.tries.pop()
    if error is not None:
        handler = yield find_handler(reader, line.handlers, error, scope)
        if handler is not None:
            ending = yield read_ending_of(read_handler(reader, handler, error, {}, scope))
    elif ending is NORMAL_END:
        ending = yield read_ending(reader, line.orelse, scope)
    ending = yield read_possible_handlers(reader, line, ending, possible, scope)
    final = yield read_block(reader, line.finalbody, scope)
    return end_block(ending) if final is NORMAL_END else final


def read_possible_handlers(
    reader: SourceReader, line: ast.Try, ending: Ending, errors: Sequence[tuple[RaisedError, PendingExits]],
    scope: Scope,
) -> Reading:  # fmt: skip
    """Read the handlers of errors that are raised or not, as the values of arrays decide.

    Each handler begins with what objects were when its error was raised.
    """
    contents = [reader.branches.close_exits(exits) for _, exits in errors]
    for (error, _), changed in zip(errors, contents, strict=True):
        handlers = [*line.handlers] if error.of is UnknownError else []
        if not handlers:
            found = yield find_handler(reader, line.handlers, error, scope)
            handlers = [] if found is None else [found]
        if not handlers:
            reader.leave_out_error(line, error, changed)
        for handler in handlers:
            branch = yield read_branch(reader, read_handler(reader, handler, error, changed, scope))
            if ending.error is None:
                ending = merge_branches(reader, line, Branch(ending, {}), branch)
            elif branch.ending.error is None:
                reader.leave_out_error(line, ending.error)
                reader.branches.apply(branch.contents)
                ending = branch.ending
    return ending


def read_handler(
    reader: SourceReader, handler: ast.ExceptHandler, error: RaisedError, contents: Contents, scope: Scope
) -> Reading:
    """Read the lines of a handler, from what objects were when the error was raised."""
    reader.branches.apply(contents)
    before = scope.names.get(CURRENT_ERROR, MISSING)
    reader.bind(scope, CURRENT_ERROR, error)
    if handler.name:
        reader.bind(scope, handler.name, error)
    ending = yield read_ending(reader, handler.body, scope)
    if before is not MISSING:
        reader.bind(scope, CURRENT_ERROR, before)
    return end_block(ending)


def read_tried(reader: SourceReader, line: ast.Try, scope: Scope) -> Reading:
    """Read the lines of a `try`. If the system refuses one of their steps, they raise a TypeError."""
    first = len(reader.builder.steps)
    ending = yield read_ending(reader, line.body, scope)
    if ending.error is None and len(reader.builder.steps) > first:
        refused = reader.refused_step(first)
        if refused is not None:
            where = reader.error(line, f"the system refuses {reader.builder.steps[refused].text}; cast first")
            reader.drop_steps(refused)
            for _, exits in reader.tries[-1]:
                reader.branches.close_exits(exits)
            reader.tries[-1].clear()
            return Ending("raise", error=RaisedError(LibraryRefusal, (), where))
    return ending


def find_handler(
    reader: SourceReader, handlers: Sequence[ast.ExceptHandler], error: RaisedError, scope: Scope
) -> Reading:
    """Return the first handler that catches an error, or None."""
    for handler in handlers:
        if handler.type is None or error.is_of((yield reader.read_expression(handler.type, scope))):
            return handler
    return None


def read_with(reader: SourceReader, line: ast.With, scope: Scope) -> Reading:
    """Read lines within contexts: those of the source, and those of libraries that are known."""
    exits: list[tuple[InstanceValue | IteratorValue, Any]] = []
    mode = reader.builder.mode
    try:
        return (yield read_within(reader, line, exits, scope))
    finally:
        reader.builder.mode = mode


def read_within(
    reader: SourceReader, line: ast.With, exits: list[tuple[InstanceValue | IteratorValue, Any]], scope: Scope
) -> Reading:
    """Enter the contexts of a `with`, read its lines, and leave those of the source."""
    for item in line.items:
        context = yield read_context(reader, item.context_expr, scope)
        entered: ReadValue = None
        match context:
            case UnknownValue(error=error):
                raise error
            case ContextValue():
                context.enter(reader.builder)
                entered = context
            case InstanceValue():
                enter, leave = context.of.find("__enter__"), context.of.find("__exit__")
                if MISSING in (enter, leave):
                    raise reader.raised(item.context_expr, TypeError(f"{context.of.name!r} is no context"))
                entered = yield reader.call(line, enter, [context], {}, scope)
                exits.append((context, leave))
            case IteratorValue():
                entered = yield context.advance()
                exits.append((context, None))
        if item.optional_vars is not None:
            yield assign_target(reader, item.optional_vars, entered, scope)
    reader.tries.append([])
    ending = yield read_ending(reader, line.body, scope)
    for possible, pending in reader.tries.pop():
        contents = reader.branches.close_exits(pending)
        if any(may_swallow(leave) for _, leave in exits):
            raise reader.error(line, "the values of arrays decide if it ends with an error; write it as try")
        reader.leave_out_error(line, possible, contents)
    for context, leave in reversed(exits):
        error = ending.error
        if isinstance(context, IteratorValue):
            if error is not None:
                what = "a context that a generator makes ends with an error"
                raise reader.error(line, f"{what}; write it as try")
            yield context.advance()
            continue
        told = (None, None, None) if error is None else (error.of, error, None)
        swallowed = yield reader.call(line, leave, [context, *told], {}, scope)
        if error is not None and (yield reader.read_known_truth(line, swallowed)):
            ending = NORMAL_END
    return end_block(ending)


def read_match(reader: SourceReader, line: ast.Match, scope: Scope) -> Reading:
    """Read the case of a `match` that fits."""
    subject = yield reader.read_expression(line.subject, scope)
    for case in line.cases:
        names: dict[str, Any] = {}
        if not (yield match_pattern(reader, case.pattern, subject, names, scope)):
            continue
        for name, value in names.items():
            reader.bind(scope, name, value)
        if case.guard is not None:
            guard = yield reader.read_expression(case.guard, scope)
            if not (yield reader.read_known_truth(case.guard, guard)):
                continue
        return (yield read_block(reader, case.body, scope))
    return NORMAL_END


def refuse_async(reader: SourceReader, line: ast.stmt, scope: Scope) -> Reading:
    yield from ()
    raise reader.error(line, "it is a function to be awaited; define it without async")


STATEMENT_READERS: Mapping[type[ast.AST], Callable[[SourceReader, Any, Scope], Reading]] = {
    ast.AnnAssign: read_annotated_assignment,
    ast.Assert: read_assert,
    ast.Assign: read_assignment,
    ast.AsyncFor: refuse_async,
    ast.AsyncFunctionDef: refuse_async,
    ast.AsyncWith: refuse_async,
    ast.AugAssign: read_in_place,
    ast.Break: read_break,
    ast.ClassDef: read_class,
    ast.Continue: read_continue,
    ast.Delete: read_delete,
    ast.Expr: read_expression_line,
    ast.For: read_for,
    ast.FunctionDef: read_function_definition,
    ast.Global: read_global,
    ast.If: read_if,
    ast.Import: read_import,
    ast.ImportFrom: read_import_from,
    ast.Match: read_match,
    ast.Nonlocal: read_nonlocal,
    ast.Pass: read_pass,
    ast.Raise: read_raise,
    ast.Return: read_return,
    ast.Try: read_try,
    ast.TryStar: read_try,
    ast.While: read_while,
    ast.With: read_with,
}
