"""Models: every operation that ran, by module, with its dtypes, bytes and line, and what was intended."""
