"""Makes command lines from a grammar, good ones and broken ones, and the files that they name.

A line is first made good and then, one time in two, broken: words are dropped, doubled, or replaced by
hostile ones; files are broken in the same way.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from pathlib import Path

from typelattice.base.rendering import GRID_FORMATS
from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.core.operations.operations import OPERATION_BY_NAME
from typelattice.core.system_files.system_text import systems

_MARKED = r"(?: +\d+ \| .*\n +\| +\^+\n)?"  # the line of a file, and a caret below its wrong word
ERROR = re.compile(rf"typelattice: .*\n{_MARKED}(?:[^ ].*: .*\n{_MARKED})*")
"""An error: one line, or the mistakes of a system file."""
FILES = {
    "mine.toml": """
name  = "mine"
title = "My own"
tiers = ["array", "scalar"]
defaults = { int = "i32", float = "posit8" }
order = "u8 -> i16 -> i32 -> posit8; i8 -> i16; u16 -> i32; i8, u8 -> f16"
ties = { "i16, f16" = "i16" }
refusals = { "u16 + u8" = "too far apart" }
[dtypes]
posit8 = { kind = "float", bits = 8, max = 16777216.0, values = "unknown", specials = "szn" }
""",
    "child.toml": 'name = "child"\nextends = "mine"\norder = "...; f32"\nfit = { int = "wrap" }\n',
    "plan.toml": """rules = ["overflow"]
costs = ["width"]
[demands]
odd = { avoid = "i8 -> f32", weight = 3 }
""",
    "table.csv": ",uint8,int16\nuint8,uint8,int16\nint16,int16,int8\n",
    "form.toml": 'kind = "grid"\nskip = "x"\n[before]\n"uint8 + uint8" = "refused"\n',
    "names.toml": '[names]\nint16 = "S16"\n',
    "list.toml": """[[departure]]
ops = "add, pow but +="
operands = ["i8:weak, i* beyond i8 + any...", "bool then negative i*"]
reason = "why"
source = "here"
count = 3
""",
    "run.json": """{"typelattice": "run", "version": 1, "libraries": {"numpy": "numpy"}, "opaque": 0,
"mismatches": [], "departures": [], "not_followed": {}, "child_processes": 0, "followed_processes": 0,
"summarised": [], "findings": [], "steps": [
{"file": null, "line": null, "code": "x", "operands": [], "observed": "float32", "bytes": 4},
{"file": "s.py", "line": 1, "code": "x * y", "operands": [0], "observed": "float64", "bytes": 8}]}
""",
    "it.jsonl": """{"format": 3, "library": "it", "versions": {}, "python": "3", "date": "d", "how": "h",\
 "operands": ["int8", "int16"], "seed": 0}
["add", "int8", {"int8": "int8", "int16": "int16"}]
["add", "int16", {"int16": "int8 int16"}]
["negative", {"int8": "int8", "int16": "int16"}]
["result_type", "int8", {"int8": "int8"}]
""",
}
HOSTILE = [
    "", " ", "\t", "\0", "\x1b[31m", "\x1b]0;t\x07", "\u202e", "\ud800", "é", "９", "9" * 5_000,
    "a" * 100_000, "-" * 999, "(" * 999, "into" + ".a" * 5_000, "1e999999", "-0.0", "nanj", "0x10", "1_000",
    "²", "-", "--", "---", "--op", "--op=", "--system", "--system=", "--dtypes=", "--format", "--limit",
    "--help", "-h", "-x", "-o", "--version", "@file", "/", "..", ".", "~", "*", ".toml", "a/b.toml",
    "nothing", "nothing.toml", "bad.toml", "/dev/null", "/dev/zero", "/dev/full", "/proc/self/mem",
    "pipe.toml", "pipe.json", "folder.toml", "latin.toml", "=", "a=", "=a", "a==b", "a=b=c", "int8:", ":0d",
    "int8:0d=", "int8:0d=300", "int8:0d:weak", "int8:1d", "None", "object", "i4", "u8", "f8", "int8,int8",
    "%s%n", "$(x)", "`x`", "{0}", "\\", "'", '"', "<b>", "|", "a\nb", "True+", "a**b**c", "lambda: 0",
    "__import__('os')", "x.y.z", "[x for x in y]", "f'{x}'", "a if b else c",
]  # fmt: skip

Dice = random.Random


def one(dice: Dice, *choices: str) -> str:
    return dice.choice(choices)


def a_system(dice: Dice) -> str:
    return one(dice, *systems(), *["mine.toml", "child.toml"] * 4)


def a_dtype(dice: Dice) -> str:
    return one(dice, *DTYPES, "posit8", "i32", "bf16", "f64")


def an_operand(dice: Dice) -> str:
    marks = ("", "", "", ":0d", ":weak", ":scalar", ":array", ":0d=1", ":0d=0", ":0d=1.5", ":0d=True")
    numbers = ("1", "0", "-1", "300", "1.5", "1e39", "2j", "inf", "nan", "True", "int", "float", "complex")
    return a_dtype(dice) + one(dice, *marks) if dice.random() < 0.7 else one(dice, *numbers)


def an_expression(dice: Dice, depth: int = 0) -> str:
    if depth > 3 or dice.random() < 0.3:
        return one(dice, "a", "b", "c", "1", "2.0", "-3", "1j", "True")
    x, y = an_expression(dice, depth + 1), an_expression(dice, depth + 1)
    operator = one(dice, "+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>", "<", "==", "!=")
    function = one(dice, *OPERATION_BY_NAME)
    shapes = (
        f"{x} {operator} {y}", f"({x}) {operator} ({y})", f"-({x})", f"~({x})", f"{function}({x})",
        f"{function}({x}, {y})", f"where({x}, {y}, {x})", f"({x}).astype({a_dtype(dice)})",
    )  # fmt: skip
    return one(dice, *shapes)


def options(dice: Dice, **given: Callable[[Dice], str] | None) -> list[str]:
    """Some of the options, with or without `=`."""
    words: list[str] = []
    for name, value in given.items():
        if dice.random() < 0.25:
            option = f"--{name.replace('_', '-')}"
            given_so = [option] if value is None else [option, value(dice)]
            words += ["=".join(given_so)] if dice.random() < 0.5 else given_so
    return words


def dtypes(dice: Dice) -> str:
    return one(dice, ",", " ").join(an_operand(dice) for _ in range(dice.randint(1, 3)))


def named(*names: str) -> Callable[[Dice], str]:
    return lambda dice: one(dice, *names)


CODES = named("bits", "bytes", "names")
TIER, FORMAT = named("array", "0d", "scalar", "all"), named(*GRID_FORMATS)
OP = named(*OPERATION_BY_NAME, "+", "/", "**")
WORD = named("lattice", "overflow", "width", "precision", "none", "odd", "width,kind")


def explained(dice: Dice) -> list[str]:
    which = [f"--system={a_system(dice)}"] if dice.random() < 0.95 else []  # all of them take longer
    if dice.random() < 0.25:
        bound = [f"{name}={an_operand(dice)}" for name in ("a", "b", "c") if dice.random() < 0.8]
        return [an_expression(dice), *bound, *which, *options(dice, format=named("text", "json"))]
    operands = [an_operand(dice) for _ in range(dice.choice((1, 2, 2, 2, 3, 4)))]
    given = options(dice, op=OP, format=named("text", "json"), exit_code=None, list_ops=None)
    return [*operands, *which, *given]


def tabled(dice: Dice) -> list[str]:
    given = options(dice, system=a_system, op=OP, tier=TIER, format=FORMAT, small=None, codes=CODES)
    return [f"--dtypes={dtypes(dice)}", *given]


def compared(dice: Dice) -> list[str]:
    given = options(dice, op=OP, tier=TIER, format=FORMAT, codes=CODES, exit_code=None)
    return [a_system(dice), a_system(dice), f"--dtypes={dtypes(dice)}", *given]


def agreed(dice: Dice) -> list[str]:
    standard = named("python", "mine.toml", "bad.toml")
    given = options(dice, op=OP, tier=TIER, format=FORMAT, codes=CODES, standard=standard)
    return [one(dice, "python", "mine.toml", "child.toml"), one(dice, "python", "mine.toml"), *given]


def judged(dice: Dice) -> list[str]:
    given = options(dice, tier=TIER, format=FORMAT, all=None, common=None, exit_code=None)
    return [one(dice, "python", "mine.toml", "child.toml"), f"--dtypes={dtypes(dice)}", *given]


def designed(dice: Dice) -> list[str]:
    given = options(
        dice, rules=WORD, costs=WORD, plan=named("plan.toml"), at_most=named("width=3", "kind=0", "odd=1"),
        repair=None, every=None, limit=named("1", "2"), format=named("text", "json"),
    )  # fmt: skip
    return [one(dice, "mine.toml", "python", "child.toml"), "--seconds=1", *given]


def conformed(dice: Dice) -> list[str]:
    given = options(dice, departures=named("list.toml"), format=named("text", "json"), seed=named("1", "-1"))
    return [one(dice, "it", "arrow-unify"), "--recording=it.jsonl", "--system=mine.toml", *given]


def recorded(dice: Dice) -> list[str]:
    """No library that there is: to ask one takes minutes."""
    given = options(dice, limit=named("1", "nan"), jobs=named("2", "0"))
    return [one(dice, "nothing", "nothing:it", "it:"), *given]


def explored(dice: Dice) -> list[str]:
    """One system, named twice, so that no broken line asks for all of them, which takes a minute."""
    name = one(dice, "python", "mine.toml", "bad.toml")
    given = options(dice, output=named("page.html", "folder.toml", "-"), port=named("0"))
    return ["--system", name, "--system", "python", "--op", one(dice, "add", "sqrt"), *given]


def drawn(dice: Dice) -> list[str]:
    given = options(dice, op=named("add", "sqrt"), small=None, format=named("svg", "dot", "mermaid", "json"))
    return [*(a_system(dice) for _ in range(dice.choice((1, 1, 2)))), *given]


def traced(dice: Dice) -> list[str]:
    """No script that there is: a program may do anything."""
    return [one(dice, "nothing.py", "nothing"), *options(dice, system=a_system, json=named("it.jsonl"))]


def ported(dice: Dice) -> list[str]:
    """No script that there is: a program may do anything."""
    return [*options(dice, exit_code=None, package=named("nothing")), one(dice, "nothing.py", "nothing")]


def patched(dice: Dice) -> list[str]:
    """No script that there is: a program may do anything."""
    return [one(dice, "nothing.py", "nothing"), *options(dice, to=named("float32", "int8"), write=None)]


def tuned(dice: Dice) -> list[str]:
    """No script that there is: a program may do anything."""
    given = options(
        dice, dtypes=named("float32", "int8"), measure=named("ulp", "nrom"), seeds=named("2", "-1"), svg=None
    )
    return [one(dice, "nothing.py", "nothing"), "--tolerance", one(dice, "1e-3", "nan", "x"), *given]


def watched(dice: Dice) -> list[str]:
    """No library that there is: to ask one takes minutes."""
    given = options(dice, recording=named("it.jsonl"), limit=named("1", "nan"), format=named("text", "json"))
    return [one(dice, "nothing", "nothing:it", "it:"), *given]


def imitated(dice: Dice) -> list[str]:
    """No implementation that there is: to ask one takes minutes."""
    given = options(dice, calls=named("1", "-1"), known=named("it.json"), format=named("text", "json"))
    return [one(dice, "nothing", "nothing:it", "it:"), "--with", one(dice, "numpy", "mine.toml"), *given]


def emitted(dice: Dice) -> list[str]:
    lang = one(dice, "c11", "cpp17", "rust", "python", "typescript", "json")
    given = options(dice, ops=OP, tiers=TIER, names=named("names.toml", "mine.toml"), check=None)
    return [one(dice, "mine.toml", "python", "child.toml", "numpy1"), f"--lang={lang}", "-o=made", *given]


def stubbed(dice: Dice) -> list[str]:
    """Stubs of a few functions, not checked: to check them takes a type checker, and minutes."""
    given = options(dice, output=named("made.pyi"), limit=named("1", "nan"))
    ops = one(dice, "add", "add,sqrt", "where", "")
    return [one(dice, "mine.toml", "python", "bad.toml"), f"--ops={ops}", *given]


def linted(dice: Dice) -> list[str]:
    given = options(dice, allow=named("list.toml", "names.toml"), format=named("text", "json", "sarif"))
    against = one(dice, "mine.toml", "python", "bad.toml")
    return ["table.csv", "--form=form.toml", "--against", against, *given]


def all_ways(dice: Dice) -> list[str]:
    """Few programs in ways that start no compiler."""
    given = options(dice, seed=named("1", "-1", "x"))
    ways = one(dice, "explanation", "table", "explanation,table", "tabel", "")
    return [one(dice, "mine.toml", "python", "bad.toml"), f"--ways={ways}", "--programs=2", *given]


def runs_compared(dice: Dice) -> list[str]:
    given = options(dice, output=named("made.json"))
    return [one(dice, "diff", "combine"), "run.json", one(dice, "run.json", "mine.toml"), *given]


def surveyed(dice: Dice) -> list[str]:
    rows = named("made.jsonl", "run.json")
    given = options(dice, output=named("made.json"), rows=rows, jobs=named("1", "2"))
    return [one(dice, "bisect", "no_such_package", "not-a-name"), "--limit=2", *given]


GRAMMAR: dict[str, tuple[int, Callable[[Dice], list[str]]]] = {  # command -> how often, and what follows it
    "explain": (200, explained),
    "table": (40, tabled),
    "diff": (20, compared),
    "consensus": (4, agreed),
    "laws": (2, judged),
    "conform": (20, conformed),
    "record": (1, recorded),  # it and `watch` start a process, which takes as long as a hundred other lines
    "watch": (1, watched),
    "compare": (1, imitated),
    "draw": (2, drawn),
    "trace": (2, traced),
    "port": (1, ported),
    "runs": (2, runs_compared),
    "fix": (2, patched),
    "tune": (2, tuned),
    "survey": (1, surveyed),
    "explore": (1, explored),
    "lsp": (1, lambda dice: ["--help"]),
    "design": (2, designed),
    "emit": (4, emitted),
    "stubs": (2, stubbed),
    "lint": (4, linted),
    "agree": (1, all_ways),
    "systems": (2, lambda dice: options(dice) or ["mine.toml"]),
    "check": (2, lambda dice: [one(dice, "mine.toml", "child.toml", "python")]),
    "completion": (1, lambda dice: [one(dice, "bash", "zsh", "fish")]),
}


def a_line(dice: Dice) -> tuple[str, ...]:
    """A line of the grammar, broken one time in two."""
    command = dice.choices([*GRAMMAR], [often for often, _ in GRAMMAR.values()])[0]
    words = [command, *GRAMMAR[command][1](dice)]
    for _ in range(dice.choice((0, 0, 0, 1, 1, 2))):
        at = dice.randrange(len(words))
        match dice.randrange(5):
            case 0:
                words[at] = dice.choice(HOSTILE)
            case 1:
                words.insert(at, dice.choice(HOSTILE))
            case 2:
                words[at] = broken(dice, words[at])
            case 3:
                words.insert(at, dice.choice(words))
            case 4 if len(words) > 1:
                del words[at]
    return tuple(words)


def broken(dice: Dice, text: str) -> str:
    """A text of which a piece is replaced by another one."""
    at = dice.randrange(len(text) + 1)
    piece = dice.choice([*HOSTILE[:12], *"\"'[]{}()=,;:.#*->+ \n\x07\x1b", "u9", "->", "f*", "99", "true"])
    return text[:at] + piece + text[at + dice.randrange(9) :]


def prepare(folder: Path, dice: Dice) -> None:
    """Writes the files that lines name, the bad ones anew each time."""
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    bad = broken(dice, dice.choice([*FILES.values()]))
    (folder / "bad.toml").write_text(bad, encoding="utf-8", errors="replace")
    (folder / "latin.toml").write_bytes(b'name = "\xff"')
    (folder / "folder.toml").mkdir(exist_ok=True)
    for pipe in ("pipe.toml", "pipe.json"):
        if not (folder / pipe).exists():
            os.mkfifo(folder / pipe)
