"""`matchwork.load` opens whatever scores, and names what cannot be opened."""

import subprocess
import sys

import numpy as np
import pytest

import matchwork as mw
from matchwork.encode import model_folder
from matchwork.errors import ConfigError, FolderError

PAIRS = [("who wrote hamlet", "hamlet was written by shakespeare"), ("bees", "bees make honey")]


@pytest.fixture
def no_hub(monkeypatch):
    def look_up(name, **options):
        raise AssertionError(f"{name} was looked up on the hub")

    monkeypatch.setattr(model_folder, "_download", look_up)


def test_a_matcher_and_bm25_open_alike(tiny_matcher, tmp_path):
    matcher, index = tiny_matcher("bag"), mw.BM25.fit(["hamlet", "bees make honey"])
    for scorer, name in ((matcher, "matcher"), (index, "bm25")):
        scorer.save(tmp_path / name)
        opened = mw.load(tmp_path / name)
        assert type(opened) is type(scorer) and isinstance(opened, mw.Scorer)
        assert np.array_equal(opened.score(PAIRS), scorer.score(PAIRS))
        texts = [document for _, document in PAIRS]
        assert opened.rerank("bees", texts) == scorer.rerank("bees", texts)
    with pytest.raises(ConfigError, match="bm25 is a BM25 index, which has no model; use"):
        mw.Matcher.load(tmp_path / "bm25")


def test_a_damaged_bm25_says_what_is_damaged(tmp_path):
    mw.BM25.fit(["bees"]).save(tmp_path / "bm25")
    (tmp_path / "bm25" / "vocabulary.json").unlink()
    with pytest.raises(FolderError, match=r"not a complete BM25 folder .*vocabulary\.json"):
        mw.load(tmp_path / "bm25")


@pytest.mark.parametrize(
    "name",
    [
        "knrm",
        "runs/knrn",
        "runs/a/matcher",
        "./minilm",
        "../owner/name",
        "/none/such",
        "/none/such-maxsim",
        "runs/knrn-cosine",
        "a/b/c-maxsim",
        "~/matcher",
        "owner\\name",
    ],
)
def test_a_mistyped_path_is_never_looked_up(tmp_path, monkeypatch, no_hub, name):
    (tmp_path / "runs").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FolderError, match="no such folder; a matcher is a folder with"):
        mw.load(name)


def test_a_path_object_is_never_looked_up(tmp_path, no_hub):
    with pytest.raises(FolderError, match="no such folder"):
        mw.load((tmp_path / "owner" / "name").relative_to(tmp_path))


def test_names_of_the_hub_are_looked_up(monkeypatch):
    asked = []

    def look_up(name, **options):
        asked.append(name)
        raise FolderError("not now")

    monkeypatch.setattr(model_folder, "_download", look_up)
    for name in ("owner/name-v1.2", "owner/name-maxsim", "bert-base-uncased-cosine"):
        with pytest.raises(FolderError, match="not now"):
            mw.load(name)
    assert asked == ["owner/name-v1.2", "owner/name", "bert-base-uncased"]


def test_device_and_precision(tiny_matcher, tmp_path):
    tiny_matcher("bag").save(tmp_path / "matcher")
    opened = mw.load(tmp_path / "matcher", device="cpu", precision="bf16")
    assert (opened.device.type, opened.precision) == ("cpu", "bf16")
    with pytest.raises(ConfigError, match=r"no device 'warp': .*; use cpu"):
        mw.load(tmp_path / "matcher", device="warp")


FOREIGN = """
from dataclasses import dataclass
from matchwork.models import BagMatcher, BagMatcherConfig, register

@register("foreign-bag")
class ForeignBag(BagMatcher):
    pass
"""
OPEN = "import sys, matchwork; print(matchwork.load(sys.argv[1]).name)"


def _run(code, *arguments, path=()):
    """Run Python with more folders to import from, far from the working directory."""
    setup = f"import sys; sys.path[:0] = {[str(each) for each in path]!r}\n"
    return subprocess.run(
        [sys.executable, "-c", setup + code, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd="/",
    )


def test_a_model_of_a_package_outside(tiny_matcher, tmp_path):
    """Its module is imported if an installed distribution provides it, and only then."""
    site = tmp_path / "site"
    (site / "foreign_bag_plugin").mkdir(parents=True)
    (site / "foreign_bag_plugin" / "__init__.py").write_text(FOREIGN)
    tiny_matcher("bag").save(tmp_path / "plain")
    made = _run(
        "import foreign_bag_plugin, matchwork as mw\n"
        "plain = mw.load(sys.argv[1])\n"
        "model = foreign_bag_plugin.ForeignBag(plain.model.config, plain.model.encoder)\n"
        "mw.Matcher(plain.tokenizer, model).save(sys.argv[2])\n",
        tmp_path / "plain",
        tmp_path / "matcher",
        path=[site],
    )
    assert made.returncode == 0, made.stderr
    refused = _run(OPEN, tmp_path / "matcher", path=[site])
    assert "'foreign_bag_plugin', which no installed package provides" in refused.stderr
    opened = _run(f"import foreign_bag_plugin\n{OPEN}", tmp_path / "matcher", path=[site])
    assert opened.stdout == "foreign-bag\n", opened.stderr
    info = site / "foreign_bag_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: foreign_bag_plugin\nVersion: 1.0\n")
    (info / "top_level.txt").write_text("foreign_bag_plugin\n")
    (info / "RECORD").write_text("foreign_bag_plugin/__init__.py,,\n")
    installed = _run(OPEN, tmp_path / "matcher", path=[site])
    assert installed.stdout == "foreign-bag\n", installed.stderr


def test_a_model_of_a_script_is_named(tiny_matcher, tmp_path):
    tiny_matcher("bag").save(tmp_path / "plain")
    code = FOREIGN + (
        "import sys, matchwork as mw\n"
        "plain = mw.load(sys.argv[1])\n"
        "model = ForeignBag(plain.model.config, plain.model.encoder)\n"
        "mw.Matcher(plain.tokenizer, model).save(sys.argv[2])\n"
    )
    made = _run(code, tmp_path / "plain", tmp_path / "matcher")
    assert made.returncode == 0, made.stderr
    refused = _run(OPEN, tmp_path / "matcher")
    assert "no model named 'foreign-bag'" in refused.stderr
    assert "saved with classes of __main__; import what defines them" in refused.stderr
