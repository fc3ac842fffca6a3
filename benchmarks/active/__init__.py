"""Experiments on active evaluation: cases from labelled data, simulated studies, the page."""
