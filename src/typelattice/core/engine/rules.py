"""Rules: the content of a system file as data. Nothing here computes."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from typelattice.base.objects.frozen_classes import frozen
from typelattice.core.dtypes.dtypes import DType, Kind, Node, sort_key
from typelattice.core.dtypes.order import Order
from typelattice.core.losses.cast_rounding_and_overflow import PLAIN_CAST_RULE, CastRule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from typelattice.core.engine.parameter_formulas import FamilyRules
    from typelattice.core.operations.operations import Operation

    Combine = Literal["join", "fold", "comparable", "value"]
    WeakJoin = Literal["kind", "width"]

UnorderedPair = frozenset[Node]


@frozen(eq=False, repr=False)
class Rules:
    """The promotion rules of one library as data. The fields are the keys of its file.

    `wider_defaults` are further default dtypes of a kind, from narrow to wide, for values that the first does
    not hold. Kinds of `kinds_widening_alone` use them only for a scalar without other operands. `limits` has,
    for each kind, the dtypes allowed for a Python scalar: at least one must hold its value. A dtype as key
    limits the Python ints that become this dtype. `int_join_dtypes` replace the dtype of integers that do not
    hold a Python int; the narrowest that holds it is used. They go from narrow to wide, and are empty unless
    `fit` is "least dtype". `requested` maps a requested dtype or Python type to the dtype that the array
    really gets: float64 to float32 in JAX's default mode. An operand of the requested dtype counts as the
    other one, so `before` has this entry as well. `stand_in` has the dtype that replaces a Python scalar
    beside the nodes of `stand_in_beside`. `foreign` says what another library's arrays count as: library,
    then form, then a word or a reason. `custom_dtypes` are the dtypes that the file defines, by name and by
    code. `entries` keeps how the file wrote a tie, an override or a refusal, so that an explanation can quote
    it. `missing_operations` are the operations that the library lacks. `custom_operations` are the operations
    that the file defines. `casts` has the rules of explicit casts, by source and target. `families` has the
    families of dtypes with parameters.
    """

    name: str
    title: str
    source: str
    library: str
    order: Order[Node]
    ties: Mapping[UnorderedPair, Node]
    overrides: Mapping[UnorderedPair, Node]
    refusals: Mapping[UnorderedPair, str]
    combine: Combine
    tiers: Sequence[str]
    first_is_array: bool
    weak_join: WeakJoin
    defaults: Mapping[Kind, DType]
    wider_defaults: Mapping[Kind, Sequence[DType]]
    kinds_widening_alone: frozenset[Kind]
    limits: Mapping[Kind | DType, Sequence[DType]]
    before: Mapping[Node, Node]
    requested: Mapping[DType | Kind, DType]
    after: Mapping[Node, Node]
    fit: Mapping[str, str]
    int_join_dtypes: Sequence[DType]
    ops: Mapping[str, Mapping[str, object]]
    stand_in_beside: frozenset[Node]
    stand_in: Mapping[Kind, DType]
    both_ways: frozenset[UnorderedPair]
    foreign: Mapping[str, Mapping[str | DType | None, str]]
    custom_dtypes: Mapping[str, DType]
    entries: Mapping[tuple[str, UnorderedPair], str]
    missing_operations: frozenset[str]
    custom_operations: Mapping[str, Operation]
    casts: Mapping[tuple[DType, DType], CastRule]
    families: Mapping[DType, FamilyRules]

    def cast_rule(self, source: DType, target: DType) -> CastRule:
        """Return the system's rule for an explicit cast. By default the formats define the result."""
        return self.casts.get((source, target), PLAIN_CAST_RULE)

    def find_operation(self, name: str) -> Operation:
        """Return the operation of a name, which the system may define. Raises OpError."""
        from typelattice.core.operations.operations import (
            find_operation,  # promotion without an operation needs none
        )

        return find_operation(name, self.custom_operations)

    @property
    def dtypes(self) -> tuple[DType, ...]:
        """All dtypes that operands may have, kind by kind from narrow to wide.

        >>> from typelattice import system
        >>> system("array-api").dtypes[:3]
        (bool, uint8, uint16)
        """
        return tuple(
            sorted({n for n in (*self.order.nodes, *self.before) if isinstance(n, DType)}, key=sort_key)
        )

    def dtype_of_new_array(self, dtype: DType) -> DType:
        """Return the dtype of a new array for a requested dtype: the same dtype, or the library's choice.

        >>> from typelattice import dtype, system
        >>> system("jax-x32").dtype_of_new_array(dtype("float64"))
        float32
        """
        return self.requested.get(dtype, dtype)

    def dtypes_if_all_in_order(self, dtypes: Sequence[DType | None]) -> tuple[DType, ...]:
        """Return these dtypes if all of them are in the order, or an empty result if one is not.

        >>> from typelattice import dtype, system
        >>> half, brain = dtype("float16"), dtype("bfloat16")
        >>> rules = system("numpy")
        >>> rules.dtypes_if_all_in_order([half, half]), rules.dtypes_if_all_in_order([half, brain])
        ((float16, float16), ())
        """
        found = tuple(d for d in dtypes if d is not None and d in self.order)
        return found if len(found) == len(dtypes) else ()
