"""Recipes: the library's function for an operation, with the casts before and after that the system needs.

A recipe is made from the system's answer to an operation on some operands. It depends on their dtypes,
weakness and tiers. It depends on values only if the system looks at them, so it is made once and kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind, WeakNode
from typelattice.core.engine.evaluate_operation import find_operation_rules
from typelattice.core.engine.operand_checks import find_pair_join
from typelattice.core.engine.operation_rules import STANDARD_RULES_BY_CLASS, class_of
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.rule_enums import JoinRule, OverflowRule, PairJoin
from typelattice.core.engine.system import System
from typelattice.core.losses.cast_rounding_and_overflow import PLAIN_CAST_RULE
from typelattice.core.losses.plain_casts import NoPlainStepsError, write_plain_cast
from typelattice.core.losses.range_and_overflow import PythonNumber, is_in_range
from typelattice.core.losses.saturating_arithmetic import OVERFLOWING_FUNCTIONS, write_saturating
from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE, Operand, operand_of_dtype
from typelattice.core.operations.operations import COMPARING_CLASSES, find_operation
from typelattice.programs.namespaces.computing_libraries.computing_library import ComputingLibrary
from typelattice.programs.namespaces.namespace_error import NamespaceError


class ArrayType:
    """A type of arrays: their operand (dtype, weakness, tier), and the library's own dtype.

    Each type exists once, so that recipes can be looked up by identity.
    """

    __slots__ = ("native", "operand")

    def __init__(self, operand: Operand, native: Any) -> None:
        self.operand = operand
        self.native = native


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """A plan for an operation on some operands: the library computes, by the rules of the system.

    - `promotion`: the system's answer behind the recipe.
    - `compute`: the function of the library's arrays that gives the library's result.
    - `cast_result`: the cast of that result, or None without a cast.
    - `min_scalar`, `max_scalar`: the least and greatest value of a Python scalar for which the recipe holds.
    - `native_dtype`: the dtype to which operands are cast first, or None if they stay uncast.
    - `array_type`: the type of the result, known after the first run of the recipe.
    """

    promotion: Promotion
    compute: Callable[..., Any]
    cast_result: Callable[[Any], Any] | None
    min_scalar: float
    max_scalar: float
    native_dtype: Any
    array_type: ArrayType | None = None

    def covers_value(self, value: PythonNumber | None) -> bool:
        """Return True if the recipe holds for a Python scalar of this value. None means no scalar."""
        return value is None or (
            not isinstance(value, complex) and self.min_scalar <= value <= self.max_scalar
        )


class RecipeMaker:
    """The maker of recipes for one system and one library. It also keeps the shared ArrayType objects."""

    def __init__(self, system: System, library: ComputingLibrary) -> None:
        self.system, self.library = system, library
        self.promotes_by_value = system.combine == "value"
        weak_nodes = any(isinstance(node, WeakNode) for node in system.order.nodes)
        self.has_weak_arrays = weak_nodes or "scalar" not in system.tiers
        self.is_own_system = library.is_described_by(system)
        self._types: dict[tuple[DType, bool, bool, bool], ArrayType] = {}

    # -- array types

    def array_type(self, dtype: DType, weak: bool, zero_d: bool, weak_to_library: bool = False) -> ArrayType:
        """Return the type of arrays like these. An array may be weak to the system but not to the library."""
        key = dtype, weak, zero_d, weak_to_library
        found = self._types.get(key)
        if found is None:
            operand = operand_of_dtype(dtype, weak=weak, tier="0d" if zero_d else "array")
            found = self._types.setdefault(key, ArrayType(operand, self.library.native_dtype(dtype)))
        return found

    def type_of_array(self, data: Any, dtype: DType | None = None, weak: bool = False) -> ArrayType:
        """Return the type of an array of the library."""
        library = self.library
        return self.array_type(dtype or library.dtype_of(data), weak, data.ndim == 0, library.is_weak(data))

    def operand_of_array(self, array_type: ArrayType, data: Any) -> Operand:
        """Convert an array to an operand, with its value if the system looks at values."""
        o = array_type.operand
        if not self.promotes_by_value or o.tier != "0d" or o.dtype is None:
            return o
        return operand_of_dtype(o.dtype, tier="0d", value=self.library.python_value(data))

    # -- casts

    def cast(self, data: Any, target: DType) -> Any:
        """Cast an array of the library by the system's rule, or else as the library does.

        Raises NamespaceError if the system refuses the cast, or if the library cannot follow its rule.
        """
        library = self.library
        native = library.native_dtype(target)
        if not self.system.casts or data.dtype == native:
            return library.cast(data, native)
        source = library.dtype_of(data)
        rule = self.system.cast_rule(source, target)
        if rule == PLAIN_CAST_RULE:
            return library.cast(data, native)
        if rule.obstacle:
            what = f"{source} is not cast to {target} under {self.system.name}"
            raise NamespaceError(f"{what}: {rule.obstacle}")
        try:
            found = write_plain_cast(data, source, target, rule, LibraryStepWriter(library, data))
        except NoPlainStepsError as e:
            raise NamespaceError(f"no functions of {library.name} are {e}; cast x.bare yourself") from None
        return library.ensure_array(found)

    def casting_function(
        self, name: str, to: DType, sources: Sequence[DType], zero_d: bool
    ) -> Callable[..., Any]:
        """Build a function of positional arrays that casts each first, by the system's rules for casts."""
        native, rules = self.library.native_dtype, self.system
        if all(source is to or rules.cast_rule(source, to) == PLAIN_CAST_RULE for source in sources):
            return self.library.casting_function(name, native(to), [*map(native, sources)], zero_d)
        function = self.library.casting_function(name, native(to), [native(to)] * len(sources), zero_d)
        return lambda *arrays: function(*(self.cast(x, to) for x in arrays))

    # -- recipes

    def promote(self, op_name: str, operands: Sequence[Operand]) -> Promotion:
        """Return the system's answer. Raises PromotionError for a refusal, OpError for an unknown operation.

        Raises NamespaceError if the system accepts the operands though they have no dtype in common.
        """
        found = self.system.promote(*operands, op=op_name)
        rules = find_operation_rules(self.system, op_name)
        exact = find_pair_join(rules, found.operands) is PairJoin.NEVER  # compared without a common dtype
        if found.node is None and rules.joins is JoinRule.IF_POSSIBLE and not exact:
            listed = " and ".join(map(str, operands))
            raise NamespaceError(
                f"{listed} have no dtype in common to compute {op_name} in; cast them to one"
            )
        return found

    def make_recipe(self, op_name: str, operands: Sequence[Operand]) -> Recipe:
        """Make the recipe of an operation on arrays and Python scalars.

        If the system is the library's own, the recipe tries the library on uncast operands first. Its result
        is right by definition if it has the dtype that the system says. The same applies if the library fuses
        casts and computes in the result's dtype, since separate casts would round differently.
        """
        p = self.promote(op_name, operands)
        at_once = (
            self.library.fuses_casts and p.compute is p.dtype and all(o.tier != "scalar" for o in operands)
        )
        at_once &= p.accumulator is None and not self.system.casts and not self.overflow_rule(p)
        if not self.is_own_system and not at_once:
            return self.casting_recipe(p)
        low, high = self.scalar_range(p)
        function = self.library.uncast_function(op_name, _are_zero_d(operands))
        return Recipe(p, function, None, low, high, None)

    def casting_recipe(self, promotion: Promotion) -> Recipe:
        """Make the recipe that casts the operands of an operation before the library computes."""
        assert promotion.op is not None
        native = self.library.native_dtype
        rules = find_operation_rules(self.system, promotion.op)
        if promotion.node is None and find_pair_join(rules, promotion.operands) is PairJoin.NEVER:
            return self.exact_comparison_recipe(promotion)
        operand_dtype = self.operand_dtype(promotion)
        to = native(operand_dtype)
        as_is = self.compares_exactly(promotion)
        sources = [
            operand_dtype if as_is or not o.dtype or o.tier == "scalar" else o.dtype
            for o in promotion.operands
        ]
        if promotion.accumulator is None:
            compute = self.casting_function(
                find_operation(promotion.op).function,
                operand_dtype,
                sources,
                _are_zero_d(promotion.operands),
            )
        else:
            compute = self.accumulating_function(promotion)
        if operand_dtype is not promotion.arithmetic_dtype or rounds_to_compute_dtype(promotion):
            compute = self.function_of_dtype(compute, native(promotion.arithmetic_dtype))
        if word := self.overflow_rule(promotion):
            compute = self.overflow_function(promotion, operand_dtype, word)
        low, high = self.scalar_range(promotion)
        return Recipe(promotion, compute, self.result_cast_maker(native(promotion.result)), low, high, to)

    def accumulating_function(self, promotion: Promotion) -> Callable[..., Any]:
        """Build the function of a product or sum with its accumulator, of operands cast to the compute dtype.

        The operands of a product may keep their dtypes. It has no compute dtype then.
        """
        assert promotion.op is not None
        to = self.library.native_dtype(promotion.arithmetic_dtype)
        accumulate = partial(self.library.accumulate, find_operation(promotion.op).function, to)
        compute = promotion.compute
        if compute is None or all(o.dtype is compute for o in promotion.promoting_operands):
            return accumulate
        return lambda *arrays, **options: accumulate(*(self.cast(x, compute) for x in arrays), **options)

    def function_of_dtype(self, function: Callable[..., Any], native: Any) -> Callable[..., Any]:
        """Build a function whose result has the dtype of its sum, also if the library gives a wider one."""
        library = self.library
        return lambda *arrays, **options: library.cast(
            library.ensure_array(function(*arrays, **options)), native
        )

    def overflow_rule(self, promotion: Promotion) -> OverflowRule | None:
        """Return the rule for integers out of range if they do not wrap, or None."""
        compute = promotion.compute
        if promotion.op is None or compute is None or compute.kind not in INTEGER_KINDS:
            return None
        word = find_operation_rules(self.system, promotion.op).overflow
        overflows = find_operation(promotion.op).function in OVERFLOWING_FUNCTIONS
        return word if overflows and word is not OverflowRule.WRAP else None

    def overflow_function(
        self, promotion: Promotion, compute: DType, word: OverflowRule
    ) -> Callable[..., Any]:
        """Build the function of an operation on integers that saturates, or raises NamespaceError."""
        assert promotion.op is not None
        name, native = find_operation(promotion.op).function, self.library.native_dtype(compute)
        wrapping = self.library.casting_function(name, native, [native] * len(promotion.operands), False)

        def function(*arrays: Any) -> Any:
            cast = [self.cast(x, compute) for x in arrays]
            writer = LibraryStepWriter(self.library, cast[0])
            try:
                made = write_saturating(name, compute, cast, writer, DTYPES.values())
                found = self.library.ensure_array(made)
            except NoPlainStepsError as e:
                raise NamespaceError(f"no functions of {self.library.name} are {e}; cast first") from None
            if word is OverflowRule.RAISE and bool(self.library.xp.any(found != wrapping(*cast))):
                what = f"{promotion.op} of {compute} overflows, which {self.system.name} refuses"
                raise NamespaceError(f"{what}; cast to a wider dtype first")
            return found

        return function

    def exact_comparison_recipe(self, promotion: Promotion) -> Recipe:
        """Make the recipe that compares an unsigned with a signed integer exactly.

        If the library compares exactly by itself, nothing is added. Elsewhere a negative number is less than
        every unsigned one, and the other numbers are compared as unsigned.
        """
        assert promotion.op is not None
        name = find_operation(promotion.op).function
        if self.library.compares_exactly:
            return Recipe(
                promotion,
                self.library.uncast_function(name, _are_zero_d(promotion.operands)),
                None,
                *self.scalar_range(promotion),
                None,
            )
        dtypes = [o.dtype for o in promotion.operands]
        unsigned_dtype = next(d for d in dtypes if d is not None and d.kind is Kind.UNSIGNED)
        signed_position = next(i for i, d in enumerate(dtypes) if d is not unsigned_dtype)
        sources = [d for d in dtypes if d is not None]
        compare = self.casting_function(name, unsigned_dtype, sources, _are_zero_d(promotion.operands))
        of_negative = name == "not_equal" or name.startswith(("less", "greater")[signed_position])

        def compute(x: Any, y: Any) -> Any:
            negative = (x, y)[signed_position] < 0
            found = compare(x, y)
            return found | negative if of_negative else found & ~negative

        return Recipe(promotion, compute, None, *self.scalar_range(promotion), None)

    def operand_dtype(self, promotion: Promotion) -> DType:
        """Return the dtype for the cast of the operands.

        An integer exponent may be out of range for the dtype of the base. So both are cast to the widest
        integer dtype. Its products have the same low bits as products of the narrower dtype.
        """
        compute = promotion.arithmetic_dtype
        if (
            promotion.op is None
            or find_operation(promotion.op).function != "pow"
            or compute.kind not in INTEGER_KINDS
        ):
            return compute
        exponent = promotion.operands[1]
        return (
            WIDEST_EXPONENT if exponent.kind in INTEGER_KINDS and exponent.dtype is not compute else compute
        )

    def compares_exactly(self, promotion: Promotion) -> bool:
        """Return True if library and system both compare signed with unsigned integers exactly."""
        assert promotion.op is not None
        silent = self.promotes_by_value or find_operation_rules(self.system, promotion.op).fit == {}
        compares = find_operation(promotion.op).operation_class in COMPARING_CLASSES
        if not (self.library.compares_exactly and silent and compares and promotion.compute is not None):
            return False
        return promotion.compute.kind is Kind.FLOAT and all(
            o.dtype and o.kind.category == 1 for o in promotion.operands
        )

    def result_cast_maker(self, result: Any) -> Callable[[Any], Any]:
        """Build a function that casts to the result's dtype if the library gave another."""
        cast = self.library.cast
        return lambda out: out if out.dtype == result else cast(out, result)

    def matches_promotion(self, data: Any, promotion: Promotion) -> bool:
        """Return True if an array of the library has the system's dtype and weakness."""
        weak = self.has_weak_arrays and self.library.is_weak(data) != promotion.weak
        return data.dtype == self.library.native_dtype(promotion.result) and not weak

    def scalar_range(self, promotion: Promotion) -> tuple[float, float]:
        """Return a range of Python scalars for which the recipe surely holds. It is empty if low > high."""
        empty_range = 1, 0
        assert promotion.op is not None
        if (
            find_operation(promotion.op).operation_class == "logical"
        ):  # a logical function may use a number before it is rounded
            return empty_range
        scalars = [o for o in promotion.operands if o.tier == "scalar"]
        if (
            not scalars
            or self.promotes_by_value
            or scalars[0].kind is Kind.COMPLEX
            or promotion.compute is None
        ):
            return empty_range
        if scalars[0].kind is Kind.BOOL:
            return 0, 1
        default = self.system.defaults.get(scalars[0].kind)
        bounds = [d for d in (promotion.compute, default) if d and d.kind is not Kind.BOOL]
        if any(d.max is None or d.min is None for d in bounds) or promotion.compute.kind is Kind.BOOL:
            return empty_range
        return max(d.min or 0 for d in bounds), min(d.max or 0 for d in bounds)

    # -- Python scalars

    def convert_covered_number(self, value: PythonNumber, recipe: Recipe, like: Any) -> Any:
        """Convert a Python scalar, if the recipe covers its value, to the number that the library gets."""
        return (
            value
            if recipe.native_dtype is None
            else self.library.number_to_array(value, recipe.native_dtype, like)
        )

    def convert_number(self, value: PythonNumber, promotion: Promotion, like: Any) -> Any:
        """Convert a Python scalar to the number for the library. It is exactly the system's number.

        Raises NamespaceError if the system refuses the value, or has no rule for it.
        """
        to = self.operand_dtype(promotion)
        number = self.replace_scalar(value, promotion)
        if isinstance(number, float) and not is_in_range(number, to):
            return number  # an infinity for a comparison, which the dtype cannot hold
        try:
            return self.library.number_to_array(number, self.library.native_dtype(to), like)
        except (OverflowError, TypeError, ValueError, RuntimeError) as e:
            why = f"{self.library.name} makes no {to} of {number_text(value)} ({one_line_message(e)})"
            raise NamespaceError(f"{why}; use a value within its range") from e

    def replace_scalar(self, value: PythonNumber, promotion: Promotion) -> PythonNumber:
        """Return the number that the system uses for a Python scalar: the same, or another one.

        Raises NamespaceError if the system refuses the value, or has no rule for it.
        """
        to = self.operand_dtype(promotion)
        of_class = find_operation(promotion.op).operation_class if promotion.op else None
        if of_class == "logical" and self._uses_exact_value(value, promotion):
            return bool(value)
        kind = KIND_BY_PYTHON_TYPE[type(value)]
        # `is` also finds NaN, which does not equal itself
        same = [f for f in promotion.fits if f.kind is kind and (f.value is value or f.value == value)]
        fit = same[0] if same else None
        if fit is None or fit.outcome == "fits" or is_in_range(value, to):
            return value
        if fit.becomes is not None:
            return fit.becomes
        if fit.outcome != "raise" and of_class in COMPARING_CLASSES and not isinstance(value, complex):
            # An infinity compares with all values of the dtype in the same way as the number.
            return math.inf if value > 0 else -math.inf
        what = f"{number_text(value)} is out of range for {to} under {self.system.name}"
        said = REASON_BY_OUTCOME_WITHOUT_VALUE.get(fit.outcome, "")
        raise NamespaceError(f"{what}{said}; use a value within it, or cast first")

    def _uses_exact_value(self, value: PythonNumber, promotion: Promotion) -> bool:
        """Return True if an operation uses a number exactly, before it is rounded to the compute dtype."""
        assert promotion.op is not None
        policy = find_operation_rules(self.system, promotion.op).fit or {}
        return policy.get(KIND_BY_PYTHON_TYPE[type(value)].python_name, "").startswith("exact")


class LibraryStepWriter:
    """A writer of plain steps that calls a library's functions at once, on the device of an array."""

    def __init__(self, library: ComputingLibrary, like: Any) -> None:
        self.library, self.like = library, like

    def call(self, name: str, dtype: DType, *operands: Any) -> Any:
        """Call a function of the standard. A clip is two functions that have a kernel for more dtypes."""
        find = self.library.find_function
        if name == "clip":
            value, low, high = operands
            return find("minimum")(find("maximum")(value, low), high)
        return find(name)(*operands)

    def number(self, value: PythonNumber, dtype: DType) -> Any:
        """Make an array without dimensions."""
        return self.library.number_to_array(value, self.library.native_dtype(dtype), self.like)

    def cast(self, value: Any, target: DType) -> Any:
        """Cast as the formats define it."""
        return self.library.cast_exactly(value, self.library.native_dtype(target))


INTEGER_KINDS = (Kind.UNSIGNED, Kind.SIGNED)
WIDEST_EXPONENT = DTYPES["int64"]
REASON_BY_OUTCOME_WITHOUT_VALUE = {  # outcomes of a number that no library can compute
    "unsaid": ", which does not say what becomes of it",
    "widen": ", which would compute without a limit, as no library does",
    "exact": ", which would compute with it as it is",
}


def rounds_to_compute_dtype(promotion: Promotion) -> bool:
    """Return True if values must have the dtype that an operation computes in, before they have its result's.

    The library may give a wider dtype, such as int8 for a power of int4.
    """
    assert promotion.op is not None
    operation, compute = find_operation(promotion.op, promotion.system.custom_operations), promotion.compute
    if operation.adds_up:
        return True
    is_value = STANDARD_RULES_BY_CLASS[class_of(operation)].gives in (None, "real")
    if compute is None or compute is promotion.result:
        return False
    return is_value and compute.kind is promotion.result.kind


def _are_zero_d(operands: Sequence[Operand]) -> bool:
    """Return True if no operand has dimensions."""
    return all(o.tier != "array" for o in operands)


def number_text(value: PythonNumber) -> str:
    """Return a number as an error shows it."""
    try:
        text = str(value)
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return "a number of thousands of digits"
    return text if len(text) <= 40 else f"{text[:37]}..."


def one_line_message(error: Exception) -> str:
    """Return the message of a library's error, on one line that is not too long."""
    return " ".join(str(error).split())[:160]


def python_number(obj: object) -> PythonNumber | None:
    """Return a Python number as a plain int, float or complex, or None for anything else.

    An IntEnum or an instance of a subclass becomes its plain value. A scalar of a library has a dtype and is
    no Python number, even if its class derives from float.
    """
    if type(obj) in KIND_BY_PYTHON_TYPE:
        return obj  # type: ignore[return-value]
    if not isinstance(obj, (int, float, complex)) or hasattr(obj, "dtype"):
        return None
    if not issubclass(type(obj), (int, float, complex)):  # a mock object may have int as its __class__
        return None
    return int(obj) if isinstance(obj, int) else float(obj) if isinstance(obj, float) else complex(obj)
