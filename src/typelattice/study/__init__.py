"""Studies of whole systems: what holds for every pair, and what would.

`tables` compares systems pair by pair, and release by release. `laws` tests laws and criteria, and searches
for counterexamples. `designer` completes and repairs orders under stated rules. `codegen` writes the tables
of a system as source code in other languages. Studies import the base, the core and programs. Begin with
`tables/tables.py` and `laws/laws.py`.
"""
