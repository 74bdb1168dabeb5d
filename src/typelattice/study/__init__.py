"""Whole systems looked at: tables, comparisons, laws, costs."""
