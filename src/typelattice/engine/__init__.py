"""From operands to an answer: what a system's rules make of them."""
