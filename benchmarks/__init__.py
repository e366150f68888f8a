"""What it costs, as ratios of one run."""
