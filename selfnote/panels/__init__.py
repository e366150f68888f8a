"""Decide about the memory: panels over the core, each a state that knows no widgets and a view that mirrors it."""
