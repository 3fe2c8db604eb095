"""`python -m gpusearch.config`: a configuration with every key, explained (configs/reference.toml)."""

from pathlib import Path

from gpusearch.config import Config, LanguageModelConfig, PhraseTableConfig, ReorderingModelConfig, to_toml

EXAMPLE = Config(
    phrase_table=(
        PhraseTableConfig(
            path=Path("phrase-table.gz"),
            weights=(0.2, 0.2, 0.2, 0.2),
            columns=("inverse_phrase", "inverse_lexical", "direct_phrase", "direct_lexical"),
        ),
    ),
    language_model=(LanguageModelConfig(path=Path("lm.arpa.gz"), weight=0.5),),
    reordering_model=(ReorderingModelConfig(path=Path("reordering-table.gz"), weights=(0.3,) * 6),),
)

if __name__ == "__main__":
    print(to_toml(EXAMPLE), end="")
