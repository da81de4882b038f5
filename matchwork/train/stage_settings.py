"""Settings of stages from plain tables; no training here, so that a recipe is read fast."""

from collections.abc import Mapping
from typing import Any

from matchwork.config import build
from matchwork.errors import ConfigError
from matchwork.models import ModelConfig, StageConfig, StagedConfig
from matchwork.registry import did_you_mean


def stage_configs(
    model: ModelConfig, tables: Mapping[str, StageConfig | Mapping[str, Any]], where: str
) -> dict[str, StageConfig]:
    """The settings of every stage of a model, from plain tables on top of their defaults.

    `where` names the tables in messages ("recipe.toml: section [stage]").
    """
    known = model.stage_configs if isinstance(model, StagedConfig) else {}
    for name, table in tables.items():
        if not known:
            raise ConfigError(f"{where}: this model has no stages, so leave {name!r} out")
        if name not in known:
            raise ConfigError(f"{where}: no stage named {name!r}; {did_you_mean(name, known)}")
        if not isinstance(table, StageConfig | Mapping):
            raise ConfigError(f"{where}: {name} must be a table of settings, got {table!r}")
    return {
        name: table if isinstance(table, StageConfig) else build(config, table, f"{where}: {name}")
        for name, config in known.items()
        for table in [tables.get(name, {})]
    }
