"""Runs of real code as programs: the observed outcome of each step, and its outcome under any system."""
