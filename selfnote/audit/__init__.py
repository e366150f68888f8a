"""Look at it: reports, and from the next step on frames and plots."""
