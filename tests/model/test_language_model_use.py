"""What users of language models stumble over: borders, units, unknown words, orders, faulty files and batches."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from gpusearch.errors import InputError
from gpusearch.kernels import records
from gpusearch.model.language_model import LanguageModel
from tests.backoff_model import TINY, BackoffModel
from tests.kenlm_oracle import assert_as_kenlm, matrix, quiet


@pytest.mark.parametrize(
    ("words", "bos", "eos", "log10"),
    [
        ([], True, True, [-0.5 - 1.0]),
        ([], False, True, [-1.0]),
        ([], True, False, []),
        (["a"], True, True, [-0.2, -0.3 - 0.25 - 1.0]),
        (["a", "b"], True, True, [-0.2, -0.05, -0.15]),
        (["a", "b"], True, False, [-0.2, -0.05]),
        (["a", "b"], False, True, [-0.5, -0.4, -0.15]),
        (["b", "b"], False, False, [-0.75, -0.125 - 0.75]),
        (["zz"], True, True, [-0.5 - 2.0, -1.0]),
        (["a", "zz", "b"], True, True, [-0.2, -0.3 - 0.25 - 2.0, -0.75, -0.3]),
        (["b", "<s>", "a"], False, False, [-0.75, -0.125 - 99.0, -0.2]),
    ],
)
def test_sentence_borders_are_explicit(words, bos, eos, log10):
    """Worked out by hand (need 18): <s> is context and never scored, </s> is the last word where it is asked for."""
    model = LanguageModel.from_arpa(TINY.arpa())
    ids, lengths = matrix(model, [words])
    values = model.score_words(ids, lengths, bos=bos, eos=eos)[0]
    np.testing.assert_allclose(values[: len(log10)], np.array(log10) * math.log(10), atol=1e-6)
    np.testing.assert_allclose(
        model.score(ids, lengths, bos=bos, eos=eos), [sum(log10) * math.log(10)], rtol=0, atol=2e-6
    )


@pytest.mark.complaint(30)
def test_scores_are_natural_logarithms():
    """log10 of the file times ln 10: users took KenLM's log10 for ln."""
    model = LanguageModel.from_arpa(TINY.arpa())
    assert model.score([model.index(["a"])], [1], bos=False, eos=False)[0] == pytest.approx(-0.5 * math.log(10))


@pytest.mark.complaint(32)
def test_unknown_words_get_the_probability_of_unk():
    """Not a constant of our own: <unk> of the model, in its context; and as KenLM does, 10^-100 where it has none."""
    model = LanguageModel.from_arpa(TINY.arpa())
    scores = model.score([model.index([word]) for word in ("zz", "<unk>")], [1, 1], bos=True, eos=False)
    np.testing.assert_allclose(scores, (-0.5 - 2.0) * math.log(10), atol=1e-6)
    without = BackoffModel({g: f for g, f in TINY.ngrams.items() if g != ("<unk>",)}, 3)
    model = LanguageModel.from_arpa(without.arpa())
    assert model.score([model.index(["zz"])], [1], bos=False, eos=False)[0] == pytest.approx(-100 * math.log(10))
    assert model.vocabulary[model.unknown] == "<unk>"


@pytest.mark.parametrize("unknown", ["<unk>", "<UNK>", None])
def test_unknown_words_as_in_kenlm(tmp_path, unknown):
    ngrams = {g: f for g, f in TINY.ngrams.items() if g != ("<unk>",)}
    if unknown:
        ngrams[(unknown,)] = (-2.0, 0.0)
    path = BackoffModel(ngrams, 3).write(tmp_path / "lm.arpa")
    texts = [["a", "zz", "b"], ["<unk>"], ["<UNK>", "a"], ["zz", "zz"]]
    assert_as_kenlm(LanguageModel.from_arpa(path, cache=False), quiet(path), texts)


@pytest.mark.complaint(31)
def test_words_are_split_where_kenlm_splits_them(tmp_path):
    """Blank and tab end a word; a no-break space, a line separator or an ideographic space is part of it."""
    words = ["a\u00a0b", "c\u2028d", "e\u3000f", "g\u0085h"]
    ngrams = TINY.ngrams | {(word,): (-0.6 - 0.1 * i, -0.2) for i, word in enumerate(words)}
    ngrams |= {("a", word): (-0.1 - 0.1 * i, 0.0) for i, word in enumerate(words)}
    path = BackoffModel(ngrams, 3).write(tmp_path / "lm.arpa")
    model = LanguageModel.from_arpa(path, cache=False)
    assert (model.index(words) != model.unknown).all()
    assert_as_kenlm(model, quiet(path), [["a", word, "b"] for word in words])


@pytest.mark.complaint(28)
def test_needs_no_kenlm(tmp_path):
    """Where KenLM cannot be installed an ARPA file is read and scored all the same."""
    path = TINY.write(tmp_path / "lm.arpa")
    code = (
        "import sys; sys.modules['kenlm'] = sys.modules['ufal'] = None\n"
        "from gpusearch.model.language_model import LanguageModel\n"
        f"model = LanguageModel.from_arpa({str(path)!r})\n"
        "print(model.score([model.index(['a', 'b'])], [2])[0])\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(run.stdout) == pytest.approx((-0.2 - 0.05 - 0.15) * math.log(10), abs=1e-5)


@pytest.mark.complaint(27)
def test_orders_to_nine_are_read():
    """KenLM from PyPI stops at 6."""
    words = ["<s>", *"abcdefgh", "</s>"]
    ngrams = {("<unk>",): (-3.0, 0.0)} | {(word,): (-1.0, -0.1) for word in words}
    ngrams |= {tuple(words[i : i + n]): (-0.1 * n, -0.01) for n in range(2, 10) for i in range(len(words) - n + 1)}
    oracle = BackoffModel(ngrams, 9)
    model = LanguageModel.from_arpa(oracle.arpa())
    text = list("abcdefgh")
    values = model.score_words(*matrix(model, [text]))[0] * 2**20
    assert values.tolist() == oracle.values(text, bos=True, eos=True)
    assert model.order == 9 == records.LM_MAX_ORDER


@pytest.mark.parametrize("missing", ["<s>", "</s>"])
def test_a_model_without_sentence_borders_is_an_error(tmp_path, missing):
    path = BackoffModel({g: f for g, f in TINY.ngrams.items() if missing not in g}, 3).write(tmp_path / "lm.arpa")
    with pytest.raises(InputError, match=f"lm.arpa: the language model has no {missing}; expected {missing} among"):
        LanguageModel.from_arpa(path)


def test_figures_out_of_range_are_an_error():
    ngrams = TINY.ngrams | {("a",): (-0.5, 900.0)}
    with pytest.raises(
        InputError, match=r"no logarithms of probabilities; found .* of 900; expected numbers, together"
    ):
        LanguageModel.from_arpa(BackoffModel(ngrams, 3).arpa())
    with pytest.raises(InputError, match="found not a number"):
        LanguageModel.from_arpa(BackoffModel(TINY.ngrams | {("a",): (-0.5, math.nan)}, 3).arpa())


def test_probabilities_of_zero_are_floored():
    """-inf, and sums of many -99: values stay within what int32 holds, bounds above them."""
    ngrams = {g: (p, -900.0) for g, (p, _) in TINY.ngrams.items()} | {("b",): (-math.inf, -99.0)}
    model = LanguageModel.from_arpa(BackoffModel(ngrams, 3).arpa())
    texts = [["a", "a", "b", "b"], ["b", "zz", "a"]]
    values = model.score_words(*matrix(model, texts))
    assert values.min() < -600
    assert np.abs(values).max() <= model.largest_value / 2**20 <= 2047


@pytest.mark.parametrize(
    ("ids", "lengths", "message"),
    [
        ([1, 2], [2], "expected"),
        ([[1, 2]], [1, 1], "expected"),
        ([[1, 2]], [3], "lengths from 3 to 3 in rows of 2 words"),
        ([[1, 2]], [-1], "lengths from -1"),
        ([[1, 99]], [2], "word ids from 1 to 99 in a vocabulary of 5"),
        ([[-1, 1]], [2], "word ids from -1"),
    ],
)
def test_batches_of_another_form_are_an_error(ids, lengths, message):
    model = LanguageModel.from_arpa(TINY.arpa())
    with pytest.raises(ValueError, match=message):
        model.score(ids, lengths)


def test_the_compiled_form_gives_the_same_model(tmp_path):
    path = TINY.write(tmp_path / "lm.arpa")
    first = LanguageModel.from_arpa(path)
    assert (tmp_path / "lm.arpa.gpusearch").is_dir()
    for weight in (1.0, -1.0):
        again = LanguageModel.from_arpa(path, weight=weight)
        made = LanguageModel.from_arpa(path, weight=weight, cache=False)
        assert again.vocabulary == made.vocabulary == first.vocabulary
        assert (again.unknown, again.largest_value, again.sign) == (made.unknown, made.largest_value, made.sign)
        for name in records.Language._fields:
            np.testing.assert_array_equal(getattr(again.language, name), getattr(made.language, name))
            assert getattr(again.language, name).flags.writeable  # one type for the compiler
