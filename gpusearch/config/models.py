"""The groups of a `model.toml`: text, models with their weights, features, search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from gpusearch.config.candidates import CandidatesConfig
from gpusearch.config.group import Bracket, FilePath, Group, Name, Probability, Weight, WeightList
from gpusearch.config.sample import SampleConfig
from gpusearch.config.search import SearchConfig
from gpusearch.errors import InputError


class TextConfig(Group):
    """`[text]`: from raw text to the tokens of the models, and back."""

    tokenizer: Literal["none", "moses", "sentencepiece"] = Field(
        "none", description="none: the text is tokenised already (blanks and tabs separate tokens)"
    )
    source_language: str | None = Field(None, description="language code of the source (ISO 639), for the tokenizer")
    target_language: str | None = Field(None, description="language code of the target (ISO 639), for the tokenizer")
    lowercase: bool = Field(False, description="lower-case the source before it is looked up")
    truecase: bool = Field(False, description="give sentence-initial words their usual case, and a capital on output")
    source_truecaser: FilePath | None = Field(None, description="truecasing model of the source")
    target_truecaser: FilePath | None = Field(None, description="truecasing model of the target")
    source_spacing: FilePath | None = Field(None, description="spacing of source text; rules if none")
    target_spacing: FilePath | None = Field(None, description="spacing of target text; rules if none")
    sentencepiece_source: FilePath | None = Field(None, description="SentencePiece model of the source")
    sentencepiece_target: FilePath | None = Field(None, description="SentencePiece model of the target")
    unescape: bool = Field(
        False,
        description="tables (and tokenised text) carry the escapes of Moses (&apos; &#124; ...): undo them",
    )
    nfc: bool = Field(
        True,
        description="tokenizers moses and sentencepiece: a letter and its accents become one character (Unicode NFC)",
    )
    normalize: bool = Field(False, description="tokenizer moses: replace typographic quotes by plain ones")
    split_hyphens: bool = Field(False, description="tokenizer moses: split words at hyphens (@-@)")
    xml_input: Literal["none", "ignore", "inclusive", "exclusive"] = Field(
        "none",
        description='tags <x translation="a||b" prob="0.7||0.3">...</x> in the source: none: they are words; ignore: '
        "left out; inclusive: their translations are options; exclusive: the only ones of these words",
    )
    xml_brackets: tuple[Bracket, Bracket] = Field(
        ("<", ">"), strict=False, description="what stands around the tags of xml_input"
    )
    mark_unknown: bool = Field(False, description="put unknown_prefix and unknown_suffix around unknown words")
    drop_unknown: bool = Field(False, description="leave out words that no option covers, unless a digit is in them")
    unknown_prefix: str = Field("UNK", description="what mark_unknown puts in front of a word")
    unknown_suffix: str = Field("", description="what mark_unknown puts behind a word")

    @model_validator(mode="after")
    def _files_are_named(self) -> TextConfig:
        needed = {
            'tokenizer = "sentencepiece"': (
                self.tokenizer == "sentencepiece",
                ("sentencepiece_source", "sentencepiece_target"),
            ),
            "truecase = true": (self.truecase, ("source_truecaser",)),
        }
        for setting, (active, keys) in needed.items():
            absent = [key for key in keys if getattr(self, key) is None]
            if active and absent:
                raise ValueError(f"{setting} needs {' and '.join(absent)}")
        return self


class PhraseTableConfig(Group):
    """`[[phrase_table]]`: a phrase table in Moses' text form, with one weight a score column."""

    name: Name = Field("TranslationModel0", description="name of the feature")
    path: FilePath = Field(description="the table: plain, .gz, .bz2 or .xz")
    weights: WeightList = Field(description="one a score column, in the order of the columns")
    columns: Annotated[tuple[Name, ...], Field(strict=False)] = Field(
        (), description="names of the score columns, any order; by number where not given"
    )
    table_limit: int = Field(20, ge=0, description="options a source span, best isolated score first; 0: all")
    lenient: bool = Field(False, description="a bad row is a counted warning instead of an error")
    cache: bool = Field(True, description="keep a compiled form beside the table for the next start")

    @model_validator(mode="after")
    def _columns_have_weights(self) -> PhraseTableConfig:
        if self.columns and len(self.columns) != len(self.weights):
            raise ValueError(f"{self.name} names {len(self.columns)} columns but has {len(self.weights)} weights")
        return self


class LanguageModelConfig(Group):
    """`[[language_model]]`: an n-gram model; its feature value is ln P (the file's log10, times ln 10)."""

    name: Name = Field("LM0", description="name of the feature")
    path: FilePath = Field(description="ARPA file, plain or compressed; with backend kenlm any file that KenLM reads")
    weight: Weight = Field(description="weight of ln P")
    order: int | None = Field(None, ge=1, le=9, description="check that the file has this order")
    backend: Literal["device", "kenlm"] = Field(
        "device", description="device: own table in memory, on the GPU too; kenlm: on the host"
    )
    bound_order: int | None = Field(
        None, ge=1, le=9, description="backend kenlm: order of the small table that bounds its scores"
    )
    bound_path: FilePath | None = Field(
        None, description="backend kenlm: ARPA file that bounds are computed from, where path is not one"
    )

    @model_validator(mode="after")
    def _bound_order_has_use(self) -> LanguageModelConfig:
        if self.bound_order is not None and self.backend != "kenlm":
            raise ValueError('bound_order is used with backend = "kenlm" only')
        if self.bound_path is not None and self.bound_order is None:
            raise ValueError("bound_path is used with bound_order only")
        return self


class ReorderingModelConfig(Group):
    """`[[reordering_model]]`: lexicalised reordering in Moses' text form."""

    name: Name = Field("LexicalReordering0", description="name of the feature")
    path: FilePath = Field(description="the table: plain, .gz, .bz2 or .xz")
    type: str = Field(
        "wbe-msd-bidirectional-fe-allff",
        pattern=r"^wbe-(msd|mslr|monotonicity|leftright)-(backward|forward|bidirectional)-(f|fe)-(allff|collapseff)$",
        description="wbe-{msd,mslr,monotonicity,leftright}-{backward,forward,bidirectional}-{f,fe}-{allff,collapseff}",
    )
    weights: WeightList = Field(description="one a score column, in their order; collapseff: one a direction")
    default_scores: tuple[Probability, ...] = Field(
        (), strict=False, description="probabilities of pairs that the table lacks; 1 where not given"
    )
    lenient: bool = Field(False, description="a bad row is a counted warning instead of an error")
    cache: bool = Field(True, description="keep a compiled form beside the table for the next start")

    @model_validator(mode="after")
    def _type_fits_the_numbers(self) -> ReorderingModelConfig:
        _, kind, direction, _, features = self.type.split("-")
        directions = 2 if direction == "bidirectional" else 1
        columns = directions * {"msd": 3, "mslr": 4}.get(kind, 2)
        weights = directions if features == "collapseff" else columns
        if len(self.weights) != weights:
            raise ValueError(f"{self.name} has {len(self.weights)} weights, but {self.type} takes {weights}")
        if self.default_scores and len(self.default_scores) != columns:
            raise ValueError(
                f"{self.name} has {len(self.default_scores)} default_scores, but {self.type} has {columns} columns"
            )
        return self


class WeightsConfig(Group):
    """`[weights]`: weights of the features that need no file."""

    word_penalty: Weight = Field(
        -1.0, description="of -(target words): below 0 favours longer output; without a phrase table 0 unless given"
    )
    phrase_penalty: Weight = Field(
        0.2, description="of +1 a phrase: above 0 favours many short phrases; without a phrase table 0 unless given"
    )
    distortion: Weight = Field(0.3, description="of -(distance jumped): above 0 favours monotone order")
    unknown_word: Weight = Field(100.0, description="of -1 a word copied through because no option covers it")


class FeatureConfig(Group):
    """`[features.NAME]`: a feature of one's own."""

    use: str = Field(
        pattern=r"^[A-Za-z0-9_.-]+(:[A-Za-z0-9_.]+)?$",
        description="module:object, or the name of a built-in feature",
    )
    weights: WeightList = Field((1.0,), description="one a value of the feature; a number where it has one value")
    path: FilePath | None = Field(None, description="a file that the feature is made from")
    source: FilePath | None = Field(None, description="the source of the sentences of that file, where it has none")
    options: dict[str, Any] = Field(default_factory=dict, description="handed to the feature as it is made")

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, data: Any) -> Any:
        """`NAME = "what"` for `NAME.use = "what"`, and one weight for a list of one."""
        if isinstance(data, str):
            return {"use": data}
        if isinstance(data, dict) and isinstance(data.get("weights"), int | float):
            return data | {"weights": [data["weights"]]}
        return data


class Config(Group):
    """All that a run needs besides its documents; the content of a `model.toml`."""

    text: TextConfig = TextConfig()
    phrase_table: Annotated[tuple[PhraseTableConfig, ...], Field(strict=False)]
    language_model: Annotated[tuple[LanguageModelConfig, ...], Field(strict=False)] = ()
    reordering_model: Annotated[tuple[ReorderingModelConfig, ...], Field(strict=False)] = ()
    weights: WeightsConfig = WeightsConfig()
    features: dict[Name, FeatureConfig] = Field(default_factory=dict)
    candidates: CandidatesConfig = CandidatesConfig()
    search: SearchConfig = SearchConfig()
    sample: SampleConfig = SampleConfig()

    @model_validator(mode="before")
    @classmethod
    def _number_unnamed_models(cls, data: Any) -> Any:
        """Give the tables and models without a name a numbered one: LM0, LM1, ..."""
        if not isinstance(data, dict):
            return data
        numbered = dict(data)
        stems = {
            "phrase_table": "TranslationModel",
            "language_model": "LM",
            "reordering_model": "LexicalReordering",
        }
        for key, stem in stems.items():
            entries = data.get(key)
            if isinstance(entries, list):
                numbered[key] = [
                    {"name": f"{stem}{index}", **entry} if isinstance(entry, dict) else entry
                    for index, entry in enumerate(entries)
                ]
        return numbered

    @model_validator(mode="before")
    @classmethod
    def _candidates_may_stand_alone(cls, data: Any) -> Any:
        """A model whose translations are all candidates needs no phrase table.

        Its penalties are 0 unless given: their defaults suit the scores of tables and language models, and would let
        the longest candidate win.
        """
        candidates = data.get("candidates") if isinstance(data, dict) else None
        if not isinstance(candidates, dict) or candidates.get("alone") is not True:
            return data
        weights = data.get("weights", {})
        if not data.get("phrase_table") and isinstance(weights, dict):
            data = data | {"weights": {"word_penalty": 0.0, "phrase_penalty": 0.0, **weights}}
        return {"phrase_table": [], **data}

    @model_validator(mode="after")
    def _something_translates(self) -> Config:
        if not self.phrase_table and not self.candidates.alone:
            raise ValueError("a model needs a [[phrase_table]], or [candidates] with alone = true")
        return self

    @model_validator(mode="after")
    def _names_differ(self) -> Config:
        repeated = [name for name, count in Counter(self._feature_names()).items() if count > 1]
        if repeated:
            raise ValueError(f"two features are called {repeated[0]}; give each its own name")
        return self

    @model_validator(mode="after")
    def _samplers_have_inverses(self) -> Config:
        if self.sample.method != "gibbs":
            method = f'sample.method = "{self.sample.method}"'
            self.search.operations.check_inverses(method)
            if self.search.compat == "docent":
                raise ValueError(f'{method} draws proposals that have an inverse, which compat = "docent" does not')
        return self

    def _feature_names(self) -> list[str]:
        tables = [table.name for table in self.phrase_table]
        models = [model.name for model in self.language_model] + [model.name for model in self.reordering_model]
        return [*tables, *models, *self.features]


def check_weight_count(name: str, weights: Sequence[float], columns: int | Sequence[str]) -> None:
    """Compare the weights of feature `name` with the score columns of its table (their number or names).

    Raises:
        InputError: the counts differ; the message names the feature and both numbers.
    """
    count = columns if isinstance(columns, int) else len(columns)
    if len(weights) == count:
        return
    named = "" if isinstance(columns, int) else f": {', '.join(columns)}"
    raise InputError(
        f"the weights of feature {name} do not fit its table",
        found=f"{len(weights)} weight{'s' * (len(weights) != 1)}",
        expected=f"{count} (one a score column{named})",
        hint=f"give {name} a list of {count} weights",
    )
