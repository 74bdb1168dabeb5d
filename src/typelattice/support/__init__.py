"""Common code that knows no dtypes: base classes, texts of errors, display hooks, lazy tables."""
