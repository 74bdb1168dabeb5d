"""Changes of the source that keep floats narrow, in the order in which a patch tries them."""
