"""Recordings of the real libraries' answers, and the comparison of a system with them."""
