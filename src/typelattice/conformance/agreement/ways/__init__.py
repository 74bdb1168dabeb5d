"""The ways to ask a system what dtypes a program's steps have: one class in a file for each kind."""
