"""Turning one observed call into steps of a program."""
