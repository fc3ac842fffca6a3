"""One command, one file; a command parses, calls and renders."""
