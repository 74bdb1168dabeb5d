"""The meaning of calls: a table of parameters, a binder, and the steps that calls become."""
