"""Reports of findings: text, HTML pages, JSON."""
