"""Run x qrels -> scores: one measure a file, a grammar for names, residuals, ties."""
