"""Bytes on disk: atomic writes, locks, lines and JSON lines kept byte for byte. Knows nothing of memory."""
