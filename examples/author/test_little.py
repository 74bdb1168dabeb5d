"""The little library's own tests of its promotion; without the baseline the mistake fails them."""
from little import Little

from typelattice.conformance.pytest import promotion_tests

test_promotion = promotion_tests(Little, "array-api", baseline="known.toml")
