"""The command `matchwork`: parse, one library call, print. One file per command."""
