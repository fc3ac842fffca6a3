"""What to judge next, and honest estimates from it."""
