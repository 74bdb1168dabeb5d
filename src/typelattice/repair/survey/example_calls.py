"""Calls of a function in examples and tests: the code runs, and the arguments of each call are copied."""

from __future__ import annotations

import ast
import copy
import doctest
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from typelattice.repair.survey.numpy_adapter import usual_fixtures
from typelattice.repair.survey.surveyor_handle import OWN_EXAMPLES
from typelattice.repair.survey.time_limit import TimeLimitError

CALL_HOOK_NAME = "__typelattice_call__"
CALLED_NAME_PATTERN = re.compile(r"\b([A-Za-z_]\w*)\(")
IMPORT_LINE_PATTERN = re.compile(r"(?m)^ *>>> (?:import|from) ([\w.]+)")
MAX_CALLS = 4
MAX_EXAMPLES = 4
MAX_TEST_FILE_BYTES = 400_000


@dataclass(frozen=True, slots=True)
class ExampleCall:
    """The arguments of a call, and the place of the call."""

    source: str
    args: tuple[Any, ...]
    keywords: Mapping[str, Any] = field(default_factory=dict)


class CallLimitReachedError(BaseException):
    """Ends code that has made enough calls."""


@contextmanager
def ignore_errors() -> Iterator[None]:
    """Ignore what code raises, except what ends it on purpose: pytest's skips are not an Exception."""
    try:
        yield
    except (CallLimitReachedError, TimeLimitError):
        raise
    except BaseException:
        return


class _CallRewriter(ast.NodeTransformer):
    """Rewrites each call into a call of the hook: `f(x)` becomes `hook(f, x)`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("super", "locals", "globals", "vars", "dir"):
            return node
        hook = ast.Name(CALL_HOOK_NAME, ast.Load())
        return ast.copy_location(ast.Call(hook, [node.func, *node.args], node.keywords), node)


@dataclass(slots=True)
class CallRecorder:
    """Records calls of one function in code that `compile` has rewritten."""

    function: Callable[..., Any]
    source: str
    calls: list[ExampleCall] = field(default_factory=list)

    def compile_code(self, text: str, file: str, mode: str) -> Any:
        """Compile code that hands its calls to `call`."""
        tree = ast.parse(text, file, mode)
        return compile(ast.fix_missing_locations(_CallRewriter().visit(tree)), file, mode, dont_inherit=True)

    def record_call(self, function: Callable[..., Any], /, *args: Any, **named: Any) -> Any:
        """Record a call of the function, and make every call. Raises CallLimitReachedError after the last."""
        if function is self.function:
            self.calls.append(
                ExampleCall(self.source, tuple(map(_copy_argument, args)), _copy_arguments(named))
            )
            if len(self.calls) >= MAX_CALLS:
                raise CallLimitReachedError
        return function(*args, **named)


def _copy_argument(argument: Any) -> Any:
    try:
        return copy.deepcopy(argument)
    except Exception:  # an argument that cannot be copied is passed itself
        return argument


def _copy_arguments(named: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _copy_argument(x) for key, x in named.items()}


def example_calls(name: str, function: Callable[..., Any], docs: Mapping[str, str]) -> Iterator[ExampleCall]:
    """Yield the calls of a function in its own examples, then in others of its package that name it.

    `docs` are the docstrings of the package by the name of their object.
    """
    word = name.rpartition(".")[2]
    own = docs.get(name) or getattr(function, "__doc__", None) or ""
    others = [(each, text) for each, text in docs.items() if each != name and f"{word}(" in text]
    for each, text in [(name, own), *others[:MAX_EXAMPLES]]:
        recorder = CallRecorder(function, OWN_EXAMPLES if each == name else f"the examples of {each}")
        with suppress(CallLimitReachedError):
            _run_examples(text, each.rpartition(".")[0], word, recorder)
        yield from recorder.calls


def _run_examples(text: str, module: str, word: str, recorder: CallRecorder) -> None:
    """Run the examples of a docstring up to the last that calls a function; ignore what they raise."""
    names = dict(vars(sys.modules[module])) if module in sys.modules else {}
    usual = {"np": "numpy", "pd": "pandas", "plt": "matplotlib.pyplot", module.rpartition(".")[2]: module}
    for short, full in usual.items():
        if full in sys.modules:
            names.setdefault(short, sys.modules[full])
    names.update({"__name__": "__main__", CALL_HOOK_NAME: recorder.record_call})
    examples: list[doctest.Example] = []
    with suppress(ValueError):
        examples = doctest.DocTestParser().get_examples(text)
    last = max((i for i, each in enumerate(examples) if f"{word}(" in each.source), default=-1)
    for example in examples[: last + 1]:
        with ignore_errors():
            exec(recorder.compile_code(example.source, "<example>", "single"), names)


def package_docs(functions: Mapping[str, Callable[..., Any]]) -> Mapping[str, str]:
    """Return the docstrings with examples of functions, classes and modules."""
    docs = {name: str(getattr(function, "__doc__", "") or "") for name, function in functions.items()}
    for module_name in {name.rpartition(".")[0] for name in functions}:
        module = sys.modules.get(module_name)
        docs[f"{module_name}.__doc__"] = str(getattr(module, "__doc__", "") or "")
        for name, each in [*vars(module).items()] if module else []:
            if isinstance(each, type) and not name.startswith("_"):
                docs.setdefault(f"{module_name}.{name}", str(each.__doc__ or ""))
    return {name: text for name, text in docs.items() if ">>>" in text}


def import_modules_of(docs: Mapping[str, str]) -> None:
    """Import the modules that examples import, so that forks need not; ignore those that fail."""
    for name in sorted({name for text in docs.values() for name in IMPORT_LINE_PATTERN.findall(text)}):
        with suppress(BaseException):
            importlib.import_module(name)


@cache
def find_test_files(package: str) -> Mapping[str, frozenset[str]]:
    """Map the files of tests that a package installs to the names of the functions that they call."""
    found: dict[str, frozenset[str]] = {}
    for folder in getattr(sys.modules[package], "__path__", ()):
        for path in sorted(Path(folder).rglob("test*.py")):
            if path.stat().st_size < MAX_TEST_FILE_BYTES:
                text = path.read_text(encoding="utf-8", errors="replace")
                found[str(path)] = frozenset(CALLED_NAME_PATTERN.findall(text))
    return found


def calls_in_tests(name: str, function: Callable[..., Any], package: str) -> Iterator[ExampleCall]:
    """Yield the calls of a function in the package's own tests; skip tests with fixtures."""
    word, home = name.rpartition(".")[2], name.split(".")[1:-1]
    root = package.partition(".")[0]
    files_calling = [file for file, words in find_test_files(root).items() if word in words]
    files_calling.sort(key=lambda file: (word not in Path(file).stem, not {*home} <= {*Path(file).parts}))
    for file in files_calling[:2]:
        recorder = CallRecorder(function, f"the tests in {Path(file).name}")
        with suppress(CallLimitReachedError), ignore_errors():
            _run_tests(file, word, root, recorder)
        yield from recorder.calls
        if recorder.calls:
            return


def _run_tests(file: str, word: str, package: str, recorder: CallRecorder) -> None:
    root = Path(next(iter(sys.modules[package].__path__)))
    dotted = ".".join([package, *Path(file).relative_to(root).with_suffix("").parts])
    module = ModuleType(dotted)
    module.__file__, module.__package__ = file, dotted.rpartition(".")[0]
    with ignore_errors():
        importlib.import_module(module.__package__)
    module.__dict__[CALL_HOOK_NAME] = recorder.record_call
    text = Path(file).read_text(encoding="utf-8")
    sys.modules[dotted] = module
    exec(recorder.compile_code(text, file, "exec"), module.__dict__)
    lines = text.splitlines()
    for test in _yield_tests(module, dotted):
        code = inspect.unwrap(test).__code__
        with ignore_errors():
            block = inspect.getblock([line + "\n" for line in lines[code.co_firstlineno - 1 :]])
            if f"{word}(" in "".join(block):
                for values in _first_parametrized_values(test):
                    with ignore_errors():
                        test(**values)


def _yield_tests(module: ModuleType, dotted: str) -> Iterator[Any]:
    """Yield the test functions of a module, and the test methods of its classes."""
    for name, each in [*vars(module).items()]:
        if name.startswith("test") and inspect.isfunction(each):
            yield each
        elif inspect.isclass(each) and each.__module__ == dotted:
            for inner in [key for key in dir(each) if key.startswith("test")]:
                made = None
                with ignore_errors():
                    made = each()
                    for setup in ("setup_method", "setUp"):
                        if hasattr(made, setup):
                            getattr(made, setup)()
                if made is not None:
                    yield getattr(made, inner)


def _first_parametrized_values(test: Any) -> Iterator[dict[str, Any]]:
    """Yield the first values of a parametrized test, or none for one without parameters."""
    values: list[dict[str, Any]] = [{}, {}]
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize":
            names, rows = mark.args[0], [*mark.args[1]]
            names = [each.strip() for each in names.split(",")] if isinstance(names, str) else [*names]
            for into, row in zip(values, (rows[0], rows[-1]), strict=True):
                given = row.values if hasattr(row, "marks") else row if len(names) > 1 else (row,)
                into.update(zip(names, given, strict=False))
    asked = inspect.signature(test).parameters
    for each in values if values[0] else values[:1]:
        yield {key: x for key, x in {**usual_fixtures(), **each}.items() if key in asked}

