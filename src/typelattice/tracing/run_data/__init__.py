"""The data of a run: steps, links between values, source locations, float widths."""
