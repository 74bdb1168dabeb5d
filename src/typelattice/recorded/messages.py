"""The messages of exceptions as a recording keeps them: each once, without what varies from call to call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from typelattice.recorded.answers import EXCEPTION

MOST = 1_000
"""Messages that a recording keeps; of a further one it keeps the class of the exception alone."""

VARYING = (
    r"\b(?-i:U?Int|Float|Complex|Bool|Long|Short|Char|Byte|Half|Double)+(\d\w*|DType)?\b"  # torch's, NumPy's
    r"|\b(?-i:TyArray[A-Z]\w*)\b"  # ndonnx's
    r"|\b(weak|q|u|b)*(int|float|complex|bool|bits|string|datetime|timedelta)_?(\d\w*|dtype)\b"
    r"|\b(c10::)?(half|double|u?long|weakint|weakfloat|boolean|variant|resource)\b|(?<!\w)\b[biufc]\d+\b"
    r"|\b(u?char|u?short|fp8e\dm\d)\b"  # tinygrad's
    r"|\bInputs: .*"  # MAX's, which describe each operand
    r"|(?<![\w.])[+-]?\d[\d.]*(e[+-]?\d+)?j?\b"
)
"""What a message says of the operands: the names of dtypes, as libraries write them, and numbers."""

ALIKE = r"…('?, '?…)+"
"""Several of those in a row, which stand for one."""

SEPARATOR = "#"


@lru_cache(MOST)  # a recording is compared with another call by call, and most say one of a few messages
def outline(message: str) -> str:
    """A message without what varies with the operands.

    >>> outline("Python integer 300 out of bounds for uint8")
    'Python integer … out of bounds for …'
    >>> outline("expected both vectors to have same dtype, but found Float and Double")
    'expected both vectors to have same dtype, but found … and …'
    """
    return re.sub(ALIKE, "…", re.sub(VARYING, "…", message, flags=re.IGNORECASE))


def answer_of(kept: str) -> str:
    """The answer alone, as it is compared: of an exception its class.

    >>> answer_of("!TypeError#2"), answer_of("int8")
    ('!TypeError', 'int8')
    """
    return kept.partition(SEPARATOR)[0]


def told(kept: str, errors: Mapping[str, str]) -> tuple[str, str]:
    """The answer alone, and the message of an exception; none where the class alone was kept.

    >>> told("!TypeError#2", {"!TypeError#2": "no kernel"})
    ('!TypeError', 'no kernel')
    """
    answer = answer_of(kept)
    return answer, errors.get(kept, "") if kept != answer else ""


@dataclass(slots=True)
class Messages:
    """Collects messages: `errors` has each by the name under which a recording keeps it, `!TypeError#2`."""

    errors: dict[str, str] = field(default_factory=dict)
    _names: dict[tuple[str, str], str] = field(default_factory=dict)

    def kept(self, answer: str, message: str) -> str:
        """The name of an exception with its message; any other answer is kept as it is."""
        if not answer.startswith(EXCEPTION):
            return answer
        text = outline(message)
        if (answer, text) not in self._names:
            if len(self.errors) >= MOST:
                return answer
            self._names[answer, text] = f"{answer}{SEPARATOR}{len(self.errors) + 1}"
            self.errors[self._names[answer, text]] = text
        return self._names[answer, text]
