"""Say it each turn: choose, pack, print, count."""
