"""Facts about dtypes and orders that no system can change."""
