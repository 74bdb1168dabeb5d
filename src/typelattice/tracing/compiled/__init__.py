"""Functions that a library compiles: what they compute is read from its own graph; a file a library."""
