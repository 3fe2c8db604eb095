"""The stack at work: hypotheses are put in, recombined, thinned out, and in the end kept in groups.

Two hypotheses recombine where no continuation tells them apart: the same words are covered, the last phrase ends at
the same place, and the language models are in the same states (which hold no more words than may matter).
"""

from gpusearch.kernels.beam_hash import first_entry, mix
from gpusearch.kernels.beam_order import best_prospect, hash_prospects, same_prospects
from gpusearch.kernels.beam_records import (
    BEAM_ARCS,
    BEAM_BEST,
    BEAM_FLOOR,
    BEAM_GRAPH,
    BEAM_HELD,
    BEAM_KEPT,
    BEAM_STACK,
    BEAM_WIDTH,
    BEAM_WORDS,
    LOWEST,
)
from gpusearch.kernels.heap import nth_largest, sort_falling
from gpusearch.kernels.target import shared


@shared
def clear_table(work, size):
    for entry in range(size):
        work.table[entry] = -1


@shared
def begin_stack(beam, work):
    """Empty the stack at work."""
    work.cursor[BEAM_HELD] = 0
    work.cursor[BEAM_FLOOR] = LOWEST
    work.cursor[BEAM_BEST] = LOWEST
    clear_table(work, work.table.shape[0])


@shared
def same_state(problem, work, place, option, gap, mask, end, left):
    """Whether the hypothesis at `place` recombines with the one whose LM states are in ``work.fresh``."""
    if work.held_gap[place] != gap or work.held_mask[place] != mask or work.held_end[place] != end:
        return False
    if work.held_left[place] != left:
        return False
    models = problem.language.info.shape[0]
    model = 0
    while model < models and work.held_state[model, place] == work.fresh[model]:
        model += 1
    if model < models:
        return False
    words = work.cursor[BEAM_WORDS] + 0
    return same_prospects(problem.reordering, option, work.held_option[place] + 0, gap, mask, end, left, words)


@shared
def entry_of(problem, work, option, gap, mask, end, left):
    """Entry of ``work.table`` that holds the hypothesis with this state and ``work.fresh``, or may hold it."""
    hashed = mix(mix(gap * 1024 + end, mask), 0)
    hashed = hash_prospects(problem.reordering, hashed, option, gap, mask, end, left, work.cursor[BEAM_WORDS] + 0)
    for model in range(problem.language.info.shape[0]):
        hashed = mix(hashed, work.fresh[model] + 0)
    entry = first_entry(work.table, hashed)
    while work.table[entry] >= 0 and not same_state(problem, work, work.table[entry] + 0, option, gap, mask, end, left):
        entry += 1
        if entry == work.table.shape[0]:
            entry = 0
    return entry


@shared
def put(problem, beam, work, total, future, node, option, gap, mask, end, left):
    """Put a hypothesis in whose estimate is above the floor: it is new, better than its equal, or given up."""
    entry = entry_of(problem, work, option, gap, mask, end, left)
    place = work.table[entry] + 0
    if place >= 0 and beam.number[BEAM_GRAPH]:
        add_arc(work, place, node, option, total - future)
    if place >= 0 and work.held_total[place] >= total:
        return
    if place < 0:
        if work.cursor[BEAM_HELD] == work.held_total.shape[0]:
            thin_out(problem, beam, work)
            if total <= work.cursor[BEAM_FLOOR]:
                return
            entry = entry_of(problem, work, option, gap, mask, end, left)
        place = work.cursor[BEAM_HELD] + 0
        work.cursor[BEAM_HELD] = place + 1
        work.table[entry] = place
        work.held_gap[place] = gap
        work.held_mask[place] = mask
        work.held_end[place] = end
        work.held_left[place] = left
        work.held_future[place] = future
        for model in range(problem.language.info.shape[0]):
            work.held_state[model, place] = work.fresh[model]
        if beam.number[BEAM_GRAPH]:
            add_arc(work, place, node, option, total - future)
    work.held_total[place] = total
    work.held_option[place] = option
    work.held_back[place] = node
    if total > work.cursor[BEAM_BEST]:
        work.cursor[BEAM_BEST] = total
        work.cursor[BEAM_FLOOR] = max(work.cursor[BEAM_FLOOR] + 0, total - beam.number[BEAM_WIDTH] - 1)


@shared
def add_arc(work, place, node, option, score):
    """Note how a hypothesis can be reached; where the arrays are full, count on."""
    arc = work.cursor[BEAM_ARCS] + 0
    work.cursor[BEAM_ARCS] = arc + 1
    if arc < work.arc_target.shape[0]:
        work.arc_target[arc] = place
        work.arc_source[arc] = node
        work.arc_option[arc] = option
        work.arc_gain[arc] = score - work.score[node]


@shared
def choose_best(beam, work):
    """Mark the best hypotheses of the stack in ``work.place`` (0: stays, -1: goes); raises the floor.

    Returns how many stay: as many as a stack has room for, above the floor. Of equal ones those that came first.
    """
    held = work.cursor[BEAM_HELD] + 0
    room = beam.number[BEAM_STACK] + 0
    lowest = work.cursor[BEAM_FLOOR] + 1
    if held > room:
        for place in range(held):
            work.order[place] = work.held_total[place]
        lowest = max(lowest, nth_largest(work.order, held, room - 1))
    above = 0
    for place in range(held):
        above += work.held_total[place] > lowest
    ties = room - above
    stay = 0
    for place in range(held):
        work.place[place] = -1
        total = work.held_total[place] + 0
        if total > lowest or (total == lowest and ties > 0):
            work.place[place] = 0
            stay += 1
            ties -= total == lowest
    if held > room:
        work.cursor[BEAM_FLOOR] = max(work.cursor[BEAM_FLOOR] + 0, lowest)
    return stay


@shared
def thin_out(problem, beam, work):
    """Drop all but the best hypotheses of a full stack; ``work.fresh`` stays as it is."""
    choose_best(beam, work)
    clear_table(work, work.table.shape[0])
    models = problem.language.info.shape[0]
    words = work.cursor[BEAM_WORDS] + 0
    kept = 0
    for place in range(work.cursor[BEAM_HELD]):
        if work.place[place] < 0:
            continue
        work.place[place] = kept
        work.held_total[kept] = work.held_total[place]
        work.held_option[kept] = work.held_option[place]
        work.held_back[kept] = work.held_back[place]
        work.held_future[kept] = work.held_future[place]
        option = work.held_option[place] + 0
        gap = work.held_gap[place] + 0
        mask = work.held_mask[place] + 0
        end = work.held_end[place] + 0
        left = work.held_left[place] + 0
        work.held_gap[kept] = gap
        work.held_mask[kept] = mask
        work.held_end[kept] = end
        work.held_left[kept] = left
        hashed = mix(mix(gap * 1024 + end, mask), 0)
        hashed = hash_prospects(problem.reordering, hashed, option, gap, mask, end, left, words)
        for model in range(models):
            work.held_state[model, kept] = work.held_state[model, place]
            hashed = mix(hashed, work.held_state[model, kept] + 0)
        entry = first_entry(work.table, hashed)
        while work.table[entry] >= 0:
            entry += 1
            if entry == work.table.shape[0]:
                entry = 0
        work.table[entry] = kept
        kept += 1
    work.cursor[BEAM_HELD] = kept
    if beam.number[BEAM_GRAPH]:
        move_arcs(work)


@shared
def move_arcs(work):
    """Let the arcs of the stack at work lead to where ``work.place`` says; drop those that lead nowhere."""
    last = min(work.cursor[BEAM_ARCS] + 0, work.arc_target.shape[0])
    if last < work.cursor[BEAM_ARCS]:
        return  # the sentence will be searched again, with more room
    kept = work.cursor[BEAM_KEPT] + 0
    for arc in range(kept, last):
        place = work.place[work.arc_target[arc]] + 0
        if place >= 0:
            work.arc_target[kept] = place
            work.arc_source[kept] = work.arc_source[arc]
            work.arc_option[kept] = work.arc_option[arc]
            work.arc_gain[kept] = work.arc_gain[arc]
            kept += 1
    work.cursor[BEAM_ARCS] = kept


@shared
def group_of(work, first, place):
    """The group of a hypothesis among those of the stack, from number `first` on; a new one where there is none.

    The groups' place in the table: ``work.table`` is not needed for hypotheses any more.
    """
    gap = work.held_gap[place] + 0
    mask = work.held_mask[place] + 0
    end = work.held_end[place] + 0
    left = work.held_left[place] + 0
    entry = first_entry(work.table, mix(mix(gap * 1024 + end, mask), left))
    while work.table[entry] >= 0:
        group = first + work.table[entry]
        if (
            work.group_gap[group] == gap
            and work.group_mask[group] == mask
            and work.group_end[group] == end
            and work.group_left[group] == left
        ):
            return group
        entry += 1
        if entry == work.table.shape[0]:
            entry = 0
    return -1 - entry


@shared
def prospect_of(problem, work, place):
    """The best forward reordering score that may follow the hypothesis at a place."""
    return best_prospect(
        problem.reordering,
        work.held_option[place] + 0,
        work.held_gap[place] + 0,
        work.held_mask[place] + 0,
        work.held_end[place] + 0,
        work.held_left[place] + 0,
        work.cursor[BEAM_WORDS] + 0,
    )


@shared
def close_stack(problem, beam, work, covered):
    """Keep the best hypotheses of the stack at work: in groups, in each those first that may come furthest."""
    choose_best(beam, work)
    models = problem.language.info.shape[0]
    stay = 0
    for place in range(work.cursor[BEAM_HELD]):
        if work.place[place] >= 0:
            work.order[stay] = work.held_total[place] + prospect_of(problem, work, place)
            work.place[stay] = place  # in front of what is still to be read
            stay += 1
    sort_falling(work.order, work.place, stay)

    clear_table(work, work.table.shape[0])
    first = work.stack[covered] + 0
    groups = first
    for k in range(stay):
        place = work.place[k] + 0
        group = group_of(work, first, place)
        if group < 0:
            work.table[-1 - group] = groups - first
            group = groups
            groups += 1
            work.group_gap[group] = work.held_gap[place]
            work.group_mask[group] = work.held_mask[place]
            work.group_end[group] = work.held_end[place]
            work.group_left[group] = work.held_left[place]
            work.group_future[group] = work.held_future[place]
            work.group_first[group + 1] = 0
        work.group_first[group + 1] += 1
        work.order[k] = group
    begin = work.group_first[first] + 0
    for group in range(first, groups):
        count = work.group_first[group + 1] + 0
        work.group_first[group + 1] = begin
        begin += count
    # Group g + 1 now begins where group g does: each hypothesis moves its group's end on.
    for k in range(stay):
        place = work.place[k] + 0
        group = work.order[k] + 0
        node = work.group_first[group + 1] + 0
        work.group_first[group + 1] = node + 1
        work.score[node] = work.held_total[place] - work.held_future[place]
        work.reach[node] = work.score[node] + prospect_of(problem, work, place)
        work.option[node] = work.held_option[place]
        work.back[node] = work.held_back[place]
        for model in range(models):
            work.state[model, node] = work.held_state[model, place]
        work.order[k] = node
    work.stack[covered + 1] = groups
    if beam.number[BEAM_GRAPH]:
        turn_places(work, stay)
        move_arcs(work)
        work.cursor[BEAM_KEPT] = work.cursor[BEAM_ARCS]


@shared
def turn_places(work, stay):
    """``work.place`` from the list of hypotheses that stay into the node of each, -1 for those that go."""
    for k in range(stay):
        work.held_back[work.place[k]] = -2 - work.order[k]
    for place in range(work.cursor[BEAM_HELD]):
        work.place[place] = -1
        if work.held_back[place] < -1:
            work.place[place] = -2 - work.held_back[place]
