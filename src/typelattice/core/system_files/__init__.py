"""System files: TOML read into rules, every mistake named by its place."""
