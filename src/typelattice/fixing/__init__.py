"""Patches: from the cause of a wide float to a change of the source that was run."""
