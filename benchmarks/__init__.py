"""Speed against peers, side by side in one run, as ratios."""
