"""The engine: applies the rules of a system to operands, and answers with a Promotion."""
