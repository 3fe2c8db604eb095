"""Loading a model: what does not fit is an error that says what, what is odd is said."""

from __future__ import annotations

import logging
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from gpusearch.config import parse_config
from gpusearch.errors import InputError
from gpusearch.model.model import Model, load_model
from gpusearch.model.problem import build_problem
from tests.model.plain import PlainLanguageModel, PlainModel, PlainTable, models
from tests.model.test_options import loaded

TABLE = "a ||| x ||| 0.5 0.25\nb ||| y ||| 0.25 0.5\n"
ARPA = """\\data\\
ngram 1=4

\\1-grams:
-1\t<unk>
-99\t<s>
-1\t</s>
-0.5\tx

\\end\\
"""


def load(folder: Path, weights: str = "[0.5, 0.5]", table: str = TABLE, arpa: str = ARPA, more: str = "") -> Model:
    (folder / "table").write_text(table, encoding="utf-8")
    (folder / "lm.arpa").write_text(arpa, encoding="utf-8")
    return load_model(
        parse_config(
            f'[[phrase_table]]\npath = "table"\nweights = {weights}\n{more}\n'
            '[[language_model]]\npath = "lm.arpa"\nweight = 0.5\n',
            path=folder / "model.toml",
        )
    )


@pytest.mark.complaint(2)
@pytest.mark.complaint(4)
@pytest.mark.parametrize(("weights", "count"), [("[0.5]", "1 weight"), ("[0.1, 0.2, 0.3]", "3 weights")])
def test_missing_and_extra_weights_name_feature_and_both_counts(tmp_path: Path, weights: str, count: str) -> None:
    """A number of weights that differs from the table's columns ends the start, with both numbers in the message."""
    with pytest.raises(InputError, match=rf"weights of feature TranslationModel0 .* {count}; expected 2 \(one a score"):
        load(tmp_path, weights)


@pytest.mark.complaint(3)
def test_columns_may_have_names_in_any_order(tmp_path: Path) -> None:
    """Names of the columns are stated in the configuration and appear in the names of the values."""
    model = load(tmp_path, more='columns = ["direct", "inverse"]')
    assert model.features.names[:2] == ("TranslationModel0.direct", "TranslationModel0.inverse")


@pytest.mark.complaint(3)
def test_more_names_than_columns_are_an_error_with_the_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"table:1: .*2.*expected 3 .*direct, inverse, lexical"):
        load(tmp_path, "[0.1, 0.2, 0.3]", more='columns = ["direct", "inverse", "lexical"]')


@pytest.mark.complaint(2)
def test_columns_that_say_nothing_are_named_in_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Need 20: a column that is the same in all rows, all zero or not, moves no decision."""
    table = "a ||| x ||| 1 2.718 0.5\nb ||| y ||| 1 2.718 0.25\n"
    with caplog.at_level(logging.WARNING, "gpusearch"):
        model = load(tmp_path, "[0.1, 0.2, 0.3]", table)
    assert model.warnings == (
        "TranslationModel0: column score 1 is 0 (probability 1) in all 2 rows",
        "TranslationModel0: column score 2 is 0.999896 (ln) in all 2 rows",
    )
    assert [record.message for record in caplog.records] == list(model.warnings)


def test_a_table_and_a_language_model_that_share_no_word_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"TranslationModel0 and LM0 share no word; found .* X, Y, all unknown"):
        load(tmp_path, table="a ||| X ||| 0.5 0.25\nb ||| Y ||| 0.25 0.5\n")


@pytest.mark.parametrize("name", ["table", "lm.arpa"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    config = parse_config(
        '[[phrase_table]]\npath = "table"\nweights = [1.0, 1.0]\n[[language_model]]\npath = "lm.arpa"\nweight = 1.0\n',
        path=tmp_path / "model.toml",
    )
    (tmp_path / "table").write_text(TABLE)
    (tmp_path / "lm.arpa").write_text(ARPA)
    (tmp_path / name).unlink()
    with pytest.raises(InputError, match=rf"{name}: cannot read the file"):
        load_model(config)


def test_another_order_than_configured_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "table").write_text(TABLE)
    (tmp_path / "lm.arpa").write_text(ARPA)
    config = parse_config(
        '[[phrase_table]]\npath = "table"\nweights = [1.0, 1.0]\n'
        '[[language_model]]\npath = "lm.arpa"\nweight = 1.0\norder = 5\n',
        path=tmp_path / "model.toml",
    )
    with pytest.raises(InputError, match=r"lm.arpa: LM0 has another order than configured; found 1; expected 5"):
        load_model(config)


def test_a_language_model_in_kenlm_ranks_options_as_the_own_table_does(tmp_path: Path) -> None:
    pytest.importorskip("kenlm")
    table = "a ||| x ||| 0.5 0.25\na ||| q x ||| 0.5 0.5\nb ||| x q ||| 0.25 0.5\n"
    arpa = ARPA.replace("4\n", "4\nngram 2=1\n").replace("\n\\end", "\n\\2-grams:\n-0.25\t<unk> x\n\n\\end")
    own = build_problem(load(tmp_path, table=table, arpa=arpa), [[["a", "b", "c"]]])
    config = parse_config(
        '[[phrase_table]]\npath = "table"\nweights = [0.5, 0.5]\n'
        '[[language_model]]\npath = "lm.arpa"\nweight = 0.5\nbackend = "kenlm"\nbound_order = 1\n',
        path=tmp_path / "model.toml",
    )
    with load_model(config) as model:
        host = build_problem(model, [[["a", "b", "c"]]])
    scores = [batch.options.entries.score[batch.options.entry] / 2**40 for batch in (own, host)]
    np.testing.assert_allclose(*scores, atol=1e-5)
    assert [own.options.target(o) for o in range(4)] == [host.options.target(o) for o in range(4)]


def test_weights_with_which_a_phrase_could_overflow_are_an_error(tmp_path: Path) -> None:
    table = "".join(f"a ||| x ||| {' '.join(['0'] * 6)}\n" for _ in range(2)) + "b ||| y ||| 1 1 1 1 1 1\n"
    load(tmp_path, str([100.0] * 6), table)
    with pytest.raises(
        InputError, match=r"feature TranslationModel0\.0 may exceed .* values up to 100 with weight 2047"
    ):
        load(tmp_path, str([2047.0] * 6), table)


def test_the_unit_of_temperature_is_the_median_deviation_of_option_sets() -> None:
    """Of the sets {0, ln 1/2} and {0, ln 1/4, ln 1/8}, after the limit 2; the set of one option does not count."""
    rows = [
        (("a",), ("x",), [1.0]),
        (("a",), ("y",), [0.5]),
        (("b",), ("x",), [1.0]),
        (("b",), ("y",), [0.25]),
        (("b",), ("z",), [0.125]),
        (("c",), ("x",), [0.5]),
    ]
    model = loaded(PlainModel([PlainTable([0.5], 2, rows)], []))
    expected = np.median([0.5 * math.log(2) / 2, 0.5 * math.log(4) / 2])
    assert model.deviation / 2**40 == pytest.approx(expected, abs=2e-6)
    assert model.temperature(0.4) == pytest.approx(0.4 * expected, abs=2e-6)
    # Twice the weights, twice the unit: temperatures survive a rescaling.
    doubled = loaded(PlainModel([PlainTable([1.0], 2, rows)], []))
    assert doubled.deviation / 2**40 == pytest.approx(2 * expected, abs=4e-6)


def test_the_unit_of_temperature_is_one_nat_where_no_set_has_a_choice() -> None:
    assert loaded(PlainModel([PlainTable([0.5], 0, [(("a",), ("x",), [0.5])])], [])).deviation == 1 << 40
    equal = [(("a",), ("x",), [0.5]), (("a",), ("y",), [0.5])]
    assert loaded(PlainModel([PlainTable([0.5], 0, equal)], [])).deviation == 1 << 40


@pytest.mark.complaint(32)
@given(plain=models())
def test_an_unknown_word_gets_the_unknown_probability_of_the_language_model(plain: PlainModel) -> None:
    """No constant of our own stands in for the LM's <unk>; that a word is unknown counts in its own feature."""
    language_model = PlainLanguageModel(0.5, 1, {(w,): (-0.5, 0.0) for w in ("<unk>", "<s>", "</s>", "x")})
    language_model.log10["<unk>",] = (-1.75, 0.0)
    model = loaded(PlainModel(plain.tables, [language_model]))
    batch = build_problem(model, [[["never-seen"]]])
    word = int(batch.problem.target_word[0, 0])
    assert word == model.language_models[0].unknown
    assert batch.problem.word_bound[0, 0] == round(-1.75 * math.log(10) * 2**20)
    assert batch.problem.option_value[0, -1] == -(1 << 20)
