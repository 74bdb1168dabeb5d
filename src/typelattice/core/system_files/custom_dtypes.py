"""Dtypes that a file defines: its facts, checked, and what follows from them."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from math import frexp
from sys import float_info

from typelattice.base.errors.error_texts import quote_short
from typelattice.core.dtypes.dtypes import DType, Kind, intern_dtype, least_of_float, numpy_reading
from typelattice.core.losses.finite_values import find_finite_values, significant_bits
from typelattice.core.system_files.parametric_dtype_entries import read_parameters
from typelattice.core.system_files.system_text import toml_type_name
from typelattice.core.system_files.value_reader import (
    ConsequentError,
    UnknownWordError,
    Vocabulary,
    require_one_of,
    require_text,
    table_items,
    unknown_word_error,
)

RealNumber = int | float
# a context manager that notes the mistakes of one fact
MistakeNoter = Callable[[str], AbstractContextManager[None]]
TYPE_BY_FACT: dict[str, str] = {  # type of each fact
    "kind": "a string", "code": "a string", "bits": "a whole number", "storage_bits": "a whole number",
    "min": "a number", "max": "a number", "precision": "a whole number", "min_exponent": "a whole number",
    "step": "a number", "values": "a list", "specials": "a string", "parameters": "a table",
    "joins": "a table", "from": "a table",
}  # fmt: skip
ACCEPTED_TYPES_BY_PYTHON_TYPE = {
    str: ["a string"], int: ["a whole number", "a number"], float: ["a number"], list: ["a list"],
    dict: ["a table"],
}
LIMITS_BY_FACT = {  # the least and the greatest that a fact may be
    "bits": (1, 512), "storage_bits": (1, 4096), "precision": (1, 1024), "min_exponent": (-1074, 1023),
    "min": (-float_info.max, float_info.max), "max": (-float_info.max, float_info.max),
    "step": (0, float_info.max),
}  # fmt: skip
COMMON_FACTS = ("kind", "code", "bits", "storage_bits")
FACTS_BY_VALUE_FORM = {  # ways to state the values of a dtype: the facts of each, besides COMMON_FACTS
    "a bool": (),
    "an integer": ("min", "max"),
    "a float": ("max", "precision", "min_exponent", "specials"),
    "fixed point": ("min", "max", "step", "specials"),
    "a list of values": ("values", "specials"),
    "a dtype of unknown values": ("values", "min", "max", "specials"),
    "a dtype with parameters": ("specials", "parameters", "joins", "from"),
}
MAX_LISTED_VALUES = 256
UNKNOWN_VALUES_WORD = "unknown"


def read_custom_dtype(words: Vocabulary, name: str, facts: object, record_mistakes: MistakeNoter) -> DType:
    """Read a dtype of the file's own, and add it to the words. Raises ValueError for impossible facts.

    `record_mistakes` keeps a mistake in one fact, so that mistakes in others are also found.
    """
    stated_facts = _read_facts(facts, record_mistakes)
    kind, code = Kind(require_text(stated_facts["kind"])), require_text(stated_facts.get("code", name))
    form = _find_form(kind, stated_facts)
    if isinstance(stated_facts.get("values"), list):
        _sort_values(
            kind, stated_facts["values"]
        )  # first of all, since the other facts are compared with them
    _check_facts(form, stated_facts)
    bits, storage = _read_bits(stated_facts), stated_facts.get("storage_bits")
    if kind is Kind.BOOL:
        bits = bits or 1
    if bits and isinstance(storage, int) and storage < bits:
        raise UnknownWordError("the fact storage_bits should be no less than bits", "storage_bits")
    if kind is Kind.COMPLEX and (bits is None or bits % 2):
        raise ValueError("a complex dtype needs the fact bits, an even number: those of both parts")
    for word in {name, code}:
        words.check_new_name(word, "dtype")
        if numpy_dtype := numpy_reading(word):
            raise ValueError(f"{quote_short(word)} is no name for a dtype: NumPy means {numpy_dtype} by it")
    low, high, precision, exponent, step, listed = _read_values(form, kind, bits, stated_facts)
    specials = _read_specials(form, kind, low, stated_facts)
    storage = storage if storage or kind is Kind.BOOL else bits
    facts = (name, code, kind, bits, storage, low, high, precision, exponent, step, listed, specials)
    parameters = read_parameters(stated_facts["parameters"]) if "parameters" in stated_facts else ()
    d = intern_dtype(*facts, parameters, None, ())
    _check_count(d)
    words.known[name] = words.known[code] = d
    return d


def _check_facts(form: str, stated_facts: Mapping[str, object]) -> None:
    """Raise UnknownWordError for a fact that does not go with the form of a dtype."""
    for fact in stated_facts:
        if fact not in (*COMMON_FACTS, *FACTS_BY_VALUE_FORM[form]):
            allowed_facts = ", ".join((*COMMON_FACTS, *FACTS_BY_VALUE_FORM[form]))
            cause = f"the fact {fact} does not go with {form}, which has {allowed_facts}; leave it out"
            raise UnknownWordError(cause, fact)


def _read_values(
    form: str, kind: Kind, bits: int | None, stated_facts: Mapping[str, object]
) -> tuple[
    RealNumber | None, RealNumber | None, int | None, int | None, RealNumber | None, tuple[RealNumber, ...]
]:
    """Return the least and greatest value, the precision, the exponent, the step and the listed values."""
    match form:
        case "a bool":
            return 0, 1, None, None, 1, ()
        case "an integer":
            return *_whole_ends(kind, bits, stated_facts), None, None, 1, ()
        case "a float":
            return *_read_binary(stated_facts), None, ()
        case "fixed point":
            low, high, step = _compute_fixed_point_ends(stated_facts)
            return low, high, None, None, step, ()
        case "a list of values":
            listed = _sort_values(kind, stated_facts["values"])
            return listed[0], listed[-1], None, None, None, listed
    return *_read_ends(kind, stated_facts), None, None, None, ()


def _read_facts(facts: object, record_mistakes: MistakeNoter) -> Mapping[str, object]:
    """Read the given facts, each of the right type and size.

    Raises ConsequentError if some facts had mistakes.
    """
    given, valid_facts = dict(table_items(facts)), set[str]()
    for fact, value in given.items():
        with record_mistakes(fact):
            _check_fact(fact, value)
            valid_facts.add(fact)
    if len(valid_facts) < len(given):
        raise ConsequentError("facts")
    if "kind" not in given:
        raise ValueError("a dtype needs the fact kind")
    return given


def _check_fact(fact: str, value: object) -> None:
    """Raise ValueError for an unknown fact, or for one of another type or size."""
    if fact not in TYPE_BY_FACT:
        raise unknown_word_error("fact", fact, TYPE_BY_FACT)
    if fact == "kind" and isinstance(value, str):
        require_one_of(value, Kind)
    if fact == "values" and isinstance(value, str):
        if value != UNKNOWN_VALUES_WORD:
            raise UnknownWordError(
                f'the fact values should be a list of numbers, or "{UNKNOWN_VALUES_WORD}"', fact
            )
    elif TYPE_BY_FACT[fact] not in ACCEPTED_TYPES_BY_PYTHON_TYPE.get(type(value), ()):
        raise UnknownWordError(
            f"the fact {fact} should be {TYPE_BY_FACT[fact]}, not {toml_type_name(type(value))}", fact
        )
    if isinstance(value, int | float):
        least, greatest = LIMITS_BY_FACT[fact]
        if not least <= value <= greatest:
            raise UnknownWordError(f"the fact {fact} should lie between {least:g} and {greatest:g}", fact)


def _find_form(kind: Kind, stated_facts: Mapping[str, object]) -> str:
    """Return the form of the facts that state the values of the dtype."""
    if kind is Kind.BOOL:
        return "a bool"
    if "parameters" in stated_facts:
        return "a dtype with parameters"
    if "values" in stated_facts:
        return (
            "a dtype of unknown values"
            if stated_facts["values"] == UNKNOWN_VALUES_WORD
            else "a list of values"
        )
    if kind.category < Kind.FLOAT.category:
        return "an integer"
    return "fixed point" if "step" in stated_facts else "a float"


def _read_bits(stated_facts: Mapping[str, object]) -> int | None:
    bits = stated_facts.get("bits")
    if bits is not None and stated_facts["kind"] == Kind.BOOL and bits != 1:
        raise ValueError("a bool has one bit that is used; say what it occupies with storage_bits")
    return bits if isinstance(bits, int) else None


def _read_number(kind: Kind, stated_facts: Mapping[str, object], fact: str) -> RealNumber | None:
    """Return a fact that is a number: of an integer a whole one, of a float a fraction."""
    value = stated_facts.get(fact)
    if not isinstance(value, int | float):
        return None
    if kind.category >= Kind.FLOAT.category:
        return float(value)
    if not isinstance(value, int):
        raise UnknownWordError(f"the fact {fact} of an integer should be a whole number", fact)
    return value


def _read_ends(kind: Kind, stated_facts: Mapping[str, object]) -> tuple[RealNumber | None, RealNumber | None]:
    """Return the least and the greatest value, if they are given."""
    low, high = _read_number(kind, stated_facts, "min"), _read_number(kind, stated_facts, "max")
    if low is not None and high is not None and low >= high:
        raise UnknownWordError("the fact min should be less than max", "min")
    if kind is Kind.UNSIGNED and (low or 0) < 0:
        raise UnknownWordError("the fact min of an unsigned dtype should be no less than 0", "min")
    return low, high


def _whole_ends(
    kind: Kind, bits: int | None, stated_facts: Mapping[str, object]
) -> tuple[RealNumber | None, RealNumber | None]:
    """Return the least and greatest value of an integer dtype, as given or as its bits allow."""
    low, high = _read_ends(kind, stated_facts)
    if bits is None:
        if low is not None or high is not None:
            raise ValueError("the facts min and max of an integer go with bits")
        return None if kind is Kind.SIGNED else 0, None
    least = -(2 ** (bits - 1)) if kind is Kind.SIGNED else 0
    most = 2**bits - 1 + least
    low, high = least if low is None else low, most if high is None else high
    if not least <= low <= 0 <= high <= most:
        raise ValueError(
            f"an integer of {bits} bits lies between {least} and {most}, and zero within its range"
        )
    return low, high


def _read_binary(stated_facts: Mapping[str, object]) -> tuple[float, float, int, int]:
    """Return the least and the greatest value, the precision and the smallest exponent of a binary float."""
    high, precision, exponent = (
        stated_facts.get("max"),
        stated_facts.get("precision"),
        stated_facts.get("min_exponent"),
    )
    if not (isinstance(high, int | float) and isinstance(precision, int) and isinstance(exponent, int)):
        cause = "a float needs the facts max, precision and min_exponent; or min, max and step; or values"
        raise ValueError(cause)
    if exponent - precision < -1075:
        cause = (
            "the facts precision and min_exponent make its smallest value less than a Python float can say"
        )
        raise ValueError(cause)
    high = float(high)
    if high < 2.0**exponent:
        raise UnknownWordError("the fact max should be no less than 2 to the power of min_exponent", "max")
    if significant_bits(high.as_integer_ratio()[0]) > precision:
        cause = f"the fact max should be one of its values, of at most {precision} significant bits"
        raise UnknownWordError(cause, "max")
    specials = require_text(stated_facts.get("specials", "szmin"))
    return least_of_float(high, precision, exponent, specials), high, precision, exponent


def _compute_fixed_point_ends(stated_facts: Mapping[str, object]) -> tuple[float, float, float]:
    """Return the least value, the greatest value and the step of a fixed-point dtype."""
    low, high = _read_ends(Kind.FLOAT, stated_facts)
    step = _read_number(Kind.FLOAT, stated_facts, "step")
    if low is None or high is None or not step:
        raise ValueError("fixed point needs the facts min, max and step")
    if frexp(step)[0] != 0.5:
        cause = (
            "the fact step should be a power of two, as 0.25; "
            f'of decimals say values = "{UNKNOWN_VALUES_WORD}"'
        )
        raise UnknownWordError(cause, "step")
    if low > 0 or high < 0 or low % step or high % step:
        raise ValueError("the facts min and max should be multiples of step, and zero between them")
    return low, high, step


def _sort_values(kind: Kind, values: object) -> tuple[RealNumber, ...]:
    """Return the values of a list, from the least to the greatest."""
    assert isinstance(values, list)
    for value in values:
        if type(value) not in (int, float) or not abs(value) <= float_info.max:
            raise UnknownWordError("the fact values should list numbers", "values")
        if kind.category < Kind.FLOAT.category and type(value) is not int:
            raise UnknownWordError("the fact values of an integer should list whole numbers", "values")
    if len(values) > MAX_LISTED_VALUES:
        cause = f"the fact values lists {len(values):,} numbers, and {MAX_LISTED_VALUES} is the most"
        raise UnknownWordError(
            f'{cause}; write min, max and step, or values = "{UNKNOWN_VALUES_WORD}"', "values"
        )
    found = sorted({value if kind.category < Kind.FLOAT.category else float(value) for value in values})
    if not 2 <= len(found) == len(values) <= MAX_LISTED_VALUES:
        cause = f"the fact values should list from 2 to {MAX_LISTED_VALUES} numbers, each once"
        raise UnknownWordError(cause, "values")
    if kind is Kind.UNSIGNED and found[0] < 0:
        raise UnknownWordError("the fact values of an unsigned dtype should be no less than 0", "values")
    return tuple(found)


def _read_specials(form: str, kind: Kind, low: RealNumber | None, stated_facts: Mapping[str, object]) -> str:
    """Return the letters for sign, zero, infinity and NaN that the dtype has."""
    if form in ("a bool", "an integer"):
        return "sz" if kind is Kind.SIGNED else "z"
    listed = stated_facts.get("values")
    own = "s" * (low is None or low < 0) + "z" * (not isinstance(listed, list) or 0 in listed)
    derived = form in ("fixed point", "a list of values")
    default = "szmin" if form == "a float" else own if derived else f"{own}{'m' * ('s' in own)}in"
    found = require_text(stated_facts.get("specials", default))
    if not {*found} <= {*"szmin"} or len({*found}) < len(found):
        raise UnknownWordError("the fact specials should have letters of szmin, each once", "specials")
    if derived and {*found} & {*"sz"} != {*own}:
        cause = f"the fact specials should have {' and '.join(own) or 'neither s nor z'}, as its values do"
        raise UnknownWordError(cause, "specials")
    if form == "a dtype of unknown values" and low is not None and ("s" in found) != ("s" in own):
        raise UnknownWordError("the facts min and specials should agree on the sign", "specials")
    if "s" in found and "z" not in found and not derived:
        raise UnknownWordError("the fact specials has a sign without a zero; write sz", "specials")
    if "m" in found and not {*"sz"} <= {*found}:
        raise UnknownWordError(
            "the fact specials has a minus zero without sign and zero; write szm", "specials"
        )
    return found


def _check_count(dtype: DType) -> None:
    """Raise ValueError if a dtype has more values than its bits can distinguish."""
    finite_values = find_finite_values(dtype)
    if finite_values is None or dtype.bits is None:
        return
    bits = dtype.bits // 2 if dtype.kind is Kind.COMPLEX else dtype.bits
    special_count = (
        ("m" in dtype.specials)
        + ("i" in dtype.specials) * (1 + ("s" in dtype.specials))
        + ("n" in dtype.specials)
    )
    if finite_values.count(finite_values.low, finite_values.high) + special_count > 2**bits:
        raise ValueError(f"the facts give it more values than can be told apart by bits: {bits}")
