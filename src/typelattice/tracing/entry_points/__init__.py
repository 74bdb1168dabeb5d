"""Entry points of the tracer: scripts, functions, pytest."""
