"""How the texts of a recipe become vectors: a tokenizer and an encoder that belong together."""

from collections.abc import Iterable, Mapping

from matchwork.data import Dataset
from matchwork.encode import Encoder, WordEmbedding, WordVectors, learn_vectors, load_transformer
from matchwork.experiment.recipe import Recipe
from matchwork.experiment.recipe.data import MAIN
from matchwork.experiment.recipe.vector_files import find_transformer, find_vectors
from matchwork.text import Tokenizer, WordTokenizer


def make_encoder(
    recipe: Recipe, datasets: Mapping[str, Dataset], data_root: str | None = None
) -> tuple[Tokenizer, Encoder]:
    """A transformer with its tokenizer, or the words of the training texts with vectors."""
    settings = recipe.vectors
    if settings.source == "transformer":
        return load_transformer(
            find_transformer(settings.file, data_root),
            unit=settings.unit,
            layer=settings.layer,
            trainable=settings.trainable,
            special_tokens=settings.special_tokens,
            cross_encode=settings.cross_encode,
        )
    train_texts = datasets[MAIN][recipe.data.train].texts
    vectors = _read_vectors(recipe, data_root)
    tokenizer = WordTokenizer.fit(
        train_texts,
        vector_words=_vector_words(vectors, recipe, datasets.values()),
        min_count=recipe.text.min_count,
        config=recipe.text.tokenizer,
    )
    if settings.source == "corpus":
        corpus = tokenizer.encode(train_texts)
        learnt = learn_vectors(corpus, tokenizer.vocab_size, dim=settings.dim)
        vectors = WordVectors(tokenizer.vocabulary.words, learnt)
    embedding = WordEmbedding.from_vocabulary(
        tokenizer.vocabulary,
        vectors,
        dim=settings.dim,
        trainable=settings.trainable,
        unknown=settings.unknown,
    )
    return tokenizer, embedding


def _read_vectors(recipe: Recipe, data_root: str | None) -> WordVectors | None:
    if recipe.vectors.source != "file":
        return None
    words = recipe.vectors.words
    return WordVectors.load(
        find_vectors(recipe.vectors.file, data_root),
        find_vectors(words, data_root) if words else None,
    )


def _vector_words(
    vectors: WordVectors | None, recipe: Recipe, datasets: Iterable[Dataset]
) -> list[str]:
    if vectors is None:
        return []
    if recipe.vectors.vocabulary == "all":
        return vectors.words
    splits = [split for dataset in datasets for split in dataset.splits.values()]
    texts = [text for split in splits for text in split.texts]
    used = WordTokenizer.fit(texts, config=recipe.text.tokenizer).vocabulary
    return [word for word in vectors.words if word in used]
