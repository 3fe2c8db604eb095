"""`moses.ini` to `model.toml` and back: what each line means, and what is not there."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.cli.main import run
from gpusearch.config import (
    Config,
    LanguageModelConfig,
    PhraseTableConfig,
    ReorderingModelConfig,
    WeightsConfig,
    load_config,
)
from gpusearch.config.foreign.moses import read_moses
from gpusearch.config.foreign.moses_features import reordering_type
from gpusearch.config.foreign.write_moses import to_moses
from gpusearch.errors import InputError
from tests.parity_model import LAWS, NEWSTEST, write_laws, write_newstest

NEW = """\
# a comment
[input-factors]
0
[mapping]
0 T 0
1 T 1
[distortion-limit]
6
[stack]
100
[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TranslationModel0 num-features=2 path=a input-factor=0 output-factor=0 table-limit=30
PhraseDictionaryMemory name=TranslationModel1 num-features=1 path=b   # the second
LexicalReordering name=LexicalReordering0 type=wbe-msd-backward-fe num-features=3 path=c default-scores=.5,.25,.25
Distortion
KENLM name=LM0 factor=0 path=d order=5 lazyken=0
KENLM name=Other factor=0 path=e order=3
[weight]
UnknownWordPenalty0= 1
WordPenalty0= -0.5
PhrasePenalty0= 0.2
TranslationModel0= 0.1 1e-1
TranslationModel1= .2
LexicalReordering0= 0.3 0.4 0.5
Distortion0= 0.15
LM0= 0.3
Other= -0.25
"""
OLD = """\
[ttable-file]
0 0 0 2 a
0 0 0 1 b
[ttable-limit]
30
20
[lmodel-file]
8 0 5 d
9 0 3 e
[distortion-file]
0-0 msd-backward-fe 3 c
[distortion-limit]
6
[stack]
100
[weight-l]
0.3
-0.25
[weight-t]
0.1
0.1
0.2
[weight-d]
0.15
0.3
0.4
0.5
[weight-w]
-0.5
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "moses.ini"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_feature_line_becomes_a_group(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(b"")
    (tmp_path / "e").write_bytes(b"mmap lm http://kheafield.com/code format version 5\n")
    config = read_moses(written(tmp_path, NEW))
    first, second = config.phrase_table
    assert (first.name, first.weights, first.table_limit, first.path) == (
        "TranslationModel0",
        (0.1, 0.1),
        30,
        tmp_path / "a.gz",
    )
    assert (second.name, second.weights, second.table_limit, second.path) == (
        "TranslationModel1",
        (0.2,),
        20,
        tmp_path / "b",
    )
    reordering = config.reordering_model[0]
    assert reordering.type == "wbe-msd-backward-fe-allff"
    assert (reordering.weights, reordering.default_scores) == ((0.3, 0.4, 0.5), (0.5, 0.25, 0.25))
    models = [(model.name, model.weight, model.order, model.backend) for model in config.language_model]
    assert models == [("LM0", 0.3, 5, "device"), ("Other", -0.25, None, "kenlm")]
    assert config.weights == WeightsConfig(word_penalty=-0.5, phrase_penalty=0.2, distortion=0.15, unknown_word=100.0)
    assert (config.search.distortion_limit, config.search.beam.stack_size) == (6, 100)


def test_the_old_format_says_the_same(tmp_path: Path) -> None:
    """But for the phrase penalty, which was a column of the table, default scores and names."""
    old = read_moses(written(tmp_path, OLD))
    new = read_moses(
        written(
            tmp_path,
            NEW.replace(" default-scores=.5,.25,.25", "")
            .replace("PhrasePenalty0= 0.2", "PhrasePenalty0= 0")
            .replace("Other", "LM1"),
        )
    )
    assert old == new


@pytest.mark.parametrize(
    ("change", "line", "what"),
    [
        (("[stack]\n100", "[mbr]\n1"), 9, r"nothing like \[mbr\]"),
        (("[stack]\n100", "[foo-bar]"), 9, r"nothing like \[foo-bar\]"),
        (("[stack]\n100", "[weight-overwrite]\nLM0= 1"), 9, r"nothing like \[weight-overwrite\]"),
        (("0 T 0\n", "0 G 0\n"), 5, "no generation steps"),
        (("1 T 1\n", ""), 4, "no translation step of TranslationModel1"),
        (("1 T 1\n", "1 T 1\n2 T 2\n"), 7, "a translation step of table 2, of 2"),
        (("LM0= 0.3\n", "LM0= 0.3\nLM0= 0.3\n"), 30, "weights of LM0 once more"),
        (("1 T 1\n", "0 T 1\n"), 6, "no second translation step"),
        (("KENLM name=LM0", "NeuralLM name=LM0"), 19, "no feature NeuralLM"),
        (("lazyken=0", "oov-feature=1"), 19, "oov-feature=1"),
        (("wbe-msd-backward-fe ", "hier-msd-backward-fe "), 17, "hier-msd-backward-fe"),
        (("input-factor=0 output", "input-factor=1 output"), 15, "no factors"),
        (("UnknownWordPenalty\n", "UnknownWordPenalty\nBleuScoreFeature\n"), 13, "no feature BleuScoreFeature"),
        (("LM0= 0.3\n", "LM0= 0.3\nFoo0= 1\n"), 30, "no feature is called Foo0"),
        (("TranslationModel1= .2", "TranslationModel1= .2 .3"), 16, "num-features=1, but 2 weights"),
    ],
)
def test_what_is_not_there_is_named_with_its_line(
    change: tuple[str, str], line: int, what: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert change[0] in NEW
    path = written(tmp_path, NEW.replace(*change))
    with pytest.raises(InputError, match=rf"moses\.ini:{line}: .*{what}") as caught:
        read_moses(path)
    assert "--ignore" in str(caught.value)
    read_moses(path, ignore=True)
    assert any(f"moses.ini:{line}: left out: " in record.message for record in caplog.records)


def test_all_that_is_lacking_stands_in_one_message(tmp_path: Path) -> None:
    path = written(tmp_path, NEW.replace("[stack]\n100", "[mbr]\n1").replace("0 T 0", "0 G 0"))
    with pytest.raises(InputError, match=r"moses\.ini:5: .*line 9: nothing like \[mbr\]"):
        read_moses(path)


@pytest.mark.complaint(4)
def test_missing_weights_are_1_as_in_moses_and_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = read_moses(written(tmp_path, NEW.replace("LM0= 0.3\n", "").replace("TranslationModel0= 0.1 1e-1\n", "")))
    assert config.language_model[0].weight == 1.0
    assert config.phrase_table[0].weights == (1.0, 1.0)
    assert [record.message.split(": ", 1)[1] for record in caplog.records] == [
        "no weights of TranslationModel0: 1, as in Moses",
        "no weight of LM0: 1, as in Moses",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[feature]\nDistortion\n[ttable-file]\n0 0 0 1 a\n", "moses.ini:3: sections of the old and of the new format"),
        ("0 T 0\n", "moses.ini:1: a value before the first section"),
        ("[feature\n", r"moses.ini:1: not a section; found \[feature"),
        ("[feature]\nDistortion\n[weight]\nDistortion0= x\n", "moses.ini:4: 'x' is no number"),
        ("[feature]\nDistortion\n[weight]\nDistortion0 = 1\n", "moses.ini:4: Distortion0 = 1 are no weights"),
        ("[feature]\nDistortion\n[weight]\nDistortion0=\n", "moses.ini:2: Distortion0 has 0 weights, not one"),
        ("[feature]\nDistortion\n[weight]\nDistortion0= 1e400\n", "moses.ini:4: '1e400' is no number"),
        ("[distortion-limit]\n1e400\n", "moses.ini:2: '1e400' is no number"),
        ("[ttable-file]\n0 0 0 1 b\n[weight-t]\nx\n", "moses.ini:4: 'x' is no number"),
        ("[ttable-file]\n0 0 0 1 b\n[weight-t]\n1\n2\n", r"moses.ini:5: \[weight-t\] has 1 weights more"),
        ("[ttable-file]\n0 0 0 1 b\n[weight-t]\n1\n[ttable-limit]\nx\n", "moses.ini:6: 'x' is no number"),
        ("[feature]\nLexicalReordering type=msd-f default-scores=1,x,1 num-features=3\n", "'x' is no num"),
        ("[ttable-file]\n1 0 0 x b\n[weight-t]\n1\n", "moses.ini:2: only text tables"),
        ("[ttable-file]\n0 0 0 1 b\n[distortion-file]\n0-0 msd-f x c\n", "moses.ini:4: "),
        ("", "no phrase table"),
        ("[feature]\nPhraseDictionaryMemory name=a.b num-features=1 path=x\n", "a.b"),
    ],
)
def test_faulty_files(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_moses(written(tmp_path, text))


@pytest.mark.parametrize(
    ("moses", "ours"),
    [
        ("wbe-msd-bidirectional-fe-allff", "wbe-msd-bidirectional-fe-allff"),
        ("msd-bidirectional-fe", "wbe-msd-bidirectional-fe-allff"),
        ("phrase-mslr-unidirectional-f", "wbe-mslr-backward-f-allff"),
        ("wbe-leftright-forward-fe-collapseff", "wbe-leftright-forward-fe-collapseff"),
        ("fe-monotonicity", "wbe-monotonicity-backward-fe-allff"),
        ("hier-mslr-bidirectional-fe", None),
        ("msd-bidirectional", None),
        ("bidirectional-fe", None),
        ("", None),
    ],
)
def test_types_of_reordering(moses: str, ours: str | None) -> None:
    assert reordering_type(moses) == ours


def test_parity_models_are_what_was_written_by_hand(parity: Path, tmp_path: Path) -> None:
    """moses.nolr.ini, moses.ini and moses.tuned.ini against tests/parity_model.py."""
    cases = [
        (NEWSTEST, "moses.nolr.ini", write_newstest(tmp_path, parity)),
        (NEWSTEST, "moses.ini", write_newstest(tmp_path, parity, reordering=True)),
        (LAWS, "moses.tuned.ini", write_laws(tmp_path, parity, reordering=True)),
    ]
    for folder, name, path in cases:
        target = tmp_path / f"{name}.toml"
        assert run(["convert", str(parity / folder / name), "-o", str(target)]) == 0
        converted, by_hand = load_config(target), load_config(path)
        assert converted.weights == by_hand.weights
        assert converted.search == by_hand.search
        for key in ("phrase_table", "language_model", "reordering_model"):
            for mine, other in zip(getattr(converted, key), getattr(by_hand, key), strict=True):
                assert mine.path.resolve() == other.path.resolve()
                assert mine.model_copy(update={"path": other.path}) == other


weights = st.floats(-100, 100).map(lambda x: float(f"{x:.9g}"))


@st.composite
def configs(draw: st.DrawFn) -> Config:
    tables = [
        PhraseTableConfig(
            name=f"TM{number}",
            path=Path(f"/x/table{number}"),
            weights=tuple(draw(st.lists(weights, min_size=1, max_size=5))),
            table_limit=draw(st.integers(0, 100)),
        )
        for number in range(draw(st.integers(1, 3)))
    ]
    models = [
        LanguageModelConfig(name=f"LM{number}", path=Path(f"/x/lm{number}"), weight=draw(weights), order=5)
        for number in range(draw(st.integers(0, 3)))
    ]
    kind, columns = draw(st.sampled_from([("msd", 3), ("mslr", 4), ("monotonicity", 2), ("leftright", 2)]))
    reordering = [
        ReorderingModelConfig(
            name="LR",
            path=Path("/x/orders"),
            type=f"wbe-{kind}-forward-{draw(st.sampled_from(['f', 'fe']))}-allff",
            weights=tuple(draw(st.lists(weights, min_size=columns, max_size=columns))),
            default_scores=(0.25,) * columns if draw(st.booleans()) else (),
        )
    ]
    plain = {name: draw(weights) for name in ("word_penalty", "phrase_penalty", "distortion")}
    return Config(
        phrase_table=tuple(tables),
        language_model=tuple(models),
        reordering_model=tuple(reordering) if draw(st.booleans()) else (),
        weights=WeightsConfig(**plain, unknown_word=draw(st.sampled_from([0.0, 50.0, 100.0]))),
    )


@given(configs())
def test_what_is_written_for_moses_is_read_back(tmp_path_factory: pytest.TempPathFactory, config: Config) -> None:
    path = written(tmp_path_factory.getbasetemp(), to_moses(config))
    assert read_moses(path) == config


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("[text]\nmark_unknown = true\nunknown_prefix = '#'\n", "no value of a moses.ini can have #"),
        ("[text]\nxml_input = 'exclusive'\nxml_brackets = ['[', ']']\n", "no value of a moses.ini"),
        ("[[language_model]]\nname = 'Distortion0'\npath = 'x'\nweight = 1.0\n", "the name of another feature"),
        ("[[language_model]]\npath = 'a#b'\nweight = 1.0\n", "no path with #"),
    ],
)
def test_what_a_moses_ini_cannot_hold_is_an_error(change: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.write_text('[[phrase_table]]\npath = "a"\nweights = [1.0]\n' + change)
    with pytest.raises(InputError, match=message):
        to_moses(load_config(path))


def test_only_mapped_tables_are_kept(tmp_path: Path) -> None:
    config = read_moses(written(tmp_path, NEW.replace("0 T 0\n", "")), ignore=True)
    assert [table.name for table in config.phrase_table] == ["TranslationModel1"]


def test_a_configuration_has_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", "-"]) == 2
    assert "no configuration on standard input" in capsys.readouterr().err


def test_the_parity_configuration_is_written_line_for_line(parity: Path, tmp_path: Path) -> None:
    """But for absolute paths and the beam's limits, Moses' own file comes back, features and weights in its order."""
    for folder, name in ((NEWSTEST, "moses.nolr.ini"), (NEWSTEST, "moses.ini"), (LAWS, "moses.tuned.ini")):
        target = tmp_path / name
        assert run(["convert", str(parity / folder / name), "--to", "moses.ini", "-o", str(target)]) == 0
        ours = [line for line in target.read_text().replace(f"{parity / folder}/", "").split("\n") if line]
        for section, value in (("[stack]", "200"), ("[beam-threshold]", "1e-05")):
            assert ours[ours.index(section) + 1] == value
            del ours[ours.index(section) : ours.index(section) + 2]
        moses = [line for line in (parity / folder / name).read_text().split("\n") if line]
        if "[stack]" in moses:
            del moses[moses.index("[stack]") : moses.index("[stack]") + 2]
        assert ours == moses


def test_what_moses_lacks_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.toml"
    path.write_text(
        '[[phrase_table]]\npath = "a b"\nweights = [1.0]\n[search]\nfirst_jump = false\n[features.mine]\n'
        'use = "m:o"\nweights = [1.0]\n'
    )
    assert run(["convert", str(path), "--to", "moses.ini"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    for part in ("no feature mine", "the first jump", "no path with # or a blank"):
        assert part in err
    assert run(["convert", str(path), "--to", "moses.ini", "--ignore"]) == 0
    assert "PhraseDictionaryMemory" in capsys.readouterr().out
