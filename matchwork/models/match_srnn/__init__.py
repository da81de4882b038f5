"""Match-SRNN: a neural tensor and a spatial GRU over the word grid."""
