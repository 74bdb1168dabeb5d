"""Readers of programs: source text, symbols, ONNX and JSON. Each gives the same list of steps."""
