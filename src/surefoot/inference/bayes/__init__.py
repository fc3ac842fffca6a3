"""Hierarchical models over many systems and topics."""
