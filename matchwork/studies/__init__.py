"""Studies: what only the analysis of one paper needs, a folder per paper."""
