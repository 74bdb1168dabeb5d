"""Small frozen classes, tables that load late, hooks, and objects of strangers."""
