"""The order of a system file: covers, statement by statement."""
from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

from typelattice.core.dtypes.dtypes import Node
from typelattice.core.dtypes.order import Order, OrderError, collect_covers
from typelattice.core.system_files.key_reader import KeyReader
from typelattice.core.system_files.system_text import FileLine, OrderRow
from typelattice.core.system_files.value_reader import MAX_NODES, ConsequentError, Vocabulary

MAX_COVERS = (MAX_NODES // 2) ** 2  # no order of MAX_NODES nodes has more
MAX_STATEMENTS = 500
NodeChain = list[list[Node]]  # the lists between the arrows of a statement
StatedCovers = list[tuple[Node, Node | None]]  # arrows; with None the row only names a node
CoversByLine = dict[FileLine, StatedCovers]  # the arrows of each line of a file
CoversByRow = dict[OrderRow, StatedCovers]


def read_order(reader: KeyReader, words: Vocabulary) -> tuple[Order[Node], CoversByRow]:
    """Return the order of a definition's statements, and the arrows of each row. Raises ValueError."""
    covers: CoversByRow = {}
    chains: list[NodeChain] = []
    stated_at: list[OrderRow] = []  # the row of each chain
    with reader.record_mistakes():
        _read_statements(reader, words, covers, chains, stated_at)
        try:
            return Order(collect_covers(chains)), covers
        except OrderError:
            from bisect import bisect_left  # only for an error

            first_faulty = bisect_left(
                range(len(chains)), True, key=lambda n: bool(_find_fault(chains[: n + 1]))
            )
        cause = _find_fault(chains[: first_faulty + 1])
        reader.row = _row_of_fault(cause, stated_at[first_faulty], covers)
        raise ValueError(cause)
    reader.is_order_whole = False
    return Order({a: () for chain in chains for part in chain for a in part}), covers


def _read_statements(
    reader: KeyReader,
    words: Vocabulary,
    covers: CoversByRow,
    chains: list[NodeChain],
    stated_at: list[OrderRow],
) -> None:
    """Read the statements one by one, and note each mistake.

    Raises ConsequentError after the last statement if any had one.
    """
    reader.read_value("order", "")
    if not reader.definition.order:
        raise ValueError("missing or empty; write covers such as `i8 -> i16`")
    if len(reader.definition.order) > MAX_STATEMENTS:
        reader.row = reader.definition.order[MAX_STATEMENTS][0]
        raise ValueError(f"more than {MAX_STATEMENTS:,} statements; a system file states a rule")
    count = 0
    for row, statement in reader.definition.order:
        chain: NodeChain = []
        with reader.record_mistakes():
            reader.row = row
            chain = [words.read_nodes(",".join(part)) for part in statement]
        if not chain:
            continue
        count += sum(len(lower) * len(upper) for lower, upper in pairwise(chain))
        if count > MAX_COVERS:
            reader.row = row
            raise ValueError(f"more than {MAX_COVERS:,} covers; a system file states a rule")
        stated = covers.setdefault(row, [])
        stated += [(a, None) for part in chain for a in part]
        stated += [pair for lower, upper in pairwise(chain) for pair in product(lower, upper)]
        chains.append(chain)
        stated_at.append(row)
    if len({a for stated in covers.values() for a, _ in stated}) > MAX_NODES:
        raise ValueError(f"more than {MAX_NODES:,} nodes; a system file states a rule")
    if len(chains) < len(reader.definition.order):
        raise ConsequentError("order")


def covers_of_lines(rows: CoversByRow) -> CoversByLine:
    """Return the arrows of each line of a file."""
    covers: CoversByLine = {}
    for (text, row), stated in rows.items():
        covers.setdefault((text.file, text.line_of_row(row)), []).extend(stated)
    return covers


def _find_fault(chains: Sequence[NodeChain]) -> str:
    """Return the reason why the statements are not an order, or an empty string if they are one."""
    try:
        Order(collect_covers(chains))
    except OrderError as e:
        return str(e)
    return ""


def _row_of_fault(cause: str, row: OrderRow, covers: CoversByRow) -> OrderRow:
    """Return the row to name for a fault found at a row. An implied arrow has its own row in the fault."""
    for other, stated in covers.items():
        implied = tuple(f"the arrow {a} -> {b} follows" for a, b in stated)
        if other[0] == row[0] and cause.startswith(implied):
            return other
    return row
