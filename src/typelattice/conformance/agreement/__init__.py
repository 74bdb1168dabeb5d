"""Agreement of all ways to ask a system: random programs, their answers, and the smallest differences."""
