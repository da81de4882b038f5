"""A question and texts that the tiny matchers know the words of."""

QUERY = "who wrote hamlet"
TEXTS = [
    "a large museum in the centre of paris",
    "bamboo almost nothing but bamboo",
    "the play was written by shakespeare who wrote hamlet",
    "who wrote the sky",
]
