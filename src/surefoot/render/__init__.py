"""Record -> table; never a mean, a test or a correction."""
