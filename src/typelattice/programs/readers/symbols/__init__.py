"""Symbols: calling a function with them makes it a program."""
