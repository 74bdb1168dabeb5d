"""Recording: importing rewritten modules and collecting the steps that they report."""
