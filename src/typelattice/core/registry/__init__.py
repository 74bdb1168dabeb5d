"""The libraries that are known, their releases, and the headings of systems."""
