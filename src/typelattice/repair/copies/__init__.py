"""Runs of a program in a copy of its folder, and the values that they gave."""
