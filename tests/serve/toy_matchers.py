"""Small matchers that were really trained, in moments."""

from pathlib import Path

import torch
from server_process import MAX_DOCUMENT_TOKENS

from matchwork.data import toy
from matchwork.encode import WordEmbedding
from matchwork.matcher import Matcher
from matchwork.models import MODELS
from matchwork.text import WordTokenizer
from matchwork.train import train

TRAINING = {"max_epochs": 2, "accelerator": "cpu", "learning_rate": 0.05}


def train_matchers(place: Path, *names: str) -> dict[str, Path]:
    """Train these models on the toy data and save each in a folder of its name."""
    data = toy()
    tokenizer = WordTokenizer.fit(data["train"].texts)
    made = {}
    for name in names:
        torch.manual_seed(1)
        entry = MODELS[name]
        encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=16, trainable=True)
        model = entry.model(entry.config({}), encoder)
        matcher = Matcher(tokenizer, model, max_document_length=MAX_DOCUMENT_TOKENS)
        train(matcher, data, seed=1, **TRAINING)
        made[name] = place / name
        matcher.save(made[name])
    return made
