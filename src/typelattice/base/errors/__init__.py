"""The base class of errors, their texts, and the errors that come from outside."""
