"""What dtypes and orders are: facts that no system has a say in."""
