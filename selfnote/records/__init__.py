"""Keep it: one module per kind of record, its rules with it."""
