"""A program under two releases of NumPy: what raises, what loses, what differs in dtype alone."""
