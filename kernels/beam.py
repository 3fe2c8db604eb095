"""Phrase-based stack decoding (Koehn et al. 2003) with cube pruning (Huang and Chiang 2007) or exact thresholds.

A stack holds hypotheses that cover equally many source words. It is filled from the groups of the stacks before it:
a grid is a group's hypotheses, best first, by the options of a span, best first. Cells are taken from a queue by the
best that they can be; a cell that was taken puts its neighbours in.

- With ``pop_limit`` the queue holds cells by their estimates (score and future) and a stack ends after so many of
  them were best: cube pruning.
- Without, it holds rows by upper bounds of the estimates in them, and a stack ends when none can be above its floor:
  what stack decoding without any early discarding would keep, found without scoring the rest.

Where only derivations above a goal are of use (``Beam.goal``: the score of one that is known), a grid has a floor of
its own: hypotheses whose uncovered words cannot, by upper bounds, bring them above the goal are not kept.

A cell's language models are looked up word by word from the left, each word trading its bound for its value, until
the state is the one that the option alone leads to, or the sum falls to the floor.
"""

from gpusearch.kernels.beam_document import gain_of_document, keep_gain, kept_gain, left_to_keep, note_for_document
from gpusearch.kernels.beam_future import end_bound, excess_of, look_ahead
from gpusearch.kernels.beam_order import backward_score, forward_score, grid_turn
from gpusearch.kernels.beam_records import (
    BEAM_ARCS,
    BEAM_EVALUATED,
    BEAM_FLOOR,
    BEAM_KEPT,
    BEAM_POPS,
    BEAM_WINDOW,
    BEAM_WORDS,
    LOWEST,
    MASK_BITS,
)
from gpusearch.kernels.beam_stack import begin_stack, close_stack, put
from gpusearch.kernels.heap import heapify, sift_down, sift_up
from gpusearch.kernels.judge import recall
from gpusearch.kernels.options import longest_of, span_row
from gpusearch.kernels.records import (
    DISTORTION_LIMIT,
    DISTORTION_WEIGHT,
    FIRST_JUMP,
    LM_BEGIN,
    LM_END,
    LM_FIRST_SLOT,
    LM_WEIGHT,
    OPTION_LENGTH,
    OPTION_START,
    OPTION_TARGET,
    OPTION_WORDS,
    SENTENCE_WORDS,
)
from gpusearch.kernels.target import cpu_driver, shared

# Stands where a hypothesis does not reach the sentence's end.
NO_END = LOWEST


@shared
def begin_sentence(problem, work, sentence):
    """The empty hypothesis, alone in the first stack."""
    words = problem.sentence[sentence, SENTENCE_WORDS] + 0
    work.cursor[BEAM_ARCS] = 0
    work.cursor[BEAM_KEPT] = 0
    work.cursor[BEAM_EVALUATED] = 0
    work.cursor[BEAM_WORDS] = words
    work.score[0] = 0
    work.reach[0] = 0
    work.option[0] = -1
    work.back[0] = -1
    for model in range(problem.language.info.shape[0]):
        work.state[model, 0] = problem.language.info[model, LM_BEGIN]
    work.group_first[0] = 0
    work.group_first[1] = 1
    work.group_gap[0] = 0
    work.group_mask[0] = 0
    work.group_end[0] = 0
    work.group_left[0] = -1
    work.group_future[0] = work.future[words]
    work.stack[0] = 0
    work.stack[1] = 1


@shared
def add_grids(problem, search, beam, work, sentence, group, length, ends, count):
    """Grids of a group and all spans of so many words that may follow (and end it); returns the number of grids then.

    A span may follow if its words are free, the jump to it is within the limit, and so is, where it leaves the gap
    open, the way from its end back to the gap.
    """
    words = problem.sentence[sentence, SENTENCE_WORDS] + 0
    stride = words + 1
    gap = work.group_gap[group] + 0
    mask = work.group_mask[group] + 0
    end = work.group_end[group] + 0
    before = work.group_left[group] + 0
    limit = search.number[DISTORTION_LIMIT] + 0
    window = beam.number[BEAM_WINDOW] + 0
    goal = beam.goal[sentence] + 0
    excess = 0
    if goal > LOWEST:
        excess = excess_of(work, gap, mask, words) + end_bound(problem)
    note_for_document(problem.document, work, sentence, gap, mask)
    start = gap
    while start < words and (start == gap or start + length - gap <= window):
        # The run of free words from here on.
        stop = start
        rest = mask >> (start - gap)
        if rest == 0:
            stop = words
        else:
            while rest & 1 == 0:
                rest >>= 1
                stop += 1
        left = start
        future = work.group_future[group] - work.future[left * stride + stop]
        while start + length <= stop and (start == gap or start + length - gap <= window):
            row = span_row(problem, sentence, start, length)
            if abs(start - end) <= limit and problem.span[row] < problem.span[row + 1]:
                left_over = work.future[left * stride + start] + work.future[(start + length) * stride + stop]
                gained = gain_of_document(problem.document, work, sentence, before, end, start, start + length)
                gained = keep_gain(problem.document, work, count, gained)
                work.grid_base[count] = future + left_over + gained - jump_cost(search, group, end, start)
                work.grid_group[count] = group
                work.grid_span[count] = row
                work.grid_turn[count] = grid_turn(problem.reordering, before, end, start, start + length)
                work.grid_least[count] = goal
                if goal > LOWEST and not ends:
                    # What is not covered then, and the way back to the gap.
                    over = work.excess[left * stride + start] + work.excess[(start + length) * stride + stop]
                    over += excess - work.excess[left * stride + stop] + beam.forward[row]
                    if start > gap:
                        over -= (start + length - gap) * search.number[DISTORTION_WEIGHT]
                    work.grid_least[count] = goal - over
                count += 1
            start += 1
        # On to the next free word behind the run.
        start = max(start, stop)
        while start - gap < MASK_BITS and (mask >> (start - gap)) & 1:
            start += 1
    return count


@shared
def evaluate(problem, beam, work, node, option, total, ends, floor):
    """Exact estimate of a hypothesis, `total` being its upper bound, with ``work.fresh``; or a bound at the floor."""
    target = problem.option_place[option, OPTION_TARGET] + 0
    last = target + problem.option_place[option, OPTION_WORDS]
    info = problem.language.info
    for model in range(info.shape[0]):
        weight = info[model, LM_WEIGHT]
        state = work.state[model, node] + 0
        j = target
        while j < last:
            value, state = recall(problem, work, model, state, problem.target_word[model, j] + 0)
            total += weight * (value - problem.word_bound[model, j])
            if state == beam.word_state[model, j]:
                total += weight * beam.word_slack[model, j]
                state = beam.word_state[model, last - 1] + 0
                j = last
            if total <= floor:
                return total
            j += 1
        if ends:
            value, _ = recall(problem, work, model, state, info[model, LM_END])
            total += weight * (value - problem.language.extreme[info[model, LM_FIRST_SLOT] + info[model, LM_END]])
            state = 0
        work.fresh[model] = state
    return total


@shared
def try_cell(problem, search, beam, work, grid, row, column, end_worth):
    """Evaluate the hypothesis in a cell of a grid, and put it into the stack; returns its estimate or a bound of it.

    `end_worth`: upper bound of what the sentence's end adds where the hypothesis reaches it, else `NO_END`.
    """
    group = work.grid_group[grid] + 0
    node = work.group_first[group] + row
    turn = work.grid_turn[grid] + 0
    option = beam.ranked[turn, problem.span[work.grid_span[grid]] + column] + 0
    ends = end_worth != NO_END
    floor = floor_of(work, grid)
    total = work.score[node] + work.grid_base[grid] + beam.bound[option]
    total += forward_score(problem.reordering, work.option[node] + 0, turn)
    total += backward_score(problem.reordering, option, turn)
    if ends:
        total += end_worth
    total = evaluate(problem, beam, work, node, option, total, ends, floor)
    work.cursor[BEAM_EVALUATED] += 1
    if total <= floor:
        return total
    start = problem.option_place[option, OPTION_START] + 0
    length = problem.option_place[option, OPTION_LENGTH] + 0
    gap = work.group_gap[group] + 0
    mask = work.group_mask[group] + 0
    future = work.grid_base[grid] + jump_cost(search, group, work.group_end[group] + 0, start)
    future -= kept_gain(problem.document, work, grid)
    if start == gap:
        gap += length
        mask = mask >> length if length <= MASK_BITS else 0
        while mask & 1:
            mask >>= 1
            gap += 1
    else:
        mask |= ((1 << length) - 1) << (start - gap)
    stop = gap if ends else start + length  # nothing follows: where the last phrase ends does not matter
    left = -1 if ends else left_to_keep(problem.document, problem, gap, mask, start)
    put(problem, beam, work, total, future, node, option, gap, mask, stop, left)
    return total


@shared
def jump_cost(search, group, end, start):
    """What the jump to a phrase takes off the score; group 0 is that of the empty hypothesis."""
    if group == 0 and search.number[FIRST_JUMP] == 0:
        return 0
    return abs(start - end) * search.number[DISTORTION_WEIGHT]


@shared
def find_grids(problem, search, beam, work, sentence, covered):
    """All grids whose hypotheses cover so many words; returns their number."""
    count = 0
    ends = covered == problem.sentence[sentence, SENTENCE_WORDS]
    for length in range(1, min(longest_of(problem, sentence), covered) + 1):
        for group in range(work.stack[covered - length], work.stack[covered - length + 1]):
            count = add_grids(problem, search, beam, work, sentence, group, length, ends, count)
    return count


@shared
def floor_of(work, grid):
    """What the estimates of a grid's hypotheses must be above."""
    return max(work.cursor[BEAM_FLOOR] + 0, work.grid_least[grid] + 0)


@shared
def row_bound(problem, beam, work, grid, row):
    """Upper bound of the estimates of a grid's rows from one on, the sentence's end left out."""
    node = work.group_first[work.grid_group[grid]] + row
    first = problem.span[work.grid_span[grid]] + 0
    return work.reach[node] + work.grid_base[grid] + beam.key[work.grid_turn[grid], first]


@shared
def fill_by_bound(problem, search, beam, work, grids, end_worth):
    """Evaluate every cell that may be above the floor, rows with the best bounds first."""
    added = end_worth if end_worth != NO_END else 0
    count = 0
    for grid in range(grids):
        key = row_bound(problem, beam, work, grid, 0)
        if key + added > work.grid_least[grid]:
            work.slot_row[grid] = 0
            work.heap_slot[count] = grid
            work.heap_key[count] = key
            count += 1
    heapify(work.heap_key, work.heap_slot, count)
    while count > 0 and work.heap_key[0] + added > work.cursor[BEAM_FLOOR]:
        grid = work.heap_slot[0] + 0
        row = work.slot_row[grid] + 0
        span = work.grid_span[grid] + 0
        options = problem.span[span + 1] - problem.span[span]
        turn = work.grid_turn[grid] + 0
        node = work.group_first[work.grid_group[grid]] + row
        worth = work.score[node] + forward_score(problem.reordering, work.option[node] + 0, turn)
        worth += work.grid_base[grid] + added
        column = 0
        while column < options and worth + beam.key[turn, problem.span[span] + column] > floor_of(work, grid):
            try_cell(problem, search, beam, work, grid, row, column, end_worth)
            column += 1
        row += 1
        group = work.grid_group[grid] + 0
        more = work.group_first[group] + row < work.group_first[group + 1]
        if more:
            work.slot_row[grid] = row
            work.heap_key[0] = row_bound(problem, beam, work, grid, row)
            more = work.heap_key[0] + added > work.grid_least[grid]
        if not more:
            count -= 1
            work.heap_key[0] = work.heap_key[count]
            work.heap_slot[0] = work.heap_slot[count]
        if count > 0:
            sift_down(work.heap_key, work.heap_slot, 0, count)


@shared
def queue_cell(problem, search, beam, work, slot, place, grid, row, column, end_worth):
    """Evaluate a cell and write it into a slot and a place of the queue, which is put right by the caller."""
    work.slot_grid[slot] = grid
    work.slot_row[slot] = row
    work.slot_column[slot] = column
    work.heap_slot[place] = slot
    work.heap_key[place] = try_cell(problem, search, beam, work, grid, row, column, end_worth)


@shared
def fill_by_score(problem, search, beam, work, grids, end_worth):
    """Cube pruning: the neighbours of the best cells are evaluated, until so many were best.

    A cell's neighbours are the next one of its row and, for the first of a row, the first of the next row: so each
    cell comes once.
    """
    for grid in range(grids):
        queue_cell(problem, search, beam, work, grid, grid, grid, 0, 0, end_worth)
    heapify(work.heap_key, work.heap_slot, grids)
    count = grids
    slots = grids
    left = beam.number[BEAM_POPS] + 0
    while count > 0 and left > 0:
        left -= 1
        slot = work.heap_slot[0] + 0
        grid = work.slot_grid[slot] + 0
        row = work.slot_row[slot] + 0
        column = work.slot_column[slot] + 0
        group = work.grid_group[grid] + 0
        span = work.grid_span[grid] + 0
        below = column == 0 and work.group_first[group] + row + 1 < work.group_first[group + 1]
        if column + 1 < problem.span[span + 1] - problem.span[span]:
            queue_cell(problem, search, beam, work, slot, 0, grid, row, column + 1, end_worth)
        else:
            count -= 1
            work.heap_key[0] = work.heap_key[count]
            work.heap_slot[0] = work.heap_slot[count]
        if count > 0:
            sift_down(work.heap_key, work.heap_slot, 0, count)
        if below:
            queue_cell(problem, search, beam, work, slots, count, grid, row + 1, 0, end_worth)
            sift_up(work.heap_key, work.heap_slot, count)
            slots += 1
            count += 1


@shared
def fill_stack(problem, search, beam, work, sentence, covered):
    """Fill the stack of hypotheses that cover so many words, and close it."""
    begin_stack(beam, work)
    end_worth = NO_END
    if covered == problem.sentence[sentence, SENTENCE_WORDS]:
        end_worth = end_bound(problem)
    grids = find_grids(problem, search, beam, work, sentence, covered)
    if beam.number[BEAM_POPS] > 0:
        fill_by_score(problem, search, beam, work, grids, end_worth)
    else:
        fill_by_bound(problem, search, beam, work, grids, end_worth)
    close_stack(problem, beam, work, covered)


@shared
def search_sentence(problem, search, beam, work, result, sentence):
    """The best derivation of a sentence, into its row of the result; none where no derivation is above the goal."""
    words = problem.sentence[sentence, SENTENCE_WORDS] + 0
    look_ahead(problem, beam, work, sentence)
    begin_sentence(problem, work, sentence)
    for covered in range(1, words + 1):
        fill_stack(problem, search, beam, work, sentence, covered)
    result.evaluated[sentence] = work.cursor[BEAM_EVALUATED]
    if work.stack[words] == work.stack[words + 1]:
        result.length[sentence] = 0
        return
    # All hypotheses of the last stack have recombined: one is left.
    node = work.group_first[work.stack[words]] + 0
    result.score[sentence] = work.score[node]
    count = 0
    while work.back[node] >= 0:
        count += 1
        node = work.back[node] + 0
    result.length[sentence] = count
    node = work.group_first[work.stack[words]] + 0
    while count > 0:
        count -= 1
        result.option[sentence, count] = work.option[node]
        node = work.back[node] + 0


@cpu_driver
def beam_sentences(problem, search, beam, work, result, sentences, stop):
    """Search the sentences listed (int64[*]); sooner ended where ``stop[0]`` is set meanwhile. Returns how many."""
    done = 0
    for sentence in sentences:
        if stop[0]:
            break
        search_sentence(problem, search, beam, work, result, sentence)
        done += 1
    return done
