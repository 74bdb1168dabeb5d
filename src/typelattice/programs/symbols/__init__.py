"""Symbols: a function that is called with them becomes a program."""
