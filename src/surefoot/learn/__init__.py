"""Risk-sensitive objectives for gradient boosting."""
