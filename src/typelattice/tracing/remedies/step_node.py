"""The node of a step in its source: its operands, the names of arrays in it, and its library's name there."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from typelattice.base.rendering.grid import printable
from typelattice.core.operands.operand import Operand
from typelattice.core.operations.operations import OPERATIONS
from typelattice.core.registry.libraries import library_of
from typelattice.programs.calls.steps import MAX_STEP_CHARS, Call, Input
from typelattice.tracing.findings.predicted_run import PredictedRun
from typelattice.tracing.library_traits import has_rules, modules_with_dtypes
from typelattice.tracing.remedies.change import Change, StepCast
from typelattice.tracing.run_data.float_widths import is_integer
from typelattice.tracing.source.dtype_arguments import find_dtype_argument
from typelattice.tracing.source.source_file import MAX_NAMES_TRIED, Edit, SourceFile

OPTIONS = ("axis", "dim", "dtype", "device", "out")  # arguments that are no operands
MAX_STEPS_OF_USE = 8  # steps of one expression, as in a loop, of which the operands are read
BUILTIN_NAMES = {*dir(builtins)}  # such as `float`, which is no array


@dataclass(frozen=True, eq=False)
class StepNode:
    """The node of a step in its source."""

    predicted_run: PredictedRun
    source: SourceFile
    file: str
    node: ast.expr | ast.stmt
    step: int

    @classmethod
    def find(
        cls, predicted_run: PredictedRun, step_number: int, sources: Mapping[str, SourceFile]
    ) -> StepNode | None:
        """Find the node of a step, or None if no given source has it or it is an input from elsewhere."""
        step = predicted_run.steps[step_number]
        if step.location is None or step.location.file not in sources:
            return None
        source = sources[step.location.file]
        nodes = source.find_nodes(step.location.line, step.text)
        if not nodes or (isinstance(step, Input) and not isinstance(nodes[0], ast.Call)):
            return None
        return cls(predicted_run, source, step.location.file, nodes[0], step_number)

    @property
    def library(self) -> str:
        """The library whose rules decide the step, or whose function the source calls, or "" if unknown."""
        owner = self.predicted_run.steps[self.step].owner
        if owner or not isinstance(self.node, ast.Call):
            return owner or ""
        called = self.source.text(self.node.func).partition(".")[0]
        modules = (whole for name, whole in self.source.import_aliases if name == called)
        named = next((found for m in modules if (found := library_of(m.partition(".")[0]))), "")
        return named or self._library_of_consumer()

    def _library_of_consumer(self) -> str:
        """Return the library that computes with an array which came from elsewhere, as from a file, or ""."""
        run = self.predicted_run
        return next((owner for i in run.consumers[self.step] if (owner := run.steps[i].owner)), "") or ""

    @property
    def scope(self) -> ast.AST:
        """The function, class or module that is the scope of the node."""
        return self.source.find_scope(self.node)

    def at_node(self, file: str, source: SourceFile, node: ast.expr) -> StepNode:
        """Return another node that the step depends on, such as what a caller passes."""
        return replace(self, file=file, source=source, node=node)

    def make_change(self, *edits: Edit, casts: Sequence[StepCast] = ()) -> Change:
        """Make a change of some edits at the line of the node."""
        return Change(self.file, self.node.lineno, edits, tuple(casts))

    def find_library_alias(self) -> str:
        """Return the file's name for an imported library, such as `np`, or "" if the file does not import it.

        A library without rules, such as pandas, uses the dtypes of another library, which text can name.
        """
        if not has_rules(self.library):
            return ""
        named = list_library_aliases(self.source, self.library)
        text = self.source.text(self.node)
        return next((name for name in named if f"{name}." in text), named[0] if named else "")

    def list_names(self, nodes: Sequence[ast.AST]) -> list[str]:
        """List the names and attributes in some nodes that may be arrays, in the order of the source."""
        names: list[str] = []
        others = {
            *(name for name, _ in self.source.import_aliases),
            *self.source.names_of_objects,
            *self.source.names_of_numbers,
        }
        for node in nodes:
            options = {
                inner
                for call in ast.walk(node)
                if isinstance(call, ast.Call)
                for option in (
                    find_dtype_argument(call),
                    *(k.value for k in call.keywords if k.arg in OPTIONS),
                )
                if option is not None
                for inner in ast.walk(option)
            }
            for inner in ast.walk(node):
                if inner in options:
                    continue
                around = self.source.parent_by_node.get(inner)
                called = isinstance(around, ast.Call) and around.func is inner
                if isinstance(inner, (ast.Name, ast.Attribute)) and not called:
                    text = self.source.text(inner)
                    is_owner = isinstance(around, ast.Attribute) and isinstance(inner, ast.Name)
                    if text in BUILTIN_NAMES or text.partition(".")[0] in others or is_owner:
                        continue
                    names.append(text.removesuffix(".T"))
        return [*dict.fromkeys(names)][:MAX_NAMES_TRIED]

    def list_operands(self) -> list[ast.expr]:
        """List the operands of the step that the source writes out."""
        match self.node:
            case ast.BinOp(left=a, right=b) | ast.AugAssign(target=a, value=b):
                return [a, b]
            case ast.Assign(targets=[ast.Subscript(value=a)], value=b):
                return [a, b]
            case ast.Compare(left=a, comparators=[b]):
                return [a, b]
            case ast.Call(func=function, args=args, keywords=keywords):
                modules = [name for name, _ in self.source.import_aliases]
                owner = function.value if isinstance(function, ast.Attribute) else None
                is_function = owner is None or self.source.text(owner).partition(".")[0] in modules
                own = [] if is_function or owner is None else [owner]
                given = [k.value for k in keywords if k.arg not in (None, *OPTIONS)]
                named = [value for value in given if not _is_option(value)]
                positional = [x for x in args if not isinstance(x, ast.Starred) and not _is_option(x)]
                return [*own, *positional, *named]
        return []

    def list_steps_of(self, node: ast.expr | ast.stmt) -> list[int]:
        """List the steps of the run that another expression of the file is."""
        text = printable(self.source.text(node))[:MAX_STEP_CHARS]
        run, lines = self.predicted_run, range(node.lineno, (node.end_lineno or node.lineno) + 1)
        return [i for line in lines for i in run.list_steps_at(self.file, line) if run.steps[i].text == text]

    def list_operands_named(self, name: str) -> list[Operand]:
        """List what the run saw under a name in the scope of the node, as an operand or as assigned to it."""
        found = []
        for node in self.source.uses_by_name.get(name, ()):
            if self.source.find_scope(node) is not self.scope:
                continue
            if isinstance(node, ast.Assign):
                found += [*self.list_steps_of(node.value)]
            elif isinstance(node, (ast.expr, ast.AugAssign)):
                for i in self.list_steps_of(node)[:MAX_STEPS_OF_USE]:
                    pairs = replace(self, node=node, step=i).pair_operands()
                    found += [p for x, p in pairs if self.source.text(x) == name]
        results = (self.predicted_run.result_of(i) for i in dict.fromkeys(found))
        return [operand for operand in results if operand is not None]

    def pair_operands(self) -> list[tuple[ast.expr, int]]:
        """Pair the operands of the source with their steps, or return none if they do not match."""
        expressions, step = self.list_operands(), self.predicted_run.steps[self.step]
        taken = step.operands if isinstance(step, Call) else self.predicted_run.inputs[self.step]
        return [*zip(expressions, taken, strict=True)] if len(expressions) == len(taken) else []

    @property
    def takes_list_by_name(self) -> bool:
        """Return True if the step takes a list of arrays that its source only names: `np.array(rows)`."""
        operation = OPERATIONS.get(self.predicted_run.steps[self.step].op or "")
        is_of_list = operation is not None and operation.call_form == "list"
        return is_of_list and not self.pair_operands() and len(self.list_operands()) == 1

    def split_wide_and_narrow(self) -> tuple[list[ast.expr], list[ast.expr]]:
        """Split the operands into those that are as wide as the result, or integers, and the narrower ones.

        If the operands of the source do not match those of the step, both are all that may be arrays.
        """
        run, pairs = self.predicted_run, self.pair_operands()
        own = run.widths[self.step]
        wide = [x for x, p in pairs if run.widths[p] == own or is_integer(run.result_of(p))]
        narrow = [x for x, p in pairs if 0 < (run.widths[p] or 0) < (own or 0)]
        objects = self.source.names_of_objects
        expressions = [x for x in self.list_operands() if self.source.text(x) not in objects]
        return wide or expressions, narrow or expressions

    def casts_of_results(self, steps: Sequence[int] = ()) -> list[StepCast]:
        """Return the casts of all results of the source text of the step, or of some steps."""
        run = self.predicted_run
        return [StepCast(j) for i in steps or (self.step,) for j in run.steps_of_same_source(i)]

    def casts_of_operands(self, expressions: Sequence[ast.expr]) -> list[StepCast]:
        """Return the casts of some operands, wherever the source text of the step ran."""
        run = self.predicted_run
        own = run.widths[self.step]
        positions = [i for i, (x, _) in enumerate(self.pair_operands()) if x in expressions]
        found = []
        for j in run.steps_of_same_text(self.step):
            step = run.steps[j]
            taken = step.operands if isinstance(step, Call) else run.inputs[j]
            if positions:
                found += [StepCast(taken[i], j) for i in positions if i < len(taken)]
            else:
                found += [StepCast(p, j) for p in taken if run.widths[p] == own]
        return [*dict.fromkeys(found)]


def _is_option(node: ast.expr) -> bool:
    """Return True if an expression is text or a truth value, such as `mode="same"`, and so no operand."""
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bool))


def list_library_aliases(source: SourceFile, library: str) -> list[str]:
    """List a file's names for the modules of a library that have its dtypes, the shortest first."""
    asked = source.names_with_attributes  # other imported names, such as `pi`, are not modules
    modules = modules_with_dtypes(library)
    named = [
        name + module.removeprefix(whole)
        for name, whole in source.import_aliases
        for module in modules
        if (whole == module and (name in asked or "." not in whole)) or module.startswith(f"{whole}.")
    ]
    return sorted(named, key=len)  # `jnp` before `jax.numpy`
