"""Questions, the processes that ask the real libraries, and their recordings."""
