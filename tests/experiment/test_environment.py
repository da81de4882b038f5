import subprocess
from pathlib import Path

import pytest

import matchwork
from matchwork.experiment import environment


def test_the_whole_package_is_looked_at() -> None:
    assert environment.package_folder() == Path(matchwork.__file__).parent


def test_a_change_anywhere_in_the_package_makes_the_commit_dirty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    (package / "deep").mkdir(parents=True)
    for name in ("__init__.py", "deep/module.py"):
        (package / name).touch()
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "first"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    monkeypatch.setattr(environment, "package_folder", lambda: package)
    clean = environment.commit()
    assert clean is not None and len(clean) == 12
    (package / "deep" / "module.py").write_text("changed = True\n")
    assert environment.commit() == f"{clean}-dirty"


def test_without_a_history_the_environment_names_the_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setattr(environment, "package_folder", lambda: tmp_path)
    assert environment.commit() is None
    monkeypatch.setenv("MATCHWORK_COMMIT", "0123456789ab")
    assert environment.commit() == "0123456789ab"


def test_a_history_is_believed_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    found = environment.commit()
    if found is None:
        pytest.skip("not a git checkout")
    monkeypatch.setenv("MATCHWORK_COMMIT", "0123456789ab")
    assert environment.commit() == found
