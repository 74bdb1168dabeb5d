"""The core: from dtypes and rules to the answer of one question.

`dtypes`, `losses`, `operations` and `registry` hold facts that are true in every system. `operands` reads
strings and objects as operands, with a file for each framework in `adapters`. `engine` makes a question an
answer, `system_files` reads the rules, and `books` the functions of a library. `evidence` holds what the
real libraries answered. `explanations` puts an answer into words. The core imports only the base. Begin
with `engine/promotion.py` and docs/walk.md.
"""
