"""Scores and a champion -> risk records, topic by topic; no sampling here."""
