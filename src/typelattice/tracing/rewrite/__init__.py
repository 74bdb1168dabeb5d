"""Rewriting of Python source and bytecode so that each operation reports its operands and result."""
