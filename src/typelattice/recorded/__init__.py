"""What the real libraries answered, as data."""
