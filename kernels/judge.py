"""Judging a proposal: cheap features exactly, then a bound for the language models, then their exact values.

The total starts as an upper bound of the change of the score: each new phrase counts with its LM bound, each word
that stays with its present value, and behind every seam the `slack` of what follows. Then one word after the other
trades its bound for its exact value. As soon as the total falls to the threshold the proposal is rejected (Hardmeier
et al. 2012, section 2.3, taken from phrases down to words).
"""

from gpusearch.kernels.document import bound_of_document, gap_of_document
from gpusearch.kernels.host import known_answer, on_host
from gpusearch.kernels.language_model import lookup
from gpusearch.kernels.operations import covered, phrase
from gpusearch.kernels.options import behind, first_of, start_of, stop_of
from gpusearch.kernels.records import (
    ACCEPTED,
    BELOW_BOUND,
    BELOW_SCORE,
    DISTORTION_LIMIT,
    DISTORTION_WEIGHT,
    FIRST_JUMP,
    LM_BEGIN,
    LM_END,
    LM_VOCABULARY,
    LM_WEIGHT,
    MOSES_CHECK,
    OPEN,
    OPTION_BOUND,
    OPTION_SCORE,
    OPTION_TARGET,
    OPTION_WORDS,
    SENTENCE_PLACE,
    SENTENCE_SLOT,
    SENTENCE_WORDS,
    TOO_FAR,
    WAITING,
)
from gpusearch.kernels.reordering import change_of_order
from gpusearch.kernels.target import shared, wrapping_product

# Multiplier of the memo's hash; of its product the bits from 40 on are used.
MULTIPLIER = 0x1E3779B97F4A7C15


@shared
def ask(problem, scratch, model, state, word):
    """Value of a word in a state, and the state behind it; -1 where the host has yet to say it."""
    if on_host(problem.host, model):
        key = state * problem.language.info[model, LM_VOCABULARY] + word
        return known_answer(problem.host, scratch.question, model, state, word, key)
    return lookup(problem.language, model, state, word)


@shared
def recall(problem, scratch, model, state, word):
    """`ask` with a memo in front: the language models answer most questions more than once."""
    columns = scratch.memo_key.shape[1]
    if columns == 1:
        return ask(problem, scratch, model, state, word)
    key = state * problem.language.info[model, LM_VOCABULARY] + word
    column = (wrapping_product(key, MULTIPLIER) >> 40) & (columns - 1)
    if scratch.memo_key[model, column] == key:
        packed = scratch.memo_value[model, column]
        return packed >> 32, packed & 0x7FFFFFFF
    value, following = ask(problem, scratch, model, state, word)
    if following < 0:
        return value, following
    scratch.memo_key[model, column] = key
    scratch.memo_value[model, column] = (value << 32) | following
    return value, following


@shared
def jump(search, slot, previous_stop, start):
    """Length of the jump to a phrase in `slot`; the first phrase of a sentence jumps from its start."""
    if slot == 0 and search.number[FIRST_JUMP] == 0:
        return 0
    return abs(start - previous_stop)


@shared
def stop_before(problem, state, lane, sentence, slot):
    """Source position behind the phrase in front of a slot; 0 at the sentence's start."""
    if slot == 0:
        return 0
    return behind(covered(problem, state, lane, sentence, slot - 1))


@shared
def change_of_jumps(problem, search, state, scratch, lane, sentence, first, replaced, count):
    """How much longer the jumps get; -1 in the second place where one exceeds the distortion limit, else 0."""
    limit = search.number[DISTORTION_LIMIT]
    total = 0
    stop = stop_before(problem, state, lane, sentence, first)
    old_stop = stop
    for k in range(count):
        covers = scratch.covers[k] + 0
        length = jump(search, first + k, stop, first_of(covers))
        if length > limit:
            return 0, -1
        total += length
        stop = behind(covers)
    for k in range(replaced):
        covers = covered(problem, state, lane, sentence, first + k)
        total -= jump(search, first + k, old_stop, first_of(covers))
        old_stop = behind(covers)
    following = phrase(problem, state, lane, sentence, first + replaced)
    if following >= 0:
        start = first_of(covered(problem, state, lane, sentence, first + replaced))
        length = jump(search, first + count, stop, start)
        if length > limit:
            return 0, -1
        total += length - jump(search, first + replaced, old_stop, start)
    return total, 0


@shared
def lm_state_before(problem, state, model, lane, sentence, place):
    """State of a language model in front of a word place of the sentence."""
    if place == 0:
        return problem.language.info[model, LM_BEGIN]
    return state.lm_state[lane, model, problem.sentence[sentence, SENTENCE_PLACE] + place - 1]


@shared
def judge(problem, search, state, scratch, lane, sentence, first, replaced, count, threshold):
    """(stage that the proposal reaches, exact change of the score where it is accepted)."""
    stage, total = bound_change(problem, search, state, scratch, lane, sentence, first, replaced, count)
    if stage == TOO_FAR:
        return TOO_FAR, 0
    if total <= threshold:
        return BELOW_BOUND, 0
    return exact_change(problem, search, state, scratch, lane, sentence, first, replaced, count, threshold, total)


@shared
def bound_change(problem, search, state, scratch, lane, sentence, first, replaced, count):
    """(OPEN, upper bound of the change of the score), without a look at a language model; or TOO_FAR."""
    stage, total = bound_of_phrases(problem, search, state, scratch, lane, sentence, first, replaced, count)
    if stage == TOO_FAR:
        return TOO_FAR, 0
    return OPEN, total + bound_of_document(
        problem.document, problem, search, state, scratch, lane, sentence, first, replaced, count
    )


@shared
def bound_of_phrases(problem, search, state, scratch, lane, sentence, first, replaced, count):
    """`bound_change` without the features of the document."""
    slots = problem.sentence[sentence, SENTENCE_SLOT] + first
    total = 0
    if not (count == 1 and replaced == 1 and scratch.covers[0] == state.covers[lane, slots]):
        jumps, fault = change_of_jumps(problem, search, state, scratch, lane, sentence, first, replaced, count)
        if fault < 0:
            return TOO_FAR, 0
        total = -search.number[DISTORTION_WEIGHT] * jumps
    total += change_of_order(problem.reordering, problem, state, scratch, lane, sentence, first, replaced, count)
    for k in range(replaced):
        total -= state.worth[lane, slots + k]
    kept = -1
    for k in range(count):
        option = scratch.option[k]
        origin = scratch.origin[k]
        if origin < 0:
            total += problem.option_score[option, OPTION_SCORE] + problem.option_score[option, OPTION_BOUND]
        else:
            total += state.worth[lane, slots - first + origin]
            if origin != kept:
                total += state.slack[lane, slots - first + origin]
        kept = origin + 1 if origin >= 0 else -1
    return OPEN, total + state.slack[lane, slots + replaced]


@shared
def exact_change(problem, search, state, scratch, lane, sentence, first, replaced, count, threshold, total):
    """(ACCEPTED, exact change) where that is above the threshold; `total` is its bound, from `bound_change`.

    Else BELOW_SCORE or TOO_FAR; WAITING, with ``scratch.question`` set, where the host must be asked first.
    """
    for model in range(problem.language.info.shape[0]):
        total, waits = score_words(
            problem, state, scratch, model, lane, sentence, first, replaced, count, threshold, total
        )
        if waits:
            return WAITING, 0
        if total <= threshold:
            return BELOW_SCORE, 0
    total += gap_of_document(
        problem.document, total - threshold, problem, search, state, scratch, lane, sentence, first, replaced, count
    )
    if total <= threshold:
        return BELOW_SCORE, 0
    if search.number[MOSES_CHECK] and not within_reach(
        problem, search, state, scratch, lane, sentence, first, replaced, count
    ):
        return TOO_FAR, 0
    return ACCEPTED, total


@shared
def score_words(problem, state, scratch, model, lane, sentence, first, replaced, count, threshold, total):
    """Trade the bounds of one language model for its exact values, from the left; stop at the threshold.

    Returns the new total, and whether the host must be asked before it can be known.
    Slack is that of all language models, so only the last of them takes it off.
    """
    language = problem.language
    weight = language.info[model, LM_WEIGHT]
    last = model == language.info.shape[0] - 1
    slots = problem.sentence[sentence, SENTENCE_SLOT]
    places = problem.sentence[sentence, SENTENCE_PLACE]
    node = lm_state_before(problem, state, model, lane, sentence, state.place[lane, slots + first])
    kept = -1
    slack = 0  # still in the total for the present run of phrases that only moved
    settled = False  # whether the present run has its old states again
    for k in range(count):
        option = scratch.option[k]
        origin = scratch.origin[k]
        words = problem.option_place[option, OPTION_WORDS]
        if origin != kept or origin < 0:
            total -= slack
            slack = 0
            settled = False
            if total <= threshold:
                return total, False
        if origin < 0:
            target = problem.option_place[option, OPTION_TARGET]
            for j in range(words):
                value, node = recall(problem, scratch, model, node, problem.target_word[model, target + j])
                if node < 0:
                    return total, True
                total += weight * (value - problem.word_bound[model, target + j])
                if total <= threshold:
                    return total, False
            kept = -1
            continue
        place = state.place[lane, slots + origin]
        if origin != kept:
            if last:
                slack = state.slack[lane, slots + origin]
            settled = node == lm_state_before(problem, state, model, lane, sentence, place)
        j = 0
        while j < words and not settled:
            target = problem.option_place[option, OPTION_TARGET]
            value, node = recall(problem, scratch, model, node, problem.target_word[model, target + j])
            if node < 0:
                return total, True
            total += weight * (value - state.lm_value[lane, model, places + place + j])
            settled = node == state.lm_state[lane, model, places + place + j]
            j += 1
            if total <= threshold:
                return total, False
        if settled:
            total -= slack
            slack = 0
            if words > 0:
                node = state.lm_state[lane, model, places + place + words - 1]
            if total <= threshold:
                return total, False
        kept = origin + 1
    total -= slack
    if total <= threshold:
        return total, False

    # Behind the window: the words are the old ones, up to the first old state.
    slot = first + replaced
    place = state.place[lane, slots + slot]
    settled = node == lm_state_before(problem, state, model, lane, sentence, place)
    while not settled:
        option = state.option[lane, slots + slot]
        words = 1
        if option >= 0:
            words = problem.option_place[option, OPTION_WORDS]
        j = 0
        while j < words and not settled:
            word = language.info[model, LM_END]
            if option >= 0:
                word = problem.target_word[model, problem.option_place[option, OPTION_TARGET] + j]
            value, node = recall(problem, scratch, model, node, word)
            if node < 0:
                return total, True
            total += weight * (value - state.lm_value[lane, model, places + place])
            if total <= threshold:
                return total, False
            settled = node == state.lm_state[lane, model, places + place]
            place += 1
            j += 1
        if option < 0:
            settled = True
        slot += 1
    if last:
        total -= state.slack[lane, slots + first + replaced]
    return total, False


@shared
def within_reach(problem, search, state, scratch, lane, sentence, first, replaced, count):
    """Moses' second distortion check on the sentence as proposed: whoever jumps over a gap must be able to jump back.

    For a phrase that does not start at the first gap g, the source position behind it must not lie further than the
    distortion limit from g.
    """
    limit = search.number[DISTORTION_LIMIT]
    words = problem.sentence[sentence, SENTENCE_WORDS]
    for position in range(words):
        scratch.mark[position] = 0
    gap = 0
    slot = 0
    while gap < words:
        if slot < first:
            option = phrase(problem, state, lane, sentence, slot)
        elif slot < first + count:
            option = scratch.option[slot - first]
        else:
            option = phrase(problem, state, lane, sentence, slot - count + replaced)
        start = start_of(problem, option)
        stop = stop_of(problem, option)
        if start != gap and stop - gap > limit:
            return False
        for position in range(start, stop):
            scratch.mark[position] = 1
        while gap < words and scratch.mark[gap]:
            gap += 1
        slot += 1
    return True
