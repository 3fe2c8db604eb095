"""Small features: sums over the options of a translation, what should balance, the parity of sentences."""

from typing import NamedTuple

from gpusearch.kernels.document import ceilings, change_of_words, delta, full, is_kept, keep
from gpusearch.kernels.operations import phrase
from gpusearch.kernels.records import (
    PLACES,
    SENTENCE_SLOT,
    UNIT_FIRST_SENTENCE,
    UNIT_SENTENCES,
    VALUE_BITS,
    Array,
)
from gpusearch.kernels.target import shared


class OptionSum(NamedTuple):
    """The sum of a value that each option has."""

    value: Array  # int32[O]: 2^-20 nat


@full.version(OptionSum)
def full_sum(feature, problem, search, state, scratch, lane):
    return sum_of_unit(feature.value, problem, state, lane)


@delta.version(OptionSum)
def change_of_sum(feature, problem, search, state, scratch, lane, change):
    return change_of_options(feature.value, problem, state, scratch, lane, change)


@ceilings.version(OptionSum)
def ceilings_of_sum(feature, weight, problem, search, state, scratch, lane, change):
    changed = scratch.changed
    for k in range(PLACES):
        for number in range(changed.open[k, 1] - changed.open[k, 0]):
            value = feature.value[changed.open[k, 0] + number] + 0
            changed.ceiling[k, number] = changed.ceiling[k, number] + weight * value
    gone = 0
    for slot in range(change.first, change.first + change.replaced):
        if not is_kept(scratch, change.count, slot):
            gone += feature.value[phrase(problem, state, lane, change.sentence, slot)]
    return -weight * gone


@shared
def sum_of_unit(value, problem, state, lane):
    """Sum of a number over the options of a unit."""
    unit = state.unit[lane]
    total = 0
    for local in range(problem.unit[unit, UNIT_SENTENCES]):
        slots = problem.sentence[problem.unit[unit, UNIT_FIRST_SENTENCE] + local, SENTENCE_SLOT] + 0
        for slot in range(slots, slots + state.length[lane, local]):
            total += value[state.option[lane, slot]]
    return total


@shared
def change_of_options(value, problem, state, scratch, lane, change):
    """By how much a proposal changes such a sum."""
    total = 0
    for k in range(change.count):
        if scratch.origin[k] < 0:
            total += value[scratch.option[k]]
    kept = 0
    for k in range(change.count):
        kept += scratch.origin[k] >= 0
    if kept < change.replaced:
        for k in range(change.count):
            if scratch.origin[k] >= 0:
                total += value[scratch.option[k]]
        for slot in range(change.first, change.first + change.replaced):
            total -= value[phrase(problem, state, lane, change.sentence, slot)]
    return total


class Balance(NamedTuple):
    """-sum |n| over pairs of words that should balance: of each pair n is how much more often the first one occurs."""

    number: Array  # int64[1]: first column of State.sum of the pairs' n
    value: Array  # int32[B, O]: of each pair and option, by how much more often the first one occurs


@full.version(Balance)
def full_balance(feature, problem, search, state, scratch, lane):
    total = 0
    for pair in range(feature.value.shape[0]):
        more = sum_of_unit(feature.value[pair], problem, state, lane)
        state.sum[lane, feature.number[0] + pair] = more
        total -= abs(more)
    return total << VALUE_BITS


@delta.version(Balance)
def change_of_balance(feature, problem, search, state, scratch, lane, change):
    total = 0
    for pair in range(feature.value.shape[0]):
        now = state.sum[lane, feature.number[0] + pair] + 0
        then = now + change_of_options(feature.value[pair], problem, state, scratch, lane, change)
        total += abs(now) - abs(then)
    return total << VALUE_BITS


@keep.version(Balance)
def keep_balance(feature, problem, search, state, scratch, lane, change):
    for pair in range(feature.value.shape[0]):
        column = feature.number[0] + pair
        more = change_of_options(feature.value[pair], problem, state, scratch, lane, change)
        state.sum[lane, column] = state.sum[lane, column] + more


class Parity(NamedTuple):
    """-min(sentences with an even number of words, those with an odd one), as Docent has it (sentence-parity-model)."""

    # int64[1]: columns of State.sum: sentences with an odd number of words, then all; empty ones left out
    number: Array


@full.version(Parity)
def full_parity(feature, problem, search, state, scratch, lane):
    unit = state.unit[lane]
    odd = 0
    filled = 0
    for local in range(problem.unit[unit, UNIT_SENTENCES]):
        slots = problem.sentence[problem.unit[unit, UNIT_FIRST_SENTENCE] + local, SENTENCE_SLOT] + 0
        if state.length[lane, local] > 0:
            filled += 1
            odd += state.place[lane, slots + state.length[lane, local]] & 1
    state.sum[lane, feature.number[0]] = odd
    state.sum[lane, feature.number[0] + 1] = filled
    return -min(odd, filled - odd) << VALUE_BITS


@shared
def more_odd(problem, state, scratch, lane, change):
    """By how much a proposal changes the number of odd sentences."""
    words, more = change_of_words(problem, state, scratch, lane, change)
    return ((words + more) & 1) - (words & 1)


@delta.version(Parity)
def change_of_parity(feature, problem, search, state, scratch, lane, change):
    odd = state.sum[lane, feature.number[0]] + 0
    filled = state.sum[lane, feature.number[0] + 1] + 0
    then = odd + more_odd(problem, state, scratch, lane, change)
    return (min(odd, filled - odd) - min(then, filled - then)) << VALUE_BITS


@keep.version(Parity)
def keep_parity(feature, problem, search, state, scratch, lane, change):
    column = feature.number[0] + 0
    state.sum[lane, column] = state.sum[lane, column] + more_odd(problem, state, scratch, lane, change)
