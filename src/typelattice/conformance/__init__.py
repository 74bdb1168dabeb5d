"""Recordings of what the real libraries answer, and the comparison of a system with them."""
