"""Tuning: the narrowest dtypes with which a program's results stay within a tolerance, found by runs."""
