"""The library's own answer to exactly the call of a promotion, from its recording."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product

from typelattice.base.objects.frozen_classes import frozen, replace
from typelattice.core.dtypes.dtypes import DTYPES, DType
from typelattice.core.engine.promote_operands import promote_operands
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.rules import Rules
from typelattice.core.evidence.answer_notation import (
    EXCEPTION_PREFIX,
    NON_NUMBER_PREFIXES,
    NOT_ASKED_ANSWER,
    PYTHON_NUMBER_PREFIX,
    TAKEN_OVER_ANSWER,
    TEXT_BY_BROKEN_ANSWER,
)
from typelattice.core.evidence.departure_files import may_vary
from typelattice.core.evidence.recorded_calls import RecordedCall
from typelattice.core.evidence.recording_files import (
    FOREIGN_FOLDER,
    FUNCTIONS_FOLDER,
    MAX_OPEN_RECORDINGS,
    open_recording,
)
from typelattice.core.losses.range_and_overflow import PythonNumber
from typelattice.core.operands.notation import parse_operand, read_dtype
from typelattice.core.operands.operand import Operand, OperandError
from typelattice.core.registry.libraries import recordings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typelattice.core.evidence.departure import Departure

PROMOTION_CALL = "result_type"  # the call that only promotes
TEXT_BY_FAILURE = {
    **TEXT_BY_BROKEN_ANSWER,
    TAKEN_OVER_ANSWER: "an array of the foreign library's, which took the call over",
}
MAX_ORDINARY_NUMBER = 100  # numbers from 1 to this fit every usual dtype, so all of them promote alike
# Floats in this range fit float16, so they all promote alike, except as exponents: some libraries compute x
# ** 1.0 and x ** 0.5 in different dtypes.
ORDINARY_FLOAT_RANGE = (1e-4, 60_000)


@frozen()
class RecordedAnswer:
    """The answer of a library to a call.

    `call` is the call as it was recorded. For a number from 1 to 100, or an ordinary float, it may have only
    the kind, `int`. For an operator it may have the function. `departs` is True if the system's rule gives
    another answer. `custom_dtypes` are the dtypes that the system's file defines.

    >>> from typelattice import system
    >>> found = find_recorded_answer(system("ndonnx").explain("int8", "float32", op="divide"))
    >>> found.dtype, found.departs
    (float64, True)
    """

    call: RecordedCall
    versions: Mapping[str, str]
    library: str
    departs: bool
    recording: str
    custom_dtypes: Mapping[str, DType]

    @property
    def dtype(self) -> DType | None:
        """The dtype of the library's result, or None for a refusal or a Python number."""
        name = self.call.answer.removesuffix("*")
        if name.partition("(")[0] in self.custom_dtypes:
            return read_dtype(name, self.custom_dtypes)
        return DTYPES.get(name)

    @property
    def weak(self) -> bool:
        """Return True if that result is weak."""
        return self.call.answer.endswith("*")

    @property
    def error(self) -> str | None:
        """The exception of a refusal and its message, `RuntimeError: both inputs should have same dtype`.

        `…` replaces the parts of the message that vary from call to call.
        """
        answer, message = self.call.answer, self.call.message
        if not answer.startswith(EXCEPTION_PREFIX):
            return None
        return TEXT_BY_FAILURE.get(answer) or (f"{answer[1:]}: {message}" if message else answer[1:])

    @property
    def reason(self) -> str | None:
        """Why the library departs from the rule, or None if it does not, or if nobody found out."""
        return self._own_departure.reason if self._own_departure else None

    @property
    def source(self) -> str | None:
        """The source of that reason: its documentation, or the library's code."""
        return self._own_departure.source if self._own_departure else None

    @property
    def caution(self) -> str | None:
        """The reason why the library may also answer such a call differently, or None if none is known.

        >>> from typelattice import system
        >>> p = system("dask").explain("int8", "int8", op="matmul")
        >>> find_recorded_answer(p).caution.partition(":")[0]
        'several chunks along the contracted axis are summed'
        """
        found = None if self.departs or not self._may_vary() else self._listed_departure()
        return found.reason if found and found.varies else None

    def _may_vary(self) -> bool:
        """Return True if some departure from the rule is listed that varies, in this operation."""
        name = self.recording.removeprefix(f"{FOREIGN_FOLDER}/")
        listed = _list_departures(name) if may_vary(name) else ()
        return any(departure.varies and self.call.op in departure.ops for departure in listed)

    @property
    def _own_departure(self) -> Departure | None:
        return self._listed_departure() if self.departs else None

    def _listed_departure(self) -> Departure | None:
        from typelattice.core.evidence.departure import departure_of  # slow to load, and few calls depart

        listed = _list_departures(
            self.recording.removeprefix(f"{FOREIGN_FOLDER}/")
        )  # the library's entries hold for foreign arrays, too
        return departure_of(
            self.call, [parse_operand(o, self.custom_dtypes) for o in self.call.operands], listed
        )


def find_recorded_answer(promotion: Promotion) -> RecordedAnswer | None:
    """Return the library's own answer to exactly the call of a promotion, or None if it is not recorded.

    Raises RecordingError for a damaged recording.

    >>> from typelattice import system
    >>> find_recorded_answer(system("numpy").explain("int8", -1, op="pow")).error.partition(":")[0]
    'ValueError'
    >>> find_recorded_answer(system("torch").explain("int8", "uint8", op="add")).dtype
    int16
    """
    if type(promotion) is not Promotion:
        what = f"an object of type {type(promotion).__name__} is no answer of a system"
        raise OperandError(f"{what}; give what tl.system('numpy').explain(...) returns")
    if promotion.question:
        # a new array rests on the promotion of its number; casts and indices were never recorded
        return find_recorded_answer(promotion.basis) if promotion.basis is not None else None
    name = recording_name_of(promotion.system)
    if name is None:
        return None
    foreign = [o for o in promotion.operands if o.foreign_library]
    if foreign:
        if any(o not in promotion.promoting_operands for o in foreign):
            return None  # a list as a condition or as indices was never recorded
        name = f"{FOREIGN_FOLDER}/{name}"
    call = _find_call_of_promotion(name, promotion)
    if call is None or call.answer == NOT_ASKED_ANSWER:
        return None
    recording = open_recording(name)
    functions = open_recording(f"{FUNCTIONS_FOLDER}/{name}") if call.op in _functions_of(name) else None
    assert recording
    recording = functions or recording
    return RecordedAnswer(
        call,
        recording.versions,
        recorded_library_version(promotion.system),
        _departs_from_rule(promotion, call.answer),
        name,
        promotion.system.custom_dtypes,
    )


def _find_call_of_promotion(name: str, promotion: Promotion) -> RecordedCall | None:
    """Return the recorded call of a promotion, or None if it is not recorded."""
    operands = promotion.promoting_operands
    if promotion.op is None:
        return _find_recorded_call(name, PROMOTION_CALL, operands, is_power=False)
    operation = promotion.system.find_operation(promotion.op)
    if operation.like and open_recording(f"{FUNCTIONS_FOLDER}/{name}"):
        in_functions = _find_recorded_call(f"{FUNCTIONS_FOLDER}/{name}", operation.name, operands, False)
        if in_functions is not None:
            return in_functions
    is_power = operation.function == "pow"
    call = _find_recorded_call(name, operation.name, operands, is_power)
    if call is None and operation.is_operator and not operation.is_in_place:
        # Operators were recorded for only a sample of the operands; use the function's recording for the
        # rest.
        call = _find_recorded_call(name, operation.function, operands, is_power)
    return call


def _departs_from_rule(promotion: Promotion, answer: str) -> bool:
    """Return True if the library gives another answer than the rule.

    The recorded call of a promotion without an operation is `result_type`. Its own rule may refuse what
    promotion does not, such as a value out of range. So it counts if promotion gives another answer.
    """
    gives_number = answer.startswith(PYTHON_NUMBER_PREFIX) and _may_give_python_number(promotion)
    if answer.startswith(NON_NUMBER_PREFIXES) and not gives_number:
        answer = EXCEPTION_PREFIX
    if _write_answer(promotion) == answer:
        return False
    if promotion.op is not None:
        return True
    as_call = promote_operands(promotion.system, promotion.operands, PROMOTION_CALL, promotion.find_rule)
    return _write_answer(as_call) != answer


def _may_give_python_number(promotion: Promotion) -> bool:
    """Return True if the operation of a promotion may give a Python number."""
    if promotion.op is None:
        return False
    # promotion without an operation needs no rules of operations
    from typelattice.core.engine.evaluate_operation import may_give_python_number

    return may_give_python_number(promotion.system, promotion.op)


def _write_answer(promotion: Promotion) -> str:
    """Write the answer of the rule as recordings write answers. A refusal is the prefix alone."""
    if promotion.python_number_kind:
        return PYTHON_NUMBER_PREFIX + promotion.python_number_kind.python_name
    return EXCEPTION_PREFIX if promotion.dtype is None else f"{promotion.dtype}{'*' * promotion.weak}"


def listed_departure(promotion: Promotion) -> Departure | None:
    """Return the first listed departure that covers the call of a promotion, recorded or not, or None.

    Some of the calls that an entry covers may follow the rule.

    >>> from typelattice import system
    >>> listed_departure(system("torch").explain("uint16", 0, op="pow")).reason.partition(",")[0]
    'x ** 0 and 1 ** x are ones and x ** 1 is a copy'
    """
    from typelattice.core.evidence.departure import departure_of  # slow to load, and few calls depart

    name = recording_name_of(promotion.system)
    operation = promotion.system.find_operation(promotion.op or PROMOTION_CALL)
    if name is None or (operation.like and operation.name not in _functions_of(name)):
        return None
    call = RecordedCall(operation.name, tuple(map(str, promotion.promoting_operands)), NOT_ASKED_ANSWER)
    return departure_of(call, promotion.promoting_operands, _list_departures(name))


@lru_cache(MAX_OPEN_RECORDINGS)  # every answer of a system needs it
def recording_name_of(system: Rules) -> str | None:
    """Return the name of the recording of a system's library, or None if nothing was recorded for it."""
    entry = recordings().get(system.name)
    of_library = entry is not None and _list_packages(system)[:1] == [entry.library]
    return system.name if of_library and open_recording(system.name) else None


@lru_cache(MAX_OPEN_RECORDINGS)
def recorded_library_version(system: Rules) -> str:
    """Return the recorded library, in the version of the recording: `torch 2.13.0`.

    >>> from typelattice import system
    >>> recorded_library_version(system("keras-jax")).split(" ")[0]
    'keras'
    """
    recording = open_recording(system.name)
    versions = recording.versions if recording else {}
    named = {
        package: version.partition("+")[0]
        for package in _list_packages(system)
        for key, version in versions.items()
        if key == package or key.startswith(f"{package}-")
    }
    return ", ".join(f"{package} {version}" for package, version in named.items()) or system.library


def _list_packages(system: Rules) -> list[str]:
    """Return the names that a system's file gives in `library`: of `keras 3.15, jax 0.10` keras and jax."""
    return [words[0] for words in map(str.split, system.library.split(",")) if words]


@lru_cache(MAX_OPEN_RECORDINGS)
def _functions_of(name: str) -> frozenset[str]:
    """Return the functions of the library's book that were recorded."""
    recording = open_recording(f"{FUNCTIONS_FOLDER}/{name}")
    return frozenset(recording.operations) if recording else frozenset()


def _find_recorded_call(
    name: str, op_name: str, operands: Sequence[Operand], is_power: bool
) -> RecordedCall | None:
    """Return the recorded call, if possible of the same operands, or None if Python itself answered it."""
    recording = open_recording(name)
    if recording is None:
        return None
    texts = [_list_texts_in_recording(name, o, repr(o.value), is_power) for o in operands]
    call = next((call for asked in product(*texts) if (call := recording.find_call(op_name, asked))), None)
    of_python = all(o.tier == "scalar" for o in operands)
    return None if call and of_python and call.answer.startswith(PYTHON_NUMBER_PREFIX) else call


@lru_cache(4096)  # tables use the same operands again and again
def _list_texts_in_recording(name: str, operand: Operand, value: str, is_power: bool) -> Sequence[str]:
    """List an operand as a recording writes it: the same operand first, then those that promote alike.

    A recording may have the kind of a number instead of the number itself. The text of the value is a key of
    the cache: 0, 0.0 and -0.0 are equal, but have different texts.
    """
    recording = open_recording(name)
    return [text for text in _write_texts(operand, is_power) if recording and text in recording.operand_set]


def _write_texts(operand: Operand, is_power: bool) -> Iterator[str]:
    """Yield an operand as recordings write it: itself, then others that every library treats alike."""
    yield str(operand)
    yield str(operand).replace("e+", "e")  # Python writes 1e39 as 1e+39
    if operand.value is not None and not _is_ordinary(operand.value, is_power):
        return
    if operand.tier == "scalar":
        yield "True" if isinstance(operand.value, bool) else operand.kind.python_name
    else:
        yield str(replace(operand, value=None))
        if operand.tier == "0d" and not operand.weak:
            yield f"{operand.dtype}:scalar"


def _is_ordinary(value: PythonNumber, is_power: bool) -> bool:
    """Return True if a number counts like any other of its kind in an operation."""
    if isinstance(value, bool):
        return True
    if isinstance(value, float) and not is_power:
        least, most = ORDINARY_FLOAT_RANGE
        return value == 0 or least <= abs(value) <= most
    return (
        abs(value) <= MAX_ORDINARY_NUMBER if isinstance(value, complex) else 1 <= value <= MAX_ORDINARY_NUMBER
    )


@lru_cache(MAX_OPEN_RECORDINGS)
def _list_departures(name: str) -> Sequence[Departure]:
    from typelattice.core.evidence.list_departures import list_departures

    return list_departures(name)
