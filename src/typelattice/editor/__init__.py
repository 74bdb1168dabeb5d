"""Dtypes for editors: what is known of the lines of a file, and a server of the Language Server Protocol."""
