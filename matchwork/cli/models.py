"""`matchwork models`: the registered models and their settings."""

import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from matchwork.cli import show
from matchwork.cli.options import Json, examples

if TYPE_CHECKING:
    from matchwork.models.base import ModelEntry

EXAMPLES = examples("matchwork models", "matchwork models iasm-dynamic")


def models(
    name: Annotated[
        str | None, typer.Argument(help="Show all settings of this model.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """List the models, or show the settings of one, with its stages and training defaults."""
    with show.working("loading"):
        from matchwork.models import MODELS
    if name is not None:
        _print_model(_describe(name, MODELS[name]), json)
        return
    described = [_describe(each, MODELS[each]) for each in MODELS]
    if json:
        show.as_json(described)
        return
    rows = [[each["name"], each["title"], _brief(each["settings"])] for each in described]
    show.table(["model", "what it is", "settings"], rows)
    show.note("All settings of one: matchwork models NAME")


def _describe(name: str, entry: "ModelEntry") -> dict[str, Any]:
    from matchwork.train.config import TrainConfig

    stages = entry.config({}).stage_configs
    return {
        "name": name,
        "title": _first_line(sys.modules[entry.model.__module__].__doc__),
        "description": _first_line(entry.model.__doc__),
        "settings": _settings(entry.model.Config, entry.preset),
        "stages": {stage: _settings(settings, {}) for stage, settings in stages.items()},
        "training": _settings(TrainConfig, entry.model.training_defaults),
    }


def _settings(config: type[Any], preset: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return setting -> its type and default."""
    hints = get_type_hints(config)
    return {
        field.name: {
            "type": _type_name(hints[field.name]),
            "default": preset.get(field.name, field.default),
        }
        for field in fields(config)
    }


def _type_name(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return " | ".join(map(str, get_args(hint)))
    if get_args(hint):
        return str(hint).replace("NoneType", "None")
    return "none" if hint is type(None) else str(hint.__name__)


def _first_line(docstring: str | None) -> str:
    return (docstring or "").strip().partition("\n")[0]


def _brief(settings: Mapping[str, Mapping[str, Any]]) -> str:
    return ", ".join(f"{key}={setting['default']}" for key, setting in settings.items())


def _print_model(model: Mapping[str, Any], json: bool) -> None:
    if json:
        show.as_json(model)
        return
    show.line(model["name"], "bold")
    show.line(model["title"])
    show.line(model["description"])
    stages = {f"stage.{name}": settings for name, settings in model["stages"].items()}
    sections = {"model": model["settings"], **stages, "train": model["training"]}
    for section, settings in sections.items():
        rows = [
            [key, str(setting["default"]), setting["type"]] for key, setting in settings.items()
        ]
        show.table(["key", "default", "values"], rows, title=f"[{section}] in a recipe")
