"""The source of a program as a tree: where an array is made, what decides its dtype, and who calls."""
