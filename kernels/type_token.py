"""Lexical variation of the translation of a document: type-token ratio and OVIX (Stymne et al. 2013, section 5.4)."""

from typing import NamedTuple

from gpusearch.kernels.document import (
    UNKNOWN,
    ceilings,
    change_of_tokens,
    change_of_types,
    delta,
    full,
    words_of_layout,
)
from gpusearch.kernels.fixed import minus_log_of_ratio
from gpusearch.kernels.records import OPTION_WORDS, PLACES, SCORE_BITS, TABLE_SUMS, TOKENS, TYPES, VALUE_BITS, Array
from gpusearch.kernels.target import shared

# Logarithms are found of numbers up to 2^LOG_POWER.
LOG_POWER = 62

# Indices of TypeToken.number, and what the second may be.
WORD_TABLE, FORM = range(2)
RATIO, LOGARITHM, OVIX, OVIX_OF_DOCENT = range(4)


class TypeToken(NamedTuple):
    """A function of the different words V of a unit and of all its words N; 0 where there are none.

    RATIO: V / N. LOGARITHM: ln (V / N). OVIX: ln N / ln (2 - ln V / ln N), where V = N > 2 that of V = N - 1, else 0
    where it is not defined. OVIX_OF_DOCENT: -ln N / ln (2 - ln V / ln (N + 1)).
    """

    number: Array  # int64[2]: the table that counts words; which function it is


@shared
def natural_log(search, number):
    """ln of a whole number, 1 .. 2^62, in 2^-40 nat."""
    table = search.logarithm
    return minus_log_of_ratio(table, 1, LOG_POWER) - minus_log_of_ratio(table, number, LOG_POWER)


@shared
def rounded(value):
    """From 2^-40 nat to 2^-20 nat."""
    return (value + (1 << (SCORE_BITS - VALUE_BITS - 1))) >> (SCORE_BITS - VALUE_BITS)


@shared
def quotient(number, divisor):
    """Of two positive numbers of 2^-40 below 2^45, in 2^-20 and rounded; the divisor is at most 1."""
    whole = number // divisor
    rest = number - whole * divisor
    return (whole << VALUE_BITS) + (((rest << (VALUE_BITS + 1)) // divisor + 1) >> 1)


@shared
def variation(search, types, tokens, longer):
    """ln N / ln (2 - ln V / ln `longer`), 2^-20; `longer` is N or N + 1, and above V."""
    of_longer = natural_log(search, longer)
    # ln (2 - a / b) = ln (2 b - a) - ln b.
    divisor = natural_log(search, 2 * of_longer - natural_log(search, types)) - natural_log(search, of_longer)
    return quotient(natural_log(search, tokens), divisor)


@shared
def of_types(feature, search, types, tokens):
    """The value of so many different words among so many, 2^-20 nat."""
    form = feature.number[FORM]
    if tokens == 0:
        return 0
    if form == RATIO:
        return ((types << (VALUE_BITS + 1)) // tokens + 1) >> 1
    if form == LOGARITHM:
        return rounded(natural_log(search, types) - natural_log(search, tokens))
    if form == OVIX_OF_DOCENT:
        return -variation(search, types, tokens, tokens + 1)
    if types == tokens:
        if tokens < 3:
            return 0
        types -= 1
    return variation(search, types, tokens, tokens)


@full.version(TypeToken)
def full_variation(feature, problem, search, state, scratch, lane):
    sums = TABLE_SUMS * feature.number[WORD_TABLE]
    return of_types(feature, search, state.sum[lane, sums + TYPES] + 0, state.sum[lane, sums + TOKENS] + 0)


@delta.version(TypeToken)
def change_of_variation(feature, problem, search, state, scratch, lane, change):
    table = feature.number[WORD_TABLE]
    types = state.sum[lane, TABLE_SUMS * table + TYPES] + 0
    tokens = state.sum[lane, TABLE_SUMS * table + TOKENS] + 0
    more_types = change_of_types(scratch.changed, table)
    more_tokens = change_of_tokens(scratch.changed, table)
    if more_types == 0 and more_tokens == 0:
        return 0
    after = of_types(feature, search, types + more_types, tokens + more_tokens)
    return after - of_types(feature, search, types, tokens)


# Bits behind the point of slopes, which are 1 at most.
SLOPE_BITS = 30


@ceilings.version(TypeToken)
def ceilings_of_variation(feature, weight, problem, search, state, scratch, lane, change):
    """Of the ratio and its logarithm, by what a type and a token more are worth at most within a layout."""
    changed = scratch.changed
    table = feature.number[WORD_TABLE] + 0
    form = feature.number[FORM] + 0
    types = state.sum[lane, TABLE_SUMS * table + TYPES] + change_of_types(changed, table)
    tokens = state.sum[lane, TABLE_SUMS * table + TOKENS] + change_of_tokens(changed, table)
    if tokens == 0 or form >= OVIX:
        return UNKNOWN
    fewest, most = words_of_layout(problem, changed)
    of_type, of_token = slopes(form, weight, types, tokens + fewest, tokens + most, most)
    if of_type < 0:
        # Options together have as many new types as one of them at least, so as their mean.
        places = 0
        for k in range(PLACES):
            places += changed.open[k, 1] > changed.open[k, 0]
        of_type = -(-of_type // max(1, places))
    for k in range(PLACES):
        for number in range(changed.open[k, 1] - changed.open[k, 0]):
            option = changed.open[k, 0] + number
            more = of_type * new_types(problem, state, changed, table, lane, option)
            more += of_token * problem.option_place[option, OPTION_WORDS]
            changed.ceiling[k, number] = changed.ceiling[k, number] + more
    change_to_fewest = of_types(feature, search, types, tokens + fewest)
    change_to_fewest -= full_variation(feature, problem, search, state, scratch, lane)
    # Values are rounded, before and after.
    return weight * change_to_fewest + 2 * abs(weight) - of_token * fewest


@shared
def slopes(form, weight, types, fewest, most, words):
    """(What a type more, what a token more adds to the weighted value at most, 2^-40 nat.)

    From the value of `types` among the `fewest` tokens on, to at most `words` more types and the `most` tokens.
    """
    one = 1 << SLOPE_BITS
    by = abs(weight)
    if form == RATIO:
        if weight >= 0:
            return at_most(by * -(-one // fewest)), -at_least(by * (types * one // (fewest * most)))
        return -at_least(by * (one // most)), at_most(by * -(-types * one // (fewest * fewest)))
    if weight >= 0:
        return at_most(by * -(-one // types)), -at_least(by * (one // most))
    return -at_least(by * (one // (types + words))), at_most(by * -(-one // fewest))


@shared
def at_least(slope):
    """From 2^-50 to 2^-40, rounded down."""
    return slope >> (SLOPE_BITS + VALUE_BITS - SCORE_BITS)


@shared
def at_most(slope):
    """The same rounded up."""
    return at_least(slope) + 1


@shared
def new_types(problem, state, changed, table, lane, option):
    """How many different words of an option do not occur once the words that give way are gone."""
    document = problem.document
    begin = document.table[table, 0] + 0
    first = document.first[table, option] + 0
    found = 0
    for place in range(first, document.first[table, option + 1]):
        item = document.item[place] + 0
        new = state.count[lane, begin + item] == 0 or is_gone(changed, table, item)
        for earlier in range(first, place):
            new = new and document.item[earlier] != item
        found += new
    return found


@shared
def is_gone(changed, table, item):
    """Whether an item no longer occurs."""
    found = False
    for k in range(changed.many[table]):
        found = found or (changed.item[table, k] == item and changed.turn[table, k] < 0)
    return found
