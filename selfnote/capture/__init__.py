"""What the owner typed and should last: which sentence is one, and what of every session was already judged."""
