"""The configuration: what is written is read back, and each fault names its place and the way out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gpusearch.config import (
    Config,
    FeatureConfig,
    LanguageModelConfig,
    OperationsConfig,
    PhraseTableConfig,
    SearchConfig,
    check_weight_count,
    load_config,
    parse_config,
    to_toml,
    with_search,
)
from gpusearch.config.__main__ import EXAMPLE
from gpusearch.config.presets import PRESETS
from gpusearch.config.schema import all_keys
from gpusearch.errors import InputError
from tests.tiny import TINY

MINIMAL = """\
[[phrase_table]]
path = "phrase-table.gz"
weights = [0.2, 0.2, 0.2, 0.2]

[[language_model]]
path = "lm.arpa.gz"
weight = 0.5

[search]
chains = 8
"""

weights = st.floats(-2000, 2000)


@st.composite
def configs(draw: st.DrawFn) -> Config:
    tables = [
        PhraseTableConfig(
            name=f"T{i}",
            path=Path(draw(st.sampled_from(["a.gz", "b/ö.gz", 'with " quote', "/absolute"]))),
            weights=tuple(draw(st.lists(weights, min_size=1, max_size=5))),
            table_limit=draw(st.integers(0, 1000)),
        )
        for i in range(draw(st.integers(1, 3)))
    ]
    models = [
        LanguageModelConfig(name=f"L{i}", path=Path("lm.arpa"), weight=draw(weights))
        for i in range(draw(st.integers(0, 2)))
    ]
    options = draw(st.dictionaries(st.text(max_size=5), st.integers() | st.text() | st.lists(st.booleans())))
    return Config(
        phrase_table=tuple(tables),
        language_model=tuple(models),
        features={"own": FeatureConfig(use="module:object", weights=(draw(weights),), options=options)}
        if draw(st.booleans())
        else {},
        search=SearchConfig(
            chains=draw(st.integers(1, 10**6)),
            steps=draw(st.none() | st.integers(0, 2**63 - 1)),
            seed=draw(st.integers(0, 2**63 - 1)),
            operations=OperationsConfig(change=draw(st.floats(0.1, 10)), swap_decay=draw(st.floats(0, 0.99))),
        ),
    )


@given(configs(), st.booleans())
def test_written_is_read_back(config: Config, comments: bool) -> None:
    """Any configuration survives TOML, with comments and without."""
    again = parse_config(to_toml(config, comments=comments), path="-")
    assert again == config


def test_every_key_is_written_with_a_comment() -> None:
    """Each key of each group that is present stands in the text, below a comment."""
    text = to_toml(parse_config(MINIMAL))
    lines = text.split("\n")
    absent = ("reordering_model", "features", "columns.")
    for dotted in all_keys():
        key = dotted.rpartition(".")[2]
        if dotted.startswith(absent) or f"[{dotted}]" in text or f"[[{dotted}]]" in text:
            continue
        places = [i for i, line in enumerate(lines) if line.removeprefix("# ").startswith(f"{key} =")]
        assert places, dotted
        assert all(lines[place - 1].startswith("#") for place in places), dotted


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    """A model folder can be moved: relative paths start from the file, and are written relative to it."""
    file = tmp_path / "model.toml"
    file.write_text(MINIMAL, encoding="utf-8")
    config = load_config(file)
    assert config.phrase_table[0].path == tmp_path / "phrase-table.gz"
    assert 'path = "phrase-table.gz"' in to_toml(config, folder=tmp_path)
    assert str(tmp_path) in to_toml(config, folder=tmp_path / "elsewhere")


def test_override_path_is_relative_to_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model").mkdir()
    file = tmp_path / "model" / "model.toml"
    file.write_text(MINIMAL, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    config = load_config(file, ["search.initial_file=start.txt", "phrase_table.0.path=other.gz"])
    assert config.search.initial_file == tmp_path / "start.txt"
    assert config.phrase_table[0].path == tmp_path / "other.gz"


def test_overrides_in_their_order() -> None:
    overrides = [
        "search.chains=16",
        "search.chains = 32",
        "search.device=cpu",
        'search.policy="hill-climbing"',
        "search.operations.swap=1.5",
        "language_model.LM0.weight=-0.25",
        "phrase_table.TranslationModel0.weights=[1, 2, 3]",
        "weights.word_penalty=-2",
        "text.lowercase=true",
    ]
    config = parse_config(MINIMAL, overrides=overrides)
    assert (config.search.chains, config.search.device) == (32, "cpu")
    assert config.search.operations.swap == 1.5
    assert config.language_model[0].weight == -0.25
    assert config.phrase_table[0].weights == (1.0, 2.0, 3.0)
    assert config.weights.word_penalty == -2.0
    assert config.text.lowercase


def test_unnamed_models_are_numbered() -> None:
    two = MINIMAL + '[[language_model]]\npath = "b"\nweight = 1\n[[language_model]]\nname="X"\npath="c"\nweight=1'
    config = parse_config(two)
    assert [model.name for model in config.language_model] == ["LM0", "LM1", "X"]
    assert parse_config(two, overrides=["language_model.LM1.weight=7"]).language_model[1].weight == 7


def test_candidates_alone_have_no_penalties_but_those_given() -> None:
    """Where no phrase table is: a default of -1 nat a word would let the longest candidate win."""
    alone = "[candidates]\nalone = true\n"
    weights = parse_config(alone).weights
    assert (weights.word_penalty, weights.phrase_penalty, weights.unknown_word) == (0.0, 0.0, 100.0)
    given = parse_config(alone + "[weights]\nword_penalty = -0.5\n", overrides=["weights.phrase_penalty=0.2"])
    assert (given.weights.word_penalty, given.weights.phrase_penalty) == (-0.5, 0.2)
    assert parse_config(to_toml(given)) == given and with_search(given, {"chains": 3}).weights == given.weights
    assert parse_config(MINIMAL, overrides=["candidates.alone=true"]).weights == parse_config(MINIMAL).weights


def test_brackets_of_tags_may_be_equal() -> None:
    assert parse_config(MINIMAL, overrides=["text.xml_brackets=['|', '|']"]).text.xml_brackets == ("|", "|")


def test_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        parse_config(MINIMAL).search.chains = 3  # type: ignore[misc]  # the point of the test


FAULTS = [
    (MINIMAL + "chians = 3", (), "model.toml:11: unknown key search.chians; nearest known: chains"),
    (MINIMAL + "[serach]", (), "model.toml:11: unknown key serach; nearest known: search"),
    (
        MINIMAL + "[text]\nchains = 3",
        (),
        "model.toml:12: unknown key text.chains; nearest known: search.chains",
    ),
    (
        MINIMAL.replace("weight = 0.5", "wight = 0.5\nweight = 0.5"),
        (),
        "model.toml:7: unknown key language_model[0].wight; nearest known: weight",
    ),
    (
        MINIMAL.replace("weight = 0.5\n", ""),
        (),
        "model.toml:5: missing key language_model[0].weight; expected weight of ln P",
    ),
    (
        MINIMAL.replace("[0.2, 0.2, 0.2, 0.2]", "[0.2, nan]"),
        (),
        "model.toml:3: unusable phrase_table[0].weights[1]; found nan; expected a finite number",
    ),
    (
        MINIMAL.replace("0.5", "3000"),
        (),
        "model.toml:7: unusable language_model[0].weight; found 3000; expected less than 2048",
    ),
    (
        MINIMAL + 'device = "gpu"',
        (),
        "model.toml:11: unusable search.device; found 'gpu'; expected 'auto', 'cpu' or 'cuda'",
    ),
    (
        MINIMAL + "seed = true",
        (),
        "model.toml:11: unusable search.seed; found True; expected a valid integer",
    ),
    (MINIMAL + 'initial = "saved"', (), 'model.toml:9: search: initial = "saved" needs initial_file'),
    (
        MINIMAL + '[[language_model]]\nname = "LM0"\npath = "b"\nweight = 1',
        (),
        "model.toml: two features are called LM0; give each its own name",
    ),
    ("", (), "model.toml: missing key phrase_table"),
    (
        MINIMAL,
        ("search.chains=many",),
        "unusable search.chains (--set search.chains=many); found 'many'; expected a valid integer",
    ),
    (
        MINIMAL,
        ("search.chans=3",),
        "unknown key search.chans (--set search.chans=3); nearest known: chains, threads",
    ),
    (MINIMAL, ("serch.chains=3",), "unknown key serch (--set serch.chains=3); nearest known: search"),
    (MINIMAL, ("chains=3",), "unusable override; found 'chains=3'; expected group.key=value"),
    (
        MINIMAL,
        ("language_model.LM7.weight=1",),
        "no language_model is called LM7; found 'language_model.LM7.weight=1'; expected one of LM0",
    ),
    (
        MINIMAL,
        ("language_model.weight=1",),
        "language_model is repeated, so the override must say which one; "
        "found 'language_model.weight=1'; expected one of LM0 before the key",
    ),
    (
        MINIMAL,
        ("search.chains.deep=1",),
        "search.chains is no group; found 'search.chains.deep=1'",
    ),
]


@pytest.mark.parametrize(("text", "overrides", "message"), FAULTS, ids=[fault[2][:50] for fault in FAULTS])
def test_faults(text: str, overrides: tuple[str, ...], message: str) -> None:
    """Every fault is an InputError with exactly this message, exit code 2."""
    with pytest.raises(InputError) as caught:
        parse_config(text, overrides=overrides)
    assert str(caught.value) == message
    assert caught.value.exit_code == 2


def test_text_that_is_not_toml_names_its_line() -> None:
    with pytest.raises(InputError, match=r"^model\.toml:11: not TOML: "):
        parse_config(MINIMAL + "chains == 3\n")


def test_absent_file() -> None:
    with pytest.raises(InputError, match=r"^no/model\.toml: cannot read the file \(No such file or directory\)"):
        load_config("no/model.toml")


@pytest.mark.complaint(2)
@pytest.mark.complaint(4)
@pytest.mark.parametrize(("weights", "columns"), [((1.0,), 2), ((1.0, 2.0, 3.0), ("phrase", "lexical"))])
def test_weights_that_do_not_fit_the_table(weights: tuple[float, ...], columns: int | tuple[str, ...]) -> None:
    """Complaints 2 and 4: a mismatch of weights and columns names the feature and both numbers."""
    with pytest.raises(InputError) as caught:
        check_weight_count("TranslationModel0", weights, columns)
    message = str(caught.value)
    assert "TranslationModel0" in message
    assert f"found {len(weights)} weight" in message
    assert "expected 2" in message


def test_weights_that_fit() -> None:
    check_weight_count("TranslationModel0", (1.0, 2.0), 2)
    check_weight_count("TranslationModel0", (1.0, 2.0), ("phrase", "lexical"))


@pytest.mark.complaint(3)
def test_named_columns_need_their_weights() -> None:
    """Complaint 3: columns may have names, in any order; a name without a weight is an error."""
    text = MINIMAL.replace("weights = [0.2, 0.2, 0.2, 0.2]", 'weights = [1, 2]\ncolumns = ["a", "b", "c"]')
    with pytest.raises(InputError, match="TranslationModel0 names 3 columns but has 2 weights"):
        parse_config(text)


def test_reference_is_up_to_date(repository: Path) -> None:
    """configs/reference.toml shows every key as it is: `python -m gpusearch.config > configs/reference.toml`."""
    assert (repository / "configs" / "reference.toml").read_text(encoding="utf-8") == to_toml(EXAMPLE)


@pytest.mark.parametrize("written", [True, False])
def test_a_preset_replaces_what_another_one_has_given(written: bool, tmp_path: Path) -> None:
    """In a file that states every value, as trained models do, and in a configuration; what was chosen stays."""
    config = load_config(TINY, ["search.chains=32"])
    for name, chains in (("fast", 32), ("best", 32)):
        found = _with_preset(config, name, tmp_path if written else None)
        assert (found.preset, found.chains, found.final_sweep) == (name, chains, name == "best")
    plain = load_config(TINY)
    for name, values in PRESETS.items():
        found = _with_preset(plain, name, tmp_path if written else None)
        assert {key: getattr(found, key) for key in values} == values
    assert load_config(TINY, ["search.preset=best", "search.chains=64"]).search.chains == 64


def _with_preset(config: Config, name: str, folder: Path | None) -> SearchConfig:
    if folder is None:
        return with_search(config, {"preset": name}).search
    (folder / "model.toml").write_text(to_toml(config, folder=folder), encoding="utf-8")
    return load_config(folder / "model.toml", [f"search.preset={name}"]).search


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["sample.anneal_last=0.8"], r"anneal_last \(0.8\) is above anneal_first \(0.7\); annealing cools"),
        (["search.perturbation=3"], "there are none; give restarts a value"),
        (["search.method=gibbs", "search.restarts=2"], 'method = "gibbs" makes none'),
        (["search.method=gibbs", "search.restarts=2", "search.policy=sweep"], 'method = "gibbs" makes none'),
    ],
)
def test_settings_that_contradict_each_other(settings: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_config(TINY, settings)


def test_a_chain_may_be_drawn_at_one_temperature() -> None:
    assert load_config(TINY, ["sample.anneal_last=0.7"]).sample.anneal_last == 0.7


@pytest.mark.parametrize("method", ["gibbs", "beam"])
def test_what_a_method_does_not_look_at_is_refused_beside_it(method: str) -> None:
    """Where both are asked for in one call; files may carry it for their searches, and presets ask for nothing."""
    for key, value in {"policy": "sweep", "restarts": 2}.items():
        asked = f"search.{key}={value}"
        beside = rf'search.{key} would have no effect; found {asked}, method = "{method}"; expected method = "search"'
        message = beside if (key, method) != ("restarts", "gibbs") else 'method = "gibbs" makes none'
        with pytest.raises(InputError, match=message):
            load_config(TINY, [f"search.method={method}", asked])
        with pytest.raises(InputError, match=message):
            with_search(load_config(TINY), {"method": method, key: value})
    of_file = load_config(TINY, ["search.policy=sweep", "search.preset=best"])
    assert with_search(of_file, {"method": method}).search.method == method
    assert with_search(of_file, {"method": method, "policy": "hill-climbing"}).search.active_policy is None


def test_the_first_preset_states_the_defaults() -> None:
    assert {key: SearchConfig.model_fields[key].default for key in PRESETS["fast"]} == PRESETS["fast"]
    said = SearchConfig.model_fields["preset"].description or ""
    assert f"values of {' and '.join(PRESETS['fast'])} where they are not given" in said
    assert all(values.keys() == PRESETS["fast"].keys() for values in PRESETS.values())
