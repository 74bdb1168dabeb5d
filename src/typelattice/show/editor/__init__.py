"""Dtypes for editors: known dtypes of a file's lines, and a server of the Language Server Protocol."""
