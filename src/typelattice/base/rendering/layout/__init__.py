"""The layout of layered drawings: the order, columns and heights of nodes, and the routes of links."""
