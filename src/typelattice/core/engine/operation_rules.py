"""The dtype rules of operations: the kinds that each class computes in, and its result.

standard.txt states the array API standard. A system file states only the differences of its library. The
operations and the class of each are listed in core/operations/operations.txt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.base.objects.frozen_classes import field, frozen, replace
from typelattice.base.objects.lazy_tables import LazyTable
from typelattice.core.dtypes.dtypes import KINDS_BY_WORD, DType, Kind, Node
from typelattice.core.engine.rule_enums import (
    CountsAs,
    InPlaceRule,
    JoinRule,
    OverflowRule,
    PairJoin,
    RightLimit,
    ScalarPlaces,
    ScalarTarget,
    WeakResult,
)
from typelattice.core.operands.operand import Operand
from typelattice.core.operations.operations import IN_PLACE_CLASS, OPERATIONS, Operation, OpError

DTypeOrKind = DType | Kind  # a dtype, or a kind for its default dtype


@frozen()
class ComputedMember:
    """A result of a family of dtypes, with the formulas of its parameters: `decimal(sum(p), sum(s))`."""

    family: DType
    formulas: tuple[Formula, ...]


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeVar

    T = TypeVar("T")
    ResultWord = Literal["real", "complex", "left", "joined", "py", "py.bool", "py.int", "py.float"]
    ResultRule = DTypeOrKind | ResultWord | ComputedMember | None

    from typelattice.core.engine.parameter_formulas import Formula

STANDARD_TABLE_PATH = __file__.rpartition("operation_rules")[0] + "standard.txt"
INT_WITHOUT_AXIS_RESULT = "py.int without axis"  # an array of the default integer dtype if an axis is given
LAST_ARRAY_RESULT = "last array"  # the last of several arrays that one call returns
# Words of `gives` besides dtypes and kinds.
RESULT_WORDS = ("real", "complex", "left", "joined", LAST_ARRAY_RESULT, INT_WITHOUT_AXIS_RESULT)
# values of `gives` for a Python number, with its kind
KIND_BY_PYTHON_NUMBER_WORD: Mapping[str, Kind | None] = {
    "py": None, "py.bool": Kind.BOOL, "py.int": Kind.SIGNED, "py.float": Kind.FLOAT,
}  # fmt: skip
ANY_OPERAND_WORD = "any"  # every operand, including a Python scalar
DIFFERENT_DTYPE_WORD = "different"  # an array with a dtype that the other operand does not have
# For arrays: kinds, dtypes, DIFFERENT_DTYPE_WORD, `0d signed`; for Python scalars: weak nodes, values.
PairSide = frozenset[Node | Kind | str]
NodesWithSuccessors = tuple[tuple[Node, tuple[Node, ...]], ...]
# fields of operations that add up values
SUMMING_OPERATION_FIELDS = ("accumulates", "accumulates_of_pairs", "gives_of_pairs")


@frozen()
class Domain:
    """The dtypes of `accepts` or `kernels`: certain kinds and single dtypes, except those of `excluded`.

    >>> from typelattice.core.dtypes.dtypes import DTYPE_BY_CODE
    >>> reals = Domain(parse_kinds("real"), excluded=(DTYPE_BY_CODE["u16"],))
    >>> print(DTYPE_BY_CODE["u8"] in reals, DTYPE_BY_CODE["u16"] in reals, DTYPE_BY_CODE["c64"] in reals)
    True False False
    """

    listed: tuple[DTypeOrKind, ...]
    excluded: tuple[DTypeOrKind, ...] = ()
    # The same content as sets, because every answer looks up several dtypes. A tuple would compare them one
    # by one by `DType.__eq__`, which is Python code. A set compares only those with the same hash.
    _listed: frozenset[DTypeOrKind] = field(init=False, repr=False, compare=False)
    _excluded: frozenset[DTypeOrKind] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_listed", frozenset(self.listed))
        object.__setattr__(self, "_excluded", frozenset(self.excluded))

    def __contains__(self, x: DTypeOrKind) -> bool:
        """Return True if the domain has a dtype, or a kind, such as the kind of a Python scalar."""
        kind = x.kind if isinstance(x, DType) else x
        return (kind in self._listed or x in self._listed) and not (
            kind in self._excluded or x in self._excluded
        )

    def describe_missing(self, dtype_or_kind: DTypeOrKind) -> str:
        """Name what the domain lacks: the kind, if it has no dtype of that kind, or the dtype."""
        if isinstance(dtype_or_kind, Kind):
            return (
                f"{dtype_or_kind} integers"
                if dtype_or_kind in (Kind.UNSIGNED, Kind.SIGNED)
                else str(dtype_or_kind)
            )
        kinds = {
            listed.kind if isinstance(listed, DType) else listed for listed in self._listed - self._excluded
        }
        return (
            str(dtype_or_kind) if dtype_or_kind.kind in kinds else self.describe_missing(dtype_or_kind.kind)
        )


@frozen()
class PairEntry:
    """Pairs of operands that become `dtype` whatever the order says, that join by `join`, or are refused.

    `is_ordered`: the left side must come first. `reason` says why a pair is refused.
    """

    left: PairSide
    right: PairSide
    is_ordered: bool
    dtype: DType | None = None
    reason: str = ""
    join: PairJoin | None = None


@frozen()
class OperationRules:
    """The rules of a system for one operation: accepted dtypes, the join of operands, the result's dtype.

    Each field has the name of the key that sets it: the key `weak-result` sets `weak_result`.
    docs/format-operations.md explains the keys. A key with several forms sets several fields, which begin
    with its name:

    - `..._of` is a table for single dtypes and kinds. It counts more than the field for all dtypes.
    - `..._of_pairs` is a table for pairs of operands.
    - `joins_order` has the covers of the operation's own order.
    - `loops` are the dtypes that a search for a loop tries. A dtype of `loops_own` comes first if an operand
      has it.
    - `computes_scalars` says which dtype must hold a Python scalar.
    - `limits_right` has the integers that may stand on the right: those of an unsigned dtype, or a word.
    - `overflow` is None if the system does not say what becomes of integers out of range.
    - `gives` is None for the compute dtype. `gives_into` has the dtypes that the left operand accepts.

    `accepts` is None if an operand may have any dtype. `writes` is true for operators such as `+=`.
    """

    name: str
    kernels: Domain
    gives: ResultRule = None
    gives_of: Mapping[DTypeOrKind, ResultRule] = field(default_factory=dict)
    accepts: Domain | None = None
    scalars: ScalarPlaces = ScalarPlaces.ANY
    refusals: tuple[PairEntry, ...] = ()
    counts_as: CountsAs = CountsAs.ITSELF
    counts_as_of: Mapping[DTypeOrKind, DTypeOrKind] = field(default_factory=dict)
    joins: JoinRule = JoinRule.BY_THE_ORDER
    joins_order: NodesWithSuccessors = ()
    joins_of_pairs: tuple[PairEntry, ...] = ()
    loops: tuple[DType, ...] = ()
    loops_own: tuple[DType, ...] = ()
    computes: Mapping[DTypeOrKind, DTypeOrKind] = field(default_factory=dict)
    accumulates: Mapping[DTypeOrKind, DTypeOrKind] = field(default_factory=dict)
    accumulates_of_pairs: tuple[PairEntry, ...] = ()
    gives_of_pairs: tuple[PairEntry, ...] = ()
    computes_scalars: ScalarTarget = ScalarTarget.COMPUTED
    writes: bool = False
    gives_into: InPlaceRule = InPlaceRule.SAME_DTYPE
    weak_result: WeakResult = WeakResult.WEAK
    weak_result_of: Mapping[DTypeOrKind, WeakResult] = field(default_factory=dict)
    limits: Mapping[DTypeOrKind, Sequence[DType]] | None = None
    limits_right: RightLimit | DType | None = None
    fit: Mapping[str, str] | None = None
    overflow: OverflowRule | None = None

    @property
    def required_dimensions(self) -> int:
        """Return 1 if this system's operation refuses 0-d arrays and Python scalars, or 0 if not."""
        return int(self.scalars in (ScalarPlaces.NONE_NOR_0D, ScalarPlaces.NONE_NOR_0D_NOR_WEAK))

    def counts_as_array(self, position: int) -> bool:
        """Return True if the operand at a position counts as an array of its own dtype."""
        return self.counts_as is CountsAs.ARRAY or (
            self.counts_as is CountsAs.ARRAY_IF_FIRST and position == 0
        )


def parse_kinds(text: str) -> tuple[Kind, ...]:
    """Return the kinds that words such as `bool, int` mean. Raises KeyError."""
    return tuple(kind for word in text.split(",") for kind in KINDS_BY_WORD[word.strip()])


def _read_standard() -> dict[str, list[str]]:
    """Read the rows of the standard's table, by the name of the class."""
    with open(STANDARD_TABLE_PATH, encoding="utf-8") as rows:
        return {row.split(None, 1)[0]: row.split()[1:] for row in rows if not row.startswith("#")}


def _make_rules_of_class(name: str, row: Sequence[str]) -> OperationRules:
    _, kernels, gives = row
    given = gives if gives in RESULT_WORDS else KINDS_BY_WORD.get(gives, (None,))[-1]
    # mypy does not see that a word of RESULT_WORDS is one of `ResultRule`.
    fit: Mapping[str, str] | None = {} if name == "promotion" else None
    return OperationRules(name, Domain(parse_kinds(kernels)), given, fit=fit)  # type: ignore[arg-type]


STANDARD_RULES_BY_CLASS: Mapping[str, OperationRules]
GROUP_BY_CLASS: Mapping[str, str]  # the group of each class: does it make new values, or move existing ones
_ROW_BY_CLASS = _read_standard()
STANDARD_RULES_BY_CLASS = LazyTable(_ROW_BY_CLASS, _make_rules_of_class)
GROUP_BY_CLASS = {name: row[0] for name, row in _ROW_BY_CLASS.items()}


def check_operand_count(operation: Operation, operands: Sequence[Operand]) -> None:
    """Raise OpError for a wrong number of operands, and for indices of wrong kinds."""
    operation.check_operand_count(len(operands))
    for indices in operands[1:] if operation.call_form == "indexed" else ():
        if indices.kind.category > Kind.SIGNED.category:
            raise OpError(
                f"{operation.name} takes integers for indices, not {indices}; cast them first, e.g. to int64"
            )


def merge_entries(operation: Operation, entries: Mapping[str, Mapping[str, object]]) -> OperationRules:
    """Merge the standard's rules for an operation with a file's entries for it, its class and its group.

    `entries` are the entries of `ops`. The operation's own entry counts most, the standard least.

    >>> from typelattice.core.operations.operations import find_operation
    >>> merge_entries(find_operation("divide"), {}).kernels.listed
    (<Kind.FLOAT: 'float'>, <Kind.COMPLEX: 'complex'>)
    """
    fields: dict[str, object] = {}
    for entry in reversed(entry_names(operation)):
        fields |= entries.get(entry, {})
    if not operation.adds_up:  # the entry of a class or group may describe other operations
        fields = {key: value for key, value in fields.items() if key not in SUMMING_OPERATION_FIELDS}
    fields |= {"name": operation.name, "writes": operation.is_in_place}
    # The reader of files has checked the types, which mypy cannot see.
    return replace(STANDARD_RULES_BY_CLASS[class_of(operation)], **fields)


def class_of(operation: Operation) -> str:
    """Return the class that states the dtypes of an operation. An operator has the class of its function.

    Raises OpError for a class that the standard's table does not have.
    """
    of_class = OPERATIONS[operation.like or operation.function].operation_class
    if of_class not in GROUP_BY_CLASS:
        unknown = f"unknown class {quote_short(of_class)}{spelling_hint(of_class, GROUP_BY_CLASS)}"
        raise OpError(f"operations.txt, row of {operation.function}, column 2: {unknown}")
    return of_class


@cache  # many answers need the result of one operation at every step
def entry_names(operation: Operation) -> tuple[str, ...]:
    """Return the entries of `ops` that may describe an operation, the one that counts most first.

    An operator behaves like its function, and `+=` like `+`, unless an entry says something else. An
    operation that a system defines behaves like the known one in its `like`.

    >>> from typelattice.core.operations.operations import find_operation
    >>> entry_names(find_operation("add")), entry_names(find_operation("+="))
    (('add', 'arithmetic', 'computing'), ('+=', 'in-place', '+', 'add', 'arithmetic', 'computing'))
    """
    of_class = class_of(operation)
    signs = (
        (operation.name, IN_PLACE_CLASS, operation.name[:-1]) if operation.is_in_place else (operation.name,)
    )
    operator_entries = signs if operation.is_operator else ()
    like_entries = (*operation.also_like, operation.like) if operation.like else ()
    return *operator_entries, operation.function, *like_entries, of_class, GROUP_BY_CLASS[of_class]


def look_up(table: Mapping[DTypeOrKind, T], d: DType | Operand) -> T | None:
    """Look up a dtype or an operand in a table, first by its dtype, then by its kind."""
    dtype = d if isinstance(d, DType) else d.dtype
    return (table.get(dtype) if dtype else None) or table.get(d.kind)
