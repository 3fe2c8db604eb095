"""Language models against KenLM, on real models and on damaged ones; what users of language models stumble over."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from gpusearch.errors import InputError
from gpusearch.io.arpa import Arpa, read_arpa, write_arpa
from gpusearch.kernels import records
from gpusearch.model.language_model import LanguageModel, join_language_models, on_device
from tests.backoff_model import BackoffModel

kenlm = pytest.importorskip("kenlm")

TOLERANCE = 1e-5  # nats a word

TINY = BackoffModel(
    {
        ("<unk>",): (-2.0, 0.0),
        ("<s>",): (-99.0, -0.5),
        ("</s>",): (-1.0, 0.0),
        ("a",): (-0.5, -0.25),
        ("b",): (-0.75, -0.125),
        ("<s>", "a"): (-0.2, -0.3),
        ("a", "b"): (-0.4, -0.1),
        ("b", "</s>"): (-0.3, 0.0),
        ("<s>", "a", "b"): (-0.05, 0.0),
        ("a", "b", "</s>"): (-0.15, 0.0),
    },
    3,
)


@pytest.fixture(scope="module")
def newstest(parity):
    return parity / "newstest2012.en-fr" / "lm.arpa.gz"


@pytest.fixture(scope="module")
def arpa(newstest):
    return read_arpa(newstest, cache=False)


@pytest.fixture(scope="module")
def model(arpa):
    return LanguageModel.from_arpa(arpa)


@pytest.fixture(scope="module")
def oracle(newstest):
    return quiet(newstest)


def quiet(path):
    config = kenlm.Config()
    config.show_progress = False
    config.arpa_complain = kenlm.ARPALoadComplain.NONE
    return kenlm.Model(str(path), config)


def matrix(model, texts):
    """(ids, lengths) of texts."""
    lengths = np.array([len(text) for text in texts])
    ids = np.zeros((len(texts), max(lengths, default=0)), np.int32)
    ids[np.arange(ids.shape[1]) < lengths[:, None]] = model.index([word for text in texts for word in text])
    return ids, lengths


def assert_as_kenlm(model, oracle, texts, *, bos=True, eos=True):
    values = model.score_words(*matrix(model, texts), bos=bos, eos=eos)
    for text, row in zip(texts, values, strict=True):
        expected = [p * math.log(10) for p, _, _ in oracle.full_scores(" ".join(text), bos=bos, eos=eos)]
        np.testing.assert_allclose(row[: len(expected)], expected, rtol=0, atol=TOLERANCE)
        assert not row[len(expected) :].any()


def sentences(path):
    return [[word for word in line.split(" ") if word] for line in path.read_text().split("\n")[:-1]]


def random_texts(words, count, seed):
    """Word strings of all lengths to 20, a tenth of the words unknown."""
    rng = np.random.default_rng(seed)
    texts = []
    for length in rng.integers(0, 21, count):
        picked = rng.integers(0, len(words), length)
        texts.append([words[i] if rng.random() < 0.9 else f"unheard{i}" for i in picked])
    return texts


@pytest.mark.parametrize("bos", [True, False])
@pytest.mark.parametrize("eos", [True, False])
def test_references_score_as_in_kenlm(model, oracle, newstest, bos, eos):
    texts = sentences(newstest.parent / "docs.ref.txt")
    assert len(texts) == 311
    assert_as_kenlm(model, oracle, texts, bos=bos, eos=eos)


def test_every_ngram_scores_as_in_kenlm(model, oracle, arpa, repetitions):
    """Each n-gram of the model as a string, all its words (a tenth of the n-grams without --full)."""
    rng = np.random.default_rng(1)
    for ids in arpa.ids:
        kept = np.sort(rng.permutation(len(ids))[: repetitions(len(ids))])
        rows = np.asarray(arpa.vocabulary[:], object)[ids[kept]].tolist()
        assert_as_kenlm(model, oracle, rows, bos=False, eos=False)


def test_random_strings_score_as_in_kenlm(model, oracle):
    assert_as_kenlm(model, oracle, random_texts(model.vocabulary[:], 10_000, seed=2))


def damaged(arpa: Arpa, seed: int) -> Arpa:
    """Positive backoffs, and without a tenth of the n-grams that stand only inside longer ones (SRILM prunes so)."""
    rng = np.random.default_rng(seed)
    ids, probability, backoff = (list(column) for column in (arpa.ids, arpa.log10_probability, arpa.log10_backoff))
    for n in range(1, arpa.order - 1):
        contexts = {row.tobytes() for row in np.ascontiguousarray(ids[n + 1][:, :-1])}
        keep = np.array([row.tobytes() in contexts for row in ids[n]]) | (rng.random(len(ids[n])) < 0.9)
        ids[n], probability[n], backoff[n] = ids[n][keep], probability[n][keep], backoff[n][keep].copy()
        lifted = rng.random(len(ids[n])) < 0.3
        backoff[n][lifted] += np.float32(1.5)
    return Arpa(arpa.vocabulary, tuple(ids), tuple(probability), tuple(backoff))


@pytest.fixture(scope="module", params=["lm.o3.arpa.gz", "lm.o5.arpa.gz"])
def pruned(request, parity, tmp_path_factory):
    """A damaged model: (path, Arpa)."""
    arpa = damaged(read_arpa(parity / "kneser-ney" / request.param, cache=False), seed=3)
    path = tmp_path_factory.mktemp("pruned") / "lm.arpa"
    write_arpa(arpa, path)
    return path, arpa


def test_pruned_models_with_positive_backoffs_score_as_in_kenlm(pruned):
    path, arpa = pruned
    model, oracle = LanguageModel.from_arpa(arpa), quiet(path)
    # Parts of n-grams were put in.
    assert (model.language.slot[:, 0] >= 0).sum() > sum(map(len, arpa.ids))
    words = np.asarray(arpa.vocabulary[:], object)
    for ids in arpa.ids:
        assert_as_kenlm(model, oracle, words[ids[:3000]].tolist(), bos=False, eos=False)
    assert_as_kenlm(model, oracle, random_texts(words[:200].tolist(), 3000, seed=4))


def assert_bounds(model: LanguageModel, contexts, options, bos=False):
    """No word of an option, behind any of the contexts, is better than its bound. Equal lengths in each."""
    count, width = options.shape
    offsets = np.arange(0, count * width + 1, width)
    bounds = model.phrase_bounds(options.reshape(-1), offsets).word_bound.reshape(count, width) / 2**20
    text = np.concatenate((contexts, options), axis=1)
    values = model.score_words(text, np.full(count, text.shape[1]), bos=bos, eos=False)[:, contexts.shape[1] : -1]
    assert (model.sign * bounds >= model.sign * values).all()
    return count * width


@pytest.fixture(scope="module", params=["newstest", "pruned"])
def bounded(request, parity, arpa):
    """The n-grams of a model, one with positive backoffs and missing lower orders the second time."""
    if request.param == "newstest":
        return arpa
    return damaged(read_arpa(parity / "kneser-ney" / "lm.o5.arpa.gz", cache=False), seed=3)


@pytest.mark.parametrize("weight", [1.0, -0.5])
def test_no_ngram_beats_its_bound_under_any_truncation(bounded, weight):
    model = LanguageModel.from_arpa(bounded, weight=weight)
    for ids in bounded.ids[1:]:
        for known in range(ids.shape[1]):
            split = ids.shape[1] - 1 - known
            assert_bounds(model, ids[:, :split], ids[:, split:])


@pytest.mark.parametrize("weight", [1.0, -0.5])
def test_bounds_hold_in_mixed_contexts(bounded, weight, repetitions):
    """n-grams behind n-grams, behind <s>, at all lengths; some go on where the context ends."""
    cases = 0
    rng = np.random.default_rng(5)
    model = LanguageModel.from_arpa(bounded, weight=weight)
    while cases < repetitions(1_000_000):
        left, right = (bounded.ids[rng.integers(bounded.order)] for _ in range(2))
        rows = rng.integers(0, [len(left), len(right)], (5000, 2))
        contexts, options = left[rows[:, 0]], right[rows[:, 1]].copy()
        if rng.random() < 0.5:
            options[:, 0] = bounded.ids[1][rng.integers(0, len(bounded.ids[1]), 5000), 1]
        cases += assert_bounds(model, contexts, options, bos=rng.random() < 0.5)


def test_memory_is_as_stated(model, arpa):
    language = model.language
    ngrams = sum(map(len, arpa.ids))
    assert language.slot.nbytes + language.extreme.nbytes + language.tag.nbytes <= 24 * len(language.slot)
    assert len(language.slot) <= 1.7 * ngrams
    assert language.state.nbytes == 12 * len(language.state)
    assert len(language.state) < ngrams


@pytest.mark.slow
def test_a_large_model_scores_as_in_kenlm(parity):
    path = parity / "laws100k.fr-en" / "lm.arpa.gz"
    model = LanguageModel.from_arpa(path, cache=False)
    assert_as_kenlm(model, quiet(path), sentences(path.parent / "test.en"))
    assert len(model.language.slot) <= 1.7 * 4_377_363


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


def test_a_batch_scores_as_its_rows_alone(model, newstest):
    """Whatever the padding and the number of threads."""
    texts = sentences(newstest.parent / "docs.ref.txt") * 8
    ids, lengths = matrix(model, texts)
    together = model.score(ids, lengths, threads=2)
    padded = np.concatenate((ids, np.full((len(ids), 5), -7, np.int32)), axis=1)
    np.testing.assert_array_equal(together, model.score(padded, lengths, threads=1))
    alone = [model.score(ids[i : i + 1, : lengths[i]], lengths[i : i + 1])[0] for i in range(311)]
    np.testing.assert_array_equal(together[:311], alone)
    np.testing.assert_allclose(model.score_words(ids, lengths).sum(axis=1), together, rtol=1e-12)


def test_empty_batches_and_empty_sentences(model):
    assert model.score(np.zeros((0, 4), np.int32), []).shape == (0,)
    assert model.score(np.zeros((2, 0), np.int32), [0, 0], eos=False).tolist() == [0, 0]
    assert model.phrase_bounds(np.zeros(0, np.int32), np.zeros(3, np.int64)).open.tolist() == [0, 0]


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


def test_joined_models_are_those_that_were_joined(model):
    """Kernels see several models in one record."""
    from gpusearch.kernels.language_model import bound_phrases_cpu, score_rows_cpu

    tiny = LanguageModel.from_arpa(TINY.arpa(), weight=-1.0)
    joined = join_language_models([tiny, model, tiny], [-(1 << 19), 1 << 20, 0])
    assert joined.info[:, records.LM_WEIGHT].tolist() == [-(1 << 19), 1 << 20, 0]
    texts = [["a", "b"], ["le", "a", "b", "de", "la"], []]
    for number, part in enumerate((tiny, model, tiny)):
        ids, lengths = matrix(part, texts)
        values = np.zeros((3, 6), np.int32)
        score_rows_cpu(joined, number, ids, lengths, 1, 1, 0, 3, values)
        np.testing.assert_array_equal(values / 2**20, part.score_words(ids, lengths))
        words, offsets = part.index([word for text in texts for word in text]), np.array([0, 2, 7, 7])
        out = np.zeros(7, np.int32), np.zeros(3, np.int64), np.zeros(3, np.int32)
        bound_phrases_cpu(joined, number, offsets, words, 0, 3, *out)
        for got, expected in zip(out, part.phrase_bounds(words, offsets), strict=True):
            np.testing.assert_array_equal(got, expected)
    with pytest.raises(ValueError, match="bounds of sign -1 with a weight of 1"):
        join_language_models([tiny], [1 << 20])


def test_tensors_share_the_memory_of_the_arrays(model):
    tensors = on_device(join_language_models([model], [1 << 20]), "cpu")
    assert tensors.slot.data_ptr() == model.language.slot.ctypes.data


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
