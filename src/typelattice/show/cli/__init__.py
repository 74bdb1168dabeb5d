"""The command line: `commands/` has one file for each command."""
