"""The libraries that can be recorded: one module a framework, one small class a recording."""
