"""The arrays of the beam, beside those of the problem (`records.py`). Letters as there; moreover

``H`` hypotheses kept for a sentence, ``G`` groups of them, ``B`` places for the hypotheses of the stack at work,
``Q`` grids of a stack.

A hypothesis covers some source words. What it has covered is stated by its *gap*, the first word that is not covered,
and a *mask* of the words behind it: bit k stands for the word gap + k. The distortion limit keeps the mask short.
"""

from __future__ import annotations

from typing import Any, NamedTuple

Array = Any

# Indices of Beam.number.
BEAM_STACK, BEAM_WIDTH, BEAM_POPS, BEAM_WINDOW, BEAM_GRAPH = range(5)
BEAM_NUMBERS = 5
# Bits of a mask that are used, at most: the beam's longest window.
MASK_BITS = 62

# Indices of BeamWork.cursor.
BEAM_HELD, BEAM_FLOOR, BEAM_BEST, BEAM_ARCS, BEAM_EVALUATED, BEAM_KEPT, BEAM_WORDS = range(7)
BEAM_CURSORS = 7

# No estimate is as low; far enough from the end of int64 for differences.
LOWEST = -(1 << 62)


class Beam(NamedTuple):
    """What the beam reads besides the problem: settings, and its own view of the options. Shared by all threads."""

    # int64[BEAM_NUMBERS]: hypotheses of a stack; how much worse than its best one may be (2^-40 nat); evaluations of
    # a stack (0: as many as may matter); how far behind the gap a phrase may end; whether the graph is kept
    number: Array
    # int64[O]: isolated score: LM from the empty context, 2^-40 nat
    estimate: Array
    # int64[O]: upper bound of what the option adds to a score, jump left out, 2^-40 nat
    bound: Array
    # Of the options of each span, int64[spans], 2^-40 nat:
    best: Array  # the best estimate, `LOWEST` where there is no option
    most: Array  # upper bound of what one adds to a score, jump and reordering included, likewise
    forward: Array  # upper bound of what the orientation of the phrase behind one adds
    # int32[V, O]: the options of each span, in the order in which they are tried; with a reordering model a row an
    # orientation, else one row
    ranked: Array
    # int64[V, O]: what that order goes by, falling: `estimate` where evaluations are limited, else `bound`; with the
    # backward reordering score
    key: Array
    # int32[M, T]: LM state behind the word, where its option follows on the empty context
    word_state: Array
    # int32[M, T]: how much the option's words behind this one are worth less than their bounds, on that context
    word_slack: Array
    # int64[N]: derivations of a sentence are of use above this score only; `LOWEST`: all are
    goal: Array


class BeamWork(NamedTuple):
    """Work space of one thread."""

    cursor: Array  # int64[BEAM_CURSORS]: the counters above
    future: Array  # int64[(words of the longest sentence + 1)^2]: best isolated scores for the words start .. stop - 1
    excess: Array  # int64[as many]: how much more than that they may add at most; of sentences with a goal
    # Hypotheses that were kept, stack by stack, in each stack group by group, best first.
    stack: Array  # int64[stacks + 1]: first group of the stack of so many covered words
    score: Array  # int64[H]
    reach: Array  # int64[H]: score and the best forward reordering score that may follow
    option: Array  # int32[H]: the last phrase
    back: Array  # int32[H]: the hypothesis before it
    state: Array  # int32[M, H]: LM states
    # A group: hypotheses that have covered the same words and end alike.
    group_first: Array  # int64[G + 1]: first hypothesis
    group_gap: Array  # int64[G]
    group_mask: Array  # int64[G]
    group_end: Array  # int64[G]: source word behind the last phrase
    group_left: Array  # int64[G]: first source word of the last phrase where a swap with it may follow, else -1
    group_future: Array  # int64[G]: estimate of what is not covered yet
    # The stack at work, unordered: `B` places, and a hash table of them.
    held_total: Array  # int64[B]: score and future
    held_option: Array  # int32[B]
    held_back: Array  # int32[B]
    held_state: Array  # int32[M, B]
    held_gap: Array  # int64[B]
    held_mask: Array  # int64[B]
    held_end: Array  # int64[B]
    held_left: Array  # int64[B]
    held_future: Array  # int64[B]
    table: Array  # int32[power of two, at least 2 B]: places, -1 where there is none
    order: Array  # int64[B]: work space of selection and sorting
    place: Array  # int32[B]: where a hypothesis has gone, -1: nowhere
    # A grid: the hypotheses of a group by the options of a span.
    grid_base: Array  # int64[Q]: jump and gain, and the future of what it leaves uncovered
    grid_group: Array  # int32[Q]
    grid_span: Array  # int32[Q]: row of Problem.span
    grid_turn: Array  # int32[Q]: orientation of the span to the hypotheses; 0 without a reordering model
    grid_least: Array  # int64[Q]: estimates of its hypotheses that are not above this cannot lead above the goal
    # The queue: a binary heap of slots by the key of the cell in them.
    heap_key: Array  # int64[slots]
    heap_slot: Array  # int32[slots]
    slot_grid: Array  # int32[slots]
    slot_row: Array  # int32[slots]: hypothesis of the group
    slot_column: Array  # int32[slots]: option of the span
    fresh: Array  # int32[M]: LM states of the hypothesis that is being evaluated
    memo_key: Array  # int64[M, memo]: recent LM look-ups, direct-mapped
    memo_value: Array  # int64[M, memo]
    # The search graph where it is kept, else empty: one arc a hypothesis that was evaluated and not dropped.
    arc_target: Array  # int32[A]: hypothesis that it leads to
    arc_source: Array  # int32[A]
    arc_option: Array  # int32[A]
    arc_gain: Array  # int64[A]: what it adds to the score
    question: Array | tuple[()] = ()
    # (): no features of whole sentences
    grid_gain: Array | tuple[()] = ()  # int64[Q]: what these features add
    missing: Array | tuple[()] = ()  # int32[features, DOCUMENT_MARKS]: their work space


class BeamResult(NamedTuple):
    """What the beam writes: a row a sentence of the problem."""

    option: Array  # int32[N, longest sentence]: the phrases in target order, -1 behind them
    length: Array  # int32[N]: their number; 0: none is above the goal; -1: the graph has outgrown its arrays
    score: Array  # int64[N]: 2^-40 nat, of the features that the beam holds
    evaluated: Array  # int64[N]: hypotheses whose language models were looked at
