"""Programs: straight-line lists of operations, and the dtype of each step under a system.

`calls` says what a call of a library means. `readers` make a program of source text, of a function that
runs on symbols, of ONNX and of JSON. `replay` computes the dtype of every step, `namespaces` compute with
arrays by any rules, and `targets` write a program for other tools. `program` is the class, and
`entry_points` what `tl.program` and `tl.implicit_cast` call. Programs import the base and the core. Begin
with `program/program.py` and `replay/replay.py`.
"""
