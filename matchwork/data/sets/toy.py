"""Toy questions, small enough to read, for first steps, examples and tests."""

from collections.abc import Sequence

from matchwork.data.catalogue import CATALOGUE, CatalogueEntry
from matchwork.data.dataset import Dataset, Split

# Five lines each: a question, its answer, three sentences on the same subject that are no answer.
_QUESTIONS = {
    "train": """
who wrote hamlet
shakespeare wrote the play hamlet around 1600
hamlet is the longest of the plays performed in london
the actor who played hamlet wrote a book about fencing
a hamlet is a settlement smaller than a village
who painted guernica
picasso painted guernica after the bombing of the town
guernica is a town in the basque country of spain
the town of guernica painted its old bridge white
many painters visited spain before the war
what is the capital of australia
canberra is the capital of australia
sydney is the largest city of australia
australia exports coal, iron and wool
the capital letters in australian law are decorated
how many legs does a spider have
a spider has eight legs
an ant has six legs and two antennae
spiders spin webs to catch insects
the legs of the spider crab are long and thin
when did the berlin wall fall
the berlin wall fell in november 1989
the berlin wall was built in 1961
berlin is the capital of germany
water may fall down the wall of a dam
what do pandas eat
pandas eat mostly bamboo shoots and leaves
pandas live in the mountains of china
bears eat berries, fish and honey
a panda cub weighs about a hundred grams
which planet is closest to the sun
mercury is the planet closest to the sun
the sun is a star at the centre of the planets
jupiter is the largest planet
venus is the hottest planet and is covered by clouds
what is the boiling point of water
water boils at one hundred degrees celsius at sea level
water freezes at zero degrees celsius
the boiling of eggs takes about seven minutes
the point of a needle is made of steel
who discovered penicillin
alexander fleming discovered penicillin in 1928
penicillin is an antibiotic given against infections
fleming was born on a farm in scotland
columbus discovered islands he took for india
how long is a marathon
a marathon is forty two kilometres long
the boston marathon is run in april
runners drink water during a long race
marathon is a plain and a town in greece
what language is spoken in brazil
portuguese is the language spoken in brazil
brazil is the largest country of south america
spanish is spoken in argentina and chile
the brazil nut grows in the amazon forest
who invented the telephone
alexander graham bell invented the telephone in 1876
the telephone rang twice in the empty house
thomas edison invented the phonograph
bell is also the name of a town
""",
    "dev": """
what is the tallest mountain on earth
mount everest is the tallest mountain on earth
the alps are the highest mountains of europe
the tallest man on earth lived in illinois
mountain goats climb steep rocks
who composed the moonlight sonata
beethoven composed the moonlight sonata in 1801
mozart composed forty one symphonies
a sonata is a piece for one or two instruments
moonlight is sunlight that the moon reflects
where do penguins live
penguins live on the coasts of the southern hemisphere
penguins cannot fly but swim well
polar bears live in the arctic
penguin is also a publisher of books
how many players are in a football team
a football team has eleven players on the field
a basketball team has five players on the court
football is played with a round ball
the players of the team wore blue
what gas do plants absorb
plants absorb carbon dioxide from the air
plants release oxygen by day
natural gas is burnt in power plants
sponges absorb water quickly
who was the first man on the moon
neil armstrong was the first man to walk on the moon
the moon circles the earth in a month
yuri gagarin was the first man in space
the first moon landing was shown on television
""",
    "test": """
what is the currency of japan
the yen is the currency of japan
tokyo is the capital of japan
the currency of china is the renminbi
japan consists of four large islands
who wrote the odyssey
homer is said to have written the odyssey
the odyssey tells of the journey of odysseus
virgil wrote the aeneid in latin
an odyssey is a long and difficult journey
how many strings does a violin have
a violin has four strings
a guitar usually has six strings
violins are made of spruce and maple
a string of pearls lay on the table
which metal is liquid at room temperature
mercury is the only metal that is liquid at room temperature
iron melts at a very high temperature
the room was cold and full of metal chairs
water is liquid between zero and one hundred degrees
when did the titanic sink
the titanic sank in april 1912
the titanic was built in belfast
the kitchen sink was made of stone
the film about the titanic won eleven prizes
what do bees make
bees make honey and wax
bees live in hives with one queen
bakers make bread and cakes
a bee can sting only once
""",
}


def toy() -> Dataset:
    """Return 24 handwritten questions with four candidates each, one of them the answer."""
    return Dataset(
        "toy",
        {name: _split(name, text.split("\n")[1:-1]) for name, text in _QUESTIONS.items()},
        notes="Handwritten; too small to compare models on.",
        licence="Apache-2.0",
    )


def _split(name: str, lines: Sequence[str]) -> Split:
    queries: dict[str, str] = {}
    documents: dict[str, str] = {}
    candidates: dict[str, tuple[str, ...]] = {}
    qrels: dict[str, dict[str, int]] = {}
    for number in range(1, len(lines) // 5 + 1):
        question, *sentences = lines[5 * number - 5 : 5 * number]
        query_id = f"{name}-{number}"
        queries[query_id] = question
        ids = [f"{query_id}-{letter}" for letter in "abcd"]
        documents.update(zip(ids, sentences, strict=True))
        qrels[query_id] = {id: int(id == ids[0]) for id in ids}
        # The position of the answer rotates: file order must not help.
        shift = number % len(ids)
        candidates[query_id] = tuple(ids[shift:] + ids[:shift])
    return Split(name, queries, documents, qrels, candidates)


CATALOGUE.add(
    "toy",
    CatalogueEntry(
        title="A few handwritten questions, for first steps and tests",
        build=toy,
        splits={"train": None, "dev": None, "test": None},
        licence="Apache-2.0",
    ),
)
