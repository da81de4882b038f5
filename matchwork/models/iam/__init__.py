"""IAM: question-aware Bi-LSTM, interactive attention and a context jump, trained in stages."""

from matchwork.models.iam.model import IAM, IAMConfig

__all__ = ["IAM", "IAMConfig"]
