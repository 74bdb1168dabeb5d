"""Functions that a library compiles: their operations are read from its own graph. One file a library."""
