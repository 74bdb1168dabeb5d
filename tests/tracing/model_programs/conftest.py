"""Programs that other tests run. They need PyTorch, and are no tests."""

collect_ignore_glob = ["*.py", "*/*.py"]
