"""The page of findings shows what frameworks do; the live tests run it."""
collect_ignore = ["docs/findings.md"]
