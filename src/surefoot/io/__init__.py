"""Text and tables to data; results to files. Errors carry file:line; nothing is scored here."""
