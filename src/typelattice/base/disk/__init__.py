"""Files of users: read up to a limit and written whole or not at all. Every failure is a FileError."""
