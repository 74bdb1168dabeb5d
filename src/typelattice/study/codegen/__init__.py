"""Promotion tables as source code in other languages."""
