"""Keeping a memory healthy and moving it: where a sentence survives, and how it is forgotten."""
