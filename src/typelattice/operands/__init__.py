"""What takes part in a promotion, and how strings and frameworks' objects are read as that."""
