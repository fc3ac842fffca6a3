"""Frozen value types that check themselves once."""
