"""Identifiers of dtypes in a language: from a user's file, or derived from the dtypes' names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from typelattice.study.codegen.tables import EmitError

IDENTIFIER_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,79}\Z")
KEYWORDS_BY_LANGUAGE = {  # words that no member of an enumeration may have; longer words are free
    "c11": "bool true false NULL int char float double long short signed unsigned void auto break case const "
    "continue default do else enum extern for goto if inline register restrict return sizeof static struct "
    "switch typedef union volatile while",
    "rust": "Self self super crate as break const continue else enum extern false fn for if impl in let loop "
    "match mod move mut pub ref return static struct trait true type unsafe use where while async await dyn",
    "python": "False None True and as assert async await break class continue def del elif else except "
    "finally for from global if import in is lambda nonlocal not or pass raise return try while with yield "
    "name value mro",
    "typescript": "break case catch class const continue debugger default delete do else enum export extends "
    "false finally for function if import in instanceof new null return super switch this throw true try "
    "typeof var void while with constructor prototype",
}
KEYWORDS_BY_LANGUAGE["cpp17"] = (
    f"{KEYWORDS_BY_LANGUAGE['c11']} alignas alignof and and_eq asm bitand bitor catch char16_t char32_t "
    "class compl constexpr const_cast decltype delete dynamic_cast explicit export friend mutable "
    "namespace new noexcept not not_eq nullptr operator or or_eq private protected public "
    "reinterpret_cast static_assert static_cast template this thread_local throw try typeid typename "
    "using virtual wchar_t xor xor_eq "
    "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t"
)
KEYWORDS_BY_LANGUAGE["mlir"] = KEYWORDS_BY_LANGUAGE["cpp17"]


def camel_case(name: str) -> str:
    """Return a name in the style of Rust's and TypeScript's types.

    >>> camel_case("float8_e4m3fn"), camel_case("bool")
    ('Float8E4m3fn', 'Bool')
    """
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name))


def snake_case(name: str) -> str:
    """Return a name of letters, digits and underscores that begins with a letter.

    >>> snake_case("keras-jax@3.12"), snake_case("3x")
    ('keras_jax_3_12', 's3x')
    """
    found = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_").lower()
    return found if found[:1].isalpha() else f"s{found}"


def signature_lines(
    opening: str, parameters: Mapping[str, str], closing: str, width: int, indent: str = "    "
) -> list[str]:
    """Return the head of a function as formatters leave it: a parameter a line if one line is too long.

    >>> signature_lines("fn f(", {"a": "DType", "b": "DType"}, ") {", 20)
    ['fn f(', '    a: DType,', '    b: DType,', ') {']
    """
    given = [f"{name}: {kind}" for name, kind in parameters.items()]
    whole = f"{opening}{', '.join(given)}{closing}"
    return [whole] if len(whole) <= width else [opening, *(f"{indent}{each}," for each in given), closing]


MEMBER_STYLE_BY_LANGUAGE: Mapping[str, Callable[[str], str]] = {
    "c11": lambda name: snake_case(name).upper(),
    "cpp17": lambda name: f"k{camel_case(name)}",
    "rust": camel_case,
    "python": lambda name: snake_case(name).upper(),
    "typescript": camel_case,
    "json": str,
    "mlir": lambda name: f"k{camel_case(name)}",
}


def member_names(lang: str, dtypes: Iterable[str], chosen_names: Mapping[str, str]) -> dict[str, str]:
    """The identifier of each dtype. Raises EmitError for one that the language forbids, or that two share.

    >>> member_names("rust", ["bool", "int8"], {"int8": "S8"})
    {'bool': 'Bool', 'int8': 'S8'}
    """
    style, keywords = (
        MEMBER_STYLE_BY_LANGUAGE[lang],
        {*KEYWORDS_BY_LANGUAGE.get(lang, "").split(), "Refused", "REFUSED", "kRefused"},
    )
    found: dict[str, str] = {}
    taken: dict[str, str] = {}
    for dtype in dtypes:
        name = chosen_names.get(dtype, style(dtype))
        if lang != "json":
            if not IDENTIFIER_PATTERN.match(name):
                raise EmitError(
                    f"names, {dtype}: {name[:80]!r} is no identifier; use letters, digits and underscores, "
                    "and begin with a letter"
                )
            if name in keywords:
                raise EmitError(f"names, {dtype}: {name!r} is reserved in {lang}; choose another")
        if name in taken:
            raise EmitError(f"names: {taken[name]} and {dtype} are both called {name!r}; rename one")
        taken[name] = dtype
        found[dtype] = name
    return found
