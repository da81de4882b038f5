"""IASM: interactive attention over a word-matching matrix with a two-channel distance."""
