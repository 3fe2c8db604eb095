"""Writing an accepted proposal into the state, and computing a state from nothing."""

from gpusearch.kernels.document import commit_document, document_values, refresh_document
from gpusearch.kernels.host import LENGTH, host_reach, on_host
from gpusearch.kernels.judge import change_of_jumps, jump, lm_state_before, recall
from gpusearch.kernels.language_model import lookup_bound, state_length
from gpusearch.kernels.options import packed, start_of, stop_of
from gpusearch.kernels.records import (
    DISTORTION_WEIGHT,
    LM_END,
    LM_ORDER,
    LM_WEIGHT,
    OPTION_SCORE,
    OPTION_TARGET,
    OPTION_WORDS,
    SENTENCE_PLACE,
    SENTENCE_SLOT,
    UNIT_FIRST_SENTENCE,
    UNIT_SENTENCES,
    VALUES,
)
from gpusearch.kernels.reordering import count_order
from gpusearch.kernels.target import shared


@shared
def commit(problem, search, state, scratch, lane, local, sentence, first, replaced, count):
    """Replace the slots first .. first + replaced - 1 by the phrases of ``scratch.option``; keep every sum exact.

    `local` is the sentence's number within the unit, `sentence` that within the problem.
    """
    slots = problem.sentence[sentence, SENTENCE_SLOT]
    jumps, _ = change_of_jumps(problem, search, state, scratch, lane, sentence, first, replaced, count)
    change_of_score = -search.number[DISTORTION_WEIGHT] * jumps
    values = search.number[VALUES]
    state.feature[lane, values] = state.feature[lane, values] - (jumps << 20)
    change_of_score += count_order(
        problem.reordering, problem, search, state, lane, sentence, first, first + replaced + 1, -1
    )
    change_of_score += commit_document(
        problem.document, problem, search, state, scratch, lane, sentence, first, replaced, count
    )
    more_words = 0
    for k in range(replaced):
        option = state.option[lane, slots + first + k]
        more_words -= problem.option_place[option, OPTION_WORDS]
        change_of_score -= problem.option_score[option, OPTION_SCORE]
        for value in range(values):
            state.feature[lane, value] = state.feature[lane, value] - problem.option_value[option, value]
    for k in range(count):
        option = scratch.option[k]
        more_words += problem.option_place[option, OPTION_WORDS]
        change_of_score += problem.option_score[option, OPTION_SCORE]
        for value in range(values):
            state.feature[lane, value] = state.feature[lane, value] + problem.option_value[option, value]
    place = state.place[lane, slots + first]
    for model in range(problem.language.info.shape[0]):
        _forget_words(problem, state, model, lane, sentence, first, replaced)
    _shift_words(problem, state, lane, sentence, first + replaced, more_words)
    shift_slots(state, lane, slots + first + replaced, slots + state.length[lane, local], count - replaced, more_words)
    state.length[lane, local] = state.length[lane, local] + count - replaced
    for k in range(count):
        option = scratch.option[k]
        state.option[lane, slots + first + k] = option
        state.place[lane, slots + first + k] = place
        state.worth[lane, slots + first + k] = problem.option_score[option, OPTION_SCORE]
        state.covers[lane, slots + first + k] = packed(start_of(problem, option), stop_of(problem, option))
        place += problem.option_place[option, OPTION_WORDS]
    change_of_score += count_order(
        problem.reordering, problem, search, state, lane, sentence, first, first + count + 1, 1
    )
    last = first + count
    for model in range(problem.language.info.shape[0]):
        change, reached = _rescore(problem, state, scratch, model, lane, sentence, first, count)
        change_of_score += change
        last = max(last, reached)
    state.score[lane] = state.score[lane] + change_of_score
    _renew_slack(problem, state, lane, sentence, first, last)


@shared
def column_of(problem, state, model):
    """The place of a language model's value among the features."""
    return state.feature.shape[1] - document_values(problem.document) - problem.language.info.shape[0] + model


@shared
def _forget_words(problem, state, model, lane, sentence, first, replaced):
    """Take the LM values of the words that go out of the sums (the score follows in `_rescore`)."""
    slots = problem.sentence[sentence, SENTENCE_SLOT]
    places = problem.sentence[sentence, SENTENCE_PLACE]
    total = 0
    for place in range(state.place[lane, slots + first], state.place[lane, slots + first + replaced]):
        total += state.lm_value[lane, model, places + place]
    column = column_of(problem, state, model)
    state.feature[lane, column] = state.feature[lane, column] - total
    state.score[lane] = state.score[lane] - problem.language.info[model, LM_WEIGHT] * total


@shared
def _shift_words(problem, state, lane, sentence, slot, by):
    """Move the words from `slot` to the sentence's end by some places."""
    if by == 0:
        return
    slots = problem.sentence[sentence, SENTENCE_SLOT]
    places = problem.sentence[sentence, SENTENCE_PLACE]
    start = places + state.place[lane, slots + slot]
    while state.option[lane, slots + slot] >= 0:
        slot += 1
    stop = places + state.place[lane, slots + slot] + 1
    for model in range(problem.language.info.shape[0]):
        if by > 0:
            for place in range(stop - 1, start - 1, -1):
                state.lm_value[lane, model, place + by] = state.lm_value[lane, model, place]
                state.lm_state[lane, model, place + by] = state.lm_state[lane, model, place]
        else:
            for place in range(start, stop):
                state.lm_value[lane, model, place + by] = state.lm_value[lane, model, place]
                state.lm_state[lane, model, place + by] = state.lm_state[lane, model, place]


@shared
def _move_slot(state, lane, source, target, more_words):
    state.option[lane, target] = state.option[lane, source]
    state.place[lane, target] = state.place[lane, source] + more_words
    state.worth[lane, target] = state.worth[lane, source]
    state.slack[lane, target] = state.slack[lane, source]
    state.covers[lane, target] = state.covers[lane, source]


@shared
def shift_slots(state, lane, start, stop, by, more_words):
    """Move the slots start .. stop (the sentence's end) by some slots."""
    if by > 0:
        for slot in range(stop, start - 1, -1):
            _move_slot(state, lane, slot, slot + by, more_words)
    elif by < 0 or more_words != 0:
        for slot in range(start, stop + 1):
            _move_slot(state, lane, slot, slot + by, more_words)
        for slot in range(stop + by + 1, stop + 1):
            state.option[lane, slot] = -1


@shared
def _rescore(problem, state, scratch, model, lane, sentence, first, count):
    """Exact values of one LM for the new words and those behind them whose context changed.

    Returns the weighted change and the slot of the last word that was rescored.
    """
    language = problem.language
    weight = language.info[model, LM_WEIGHT]
    slots = problem.sentence[sentence, SENTENCE_SLOT]
    places = problem.sentence[sentence, SENTENCE_PLACE]
    column = column_of(problem, state, model)
    place = state.place[lane, slots + first]
    node = lm_state_before(problem, state, model, lane, sentence, place)
    total = 0
    slot = first
    settled = False
    while not settled:
        fresh = slot < first + count
        option = state.option[lane, slots + slot]
        words = 1
        if option >= 0:
            words = problem.option_place[option, OPTION_WORDS]
        in_phrase = 0
        for j in range(words):
            word = language.info[model, LM_END]
            if option >= 0:
                word = problem.target_word[model, problem.option_place[option, OPTION_TARGET] + j]
            value, node = recall(problem, scratch, model, node, word)
            change = value
            if not fresh:
                change -= state.lm_value[lane, model, places + place]
                settled = node == state.lm_state[lane, model, places + place]
            state.lm_value[lane, model, places + place] = value
            state.lm_state[lane, model, places + place] = node
            in_phrase += change
            place += 1
            if settled:
                break
        total += in_phrase
        state.worth[lane, slots + slot] = state.worth[lane, slots + slot] + weight * in_phrase
        if option < 0:
            settled = True
        slot += 1
    state.feature[lane, column] = state.feature[lane, column] + total
    return weight * total, slot - 1


@shared
def _renew_slack(problem, state, lane, sentence, first, last):
    """Slack of the slots up to `last`, from the first one whose reach enters slot `first` on."""
    language = problem.language
    slots = problem.sentence[sentence, SENTENCE_SLOT]
    reach = 0
    for model in range(language.info.shape[0]):
        reach = max(reach, language.info[model, LM_ORDER] - 1, host_reach(problem.host, model))
    start = first
    while start > 0 and state.place[lane, slots + start] + reach > state.place[lane, slots + first]:
        start -= 1
    for slot in range(start, last + 1):
        total = 0
        for model in range(language.info.shape[0]):
            total += language.info[model, LM_WEIGHT] * slack(problem, state, model, lane, sentence, slot)
        state.slack[lane, slots + slot] = total


@shared
def slack(problem, state, model, lane, sentence, slot):
    """What the words from a slot on would gain at best in one LM if all words before the slot were unknown."""
    language = problem.language
    slots = problem.sentence[sentence, SENTENCE_SLOT]
    places = problem.sentence[sentence, SENTENCE_PLACE]
    place = state.place[lane, slots + slot]
    reach = max(language.info[model, LM_ORDER] - 1, host_reach(problem.host, model))
    node = 0
    known = 0
    total = 0
    while known < reach:
        option = state.option[lane, slots + slot]
        if option < 0:
            bound, node = lookup_bound(language, model, node, language.info[model, LM_END])
            return total + bound - state.lm_value[lane, model, places + place + known]
        target = problem.option_place[option, OPTION_TARGET]
        j = 0
        while j < problem.option_place[option, OPTION_WORDS] and known < reach:
            bound, node = lookup_bound(language, model, node, problem.target_word[model, target + j])
            total += bound - state.lm_value[lane, model, places + place + known]
            known += 1
            if not _may_reach(problem, state, model, lane, places + place + known - 1, node, known):
                return total  # the context to the left of here no longer matters
            j += 1
        slot += 1
    return total


@shared
def _may_reach(problem, state, model, lane, place, node, known):
    """Whether words in front of the last `known` ones may matter to what follows the word in `place`.

    `node` is the state behind the known words where nothing stands in front of them.
    """
    if on_host(problem.host, model):
        return state.lm_state[lane, model, place] & LENGTH >= known
    return state_length(problem.language, model, node) >= known


@shared
def note_spans(problem, state, lane):
    """The source words of each phrase of a lane, from ``state.option`` and ``state.length``."""
    unit = state.unit[lane]
    for local in range(problem.unit[unit, UNIT_SENTENCES]):
        slots = problem.sentence[problem.unit[unit, UNIT_FIRST_SENTENCE] + local, SENTENCE_SLOT]
        for slot in range(slots, slots + state.length[lane, local]):
            option = state.option[lane, slot]
            state.covers[lane, slot] = packed(start_of(problem, option), stop_of(problem, option))


@shared
def refresh(problem, search, state, scratch, lane):
    """Compute everything that follows from ``state.option`` and ``state.length``, for a whole lane.

    The score of a state from nothing: what the sums of a chain must equal at any time.
    """
    unit = state.unit[lane]
    note_spans(problem, state, lane)
    score = 0
    for column in range(state.feature.shape[1]):
        state.feature[lane, column] = 0
    for local in range(problem.unit[unit, UNIT_SENTENCES]):
        sentence = problem.unit[unit, UNIT_FIRST_SENTENCE] + local
        slots = problem.sentence[sentence, SENTENCE_SLOT]
        phrases = state.length[lane, local]
        values = search.number[VALUES]
        place = 0
        stop = 0
        for slot in range(phrases):
            option = state.option[lane, slots + slot]
            state.place[lane, slots + slot] = place
            state.worth[lane, slots + slot] = problem.option_score[option, OPTION_SCORE]
            place += problem.option_place[option, OPTION_WORDS]
            score += problem.option_score[option, OPTION_SCORE]
            for value in range(values):
                state.feature[lane, value] = state.feature[lane, value] + problem.option_value[option, value]
            length = jump(search, slot, stop, start_of(problem, option))
            state.feature[lane, values] = state.feature[lane, values] - (length << 20)
            score -= search.number[DISTORTION_WEIGHT] * length
            stop = stop_of(problem, option)
        state.option[lane, slots + phrases] = -1
        state.place[lane, slots + phrases] = place
        state.worth[lane, slots + phrases] = 0
        score += count_order(problem.reordering, problem, search, state, lane, sentence, 0, phrases, 1)
        if phrases > 0:  # an empty sentence says nothing, not even that it ends
            for model in range(problem.language.info.shape[0]):
                change, _ = _rescore(problem, state, scratch, model, lane, sentence, 0, phrases + 1)
                score += change
            _renew_slack(problem, state, lane, sentence, 0, phrases)
    score += refresh_document(problem.document, problem, search, state, scratch, lane)
    state.score[lane] = score
