"""Proof of a patched function: it gives for other kinds of arguments what it gave before the patch."""
