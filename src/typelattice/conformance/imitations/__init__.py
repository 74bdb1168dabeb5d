"""Other implementations of a library, and how they differ from it."""
