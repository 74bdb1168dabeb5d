"""Extracts the tables and graphs of the seed documents to tests/seeds: `python tools/seeds.py FOLDER`.

The documents are plain text, told apart by the number that their names begin with. Cells stay as printed.
"""

from __future__ import annotations

import ast
import csv
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

JEP = "https://docs.jax.dev/en/latest/jep/9407-type-promotion.html"
SECTIONS = {  # heading -> file
    "Stepping Back: Tables and Lattices": "jep9407_python",
    "NumPy Type Promotion": "jep9407_numpy",
    "Tensorflow Type Promotion": "jep9407_tensorflow",
    "PyTorch Type Promotion": "jep9407_torch",
    "JAX Type Promotion: `jax.numpy`": "jep9407_jax",
    "JAX Type Promotion: `jax.lax`": "jep9407_jax_lax",
}
DOCUMENTS = {
    "001": "JAX documentation of 2019, Type promotion semantics: https://github.com/jax-ml/jax/pull/1815",
    "003": "Python array API standard, proposal of 2020: https://github.com/data-apis/array-api/issues/14",
    "004": "Modular MAX, graph.type_promotion, 2024: "
    "https://docs.modular.com/max/api/mojo/graph/type_promotion",
}
FOUR = {
    "floating-point": "f",
    "unsigned integer": "u",
    "signed integer": "i",
    "mixed unsigned and signed integer": "mixed",
}
MAX_NAME = re.compile(r"bool|u?int(?:8|16|32|64)|index|address|(?:tensor_|b)?float(?:16|32|64)")

Table = list[list[str]]  # the header, its first cell empty; then the rows, their name first
Sheet = tuple[str, str, Table]  # file, source, table


def sections(text: str) -> Iterator[tuple[str, str]]:
    """(heading, body) of each section of the JEP."""
    parts = re.split(r"(?m)^#{2,} (?!Show code)(.+?)#?$", text)
    yield from zip((h.strip() for h in parts[1::2]), parts[2::2], strict=True)


def jep_tables(text: str) -> Iterator[Sheet]:
    """The tables of the JEP: cells between bars, the rows' names first, the header's names last."""
    for heading, body in sections(text):
        lines = [
            [cell.strip() for cell in line.split("|")]
            for line in body.splitlines()
            if "|" in line and "(" not in line
        ]
        if heading in SECTIONS:
            columns = [cell for cell in lines[0] if cell]
            rows = [[cell for cell in line if cell] for line in lines[2:]]
            yield SECTIONS[heading], f"JEP 9407, {heading.replace('`', '')}: {JEP}", [["", *columns], *rows]


def jep_graphs(text: str) -> Iterator[dict[str, object]]:
    """Every graph that the JEP draws: the section it stands in, its covers, and where it puts the nodes."""
    for heading, body in sections(text):
        for covers, places in re.findall(r"(?ms)^lattice = (\{.*?\})$.*?^pos = (\{.*?\})$", body):
            literals = ast.literal_eval(covers), ast.literal_eval(places)
            yield {"section": heading, "covers": literals[0], "positions": literals[1]}


def jax_2019(text: str) -> Iterator[Sheet]:
    """The table of 2019, and which of its cells are highlighted."""
    rows = [
        re.findall(r"<t[hd]([^>]*)>(.*?)</t[hd]>", line)
        for line in text.splitlines()
        if line.strip().startswith("<tr>")
    ]
    cells = [[cell for _, cell in row] for row in rows]
    marks = [[row[0][1], *("01"["class" in attributes] for attributes, _ in row[1:])] for row in rows[1:]]
    yield "jax_2019", DOCUMENTS["001"], cells
    yield "jax_2019_highlighted", f"{DOCUMENTS['001']}, highlighted cells", [cells[0], *marks]


def array_api_2020(text: str) -> Iterator[Sheet]:
    """The four tables, a line each: the columns, up to a name repeated or of another kind, and the rows."""
    for title, line in re.findall(r"(?m)^(.+) type promotion table:\n+(.+)$", text):
        cells = [word for word in line.split() if word != "where"]
        columns: list[str] = []
        for cell in cells:
            if cell in columns or cell[0] != cells[0][0]:
                break
            columns.append(cell)
        n = len(columns)
        rows = [cells[i : i + n + 1] for i in range(n, len(cells), n + 1)]
        yield f"array_api_2020_{FOUR[title]}", f"{DOCUMENTS['003']}, {title}", [["", *columns], *rows]


def max_2024(text: str) -> Iterator[Sheet]:
    """MAX's table, whose cells stand without a gap."""
    lines = (line.removeprefix("Type") for line in text.splitlines())
    columns, *rows = (
        MAX_NAME.findall(line) for line in lines if len(line) > 80 and not MAX_NAME.sub("", line)
    )
    yield "max_2024", DOCUMENTS["004"], [["", *columns], *rows]


def write(folder: Path, out: Path) -> None:
    """All files, made anew."""
    texts = {path.name[:3]: path.read_text(encoding="utf-8") for path in folder.glob("[0-9][0-9][0-9]_*.txt")}
    readers = {"000": jep_tables, "001": jax_2019, "003": array_api_2020, "004": max_2024}
    out.mkdir(exist_ok=True)
    for number, reader in readers.items():
        for name, source, table in reader(texts[number]):
            if len({len(row) for row in table}) != 1:
                raise SystemExit(f"{name}: rows of different lengths; has the document another layout?")
            with (out / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
                file.write(f"# {source}\n")
                csv.writer(file, lineterminator="\n").writerows(table)
    graphs = ",\n".join(json.dumps(graph) for graph in jep_graphs(texts["000"]))
    (out / "jep9407_graphs.json").write_text(
        f'{{"source": "JEP 9407: {JEP}", "graphs": [\n{graphs}\n]}}\n', encoding="utf-8"
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    write(Path(sys.argv[1]), Path(__file__).parents[1] / "tests" / "seeds")
