"""Training the stages of a model, one after the other, before the whole."""
