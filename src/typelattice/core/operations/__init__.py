"""The operations of the standard, the forms of their calls, and what each library lacks."""
