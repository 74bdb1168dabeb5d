"""Which of our operations a node of a graph is, and of which operands: that which gives what came out."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cache

from typelattice.facts.errors import TypelatticeError
from typelattice.facts.operations import Operation
from typelattice.facts.range import Value
from typelattice.files.reader import system as find_system
from typelattice.operands.operand import Operand
from typelattice.programs.draft import Draft
from typelattice.programs.functions import FUNCTIONS
from typelattice.programs.replay import replay
from typelattice.programs.site import Site
from typelattice.programs.step import Input, Ref
from typelattice.tracing.compiled.graph import Graph, Node, Variable

TABLE = f"{__file__.removesuffix('operations.py')}names.txt"
CAST = "astype"
SPREADING = ("reshape", "broadcast_to")  # which bring operands to one shape
Taken = tuple[Variable, ...]


@cache
def _table() -> Mapping[tuple[str, str], str]:
    with open(TABLE, encoding="ascii") as rows:
        words = [row.split() for row in rows if not row.startswith("#")]
    return {(library, theirs): ours for library, theirs, ours in words}


def named(library: str, name: str) -> str:
    """Our name for an operation of a library's graphs; "" for none.

    >>> named("jax", "reduce_sum"), named("jax", "select_n"), named("jax", "ragged_dot")
    ('sum', 'where', '')
    """
    ours = _table().get((library, name)) or name.lower()
    return CAST if ours == CAST else FUNCTIONS[ours].name if ours in FUNCTIONS else ""


class Chooser:
    """Finds what the nodes of one graph are, under the library's own system."""

    def __init__(self, graph: Graph, library: str, system: str) -> None:
        self.graph, self.library, self.system = graph, library, system
        self.said: dict[Hashable, Operand | None] = {}
        self.makers = {
            variable: node
            for node in graph.nodes
            if named(library, node.name) in (CAST, *SPREADING)
            for variable in node.gives
        }

    def chosen(self, node: Node) -> tuple[str, Taken, bool]:
        """Our name for a node, its operands, and whether constants among them are Python's numbers.

        A library's graph has its promotions written out, each a cast in front of the operation that asked for
        it, both at one place of the source. Such casts are left out if our rules, given what was there before
        them, say what came out: they were promotions. The name is "" where no operation says so.
        """
        name = named(self.library, node.name)
        if name == CAST:
            return name, node.takes[:1], False
        op = FUNCTIONS.get(name)
        if op is None or len(node.gives) != 1 or not node.takes:
            return "", node.takes, False
        takes = node.takes if op.form == "several" else node.takes[: op.most or len(node.takes)]
        for these in dict.fromkeys((tuple(self.before(v, node) for v in takes), takes)):
            for numbers in (True, False):
                if self.gives(op, these, numbers) == self.told(node.gives[0]):
                    return name, these, numbers
        return "", node.takes, False

    def before(self, variable: Variable, node: Node) -> Variable:
        """A variable as it was before it was cast and spread where the node stands."""
        maker = self.makers.get(variable)
        while maker is not None and maker.span is not None and maker.span == node.span:
            variable = maker.takes[0]
            maker = self.makers.get(variable)
        return variable

    def told(self, variable: Variable) -> Hashable:
        """All that is compared of a variable: its dtype, and whether it is weak."""
        operand = self.graph.operands.get(variable)
        return operand and (operand.dtype, operand.weak)

    def gives(self, op: Operation, takes: Sequence[Variable], numbers: bool) -> Hashable:
        """The dtype and weakness that an operation gives by our rules; False where they refuse."""
        if any(v not in self.graph.operands for v in takes):
            return False  # one is no array of numbers
        given = [*self.given(takes, numbers)]
        key = op.name, tuple((type(x), x) for x in given)
        if key not in self.said:
            self.said[key] = self.computed(op, given)
        found = self.said[key]
        return found is not None and (found.dtype, found.weak)

    def given(self, takes: Sequence[Variable], numbers: bool) -> Iterator[Operand | Value]:
        """What an operation is given."""
        for variable in takes:
            number = self.graph.numbers.get(variable) if numbers else None
            yield self.graph.operands[variable] if number is None else number

    def computed(self, op: Operation, given: Sequence[Operand | Value]) -> Operand | None:
        """What an operation gives by our rules; None where they refuse."""
        draft, site = Draft(), Site("", owner=self.library)
        try:
            refs = [
                draft.add(Input(x, text="")) if isinstance(x, Operand) else draft.number(site, x)
                for x in given
            ]
            made = draft.call(site, op, refs)
            assert isinstance(made, Ref)
            return replay(draft.steps, find_system(self.system))[made.step].operand
        except TypelatticeError:
            return None
