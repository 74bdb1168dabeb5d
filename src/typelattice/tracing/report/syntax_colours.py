"""Source lines as markup, with the keywords, texts, numbers and comments of Python in colours."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from keyword import iskeyword
from tokenize import TokenError, TokenInfo, generate_tokens, tok_name

from typelattice.tracing.report.html_elements import escape_text, text_element

STYLE_BY_TOKEN = {"STRING": "string", "COMMENT": "comment", "NUMBER": "literal"}


def highlight_lines(lines: Sequence[str]) -> list[str]:
    """Return each line as markup. After a syntax error, lines stay plain.

    >>> highlight_lines(["if x:  # 1 < 2"])
    ['<span class="keyword">if</span> x:  <span class="comment"># 1 &lt; 2</span>']
    """
    spans: list[list[tuple[int, int, str]]] = [[] for _ in lines]
    with suppress(TokenError, SyntaxError):
        for token in generate_tokens((f"{line}\n" for line in lines).__next__):
            (first, start), (last, end) = token.start, token.end
            for number in range(first, last + 1) if (colour := _find_colour(token)) else ():
                whole = len(lines[number - 1])
                spans[number - 1].append(
                    (start if number == first else 0, end if number == last else whole, colour)
                )
    return [_colour_line(line, those) for line, those in zip(lines, spans, strict=True)]


def _find_colour(token: TokenInfo) -> str:
    """Name the style of a token, or return "" for the usual style."""
    name = tok_name[token.type]
    if name == "NAME":
        return "keyword" if iskeyword(token.string) else ""
    return "string" if name.startswith(("FSTRING", "TSTRING")) else STYLE_BY_TOKEN.get(name, "")


def _colour_line(line: str, spans: Sequence[tuple[int, int, str]]) -> str:
    pieces, done = [], 0
    for start, end, colour in spans:
        if start >= done:
            pieces += [
                escape_text(line[done:start]),
                text_element("span", line[start:end], **{"class": colour}),
            ]
            done = end
    return "".join([*pieces, escape_text(line[done:])])
