"""The answers of the real libraries, as data."""
