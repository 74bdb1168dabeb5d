"""The class of a program, and its text."""
