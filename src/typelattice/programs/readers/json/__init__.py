"""Programs and their outcomes as JSON."""
