"""Folders as sentence-transformers has them, with random transformers of a few thousand weights."""

import json
from pathlib import Path

import torch
from tiny_transformers import TEXTS, bert_tokenizer, roberta_tokenizer
from tokenizers import processors

PAIRS = [
    ("who wrote hamlet", "the play was written by shakespeare"),
    ("how tall is everest", "the mountain rises 8849 metres above the sea"),
    ("what do pandas eat", "bamboo, almost nothing but bamboo!"),
    ("", "air scatters short waves"),
    ("why", ""),
    (" ".join(TEXTS), "short"),
    ("short", " ".join(TEXTS)),
    (" ".join(TEXTS[::-1]), " ".join(TEXTS)),
]
_BYTE_LEVEL = ("roberta",)
_TYPES = ("bert", "electra", "albert", "deberta-v2")


def save_tokenizer(folder: Path, kind: str, types: bool = True) -> int:
    """A tokenizer with a rule for pairs; how many pieces it knows."""
    import transformers

    byte_level = kind in _BYTE_LEVEL
    made = roberta_tokenizer() if byte_level else bert_tokenizer()
    made.no_truncation()
    made.no_padding()
    names = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    if not byte_level:
        names = ["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"]
        made.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
        )
    inputs = ["input_ids", "attention_mask"]
    if types and kind in _TYPES:
        inputs.append("token_type_ids")
    roles = ("cls_token", "pad_token", "sep_token", "unk_token", "mask_token")
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made,
        model_max_length=40,
        model_input_names=inputs,
        **dict(zip(roles, names, strict=True)),
    )
    tokenizer.save_pretrained(folder)
    return made.get_vocab_size()


def _config(kind: str, vocab_size: int, **changes: object):
    import transformers

    sizes = {
        "vocab_size": vocab_size,
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "max_position_embeddings": 60,
        "pad_token_id": 1 if kind in ("roberta", "mpnet") else 0,
        "type_vocab_size": 1 if kind == "roberta" else 2,
    }
    if kind == "distilbert":
        sizes |= {"dim": 16, "hidden_dim": 32, "n_layers": 2, "n_heads": 2}
    if kind == "electra":
        sizes["embedding_size"] = 16
    return transformers.AutoConfig.for_model(kind, **{**sizes, **changes})


def _save_random(network, folder: Path) -> None:
    generator = torch.Generator().manual_seed(0)
    for name, parameter in network.named_parameters():
        if parameter.ndim > 1 or name.endswith(
            "bias"
        ):  # usually so small that all texts look alike
            std = 0.6 if parameter.ndim > 1 else 0.1
            torch.nn.init.normal_(parameter, std=std, generator=generator)
    network.save_pretrained(folder)


def cross_encoder_folder(
    folder: Path, kind: str = "bert", *, types: bool = True, num_labels: int = 1
) -> Path:
    """A network for sequence classification, as the library's cross-encoders are."""
    import transformers

    config = _config(kind, save_tokenizer(folder, kind, types), num_labels=num_labels)
    _save_random(transformers.AutoModelForSequenceClassification.from_config(config), folder)
    return folder


def bi_encoder_folder(
    folder: Path,
    kind: str = "bert",
    *,
    pooling: str = "mean",
    normalize: bool = False,
    similarity: str = "cosine",
) -> Path:
    """Transformer, pooling and perhaps normalization, saved by the library itself."""
    import transformers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules

    plain = folder.with_name(f"{folder.name}-plain")
    config = _config(kind, save_tokenizer(plain, kind))
    _save_random(transformers.AutoModel.from_config(config), plain)
    parts = [modules.Transformer(str(plain)), modules.Pooling(16, pooling)]
    if normalize:
        parts.append(modules.Normalize())
    made = SentenceTransformer(modules=parts, similarity_fn_name=similarity, device="cpu")
    made.save_pretrained(str(folder), create_model_card=False)
    assert json.loads((folder / "modules.json").read_text())
    return folder
