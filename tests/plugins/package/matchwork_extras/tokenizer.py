"""A tokenizer: words after a mark that shows where they come from."""

from matchwork.text import TOKENIZERS, WordTokenizer


@TOKENIZERS.register("extras-words")
class ExtrasTokenizer(WordTokenizer):
    """Whole words, saved under a kind of their own."""

    kind = "extras-words"
