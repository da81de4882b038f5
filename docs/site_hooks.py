"""Hooks of the documentation site: pages made from other files, links to them, equations.

Pages that live outside `docs/` (results, benchmarks, the changelog) and the reference of the
command line are added when the site is built. Links to other files of the repository lead to
copies.
"""

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PAGES = {  # page of the site -> file of the repository
    "results/index.md": "results/README.md",
    "benchmarks.md": "benchmarks/README.md",
    "changelog.md": "CHANGELOG.md",
}
SHOWN_AS_TEXT = {".py", ".toml", ".cpp", ".hpp", ".tsv", ".txt", ""}
_LINK = re.compile(r"(?P<head>\]\()(?P<target>[^)\s#]+)(?P<tail>(?:#[^)\s]*)?\))")
_MATH = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<tex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)
_MARKUP = re.compile(r"\[/?(?:bold|cyan|dim|green|yellow|red|italic)?\]")
_NAMED_BLOCK = re.compile(r"^```(?P<language>\w+) (?P<file>[\w.-]+)$", re.MULTILINE)
_copied: dict[str, Path] = {}


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages, and copies of what pages link to in the repository."""
    _copied.clear()
    for page, source in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=_rewrite(text, source, page)))
    files.append(File.generated(config, "reference/cli.md", content=command_line()))
    for file in files.documentation_pages():
        if file.abs_src_path is not None:
            text = Path(file.abs_src_path).read_text(encoding="utf-8")
            _rewrite(text, f"docs/{file.src_uri}", file.src_uri)
    for uri, path in sorted(_copied.items()):
        files.append(File.generated(config, uri, content=path.read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point links that leave `docs/` to the copies; title code blocks that name a file."""
    if page.file.src_uri in PAGES:
        return markdown
    markdown = _NAMED_BLOCK.sub(r'```\g<language> title="\g<file>"', markdown)
    return _rewrite(markdown, f"docs/{page.file.src_uri}", page.file.src_uri)


def on_page_content(html: str, **_: Any) -> str:
    """Turn TeX into MathML, which browsers draw without a script."""

    def equation(found: re.Match[str]) -> str:
        tex = found["tex"].replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
        return str(convert(tex, display="block" if found["tag"] == "div" else "inline"))

    return _MATH.sub(equation, html)


def _rewrite(text: str, source: str, page: str) -> str:
    """Replace links of the repository file `source`, shown as `page`, by links of the site."""
    folder = PurePosixPath(source).parent
    pages = {file: name for name, file in PAGES.items()}

    def link(found: re.Match[str]) -> str:
        target = found["target"]
        if re.match(r"[a-z]+:", target) or target.startswith("/"):
            return found[0]
        path = normpath(f"{folder}/{target}")
        if not (ROOT / path).is_file():
            return found[0]  # mkdocs names it, if it is broken
        if path in pages:
            path = pages[path]
        elif path.startswith("docs/"):
            path = path.removeprefix("docs/")
        else:
            original, path = ROOT / path, f"repository/{path}"
            path += ".txt" if original.suffix in SHOWN_AS_TEXT else ""
            _copied[path] = original
        return found["head"] + relpath(path, str(PurePosixPath(page).parent)) + found["tail"]

    return _LINK.sub(link, text)


def command_line() -> str:
    """Return a page with the help of every command."""
    from typer.main import get_command

    from matchwork.cli.main import app

    root = get_command(app)
    parts = ["# Command line\n", _command("matchwork", root)]
    return "\n".join(parts)


def _command(name: str, command: Any) -> str:
    lines = [f"## {name}\n", _plain(command.help or ""), ""]
    rows = [
        (_names(parameter), _plain(getattr(parameter, "help", "") or ""), _default(parameter))
        for parameter in command.params
        if not getattr(parameter, "hidden", False)
    ]
    if rows:
        lines += ["| option | meaning | default |", "|---|---|---|"]
        lines += [f"| {names} | {text} | {default} |" for names, text, default in rows]
        lines.append("")
    if command.epilog:
        lines += ["```bash", _examples(command.epilog), "```", ""]
    for child, each in sorted(getattr(command, "commands", {}).items()):
        lines.append(_command(f"{name} {child}", each))
    return "\n".join(lines)


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name.upper()}`"
    return ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))


def _default(parameter: Any) -> str:
    default = parameter.default
    if (
        default is None
        or default is False
        or callable(default)
        or str(default).startswith("Sentinel")
    ):
        return ""
    return f"`{default}`"


def _plain(text: str) -> str:
    """Return help text without markup, on one line, safe in a table."""
    text = _MARKUP.sub("", text)
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())


def _examples(epilog: str) -> str:
    """Return the commands of an epilog made by `matchwork.cli.options.examples`."""
    _, *lines = _MARKUP.sub("", epilog).splitlines()
    return "\n".join(line.strip() for line in lines)
