"""Conformance: whether the rules say what the libraries do.

`recording` asks the real libraries, and `recording/libraries` has a file for each. `imitations` compares
other implementations of a library with it. `lint` reads the tables that others write by hand. `agreement`
asks one system in every way, and reduces the differences. `pytest.py` has the tests that authors of
libraries run. Recorders import neither the engine nor the system files, so that they prove something. Begin
with `recording/recorder.py`.
"""
