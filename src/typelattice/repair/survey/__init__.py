"""A survey of packages: which of their public functions keep float32, and the first line that widens it."""
