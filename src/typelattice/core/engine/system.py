"""A system: the rules of one library, with the methods that compute by them."""
from __future__ import annotations

from collections.abc import Callable, Hashable

from typelattice.base.objects.display_hooks import NotebookDisplay
from typelattice.base.objects.frozen_classes import field, frozen
from typelattice.base.objects.strange_objects import refuse_strange
from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.core.engine.promote_operands import promote_operands
from typelattice.core.engine.promotion import DecidingLines, Promotion, PromotionError
from typelattice.core.engine.rules import Rules
from typelattice.core.operands.notation import parse_operand, read_dtype
from typelattice.core.operands.operand import KIND_BY_NAME, KIND_BY_PYTHON_TYPE, Operand, OperandError
from typelattice.core.operands.read_objects import (
    CACHE_KEY_BY_CLASS,
    PLAIN_ARRAY_CLASSES,
    mark_foreign,
    operand,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from typelattice.core.engine.question import Question

    class Origin(Protocol):
        """The source of a system: its files, as far as a system needs them."""

        def rule_of_answer(self, promotion: Promotion) -> DecidingLines:
            """Return the lines of the files behind an answer."""

        def rule_of_key(self, key: str, entry: str | None) -> DecidingLines:
            """Return the line of a key, or of an entry under it."""

        def replace(self, keys: dict[str, object]) -> System:
            """Return the same system with other values for keys of its file."""

        def rebuild(self) -> tuple[Callable[..., System], tuple[object, ...]]:
            """Return a function and its arguments that build the system again, for pickling."""


MAX_REMEMBERED_CALLS = 4096  # answers kept for operands other than two dtypes or two arrays
# Marks an operand that was not given; None would be an operand, though an invalid one.
_NO_RESULT_YET: Any = object()


def _scalar_values(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the value of each Python scalar among the operands, and None for every other operand."""
    return tuple(x if type(x) in KIND_BY_PYTHON_TYPE else None for x in operands)


# a class of arrays, and the dtypes of two of them
ArrayCache = dict[type, dict[Hashable, dict[Hashable, DType]]]


@frozen(eq=False, repr=False)
class System(Rules, NotebookDisplay):
    """One library's promotion rules, or your own, and their answers: `result_type`, `promote`, `explain`.

    Immutable: `replace` gives a variant. `typelattice.system` finds one.
    """

    origin: Origin
    _pairs: dict[DType, dict[DType, DType]] = field(default_factory=dict, init=False)
    _arrays: ArrayCache = field(default_factory=dict, init=False)
    _beside_0d: ArrayCache = field(default_factory=dict, init=False)
    _remembered: dict[Hashable, DType] = field(default_factory=dict, init=False)
    _tells_0d: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_tells_0d", "0d" in self.tiers or self.combine == "value")

    def __repr__(self) -> str:
        return f"<system {self.name}>"

    def __reduce__(self) -> tuple[Callable[..., System], tuple[object, ...]]:
        return self.origin.rebuild()

    def replace(self, **keys: object) -> System:
        """Return a variant with other values for some keys of the file.

        In a table, only the given entries change. An empty entry removes the entry of the file; an empty
        table removes all. Raises FormatError for values that a file cannot have.

        >>> from typelattice import system
        >>> system("torch").replace(defaults={"float": "float64"}).result_type("int8", 1.5)
        float64
        """
        return self.origin.replace(keys)

    def operand(self, x: object) -> Operand:
        """Read an object as an operand, as `typelattice.operand` does, but also with the file's own dtypes.

        Raises OperandError or DTypeError for an object that is not an operand.

        >>> from typelattice import system
        >>> print(system("jax").operand("int8:weak"))
        int8:weak
        """
        if type(x) is Operand:  # tables and comparisons pass operands that were read before
            return x
        refuse_strange(x, OperandError, "give an array, a dtype, a number or an operand string")
        return parse_operand(x, self.custom_dtypes) if isinstance(x, str) else operand(x)

    def result_type(self, a: Any = _NO_RESULT_YET, b: Any = _NO_RESULT_YET, /, *more: object) -> DType:
        """Return the dtype at which operands join. Answers for the same dtypes are remembered.

        Raises PromotionError for a refusal, OperandError or DTypeError for an object that is not an operand.

        >>> from typelattice import system
        >>> system("jax").result_type("int8", "uint8")
        int16
        """
        # Two dtypes cost two look-ups. Unpacking `more` to nothing is the cheapest test that it is empty, and
        # an attribute costs less than a call of `type`.
        try:
            if a.__class__ is DType:
                () = more
                return self._pairs[a][b]
        except Exception:  # other than a new pair, an object may raise anything, and `explain` refuses it
            pass
        if not more:
            try:
                # The dtypes of plain arrays decide, and their dimensions if a 0-d array counts differently.
                # Some libraries are slow to return either, so read each at most once.
                cls = type(a)
                if cls is type(b) and cls in PLAIN_ARRAY_CLASSES:
                    if not self._tells_0d:
                        return self._arrays[cls][a.dtype][b.dtype]
                    if a.ndim:
                        return (self._arrays if b.ndim else self._beside_0d)[cls][a.dtype][b.dtype]
                return self._look_up_pair(a, b)
            except (KeyError, TypeError, AttributeError):
                pass
        return self._compute_and_remember(tuple(x for x in (a, b, *more) if x is not _NO_RESULT_YET))

    def _compute_and_remember(self, operands: tuple[Any, ...]) -> DType:
        """Compute the dtype of operands of a new sort, and remember it."""
        found = self.promote(*operands).result
        self._remember_dtype(operands, found)
        return found

    def _look_up_pair(self, a: Any, b: Any) -> DType:
        """Look up the dtype of two operands of a known sort.

        Raises KeyError or a similar error for others.
        """
        cache_keys = CACHE_KEY_BY_CLASS[type(a)](a), CACHE_KEY_BY_CLASS[type(b)](b)
        found = self._remembered.get(cache_keys)
        return self._remembered[(*cache_keys, *_scalar_values((a, b)))] if found is None else found

    def _remember_dtype(self, operands: tuple[Any, ...], dtype: DType) -> None:
        """Remember the dtype for operands like these.

        In a value-based system, this covers arrays and dtypes only.

        If the value of a Python scalar may decide, remember the dtype for that value only.
        """
        match operands:
            case (DType() as a, DType() as b):
                if a.family or b.family:  # a family may have any number of members
                    return
                self._pairs.setdefault(a, {})[b] = dtype
            case (a, b) if (cache := self._arrays_remembered_for(a, b)) is not None:
                cache.setdefault(type(a), {}).setdefault(a.dtype, {})[b.dtype] = dtype
            case _ if self.combine != "value" and all(type(x) in CACHE_KEY_BY_CLASS for x in operands):
                if len(self._remembered) >= MAX_REMEMBERED_CALLS:
                    self._remembered.clear()
                value_may_decide = any(
                    KIND_BY_PYTHON_TYPE.get(type(x)) in self._valued_kinds for x in operands
                )
                try:
                    cache_keys = tuple(CACHE_KEY_BY_CLASS[type(x)](x) for x in operands)
                    self._remembered[
                        (*cache_keys, *_scalar_values(operands)) if value_may_decide else cache_keys
                    ] = dtype
                except (TypeError, AttributeError):  # an object with a cache key that has no hash
                    return

    def _arrays_remembered_for(self, a: Any, b: Any) -> ArrayCache | None:
        """Return the cache for two plain arrays of one class, or None for others, which have a cache key."""
        if type(a) is not type(b) or type(a) not in PLAIN_ARRAY_CLASSES:
            return None
        if not self._tells_0d or (a.ndim and b.ndim):
            return self._arrays
        return self._beside_0d if a.ndim and self.combine != "value" else None

    @property
    def _valued_kinds(self) -> frozenset[Kind]:
        """The kinds of Python scalars with values that may decide an answer."""
        joins = [Kind.SIGNED] if self.int_join_dtypes else []
        return frozenset((*self.wider_defaults, *(k for k in self.limits if isinstance(k, Kind)), *joins))

    def promote(self, *operands: object, op: str | None = None) -> Promotion:
        """Return what `explain` returns. Raises PromotionError if the system refuses.

        >>> from typelattice import system
        >>> system("jax").promote("uint8", 300, op="add").dtype
        uint8
        """
        found = self.explain(*operands, op=op)
        if found.dtype is None:
            raise PromotionError(found)
        return found

    def explain(self, *operands: object, op: str | None = None) -> Promotion:
        """Explain the promotion or the refusal of these operands, with or without an operation.

        Raises DTypeError or OperandError for an object that is not an operand. Raises OpError if the
        operation is unknown or does not take these operands.

        >>> from typelattice import system
        >>> p = system("numpy").explain("uint8", 300, op="add")
        >>> p.dtype, p.reason
        (None, '300 is out of range for uint8')
        """
        if not operands:
            raise OperandError(f"nothing to promote under {self.name}: give at least one operand")
        read = tuple(map(self.operand, operands))
        own = self.library.partition(" ")[0]
        return promote_operands(
            self, mark_foreign(operands, read, own, self.foreign), op, self.origin.rule_of_answer
        )

    def create(
        self, *values: object, op: str = "asarray", dtype: object = None, shape: tuple[int, ...] | None = None
    ) -> Promotion:
        """Explain the dtype of a new array: of numbers and lists of them, or of a shape alone.

        `op` is the function that makes the array: `asarray`, `full`, `arange` or `linspace` of numbers,
        `zeros`, `ones`, `empty` or `eye` of none. `dtype` is the requested dtype. Only the shape `()` counts,
        as an array without dimensions may differ.

        Raises OpError for another function, DTypeError or OperandError for an object that is no number and no
        dtype.

        >>> from typelattice import system
        >>> system("torch").create(op="zeros"), system("numpy").create([1, 2**63]).dtype
        (<float32: zeros under torch>, float64)
        >>> system("numpy").create(300, dtype="uint8").reason
        '300 is out of range for uint8'
        """
        from typelattice.core.engine.new_arrays import create_array, describe_new_array

        requested = None if dtype is None else self._read_requested(dtype)
        new = describe_new_array(op, values, self.operand, requested, shape)
        return create_array(self, new, self.origin.rule_of_answer)

    def cast(self, x: object, dtype: object) -> Promotion:
        """Explain an explicit cast: the dtype that `x.astype(dtype)` has, or why the system refuses it.

        `dtype` may be a Python type, which stands for the default dtype of its kind. Raises DTypeError or
        OperandError for an object that is no operand or no dtype.

        >>> from typelattice import system
        >>> system("jax-x32").cast("int8", float).dtype
        float32
        >>> print(system("numpy").cast("float16", "int8").casts[0].loss.magnitude)
        True
        """
        from typelattice.core.engine.explicit_casts import cast_operand

        requested = self._read_requested(dtype)
        return cast_operand(self._ask((x,), "{} cast to " + str(requested)), requested)

    def index(self, x: object, *keys: object) -> Promotion:
        """Explain the dtype of elements, `x[keys]`, or why the library takes no such index.

        A key is an int, a slice, a list, None, `...`, or an operand: `"bool"` is a mask. Raises DTypeError
        or OperandError for an object that is no operand.

        >>> from typelattice import system
        >>> system("mlx").index("float16", "bool").reason
        'MLX takes no bools as an index; write where(mask, x, y)'
        """
        from typelattice.core.engine.element_access import describe_index, index_array

        return index_array(self._ask((x,), "elements of {}"), *describe_index(keys, self.operand))

    def write(self, into: object, value: object, op: str = "setitem") -> Promotion:
        """Explain the dtype of an array after a write into it, or why the library refuses the write.

        `op` is `setitem` for `into[key] = value`, an operator such as `+=`, or `out=` for the result of a
        function that gets the array as its argument `out`. Raises OpError for another word, DTypeError or
        OperandError for an object that is no operand.

        >>> from typelattice import system
        >>> system("numpy").write("int8", "float64").dtype, system("numpy").write("int8", 0.5, "+=").reason
        (int8, 'float64 cannot be written into int8')
        """
        from typelattice.core.engine.element_access import write_into_array

        return write_into_array(self._ask((into, value), "{1} written into {0}"), op)

    def _ask(self, operands: tuple[object, ...], text: str) -> Question:
        """Return a question about operands. Braces in its text stand for them."""
        from typelattice.core.engine.question import Question

        read = tuple(map(self.operand, operands))
        return Question(self, read, self.origin.rule_of_answer, None, text.format(*read))

    def _read_requested(self, requested: object) -> DType | Operand:
        """Read a requested dtype: a dtype, or a Python scalar for a Python type or its name."""
        if isinstance(requested, Operand):
            return requested if requested.tier == "scalar" else requested.dtype or requested
        if isinstance(requested, str) and requested not in KIND_BY_NAME:
            return read_dtype(requested, self.custom_dtypes)
        found = self.operand(requested)
        return found if found.dtype is None else found.dtype
