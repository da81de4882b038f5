"""Settings of a model's stages from plain tables; reading them loads no training code."""

from collections.abc import Mapping
from typing import Any

from matchwork.config import build
from matchwork.errors import ConfigError
from matchwork.models import ModelConfig, StageConfig
from matchwork.registry import did_you_mean
from matchwork.train.optimizers import OPTIMIZERS


def stage_configs(
    model: ModelConfig, tables: Mapping[str, StageConfig | Mapping[str, Any]], where: str
) -> dict[str, StageConfig]:
    """Return the settings of every stage of a model.

    Args:
        model: The model's settings.
        tables: Settings by stage, or plain tables of them; defaults fill what is left out.
        where: Names the tables in messages ("recipe.toml: section [stage]").
    """
    known = model.stage_configs
    for name, table in tables.items():
        if not known:
            raise ConfigError(f"{where}: this model has no stages, so leave {name!r} out")
        if name not in known:
            raise ConfigError(f"{where}: no stage named {name!r}; {did_you_mean(name, known)}")
        if not isinstance(table, StageConfig | Mapping):
            raise ConfigError(f"{where}: {name} must be a table of settings, got {table!r}")
    configs = {
        name: table if isinstance(table, StageConfig) else build(config, table, f"{where}: {name}")
        for name, config in known.items()
        for table in [tables.get(name, {})]
    }
    for config in configs.values():
        OPTIMIZERS.check(config.optimizer)
    return configs
