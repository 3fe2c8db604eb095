"""Consensus of translations inside the search: expected linear BLEU (Tromble et al. 2008, section 4)."""

from typing import NamedTuple

from gpusearch.kernels.document import delta, full, keep
from gpusearch.kernels.ngrams import NGrams, first_states, keep_states, list_states, start_states
from gpusearch.kernels.records import UNIT_SENTENCES, Array
from gpusearch.kernels.target import shared


class Consensus(NamedTuple):
    """Sum over the words of a unit of the value of the state behind each."""

    ngrams: NGrams
    value: Array  # int64[Q]: of a word, and of all n-grams that end there, 2^-20 nat


@full.version(Consensus)
def full_consensus(feature, problem, search, state, scratch, lane):
    total = 0
    for local in range(problem.unit[state.unit[lane], UNIT_SENTENCES]):
        words, first = start_states(feature.ngrams, problem, state, lane, local)
        total += sum_of_states(feature.value, state.count[lane], first, words)
    return total


@shared
def sum_of_states(value, states, first, many):
    """Values of some states of a row, summed."""
    total = 0
    for place in range(first, first + many):
        total += value[states[place]]
    return total


@delta.version(Consensus)
def change_of_consensus(feature, problem, search, state, scratch, lane, change):
    many, fewer, first, _, _, _ = list_states(feature.ngrams, problem, state, scratch, lane, change)
    listed = first_states(feature.ngrams)
    more = sum_of_states(feature.value, scratch.changed.work, listed, many)
    return more - sum_of_states(feature.value, state.count[lane], first, fewer)


@keep.version(Consensus)
def keep_consensus(feature, problem, search, state, scratch, lane, change):
    many, _, first, before, behind, words = list_states(feature.ngrams, problem, state, scratch, lane, change)
    keep_states(feature.ngrams, problem, state, scratch, lane, change, many, first, before, behind, words)
