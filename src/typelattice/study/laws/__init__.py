"""Laws, criteria and counterexamples of whole systems."""
