"""What was said: the harness's own session logs, read and never written (S2-007)."""
