"""Files of users: read up to a limit, written whole or not at all, and every failure a FileError."""
