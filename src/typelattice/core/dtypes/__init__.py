"""Number formats, parametric dtypes, and partial orders of them."""
