"""Runs of real code as programs: the observed outcome of each step, and its outcome under any system.

`rewrite` changes the code that runs, and hides the change. `record` notes the steps, `compiled` reads what
compilers made, and `models` what a model dispatched. `source` reads the user's text. `findings` says why an
array is wide, `remedies` what would keep it narrow, and `report` writes both. `library_traits` has a file
for each library, `array_holders` a table for each package with objects that hold arrays. Begin with
`entry_points/script.py` and docs/walk-tracing.md.
"""
