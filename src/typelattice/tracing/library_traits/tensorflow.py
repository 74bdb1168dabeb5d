"""TensorFlow: its arrays have no method that casts them."""

CAST_FORMAT = "{library}.cast({array}, {dtype})"
"""How a program casts an array to a dtype."""
