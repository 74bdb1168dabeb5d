"""Studies of whole systems: tables, comparisons, laws, costs."""
