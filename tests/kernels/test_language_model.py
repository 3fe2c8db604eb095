"""The automaton against dictionaries, on random models; interpreted and compiled."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpusearch.kernels import records
from gpusearch.kernels.language_model import (
    bound_phrases,
    bound_phrases_cpu,
    lookup,
    lookup_bound,
    score_rows,
    score_rows_cpu,
    state_length,
)
from gpusearch.kernels.target import exact
from gpusearch.model.language_model import LanguageModel
from tests.backoff_model import WORDS, BackoffModel, backoff_models

TEXTS = st.lists(st.sampled_from([*WORDS, "<s>", "</s>", "unheard"]), max_size=7)


def walk(model, words):
    """(known words, state) behind words with nothing on their left."""
    state = 0
    for word in words:
        _, state = lookup(exact(model.language), 0, state, word)
    return state


@given(backoff_models(), st.lists(TEXTS, min_size=1, max_size=5), st.booleans(), st.booleans())
def test_values_are_those_of_the_back_off_formula(oracle, texts, bos, eos):
    """Missing lower orders and contexts, positive backoffs, OOVs: equal integers, interpreted and compiled."""
    model = LanguageModel.from_arpa(oracle.arpa())
    longest = max(map(len, texts))
    ids = np.zeros((len(texts), longest), np.int32)
    lengths = np.array([len(text) for text in texts], np.int64)
    expected = np.zeros((len(texts), longest + 1), np.int32)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = model.index(text)
        expected[row, : len(text) + eos] = oracle.values(text, bos=bos, eos=eos)
    for run, wrap in ((score_rows_cpu, lambda record: record), (score_rows, exact)):
        values = np.zeros_like(expected)
        run(wrap(model.language), 0, wrap(ids), wrap(lengths), int(bos), int(eos), 0, len(texts), wrap(values))
        np.testing.assert_array_equal(values, expected)


@settings(max_examples=settings.default.max_examples // 2)
@given(backoff_models(orders=(1, 4)), st.sampled_from([1, -1]), st.data())
def test_no_context_beats_the_bound(oracle, sign, data):
    """Against every context there is, for every truncation that an option's words make."""
    model = LanguageModel.from_arpa(oracle.arpa(), weight=float(sign))
    words = data.draw(st.lists(st.sampled_from(model.vocabulary), min_size=1, max_size=5))
    bounds = model.phrase_bounds(model.index(words), np.array([0, len(words)]))
    for place, word in enumerate(words):
        extreme = oracle.extreme(tuple(words[:place]), word, sign)
        assert sign * bounds.word_bound[place] >= sign * extreme
        if place >= oracle.order - 1:
            assert bounds.word_bound[place] == extreme  # the context is whole
    assert bounds.estimate[0] == sum(oracle.values(words, bos=False, eos=False))


@given(backoff_models(orders=(1, 4), gaps=False))
def test_the_bound_is_reached_where_backoffs_are_below_one(oracle):
    """Then a stored n-gram's bound is the value of one of the n-grams that it ends: nothing is given away."""
    tame = BackoffModel({g: (p, min(b, 0.0)) for g, (p, b) in oracle.ngrams.items()}, oracle.order)
    model = LanguageModel.from_arpa(tame.arpa())
    language = exact(model.language)
    for ngram in tame.ngrams:
        ids = model.index(ngram).tolist()
        state = walk(model, ids[:-1])
        if state_length(language, 0, state) == len(ids) - 1:
            bound, _ = lookup_bound(language, 0, state, ids[-1])
            assert bound == tame.extreme(ngram[:-1], ngram[-1], 1)


@given(backoff_models(), st.lists(st.sampled_from(WORDS), max_size=4), st.lists(st.sampled_from(WORDS), max_size=4))
def test_a_state_is_all_that_matters_and_no_longer_than_known(oracle, left, words):
    """Where a state is shorter than the words known, more words on the left change neither values nor states."""
    model = LanguageModel.from_arpa(oracle.arpa())
    language = exact(model.language)
    ids, more = model.index(words).tolist(), model.index(left).tolist()
    state = walk(model, ids)
    length = state_length(language, 0, state)
    assert length <= min(len(ids), oracle.order - 1)
    assert state == walk(model, ids[len(ids) - length :])
    if length < len(ids):
        assert state == walk(model, more + ids)


@given(backoff_models(), st.sampled_from([1.0, -1.0]), st.lists(TEXTS, min_size=1, max_size=4))
def test_bounds_interpreted_and_compiled_are_equal(oracle, weight, texts):
    model = LanguageModel.from_arpa(oracle.arpa(), weight=weight)
    words = model.index([word for text in texts for word in text])
    offsets = np.cumsum([0, *map(len, texts)])
    results = []
    for run, wrap in ((bound_phrases_cpu, lambda record: record), (bound_phrases, exact)):
        out = np.zeros(len(words), np.int32), np.zeros(len(texts), np.int64), np.zeros(len(texts), np.int32)
        run(wrap(model.language), 0, wrap(offsets), wrap(words), 0, len(texts), *map(wrap, out))
        results.append(out)
    for compiled, interpreted in zip(*results, strict=True):
        np.testing.assert_array_equal(compiled, interpreted)


@given(backoff_models(), st.lists(st.sampled_from(WORDS), max_size=5))
def test_an_open_option_is_one_that_longer_ngrams_may_enter(oracle, words):
    model = LanguageModel.from_arpa(oracle.arpa())
    ids = model.index(words)
    behind = model.phrase_bounds(ids, np.array([0, len(words)])).open[0]
    state = walk(model, ids.tolist())
    whole = state_length(exact(model.language), 0, state) == len(words)
    if not words:
        assert behind == 0
    elif whole and len(words) < oracle.order - 1:
        assert behind == state
    else:
        assert behind == -1


@given(backoff_models())
def test_states_stand_in_the_order_of_their_length(oracle):
    """A state's suffix is one word shorter; the boundaries in the record agree."""
    model = LanguageModel.from_arpa(oracle.arpa())
    language = exact(model.language)
    lengths = [state_length(language, 0, state) for state in range(len(model.language.state))]
    assert lengths == sorted(lengths)
    suffix = model.language.state[:, 0]
    assert all(lengths[suffix[state]] == lengths[state] - 1 for state in range(1, len(lengths)))
    assert model.language.info[0, records.LM_LONGER + records.LM_MAX_ORDER - 1] == len(lengths)


def test_a_full_group_of_slots_runs_over_into_the_next():
    """Thousands of keys at the stated load: groups of 8 overflow, wrap around, and every key is found."""
    words = [f"w{i}" for i in range(40)]
    ngrams = {(word,): (-1.0, -0.1) for word in ["<unk>", "<s>", "</s>", *words]}
    pairs = [(a, b) for a in words for b in words]
    ngrams |= {pair: (-0.001 * number, -0.2) for number, pair in enumerate(pairs)}
    model = LanguageModel.from_arpa(BackoffModel(ngrams, 2).arpa())
    used = (model.language.slot[len(ngrams) - len(pairs) :, 0] >= 0).reshape(-1, records.LM_GROUP_SLOTS)
    assert used.all(axis=1).any()
    ids = np.array([model.index(pair) for pair in pairs])
    last = model.score_words(ids, np.full(len(ids), 2), bos=False, eos=False)[:, 1]
    np.testing.assert_allclose(last, [-0.001 * np.log(10) * number for number in range(len(pairs))], atol=1e-6)


@pytest.mark.parametrize("sign", [1, -1])
def test_bounds_of_a_long_chain_of_positive_backoffs(sign):
    """Each longer context adds a backoff above one: the bound adds them all."""
    ngrams = {("<unk>",): (-3.0, 0.0), ("<s>",): (-9.0, 0.0), ("</s>",): (-1.0, 0.0)}
    ngrams |= {("a",): (-1.0, 0.1), ("b",): (-2.0, 0.3), ("b", "a"): (-0.5, 0.2), ("b", "b", "a"): (-0.5, 0.4)}
    ngrams |= {("a", "b", "b", "a"): (-0.5, 0.0)}
    oracle = BackoffModel(ngrams, 4)
    model = LanguageModel.from_arpa(oracle.arpa(), weight=sign)
    bound = model.phrase_bounds(model.index(["a", "</s>"]), np.array([0, 2])).word_bound[1]
    # </s> after a: -1 + b(a) [+ b(b a) + b(b b a)].
    expected = -1.0 + 0.1 + (0.2 + 0.4 if sign > 0 else 0.0)
    assert abs(bound / 2**20 - expected * np.log(10)) < 1e-5
    assert bound == oracle.extreme(("a",), "</s>", sign)
