"""One training, several tests: each condition has its candidates, fusion weight and result."""

import pytest

from matchwork.data import CATALOGUE, CatalogueEntry, read_run, toy, write_qrels
from matchwork.data.sets.pubmed import pubmed
from matchwork.evaluate import evaluate
from matchwork.evaluate.fusion import choose_weight
from matchwork.experiment import Observer, load_recipe, run_recipe
from matchwork.experiment.prepare import prepare
from matchwork.experiment.results import read_result
from matchwork.matcher import Matcher
from matchwork.rank import rank_all
from matchwork.rank.fusion import fuse

QUICK = ["run.seeds=[3]", "train.max_epochs=2"]
POOLS = [
    "data.name=abstracts",
    "data.depth=0",
    "data.dev_depth=3",
    "also.full-pool.options.pool=full",
    "also.full-pool.depth=4",
    "also.full-pool.paper.MAP=0.4",
    *QUICK,
]


@pytest.fixture
def abstracts(tmp_path, monkeypatch):
    """The toy answers as a collection with two pools: those of the split, or all of them."""
    folder = tmp_path / "root" / "abstracts"
    folder.mkdir(parents=True)
    corpus = {}
    for name, split in toy().splits.items():
        corpus |= split.documents
        rows = [f"{query_id}\t{text}" for query_id, text in split.queries.items()]
        (folder / f"queries.{name}.tsv").write_text("\n".join(["id\ttext", *rows, ""]))
        write_qrels(folder / f"qrels.{name}.txt", split.qrels)
    rows = [f"{document_id}\t{text}" for document_id, text in corpus.items()]
    (folder / "corpus.tsv").write_text("\n".join(["id\ttext", *rows, ""]))
    entry = CatalogueEntry(
        title="",
        licence="",
        folder="abstracts",
        read=pubmed,
        splits=dict.fromkeys(toy().splits),
        options={"pool": ("test", "full")},
    )
    monkeypatch.setitem(CATALOGUE._entries, "abstracts", entry)
    return tmp_path / "root"


def test_two_pools_from_one_training(write_recipe, tmp_path, abstracts):
    recipe, out = load_recipe(write_recipe(), POOLS), tmp_path / "out"
    result = run_recipe(recipe, out, data_root=abstracts)
    prepared = prepare(recipe, str(abstracts))
    full = result["also"]["full-pool"]

    assert read_result(out / "result.json") == result
    assert (result["options"], result["depth"]) == ({"pool": "test"}, 0)
    assert (full["options"], full["depth"]) == ({"pool": "full"}, 4)
    assert set(full) == {
        *("protocol", "split", "options", "depth", "measures", "systems", "reliability", "paper"),
        *("num_queries", "num_dropped", "num_ties", "per_query", "per_seed"),
    }
    assert set(full["systems"]) == set(result["systems"]) == {"BM25", "BM25 + bag"}
    assert full["measures"]["AP"]["paper"] == 0.4 and full["paper"] == {"AP": 0.4}
    assert result["measures"]["AP"]["paper"] == 0.9
    assert result["settings"]["also"]["full-pool"]["depth"] == 4

    matcher = Matcher.load(out / "seed-3" / "matcher")
    own, whole = prepared.conditions.values()
    runs = [read_run(out / "seed-3" / name) for name in ("test.run", "test.full-pool.run")]
    assert {len(found) for found in runs[0].values()} == {len(own.test.split.documents)}
    assert max(len(found) for found in runs[1].values()) == 4
    assert len(whole.test.split.documents) > len(own.test.split.documents)
    for condition, run, kept in zip((own, whole), runs, (result, full), strict=True):
        assert condition.test.run(matcher) == {
            query: pytest.approx(found) for query, found in run.items()
        }
        judged = condition.test.split.qrels
        assert evaluate(run, judged, ["RR"])["RR"] == kept["measures"]["RR"]["mean"]
        dev = condition.dev
        weight = choose_weight(dev.run(matcher), dev.bm25_run(), dev.split.qrels)
        assert weight == kept["per_seed"][0]["fusion_weight"]
        fused = evaluate(fuse(run, condition.test.bm25_run(), weight), judged, ["RR"])
        assert fused["RR"] == pytest.approx(kept["systems"]["BM25 + bag"]["RR"]["mean"])
    card = (out / "seed-3" / "matcher" / "README.md").read_text()
    assert card.count("| BM25 |") == 2 and "Condition `full-pool`" in card
    assert "pool=full, BM25's best 4 re-ranked" in card and "all documents ranked" in card


def test_what_is_ranked_on_dev(write_recipe, abstracts):
    own, whole = prepare(load_recipe(write_recipe(), POOLS), str(abstracts)).conditions.values()
    assert (own.test.depth, own.dev.depth) == (None, 3)
    assert (whole.test.depth, whole.dev.depth) == (4, 4)  # a depth of its own is dev's too
    assert own.dev.measures == whole.dev.measures == ("RR",)
    settings = [setting for setting in POOLS if "dev_depth" not in setting]
    plain = prepare(load_recipe(write_recipe(), settings), str(abstracts)).main
    assert plain.dev.depth is None


def test_a_condition_does_not_touch_the_rest(write_recipe, tmp_path):
    """Same weights, same numbers, with or without another test."""
    alone = run_recipe(load_recipe(write_recipe(), QUICK), tmp_path / "alone")
    more = [*QUICK, "also.easy.test=dev", "also.strict.protocol=has-positive"]
    result = run_recipe(load_recipe(write_recipe(), more), tmp_path / "more")
    assert "also" not in alone and list(result["also"]) == ["easy", "strict"]
    for key in ("measures", "systems", "per_query", "protocol", "split", "num_queries"):
        assert result[key] == alone[key], key
    weights = [
        (tmp_path / name / "seed-3/matcher/model.safetensors").read_bytes()
        for name in ("alone", "more")
    ]
    assert weights[0] == weights[1]
    easy, strict = result["also"].values()
    assert easy["split"] == "dev" and easy["per_query"] != result["per_query"]
    assert strict["protocol"] == "has-positive" and strict["per_query"] == result["per_query"]
    assert easy["depth"] is None  # the questions come with their candidates
    dev = toy()["dev"]
    matcher = Matcher.load(tmp_path / "more" / "seed-3" / "matcher")
    run = rank_all(matcher, dev.queries, dev.documents, dev.candidates)
    assert evaluate(run, dev.qrels, ["AP"])["AP"] == easy["measures"]["AP"]["mean"]


class Listener(Observer):
    def __init__(self):
        self.stages = []

    def stage(self, text):
        self.stages.append(text)


def test_finished_seeds_keep_their_conditions(write_recipe, tmp_path):
    recipe = load_recipe(write_recipe(), ["train.max_epochs=1", "also.easy.test=dev"])
    first = run_recipe(recipe, tmp_path / "out")
    (tmp_path / "out" / "seed-5" / "outcome.json").unlink()
    listener = Listener()
    again = run_recipe(recipe, tmp_path / "out", resume=True, observer=listener)
    assert [text for text in listener.stages if "measuring" in text] == [
        "measuring seed 5 on test",
        "measuring seed 5 on dev, easy",
    ]
    assert again["also"] == first["also"]
