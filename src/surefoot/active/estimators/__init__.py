"""Estimates from drawn and labelled queries, each for many studies at once."""
