"""An answer in English, as plain data, and as the library's own code."""
