"""Tags that should be nested over a whole document, as Docent has it (well-formedness-model).

The tags of a document are read from its first to its last, with a stack of those that are open. A conflict is a closing
tag that is not the one of the last tag that is open (it is passed over, and the stack stays as it is), and an opening
tag that nothing has closed in the end.

What a sentence does to any stack follows from what is left of its tags where those that close each other are taken
away: closing tags, which look for theirs in front of the sentence, then opening ones. A closing tag behind an opening
one of its own sentence finds it or is a conflict *within*, whatever stands in front. So a lane keeps of each sentence
what is left and the conflicts within, and a document is read by what its sentences leave.

A proposal whose phrases have no tags costs a look at them; another one reads the tags of its sentence, and where these
leave something else than before what all sentences leave.
"""

from typing import NamedTuple

from gpusearch.kernels.document import delta, full, keep
from gpusearch.kernels.operations import phrase
from gpusearch.kernels.records import SENTENCE_SLOT, UNIT_FIRST_SENTENCE, UNIT_SENTENCES, VALUE_BITS, Array
from gpusearch.kernels.target import shared

# Indices of WellFormedness.number.
CONFLICTS, MOST_TAGS = range(2)
# Columns of a sentence in State.count: conflicts within; closing and opening tags that are left; the first of these.
WITHIN, CLOSING, OPENING, LEFT = range(4)


class WellFormedness(NamedTuple):
    """-(conflicts of a unit).

    Work space: what is left of the tags of a sentence, then of those of the unit.
    """

    number: Array  # int64[2]: column of State.sum of the conflicts; most tags of a sentence
    column: Array  # int64[N]: first column of State.count of each sentence
    first: Array  # int64[O + 1]: first tag of each option
    tag: Array  # int32[*]: t > 0: the tag t is opened; -t: it is closed


@shared
def read_tag(work, begin, closing, opening, tag):
    """Read a tag behind those that are left, `closing` and `opening` ones from `begin` on: how many there are of either
    kind then, and whether it is a conflict."""
    last = begin + closing + opening
    conflict = 0
    if tag < 0 and opening > 0:
        if work[last - 1] == -tag:
            opening -= 1
        else:
            conflict = 1
    else:
        work[last] = tag
        closing += tag < 0
        opening += tag > 0
    return closing, opening, conflict


@shared
def read_sentence(feature, problem, state, scratch, lane, local, sentence, first, replaced, count):
    """Put what is left of the tags of a sentence with a proposal to it into the work space: closing tags, opening ones,
    and conflicts within."""
    slots = problem.sentence[sentence, SENTENCE_SLOT] + 0
    closing = 0
    opening = 0
    within = 0
    for k in range(state.length[lane, local] - replaced + count):
        if k < first:
            option = state.option[lane, slots + k] + 0
        elif k < first + count:
            option = scratch.option[k - first] + 0
        else:
            option = state.option[lane, slots + k - count + replaced] + 0
        for row in range(feature.first[option], feature.first[option + 1]):
            tag = feature.tag[row] + 0
            closing, opening, conflict = read_tag(scratch.changed.work, 0, closing, opening, tag)
            within += conflict
    return closing, opening, within


@shared
def is_kept(feature, state, work, lane, sentence, closing, opening):
    """Whether a sentence leaves what stands in the work space already."""
    column = feature.column[sentence] + 0
    same = state.count[lane, column + CLOSING] == closing and state.count[lane, column + OPENING] == opening
    for k in range(closing + opening):
        same = same and state.count[lane, column + LEFT + k] == work[k]
    return same


@shared
def keep_sentence(feature, state, work, lane, sentence, closing, opening, within):
    """Write down what a sentence leaves."""
    column = feature.column[sentence] + 0
    state.count[lane, column + WITHIN] = within
    state.count[lane, column + CLOSING] = closing
    state.count[lane, column + OPENING] = opening
    for k in range(closing + opening):
        state.count[lane, column + LEFT + k] = work[k]


@shared
def conflicts_of_unit(feature, problem, state, work, lane, changed, many, within):
    """Conflicts of a unit by what its sentences leave; of the sentence `changed` that is `many` tags of the work space,
    behind so many conflicts `within`."""
    unit = state.unit[lane]
    begin = feature.number[MOST_TAGS] + 0
    closing = 0
    opening = 0
    total = within + 0
    for local in range(problem.unit[unit, UNIT_SENTENCES]):
        column = feature.column[problem.unit[unit, UNIT_FIRST_SENTENCE] + local] + 0
        left = many + 0
        if local != changed:
            total += state.count[lane, column + WITHIN]
            left = state.count[lane, column + CLOSING] + state.count[lane, column + OPENING]
        for k in range(left):
            tag = work[k] + 0
            if local != changed:
                tag = state.count[lane, column + LEFT + k] + 0
            closing, opening, conflict = read_tag(work, begin, closing, opening, tag)
            total += conflict
    return total + closing + opening


@full.version(WellFormedness)
def full_well_formedness(feature, problem, search, state, scratch, lane):
    work = scratch.changed.work
    unit = state.unit[lane]
    for local in range(problem.unit[unit, UNIT_SENTENCES]):
        sentence = problem.unit[unit, UNIT_FIRST_SENTENCE] + local
        closing, opening, within = read_sentence(feature, problem, state, scratch, lane, local, sentence, 0, 0, 0)
        keep_sentence(feature, state, work, lane, sentence, closing, opening, within)
    conflicts = conflicts_of_unit(feature, problem, state, work, lane, -1, 0, 0)
    state.sum[lane, feature.number[CONFLICTS]] = conflicts
    return -conflicts << VALUE_BITS


@shared
def has_tags(feature, problem, state, scratch, lane, change):
    """Whether a phrase that a proposal puts in, takes away or moves has tags."""
    found = False
    if feature.tag.shape[0] > 0:
        for k in range(change.count):
            option = scratch.option[k]
            found = found or feature.first[option + 1] > feature.first[option]
        for slot in range(change.first, change.first + change.replaced):
            option = phrase(problem, state, lane, change.sentence, slot)
            found = found or feature.first[option + 1] > feature.first[option]
    return found


@shared
def read_proposal(feature, problem, state, scratch, lane, change):
    """What `read_sentence` does with a proposal, and the conflicts of the unit then."""
    work = scratch.changed.work
    closing, opening, within = read_sentence(
        feature,
        problem,
        state,
        scratch,
        lane,
        change.local,
        change.sentence,
        change.first,
        change.replaced,
        change.count,
    )
    if is_kept(feature, state, work, lane, change.sentence, closing, opening):
        conflicts = state.sum[lane, feature.number[CONFLICTS]] + within
        conflicts -= state.count[lane, feature.column[change.sentence] + WITHIN]
    else:
        conflicts = conflicts_of_unit(feature, problem, state, work, lane, change.local, closing + opening, within)
    return closing, opening, within, conflicts


@delta.version(WellFormedness)
def change_of_well_formedness(feature, problem, search, state, scratch, lane, change):
    if not has_tags(feature, problem, state, scratch, lane, change):
        return 0
    _, _, _, conflicts = read_proposal(feature, problem, state, scratch, lane, change)
    return (state.sum[lane, feature.number[CONFLICTS]] - conflicts) << VALUE_BITS


@keep.version(WellFormedness)
def keep_well_formedness(feature, problem, search, state, scratch, lane, change):
    if has_tags(feature, problem, state, scratch, lane, change):
        closing, opening, within, conflicts = read_proposal(feature, problem, state, scratch, lane, change)
        keep_sentence(feature, state, scratch.changed.work, lane, change.sentence, closing, opening, within)
        state.sum[lane, feature.number[CONFLICTS]] = conflicts
