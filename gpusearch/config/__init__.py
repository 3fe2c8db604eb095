"""The configuration of a run: frozen models, read from and written to TOML.

``load_config(path, overrides)`` reads a file, ``to_toml(config)`` writes one with a comment for each key,
``check_weight_count`` compares weights with the table that they weigh, once it is read. File, command line
(``--set search.chains=64``) and Python use the same dotted names. `models.py` says what there is.
"""

from gpusearch.config.beam import BeamConfig
from gpusearch.config.candidates import CandidatesConfig
from gpusearch.config.load import load_config, parse_config, with_search
from gpusearch.config.models import (
    Config,
    FeatureConfig,
    LanguageModelConfig,
    PhraseTableConfig,
    ReorderingModelConfig,
    TextConfig,
    WeightsConfig,
    check_weight_count,
)
from gpusearch.config.sample import SampleConfig
from gpusearch.config.search import OperationsConfig, SearchConfig
from gpusearch.config.write import to_toml

__all__ = [
    "BeamConfig",
    "CandidatesConfig",
    "Config",
    "FeatureConfig",
    "LanguageModelConfig",
    "OperationsConfig",
    "PhraseTableConfig",
    "ReorderingModelConfig",
    "SampleConfig",
    "SearchConfig",
    "TextConfig",
    "WeightsConfig",
    "check_weight_count",
    "load_config",
    "parse_config",
    "to_toml",
    "with_search",
]
