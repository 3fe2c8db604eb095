"""From a `[[language_model]]` of the configuration to a language model."""

from __future__ import annotations

from gpusearch.config import LanguageModelConfig
from gpusearch.model.kenlm_host import HostLanguageModel
from gpusearch.model.language_model import LanguageModel


def open_language_model(config: LanguageModelConfig) -> LanguageModel:
    """The language model of a configuration, on its backend, with bounds for the sign of its weight.

    Raises:
        InputError: see `LanguageModel.from_arpa` and `HostLanguageModel.open`.
    """
    if config.backend == "kenlm":
        return HostLanguageModel.open(
            config.path, weight=config.weight, bound_order=config.bound_order, bound_path=config.bound_path
        )
    return LanguageModel.from_arpa(config.path, weight=config.weight)
