"""Random transformers of a few thousand weights with tokenizers of their own, as folders."""

from pathlib import Path

import tokenizers
import torch
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

from matchwork.encode import TransformerConfig, TransformerEncoder

TEXTS = [
    "who wrote hamlet and where is the louvre",
    "the play was written by shakespeare, unbelievably quickly",
    "how tall is everest? the mountain rises 8849 metres above the sea",
    "what do pandas eat: bamboo, almost nothing but bamboo!",
    "air scatters short waves of light more than long ones",
]
# Written down: training gives other pieces in every process, and scores with them.
PIECES = """
[PAD] [UNK] [CLS] [SEP] [MASK] ! , 4 8 9 : ? a b c d e f g h i k l m n o p q r s t u v w y
##h ##o ##r ##t ##s ##a ##i ##e ##v ##y ##n ##m ##b ##g ##c ##l ##k ##p ##u ##w ##d ##f
##8 ##4 ##9 ##re th ##es the wh ##te ##at ##am ##bo bam is lo mo sh wr wa ##st ##an ##in
##et
"""


def bert_tokenizer() -> tokenizers.Tokenizer:
    """WordPiece; cut and padded by default, as the files of sentence encoders are."""
    pieces = PIECES.split()
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    made = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.add_special_tokens(pieces[:5])
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    made.enable_truncation(8)
    made.enable_padding(length=8)
    return made


def roberta_tokenizer() -> tokenizers.Tokenizer:
    """Byte-level BPE, where a space belongs to the word after it and padding has id 1."""
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    made = tokenizers.Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(TEXTS, trainer)
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return made


def tiny_encoder(vocab_size: int, dim: int, cross_encode: bool = False) -> TransformerEncoder:
    """A random BERT that reads the ids of any tokenizer, framed by one of them, all trained."""
    architecture = {
        "model_type": "bert",
        "vocab_size": vocab_size,
        "hidden_size": dim,
        "intermediate_size": 2 * dim,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "max_position_embeddings": 60,
    }
    config = TransformerConfig(
        architecture=architecture,
        vocab_size=vocab_size,
        before=(1,),
        between=(1,),
        after=(1,),
        second_type=1,
        trainable=True,
        cross_encode=cross_encode,
    )
    encoder = TransformerEncoder(config)
    for parameter in encoder.parameters():  # far from the usual start, as below
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.3)
    return encoder


def save_transformer(folder: Path, kind: str = "bert", **changes: object) -> Path:
    """A folder as the hub has them: config.json, model.safetensors, tokenizer.json."""
    import transformers

    made = bert_tokenizer() if kind == "bert" else roberta_tokenizer()
    sizes = {
        "vocab_size": made.get_vocab_size(),
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "max_position_embeddings": 60,
    }
    config = transformers.AutoConfig.for_model(kind, **{**sizes, **changes})
    torch.manual_seed(0)
    network = transformers.AutoModel.from_config(config)
    for parameter in network.parameters():  # far from the usual start, where all texts look alike
        torch.nn.init.normal_(parameter, std=0.3)
    network.save_pretrained(folder)
    made.save(str(folder / "tokenizer.json"))
    return folder
