"""Plug it in: what the harness and its model may use of a memory."""
