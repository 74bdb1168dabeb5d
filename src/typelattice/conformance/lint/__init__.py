"""Tables of promotion that others write by hand, read and checked."""
