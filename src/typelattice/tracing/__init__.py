"""Runs of real code become programs: what each step came to, and what it would come to under any system."""
