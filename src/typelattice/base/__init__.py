"""The base: what every wing needs, and what knows nothing of dtypes.

`errors` has the base classes and the texts of errors, `objects` small classes of values, and hooks. `disk`
reads files up to a limit and writes them whole. `workers` spreads tasks over processes. `rendering` writes
grids and layered drawings in every format. The base imports nothing of this package. Begin with
`errors/errors.py`, and for a picture with `rendering/drawing.py`.
"""
