"""The libraries that can be recorded: one module for each framework, one small class for each recording."""
