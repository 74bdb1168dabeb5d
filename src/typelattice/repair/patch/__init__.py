"""The search for changes that keep a program narrow."""
