"""IAM: question-aware Bi-LSTM, interactive attention and a context jump, trained in stages."""
