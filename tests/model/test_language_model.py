"""Language models against KenLM: values, and bounds over unknown context, on real models and on damaged ones."""

from __future__ import annotations

import numpy as np
import pytest

from gpusearch.io.arpa import Arpa, read_arpa, write_arpa
from gpusearch.kernels import records
from gpusearch.kernels.language_model import bound_phrases_cpu, score_rows_cpu
from gpusearch.model.language_model import LanguageModel, join_language_models, on_device
from tests.backoff_model import TINY
from tests.kenlm_oracle import assert_as_kenlm, matrix, quiet


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


@pytest.mark.parametrize("eos", [True, False])
def test_texts_score_as_each_alone(model, eos):
    """Of different lengths, none among them; unknown words count as <unk>."""
    texts = [["the"], [], ["unheard", "the", "unheard"]]
    alone = [model.score(model.index(text)[None], [len(text)], eos=eos)[0] for text in texts]
    assert model.score_texts(texts, eos=eos).tolist() == alone
    assert model.score_texts([], eos=eos).shape == (0,)


def test_joined_models_are_those_that_were_joined(model):
    """Kernels see several models in one record."""
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
