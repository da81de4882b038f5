"""TREC Microblog: a year to test on, the other years to learn from, and the run that found them."""

import gzip

import pytest

from matchwork.data.partition import hold_out, part_of
from matchwork.data.sets.microblog import YEARS, microblog

TOPICS = 20


@pytest.fixture
def folder(tmp_path):
    """Twenty topics a year with three tweets each; every topic also finds one shared tweet."""
    for number, year in enumerate(YEARS):
        rows, run, qrels = ["query_id\tquery\tdoc_id\tdoc\tlabel"], [], []
        for topic in range(number * TOPICS, (number + 1) * TOPICS):
            tweets = [f"{topic}0", f"{topic}1", "777777"]
            for place, tweet in enumerate(tweets):
                text = "shared" if tweet == "777777" else f"tweet {tweet}"
                rows.append(f"{topic}\ttopic {topic}\t{tweet}\t{text}\t{int(place == 0)}")
                run.append(f"{topic} Q0 {tweet} {place + 1} {9 - place} lucene")
            qrels += [f"{topic} 0 {tweets[0]} 1", f"{topic} 0 {tweets[1]} -2", f"{topic} 0 999 2"]
        for name, lines in ((f"trec-{year}.tsv.gz", rows), (f"ql.trec-{year}.run.gz", run)):
            (tmp_path / name).write_bytes(gzip.compress("\n".join([*lines, ""]).encode()))
        (tmp_path / f"qrels.trec-{year}.txt").write_text("\n".join([*qrels, ""]))
    return tmp_path


def test_a_year(folder):
    year = microblog(folder, ["2012"])["2012"]
    assert list(year.queries) == [str(topic) for topic in range(20, 40)]
    assert year.runs["QL"]["20"] == {"200": 9.0, "201": 8.0, "777777": 7.0}
    assert year.qrels["20"] == {"200": 1, "201": 0, "999": 2}


@pytest.mark.parametrize("year", YEARS)
def test_the_other_years(folder, year):
    names = [year, f"train-{year}", f"dev-{year}"]
    test, train, dev = microblog(folder, names).values()
    assert [split.name for split in (test, train, dev)] == names
    assert len(dev.queries) == 9 and len(train.queries) == 51  # 15 % and 85 % of 60
    parts = [set(split.queries) for split in (test, train, dev)]
    assert set.union(*parts) == {str(topic) for topic in range(80)}
    for split in (train, dev):
        assert split.queries.keys() == split.candidates.keys() == split.qrels.keys()
        assert {q: tuple(found) for q, found in split.runs["QL"].items()} == split.candidates
        assert all(split.documents[id] == f"tweet {id}" for id in split.documents if id != "777777")
        assert all(split.qrels[query]["999"] == 2 for query in split.queries)


def test_the_same_topics_whatever_is_read_with_them(folder):
    alone = microblog(folder, ["dev-2013"])["dev-2013"]
    among = microblog(folder, ["2011", "train-2014", "dev-2013"])["dev-2013"]
    assert alone == among


def test_a_held_out_share_depends_on_the_words_alone(folder):
    year = microblog(folder, ["2011"])["2011"]
    held_out = hold_out(year, 0.25)
    assert len(held_out) == 5
    turned = part_of(year, "turned", reversed(year.queries))
    assert hold_out(turned, 0.25) == held_out
    assert hold_out(year, 0.1) < held_out
