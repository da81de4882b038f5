import pytest

COMMANDS = [
    ["data"],
    ["data", "list"],
    ["data", "show"],
    ["data", "check"],
    *([name] for name in ("models", "train", "evaluate", "rank", "score", "explain")),
    *([name] for name in ("compare", "results", "analyse", "sweep", "serve")),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_answers_help(call, command):
    result = call(*command, "--help")
    assert result.exit_code == 0
    assert "Usage: matchwork" in result.stdout.replace("root", "matchwork")
    assert command == ["data"] or "Examples" in result.stdout


def test_no_command_is_left_out(call):
    from typer.main import get_command

    from matchwork.cli.main import app

    group = get_command(app)
    named = {command[0] for command in COMMANDS}
    assert named == set(group.commands) - {"demo"}
    assert set(group.commands["data"].commands) == {"list", "show", "check"}
