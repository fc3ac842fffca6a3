"""Frozen records of what was computed, with their provenance; no computation."""
