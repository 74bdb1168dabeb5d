"""The wing that people see: drawings, pages, the editor and the command line.

`drawings` draws orders, answers and programs. `explorer` is the page that shows all systems. `editor`
serves the Language Server Protocol. `cli` is the command line, with a file for each command in
`cli/commands`. Nothing imports this wing but `tl.draw` and the entry points. Begin with `cli/main.py`.
"""
