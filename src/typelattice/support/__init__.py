"""Code for every room that knows nothing of dtypes: base classes, texts of errors, display, lazy tables."""
