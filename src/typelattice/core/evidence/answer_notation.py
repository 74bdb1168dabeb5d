"""Answers of libraries as recordings keep them: dtypes, numbers of Python, exceptions with their messages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from typelattice.base.objects.frozen_classes import field, frozen

SCALAR_VALUE_BY_KIND: Mapping[str, int | float | complex] = {"int": 1, "float": 1.0, "complex": 1j}
"""Python scalars by kind, and the value that stands for each kind in a call."""

EXCEPTION_PREFIX = "!"
"""The first character of an exception: `!TypeError`."""

NOT_ASKED_ANSWER = "!NotAsked"
"""The answer of a call that nobody made."""

MISSING_IN_RELEASE = NOT_ASKED_ANSWER, "not in this release"
"""The answer and message of a call whose operation or operand an older release lacks."""

TEXT_BY_BROKEN_ANSWER: Mapping[str, str] = {
    "!hang": "no answer within the time limit",
    "!crash": "the process died",
}
"""Answers of a library that broke down, and what they mean."""

TAKEN_OVER_ANSWER = "!foreign"
"""The answer of a call that the library of a foreign array took over."""

REFUSED_SIGN = "-"
"""How a system's refusal is written beside such answers."""

PYTHON_NUMBER_PREFIX = "py:"
"""The first characters of a Python number: `py:int`."""

OBJECT_DTYPE_ANSWER = "object"
"""The dtype of an array of Python objects, such as NumPy's for an int beyond uint64."""

NON_NUMBER_PREFIXES = (EXCEPTION_PREFIX, PYTHON_NUMBER_PREFIX, OBJECT_DTYPE_ANSWER)
"""The first characters of answers that are no dtype of numbers; a system refuses such calls."""

ARRAY_SUFFIX, SCALAR_SUFFIX = FORM_SUFFIXES = (":array", ":scalar")
"""The ends of an answer that says what a result is: `float64:scalar`. Recordings do not say it."""

MESSAGE_NUMBER_SEPARATOR = "#"
"""The character between the class of an exception and the number of its message: `!TypeError#2`."""

MAX_MESSAGES = 1_000
"""Messages in a recording; beyond them it keeps the class of an exception alone."""

VARYING_TEXT_PATTERN = (
    r"(?<![\w.])/tmp/[\w./-]+|"  # sources that a library compiles
    r"\b(?-i:U?Int|Float|Complex|Bool|Long|Short|Char|Byte|Half|Double)+(\d\w*|DType)?\b"  # torch's, NumPy's
    r"|\b(?-i:TyArray[A-Z]\w*)\b"  # ndonnx's
    r"|\b(weak|q|u|b)*(int|float|complex|bool|bits|string|datetime|timedelta)_?(\d\w*|dtype)\b"
    r"|\b(c10::)?(half|double|u?long|weakint|weakfloat|boolean|variant|resource)\b|(?<!\w)\b[biufc]\d+\b"
    r"|\b(u?char|u?short|fp8e\dm\d)\b"  # tinygrad's
    r"|\bInputs: .*"  # MAX's, which describe each operand
    r"|(?<![\w.])[+-]?\d[\d.]*(e[+-]?\d+)?j?\b"
)
"""The parts of a message that vary from call to call: names of dtypes, numbers, and temporary files."""

OPERAND_LIST_PATTERN = r"…('?, '?…)+"
"""Several such parts in a row, which one `…` replaces."""


# A comparison reads a recording call by call, and most calls have one of a few messages.
@lru_cache(MAX_MESSAGES)
def outline_message(message: str) -> str:
    """Replace the parts of a message that vary with the operands.

    >>> outline_message("Python integer 300 out of bounds for uint8")
    'Python integer … out of bounds for …'
    >>> outline_message("expected both vectors to have same dtype, but found Float and Double")
    'expected both vectors to have same dtype, but found … and …'
    """
    return re.sub(OPERAND_LIST_PATTERN, "…", re.sub(VARYING_TEXT_PATTERN, "…", message, flags=re.IGNORECASE))


def answer_of(named_answer: str) -> str:
    """Drop the number of a message: comparisons use the class of an exception.

    >>> answer_of("!TypeError#2"), answer_of("int8")
    ('!TypeError', 'int8')
    """
    return named_answer.partition(MESSAGE_NUMBER_SEPARATOR)[0]


def split_form(answer: str) -> tuple[str, str]:
    """Split an answer from its suffix for an array or a scalar.

    >>> split_form("float64:scalar"), split_form("float64"), split_form("py:int")
    (('float64', ':scalar'), ('float64', ''), ('py:int', ''))
    """
    form = next(filter(answer.endswith, FORM_SUFFIXES), "")
    return answer.removesuffix(form), form


def split_message(named_answer: str, messages: Mapping[str, str]) -> tuple[str, str]:
    """Split a kept answer into the answer and its message, which may be empty.

    >>> split_message("!TypeError#2", {"!TypeError#2": "no kernel"})
    ('!TypeError', 'no kernel')
    """
    answer = answer_of(named_answer)
    return answer, messages.get(named_answer, "") if named_answer != answer else ""


@frozen()
class Messages:
    """A collection of messages: `texts` has each by its name in the recording, `!TypeError#2`.

    `first_number` is the number of the first message.
    """

    first_number: int = 1
    texts: dict[str, str] = field(default_factory=dict)
    _names: dict[tuple[str, str], str] = field(default_factory=dict)

    def name_answer(self, answer: str, message: str) -> str:
        """Name an exception with its message. Any other answer stays unchanged."""
        if not answer.startswith(EXCEPTION_PREFIX) or not message:
            return answer
        text = outline_message(message)
        if (answer, text) not in self._names:
            if len(self.texts) >= MAX_MESSAGES:
                return answer
            self._names[answer, text] = (
                f"{answer}{MESSAGE_NUMBER_SEPARATOR}{self.first_number + len(self.texts)}"
            )
            self.texts[self._names[answer, text]] = text
        return self._names[answer, text]
