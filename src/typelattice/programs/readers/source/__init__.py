"""Python source as steps: it is parsed and never evaluated.

- Values: `python_values`, `branches`, `dictionaries`, `iterators`, `library_objects`.
- Expressions: `expressions` has the table of their readers, of `operators`, `comparisons`, `displays`,
  `subscripts` and `texts`.
- Calls: `calls_of_values`, `function_transforms`, and `python_functions` with the rooms that fill its table.
- Statements: `statements`, `targets`, `elements`, `patterns`, `class_definitions`.

All of them read over one scope, with the `syntax_reader`. Begin with `read_source`.
"""
