"""Python source as steps: it is parsed and never evaluated."""
