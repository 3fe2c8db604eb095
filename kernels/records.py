"""The arrays that kernels see, gathered in named tuples. Letters as in the design:

``U`` units, ``N`` sentences, ``O`` translation options, ``T`` target words of the options, ``M`` language models,
``L`` lanes, ``P`` phrase slots of a unit, ``W`` word places of a unit, ``K`` feature values.

Numbers: a feature value is in units of 2^-20 nat, a weight in 2^-20, a weighted score in 2^-40 nat.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

Array = Any

VALUE_BITS = 20
SCORE_BITS = 40

# Columns of Language.info. LM_LONGER + n (n = 0, 1, ...): the first state longer than n words, or the number of states.
LM_FIRST_SLOT, LM_FIRST_GROUP, LM_GROUPS, LM_FIRST_STATE, LM_VOCABULARY = range(5)
LM_ORDER, LM_WEIGHT, LM_BEGIN, LM_END, LM_LONGER = range(5, 10)
LM_MAX_ORDER = 9
LM_INFO = LM_LONGER + LM_MAX_ORDER
LM_GROUP_SLOTS = 8


class Language(NamedTuple):
    """All language models of a search, one after the other in the same arrays.

    A model is an automaton. Its state is an n-gram that can be extended (0: the empty one); states, numbered from 0
    in each model, stand in the order of their length. Slots of model m start at ``info[m, LM_FIRST_SLOT]``: first one
    per word of the vocabulary (the unigrams, addressed directly), then ``info[m, LM_GROUPS]`` groups of 8 slots, an
    open-addressing table. A group's tag holds a byte for each of its slots (0: empty, else 7 bits of the key's
    hash), so that most keys that are not there are known to be missing without a look at a slot.
    """

    info: Array  # int64[M, LM_INFO]: the columns above; weight in 2^-20; begin: the state of <s>; end: the word </s>
    slot: Array  # int64[H, 2]: key = state * vocabulary + word (-1: empty), value << 32 | next state; value 2^-20 nat
    extreme: Array  # int32[H]: the greatest value over all contexts longer than this one (least: negative weight)
    tag: Array  # int64[G]: tags of the groups of 8 slots; those of model m start at info[m, LM_FIRST_GROUP]
    state: Array  # int32[Q, 3]: suffix (the state without its oldest word), backoff, extreme sum of longer backoffs


# Columns of Host.info. A state's low bits hold the words of the n-gram behind it (see Host).
HOST_FIRST, HOST_PLACES, HOST_REACH = range(3)
HOST_COLUMNS = 3
HOST_LENGTH_BITS = 4


class Host(NamedTuple):
    """What language models on the host have answered so far: a hash table that grows between launches.

    The host numbers the states of such a model as it meets them: ``number << HOST_LENGTH_BITS | length``, where the
    last `length` words are all that may matter to what follows. Number 0 is the empty state. The model's rows in
    `Language` then hold upper bounds only (lower: negative weight), those of a smaller model; ``info[m, LM_BEGIN]``
    there is a state of the host's.
    """

    info: Array  # int64[M, 3]: first place of the model's table, places (0: the model is not on the host), order - 1
    answer: Array  # int64[A, 2]: key = state * vocabulary + word (-1: empty), value << 32 | next state; open addressing


# Orientations of a phrase to the one before it in the translation: columns of Reordering.score, first those of the
# backward models, then those of the forward models.
MONOTONE, SWAPPED, DISCONTINUOUS_LEFT, DISCONTINUOUS_RIGHT = range(4)
ORIENTATIONS = 4


class Reordering(NamedTuple):
    """Lexicalised reordering models: what an option adds by its orientation to its neighbours. ``R`` models.

    A phrase counts with its backward scores in its orientation to the phrase before it, and with its forward scores in
    the orientation of the phrase behind it. The first phrase of a sentence follows an empty one at the sentence's
    start; to its end there is no step.
    """

    # int64[O, 2 * ORIENTATIONS]: weighted values of all models together, backward, then forward; 2^-40 nat
    score: Array
    # int32[O, *]: the columns of the models' tables, one model after the other; 2^-20 nat
    value: Array
    # int64[R, 2 * ORIENTATIONS, 2]: for each column of `score` the model's column of `value` (-1: none) and the place
    # of its feature, counted from the one behind distortion
    column: Array


# Indices of Document.number.
DOCUMENT_VALUES, DOCUMENT_COUNTS, DOCUMENT_SUMS, DOCUMENT_MOST, DOCUMENT_WORK, DOCUMENT_MARKS = range(6)
DOCUMENT_NUMBERS = 6
# Columns of State.sum: of each table of counts the items there are, and how many different ones; then features' own.
TOKENS, TYPES = range(2)
TABLE_SUMS = 2
# Indices of Active.number.
ACTIVE_WEIGHT, ACTIVE_PLACE = range(2)


class Active(NamedTuple):
    """A feature of the document that takes part, and those behind it. Each has one value."""

    feature: Any  # its own record, by whose type its functions are found (document.py)
    number: Array  # int64[2]: weight, 2^-20; place of the value in State.feature, among those of the document
    rest: Active | tuple[()]  # the next features


def each_active(active: Active | tuple[()]) -> Iterator[Active]:
    """A feature that takes part and those behind it, one by one; on the host."""
    while active:
        yield active
        active = active.rest


class Document(NamedTuple):
    """Features that look at whole sentences or documents, and the counts that they share. ``T`` tables of counts.

    A table counts items, such as words, of the phrases of a lane; its items are numbered from 0 in each unit.
    """

    features: Active | tuple[()]
    # int64[DOCUMENT_NUMBERS]: values, those that are computed outside kernels included; columns of State.count and of
    # State.sum; most items that a proposal changes; numbers of Changed.work; places of
    # Scratch.mark
    number: Array
    first: Array  # int64[T, O + 1]: the items of an option
    item: Array  # int32[*]
    table: Array  # int64[T, 2]: first column of a table in State.count, and its columns


class Change(NamedTuple):
    """A proposal to a sentence, as features of the document see it; its phrases stand in the work space."""

    local: Any  # the sentence, counted within the unit
    sentence: Any  # counted within the problem
    first: Any  # slots that give way: the first, and how many
    replaced: Any
    count: Any  # phrases put in


# Columns of Problem.unit, .sentence, .option_place, .option_score.
UNIT_FIRST_SENTENCE, UNIT_SENTENCES, UNIT_WORDS, UNIT_FIRST_WORD, UNIT_KEY_LOW, UNIT_KEY_HIGH, UNIT_PLACES = range(7)
UNIT_COLUMNS = 7
SENTENCE_WORDS, SENTENCE_SLOT, SENTENCE_PLACE, SENTENCE_SPAN = range(4)
SENTENCE_SOURCE, SENTENCE_OPTION, SENTENCE_LONGEST = range(4, 7)
SENTENCE_COLUMNS = 7
OPTION_START, OPTION_LENGTH, OPTION_TARGET, OPTION_WORDS = range(4)
OPTION_SCORE, OPTION_BOUND = range(2)


class Problem(NamedTuple):
    """What a search reads: units, sentences, translation options and language models. Shared by all lanes.

    Options are sorted by (sentence, start, length); those of one span stand in falling order of isolated score.
    """

    # int64[U, 7]: first sentence, sentences, source words, first row of `word`, Philox key (two 32-bit words), word
    # places of its sentences together
    unit: Array
    # int32[*]: for each source word of a unit its sentence, counted within the unit
    word: Array
    # int64[N, 7]: source words, first slot and first word place in the unit, first row of `span`, first source word in
    # the unit, first option, source words of the longest option (at least 1)
    sentence: Array
    # int32[* + 1]: first option of the span (start, length), in row = sentence's + start * sentence's longest + length
    # - 1
    span: Array
    # int32[O, 4]: start, source words, first row of target_word, target words
    option_place: Array
    # int64[O, 2]: weighted score without distortion and LM; weighted LM bound over unknown left context
    option_score: Array
    # int32[*, 2]: rows as in `span`. How many lengths up to this one have options from this start on; as row k counted
    # from the start's first, the length that is k-th among those that have
    length: Array
    # int32[O]: weights of the option draw, summed from the first of the span; the last is below 2^31
    option_draw: Array
    # int32[O, K']: feature values of the option: table columns, word penalty, phrase penalty, unknown words
    option_value: Array
    # int32[M, O]: the LM state behind the option where words to its left may still reach into it, else -1
    option_open: Array
    # int32[M, T]: words of the options in the vocabulary of LM m
    target_word: Array
    # int32[M, T]: bound of the word's LM value given the words of the option before it
    word_bound: Array
    language: Language
    # (): no language model is on the host
    host: Host | tuple[()] = ()
    # (): no lexicalised reordering
    reordering: Reordering | tuple[()] = ()
    # (): no features but those of the models
    document: Document | tuple[()] = ()


# Indices of Search.number.
LONGEST, DISTORTION_LIMIT, DISTORTION_WEIGHT, FIRST_JUMP, MOSES_CHECK, VALUES, RESEGMENT_SWAP, RIGHT_MOVE = range(8)
LONGEST_VISIT = 8
NUMBERS = 9
# Operations, in the order of Search.operation and of the tallies.
CHANGE, SWAP, RESEGMENT, PERMUTE, LINEARISE, MOVE, INSERTION, SPLIT_AND_SWAP = range(8)
OPERATIONS = 8
# How far a proposal came: columns of the tallies.
EMPTY, TOO_FAR, BELOW_BOUND, BELOW_SCORE, ACCEPTED = range(5)
STAGES = 5
# Not decided yet: a language model on the host must be asked first; all that was looked at is above the threshold;
# the lane rests, and proposes nothing.
WAITING, OPEN, RESTING = 5, 6, 7
# Columns of State.limit.
LIMIT_STEPS, LIMIT_REJECTED, LIMIT_SCORE, LIMIT_PAUSE, LIMIT_TEMPERATURE = range(5)
LIMITS = 5
# Rows of Search.survival.
SWAP_DISTANCE, RESEGMENT_BLOCK, PERMUTE_BLOCK, LINEARISE_BLOCK, MOVE_BLOCK, MOVE_DISTANCE = range(6)
DECAYS = 6
LONGEST_DRAW = 64
# Consecutive rejections of a chain that found nothing to propose and was given up.
GIVEN_UP = (1 << 63) - 1


class Docent(NamedTuple):
    """Proposals are drawn as Docent draws them (docent.py)."""

    draws: Array  # int64[1]: draws of a step that come to nothing before a chain is given up


# Operators of the Gibbs sampler: rows of the tallies where it runs.
RETRANS, MERGE_SPLIT, REORDER, RESEGMENT_WINDOW = range(4)
# Indices of Gibbs.number.
GIBBS_RANDOM_SCAN, GIBBS_PAIRS, GIBBS_WINDOW, GIBBS_BOUNDED = range(4)
GIBBS_NUMBERS = 4
TEMPERATURE_BITS = 28


class Gibbs(NamedTuple):
    """Chains are drawn from the model's distribution, block by block (gibbs.py)."""

    # int64[GIBBS_NUMBERS]: whether blocks are drawn at random; phrases that a phrase may be exchanged with, behind it
    # in the source; most source words of a new segmentation (below 2: none); whether bounds are used (changes nothing)
    number: Array
    # int64[*]: temperatures (1 / scale) in 2^-28, at most 2^36; the steps to the limit are shared evenly among them
    temperature: Array
    # int64[GIBBS_WINDOW + 2, 3]: for each number of words the first row of its patterns, the options of a span that
    # take part, and whether they do in every order
    window: Array
    # int32[*, GIBBS_WINDOW]: ways to cover words, each part as place | words << 4 | rank of the option << 8; -1: none
    pattern: Array


class Sweep(NamedTuple):
    """Chains look at all neighbours of their translation, group by group (sweep.py)."""

    on: Array  # int64[1]: 1


class Temperature(NamedTuple):
    """Proposals that make a state worse may be accepted, too (policies.py)."""

    # int64[*]: temperatures in 2^-28 nat, at most 2^36; the steps to the limit, below 2^52, are shared evenly among
    # them, which are 2048 at most. None: each lane has its own, in State.limit
    level: Array


# Indices of Hastings.number. What is never drawn has this logarithm; sums of others are far from it.
HASTINGS_RIGHT, HASTINGS_IN_ORDER, HASTINGS_EXCHANGED = range(3)
NEVER = -(1 << 62)


class Hastings(NamedTuple):
    """Logarithms of what operations are drawn by, 2^-40 nat: the chains' distribution is that of their temperature
    (hastings.py)."""

    # int64[3]: of a move to the right, less that of one to the left; of a new segmentation in the order of the source,
    # and with two neighbours exchanged; NEVER where that is not drawn
    number: Array
    # int64[O, 2]: of an option's share in the draw of its span; of all others' share (0: there are none)
    option: Array
    # int64[LONGEST_DRAW + 1, 2]: of the weight of a block of so many phrases in a resegmentation, or NEVER; of the sum
    # of the weights up to it
    block: Array
    # int64[*]: ln k, up to 2 more than the longest sentence has words
    count: Array


class Search(NamedTuple):
    """What the user chose, as integers."""

    # int64[NUMBERS]: longest option in source words; distortion limit; distortion weight (2^-40 nat a position);
    # whether the first jump counts; whether Moses' second distortion check is made; option values K'; probability
    # (2^-32) that two neighbours of a new segmentation change places; that a move goes to the right; most steps that a
    # chain stays with a sentence
    number: Array
    # int64[OPERATIONS]: probabilities of the operations, summed, in 2^-32; the last is 2^32
    operation: Array
    # int64[DECAYS, LONGEST_DRAW + 1]: decay^k in 2^-32, of each geometric draw
    survival: Array
    # int64[256, 4]: table of the logarithm (fixed.py)
    logarithm: Array
    # (): our own proposals
    docent: Docent | tuple[()] = ()
    # (): proposals are drawn and judged, one a step
    gibbs: Gibbs | tuple[()] = ()
    # (): proposals are drawn
    sweep: Sweep | tuple[()] = ()
    # (): hill climbing
    temperature: Temperature | tuple[()] = ()
    # (): thresholds without the ratio of a draw and its inverse
    hastings: Hastings | tuple[()] = ()


class State(NamedTuple):
    """What a search writes: one row a lane. A sentence owns one slot and one word place more than it needs for its
    phrases and words: the slot and the word ``</s>`` of its end, behind the last phrase."""

    unit: Array  # int32[L]
    chain: Array  # int64[L]: number of the chain, part of the random counter
    option: Array  # int32[L, P]: the phrases in target order; -1 at the sentence's end and beyond
    place: Array  # int32[L, P]: first word place of the phrase, counted within the sentence
    length: Array  # int32[L, S]: phrases of each sentence
    lm_value: Array  # int32[L, M, W]: LM value of each word in its present context
    lm_state: Array  # int32[L, M, W]: LM state behind it
    covers: Array  # int32[L, P]: source words of the phrase: the first | behind the last << 16
    worth: Array  # int64[L, P]: weighted score of the phrase: option_score, and the LM values of its words
    slack: Array  # int64[L, P]: what the words from this slot on would gain at best if all words before were unknown
    feature: Array  # int64[L, K]: values of the unit: K' of the options, distortion, reordering, each LM, document
    score: Array  # int64[L]
    step: Array  # int64[L]: proposals made
    rejected: Array  # int64[L]: consecutive ones rejected
    tally: Array  # int64[L, OPERATIONS, STAGES]: how far the proposals of each operation came
    # int64[L, LIMITS]: steps; consecutive rejections; score that is enough; step at which to pause; where lanes have
    # temperatures of their own that, 2^-28 nat
    limit: Array
    count: Array  # int32[L, *]: counts of the tables of `Document`, then what features of the document keep
    sum: Array  # int64[L, *]: TOKENS and TYPES of each table, then what features of the document keep


class Ahead(NamedTuple):
    """The first random words of `AHEAD` steps of one chain, made together: as vectors, where the CPU has them."""

    of: Array  # int64[4]: step // AHEAD, chain and key that the words belong to
    word: Array  # int64[8, AHEAD]


# Open places of a layout (layouts.py).
PLACES = 3


class Changed(NamedTuple):
    """By how much a proposal changes the counts of each table; different items, some perhaps by 0. Of a sweep's layout
    what gives way is listed alone."""

    many: Array  # int64[T]: items listed
    item: Array  # int32[T, DOCUMENT_MOST]
    by: Array  # int32[T, DOCUMENT_MOST]
    turn: Array  # int32[T, DOCUMENT_MOST]: 1 where an item begins to occur, -1 where it no longer does, else 0
    work: Array  # int32[DOCUMENT_WORK]: work space, of any feature for the time of one call
    open: Array  # int64[PLACES, 2]: of each open place of a layout its first option, and the one behind the last
    # int64[PLACES, most options of a span]: what each of these may add to the weighted change at most, 2^-40 nat
    ceiling: Array


class Scratch(NamedTuple):
    """Work space of one thread."""

    option: Array  # int32[words of the longest sentence + 1]: the options that a proposal puts in
    origin: Array  # int32[the same]: for each the slot that it had before, or -1 where it is new
    covers: Array  # int32[the same]: for each its source words, as in State
    mark: Array  # int32[the same]: work space of single operations
    random: Array  # int64[RANDOM]: the random stream of a step (philox.py)
    memo_key: Array  # int64[M, memo]: recent LM look-ups, direct-mapped; one column: no memo
    memo_value: Array  # int64[M, memo]
    # int64[3] where a language model is on the host: what it is to be asked: model, state, word (model -1: nothing)
    question: Array = ()
    # (): random words are made when they are asked for
    ahead: Ahead | tuple[()] = ()
    # (): no features of the document
    changed: Changed | tuple[()] = ()


# Words of a random stream (philox.py), and steps whose words are made together.
RANDOM = 20
AHEAD = 16


class Proposals(NamedTuple):
    """One proposal of each of many lanes, between the phases of a step; ``R`` rows.

    Where it is accepted, the slots first .. first + replaced - 1 of the sentence give way to the phrases
    ``option[r, :count]``.
    """

    lane: Array  # int64[R]
    stage: Array  # int64[R]: how far it has come: OPEN, WAITING, RESTING or the stage that it ends in
    operation: Array  # int64[R]
    sentence: Array  # int64[R]: counted within the lane's unit
    first: Array  # int64[R]
    replaced: Array  # int64[R]
    count: Array  # int64[R]
    option: Array  # int32[R, words of the longest sentence + 1]
    origin: Array  # int32[the same]: for each phrase the slot that it had before, or -1 where it is new
    covers: Array  # int32[the same]: for each phrase its source words, as in State
    threshold: Array  # int64[R]: the change of the score must exceed it
    total: Array  # int64[R]: the change by what kernels judge: its upper bound, in the end its exact value
    outside: Array  # int64[R]: the change by what is judged outside, in the same way
