import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch

from matchwork.errors import ConfigError, FolderError, OutputError, UnknownNameError
from matchwork.matcher import Matcher
from matchwork.models import BagMatcher, BagMatcherConfig
from matchwork.rank import Calibration
from matchwork.rank.calibration import IsotonicCalibration

Make = Callable[..., Matcher]
FILES = {
    "config.json",
    "model.safetensors",
    "tokenizer.json",
    "calibration.json",
    "README.md",
}


@pytest.fixture
def matcher(tiny_matcher: Make) -> Matcher:
    plain = tiny_matcher("iasm-dynamic", num_layers=1, alpha=0.5)
    return Matcher(
        plain.tokenizer,
        plain.model,
        name="everything",
        calibration=Calibration(2.0, -1.5),
        max_query_length=4,
        max_document_length=9,
    )


@pytest.fixture
def saved(matcher: Matcher, tmp_path: Path) -> Path:
    matcher.save(tmp_path / "matcher")
    return tmp_path / "matcher"


def edit(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_calibration_of_any_shape_comes_back(matcher: Matcher, tmp_path: Path) -> None:
    matcher.calibration = IsotonicCalibration((0.0, 2.5), (0.1, 0.8))
    matcher.save(tmp_path / "matcher")
    assert Matcher.load(tmp_path / "matcher").calibration == matcher.calibration
    edit(tmp_path / "matcher" / "calibration.json", kind="magic")
    with pytest.raises(FolderError, match="unknown kind 'magic'"):
        Matcher.load(tmp_path / "matcher")


def test_everything_comes_back(matcher: Matcher, saved: Path, pairs: list) -> None:
    assert {entry.name for entry in saved.iterdir()} == FILES
    again = Matcher.load(str(saved))
    assert (again.name, again.calibration) == (matcher.name, matcher.calibration)
    assert (again.max_query_length, again.max_document_length) == (4, 9)
    assert np.array_equal(again.probability(pairs), matcher.probability(pairs))


def test_half_precision_comes_back(matcher: Matcher, tmp_path: Path) -> None:
    matcher.model.to(torch.bfloat16)
    matcher.save(tmp_path / "half")
    again = Matcher.load(tmp_path / "half").model.state_dict()
    for key, tensor in matcher.model.state_dict().items():
        assert again[key].dtype == torch.bfloat16 and torch.equal(again[key], tensor)


def test_a_folder_may_be_moved_and_saved_over(matcher: Matcher, saved: Path, pairs: list) -> None:
    moved = saved.rename(saved.with_name("moved"))
    before = Matcher.load(moved).score(pairs)
    with torch.no_grad():
        next(iter(matcher.model.parameters())).add_(0.5)
    matcher.calibration = None
    matcher.save(moved, card="# My card\n")
    assert not (moved / "calibration.json").exists()
    assert (moved / "README.md").read_text() == "# My card\n"
    assert not np.array_equal(Matcher.load(moved).score(pairs), before)
    assert [entry.name for entry in moved.parent.iterdir()] == ["moved"]


def test_the_card_says_what_it_is(saved: Path) -> None:
    card = (saved / "README.md").read_text()
    assert "# everything" in card and "`iasm-dynamic`" in card and '"alpha": 0.5' in card


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"gamma": 1.0, "delta": 0.0}, "iasm-source"),
        ({"gamma": 1.0, "delta": 0.0, "update": "static"}, "iasm-static"),
        ({"gamma": 1.0, "delta": 0.5}, "iasm-dynamic"),
        ({"head": "cnn", "num_layers": 5}, "iasm-cnn"),
    ],
)
def test_of_several_names_the_most_specific_is_written(
    tiny_matcher: Make, settings: dict, name: str, tmp_path: Path
) -> None:
    matcher = tiny_matcher("iasm-dynamic", **settings)
    matcher.save(tmp_path / "matcher")
    saved_as = json.loads((tmp_path / "matcher" / "config.json").read_text())["model"]
    assert saved_as["name"] == matcher.name == name
    assert saved_as["config"].items() >= settings.items()


@pytest.mark.parametrize("name", sorted(FILES - {"README.md"}))
def test_a_missing_file_is_named(saved: Path, name: str) -> None:
    (saved / name).unlink()
    with pytest.raises(FolderError, match=rf"{name.replace('.', '[.]')} is missing"):
        Matcher.load(saved)


@pytest.mark.parametrize("keep", [0, 5, 60, -3])
def test_weights_cut_short(saved: Path, keep: int) -> None:
    path = saved / "model.safetensors"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(FolderError, match="damaged or cut short"):
        Matcher.load(saved)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "calibration.json"])
@pytest.mark.parametrize("keep", [0, 10, -3])
def test_json_cut_short(saved: Path, name: str, keep: int) -> None:
    path = saved / name
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(
        FolderError, match=rf"{name.replace('.', '[.]')}.*not valid JSON.*save it again"
    ):
        Matcher.load(saved)


def test_a_newer_format(saved: Path) -> None:
    edit(saved / "config.json", format=3, matchwork="9.1")
    with pytest.raises(FolderError, match=r"written by matchwork 9\.1 in format 3.*--upgrade"):
        Matcher.load(saved)


def test_an_older_format(saved: Path) -> None:
    edit(saved / "config.json", format=1, matchwork="0.1.0")
    with pytest.raises(
        FolderError, match=r"older version \(matchwork 0\.1\.0\) .* train the m.*again"
    ):
        Matcher.load(saved)


@pytest.mark.parametrize("content", ["{}", '{"format": "one"}'])
def test_json_that_is_no_matcher(saved: Path, content: str) -> None:
    (saved / "config.json").write_text(content)
    with pytest.raises(FolderError, match="no format number; this is not a matcher"):
        Matcher.load(saved)


def test_an_unknown_model(saved: Path) -> None:
    edit(saved / "config.json", model={"name": "iasm-dinamic", "config": {}})
    with pytest.raises(UnknownNameError, match="'iasm-dinamic'; did you mean 'iasm-dynamic'"):
        Matcher.load(saved)


def test_an_unknown_setting_names_the_file(saved: Path) -> None:
    edit(saved / "config.json", model={"name": "iasm-dynamic", "config": {"alfa": 1}})
    with pytest.raises(
        ConfigError, match=r"config\.json: unknown key 'alfa'; did you mean 'alpha'"
    ):
        Matcher.load(saved)


@pytest.mark.parametrize("key", ["model", "encoder", "name", "files", "max_query_length"])
def test_a_config_with_a_hole(saved: Path, key: str) -> None:
    table = json.loads((saved / "config.json").read_text())
    del table[key]
    (saved / "config.json").write_text(json.dumps(table))
    with pytest.raises(FolderError, match=f"damaged: no entry '{key}'"):
        Matcher.load(saved)


def test_weights_of_another_shape(saved: Path, tiny_matcher: Make, tmp_path: Path) -> None:
    tiny_matcher("iasm-dynamic", num_layers=3, dim=4).save(tmp_path / "other")
    shutil.copy(tmp_path / "other" / "model.safetensors", saved)
    with pytest.raises(FolderError, match=r"damaged: Error[^;]*size mismatch for Wq"):
        Matcher.load(saved)


def test_a_tokenizer_with_a_wrong_membership(saved: Path) -> None:
    table = json.loads((saved / "tokenizer.json").read_text())
    table["vocabulary"]["in_train"] = "10"
    (saved / "tokenizer.json").write_text(json.dumps(table))
    with pytest.raises(FolderError, match="the matcher is damaged"):
        Matcher.load(saved)


def test_not_a_folder(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="no such folder; a matcher is a folder"):
        Matcher.load(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(FolderError, match="it is a file; a matcher is a folder"):
        Matcher.load(tmp_path / "file")
    with pytest.raises(FolderError, match=r"not a matcher, config\.json is missing"):
        Matcher.load(tmp_path)


def contents(folder: Path) -> dict[str, bytes]:
    return {entry.name: entry.read_bytes() for entry in folder.iterdir()}


def test_an_interrupted_save_leaves_the_old_folder(
    matcher: Matcher, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(saved)

    def interrupt() -> dict:
        raise KeyboardInterrupt

    monkeypatch.setattr(matcher.tokenizer, "to_dict", interrupt)
    with pytest.raises(KeyboardInterrupt):
        matcher.save(saved)
    assert contents(saved) == before
    assert [entry.name for entry in saved.parent.iterdir()] == [saved.name]


def test_saving_never_removes_other_files(matcher: Matcher, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputError, match=r"holds other files \(thesis\.tex\).*name a new folder"):
        matcher.save(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_an_empty_folder_will_do(matcher: Matcher, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    matcher.save(tmp_path / "empty")
    assert Matcher.load(tmp_path / "empty").name == "everything"


def test_a_file_in_the_way(matcher: Matcher, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("here")
    with pytest.raises(OutputError, match="taken: it is a file; name a folder"):
        matcher.save(tmp_path / "taken")
    with pytest.raises(OutputError, match="cannot write"):
        matcher.save(tmp_path / "taken" / "below")
    assert (tmp_path / "taken").read_text() == "here"


def test_an_unregistered_model_cannot_be_saved(matcher: Matcher, tmp_path: Path) -> None:
    class Stranger(BagMatcher):
        pass

    matcher.model = Stranger(BagMatcherConfig(), matcher.model.encoder)
    with pytest.raises(ConfigError, match=r"Stranger is not registered; decorate it"):
        matcher.save(tmp_path / "stranger")
    assert not list(tmp_path.iterdir())


@contextmanager
def little_room(num_bytes: int) -> Iterator[None]:
    """No file can be longer, as if the disk were full."""
    resource = pytest.importorskip("resource", reason="needs resource limits")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("room", [100, 60_000])
def test_a_full_disk_leaves_the_old_folder(matcher: Matcher, saved: Path, room: int) -> None:
    """Saving fails at the first file (weights) and at the last (card)."""
    before = contents(saved)
    assert room == 100 or max(map(len, before.values())) < room
    with little_room(room), pytest.raises(OutputError) as failed:
        matcher.save(saved, card="x" * 100_000)
    assert str(failed.value).startswith(f"cannot write {saved}: ")
    assert "File too large" in str(failed.value) and "half-written" in str(failed.value)
    assert contents(saved) == before
    assert [entry.name for entry in saved.parent.iterdir()] == [saved.name]
