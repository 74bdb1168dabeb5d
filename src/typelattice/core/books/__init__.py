"""The books of calls: what each function of a library takes and gives, a row a function."""
