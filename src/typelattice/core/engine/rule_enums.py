"""The words that a system file uses to describe an operation. docs/format-operations.md explains each."""

from enum import StrEnum


class CountsAs(StrEnum):
    """A way to count scalars and 0-d arrays before operands join."""

    ITSELF = "itself"
    ARRAY = "array"
    ARRAY_IF_FIRST = "array if first"


class ScalarPlaces(StrEnum):
    """The places where Python scalars may occur."""

    ANY = "any"
    BESIDE_ARRAY = "beside an array"
    BESIDE_STRONG_ARRAY = "beside a strong array"
    ON_THE_RIGHT = "on the right"
    LAST = "last"
    NONE = "none"
    NONE_NOR_0D = "none, nor 0d"
    NONE_NOR_0D_NOR_WEAK = "none, nor 0d, nor weak"


class ForeignCountsAs(StrEnum):
    """An operand that a foreign array counts as.

    It is an array of its dtype, a Python number of its kind, a Python float, or an array of the host's dtype:
    that of the first operand that is not foreign. A list may count as a number. It becomes an array of such a
    dtype if it is the only operand, or if the operation needs dimensions.
    """

    ARRAY = "array"
    NUMBER = "number"
    FLOAT = "float"
    HOST_DTYPE_ARRAY = "other"


class JoinRule(StrEnum):
    """The way in which operands of an operation join."""

    BY_THE_ORDER = "by the order"
    SAME_DTYPE = "same dtype"
    IF_POSSIBLE = "if possible"


class PairJoin(StrEnum):
    """The way in which a pair of operands joins: not at all, or at the dtype of one of the two."""

    NEVER = "never"
    LEFT = "left"
    LEFT_AS_PRODUCT = "left, as a product"
    RIGHT = "right"


class OverflowRule(StrEnum):
    """The result of integer arithmetic beyond the range of its dtype."""

    WRAP = "wrap"
    SATURATE = "saturate"
    RAISE = "raise"


class RightLimit(StrEnum):
    """The integers that an operation takes on the right. A 0-d array has a value in systems like NumPy's."""

    NOT_NEGATIVE = "not negative"
    NOT_NEGATIVE_ALSO_0D = "not negative, also 0d"


class ScalarTarget(StrEnum):
    """The dtype that a Python scalar is cast to first: the one computed in, or the join of the operands."""

    COMPUTED = "computed"
    JOINED = "joined"


class WeakResult(StrEnum):
    """The weakness of a result if the operands are weak."""

    WEAK = "weak"
    WEAK_IF_NOT_CAST = "weak if not cast"
    WEAK_EVEN_IF_CAST = "weak even if cast"
    WEAK_IF_0D = "weak if 0d"
    STRONG = "strong"
    DEFAULT_DTYPE = "default dtype"
    DEFAULT_DTYPE_OR_ERROR = "default dtype or error"


class InPlaceRule(StrEnum):
    """The dtypes that an operator such as `+=` may write into its left operand, or a new array."""

    SAME_DTYPE = "left"
    SAME_KIND_CAST = "left, same-kind cast"
    NO_HIGHER_CATEGORY = "left, no higher category"
    ANY_CAST = "left, any cast"
    COPY_ANY_CAST = "copy of left, any cast"
    NEW_ARRAY = "new array"
    NEW_ARRAY_ROUNDED = "new array, rounded"

    @property
    def casts_any(self) -> bool:
        """Return True if every dtype may be written, even one that does not join the left operand's."""
        return self in (InPlaceRule.ANY_CAST, InPlaceRule.COPY_ANY_CAST)

    @property
    def makes_new_array(self) -> bool:
        """Return True if the left operand itself stays as it is."""
        return self in (InPlaceRule.NEW_ARRAY, InPlaceRule.NEW_ARRAY_ROUNDED)
