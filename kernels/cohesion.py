"""Source-tree cohesion (Bach, Vogel and Cherry 2009, algorithms 1 to 5): interruptions of subtrees, in integers.

A step from one phrase to the next is interrupted where words below some node n have been begun, the next phrase is
not inside T(n), and T(n) is not complete with it. The nodes that the algorithms climb to are those whose head's
subtree holds all words of the next phrase while their own does not, so T(n) of different ones share no word:

- words are numbered so that T(n) is a range of numbers (`Trees.node`);
- the next phrase is inside T(n) if the least and the greatest number of its words are;
- a word that several foci lead to is counted once by looking whether an earlier focus stands inside T(n).

A word that stands for several tokens (or for a part of one) is complete when all of its tokens are, and begun when one
of them is; a token's words are all those that it overlaps.

What stands before and behind the slots that a proposal replaces keeps its covered words, so the change of a
sentence's cohesion is that of the steps to the slots replaced and to the one behind them.
"""

from typing import NamedTuple

from gpusearch.kernels.options import behind, first_of
from gpusearch.kernels.records import SENTENCE_SLOT, Array
from gpusearch.kernels.target import shared

# Columns of Trees.sentence, .token, .node.
TREE_TOKEN, TREE_NODE, TREE_WORDS = range(3)
TOKEN_LEAST, TOKEN_GREATEST, TOKEN_WORD, TOKEN_LAST = range(4)
NODE_STOP, NODE_HEAD, NODE_TOKENS, NODE_KIND = range(4)
# Parts of speech that Coh5 counts.
OTHER, VERB, NOUN = range(3)


class Trees(NamedTuple):
    """Dependency trees of all sentences. Words of a sentence are numbered in preorder, from 0."""

    # int32[N, 4]: first row of `token`, first row of `node`, words (0: no tree), 0
    sentence: Array
    # int32[*, 4]: least and greatest number of the token's words (no words: more than all, -1); its first place in
    # `word`, and the one behind its last
    token: Array
    # int32[*]: the words of the tokens
    word: Array
    # int32[*, 4]: number behind the last word of T(n); the head's number or -1; tokens of the word; its part of speech
    node: Array


@shared
def open_words(trees, sentence, missing):
    """No token is covered: of each word all tokens are ``missing``, int32[words at least]."""
    nodes = trees.sentence[sentence, TREE_NODE]
    for number in range(trees.sentence[sentence, TREE_WORDS]):
        missing[number] = trees.node[nodes + number, NODE_TOKENS]


@shared
def cover_words(trees, sentence, missing, covers, by):
    """Cover the tokens of a packed span (`by` = 1), or uncover them (-1)."""
    row = trees.sentence[sentence, TREE_TOKEN]
    for token in range(row + first_of(covers), row + behind(covers)):
        for place in range(trees.token[token, TOKEN_WORD], trees.token[token, TOKEN_LAST]):
            number = trees.word[place] + 0
            missing[number] = missing[number] - by


@shared
def bounds_of(trees, sentence, covers):
    """Least and greatest number of the words of a packed span."""
    row = trees.sentence[sentence, TREE_TOKEN]
    least = trees.sentence[sentence, TREE_WORDS] + 0
    greatest = -1
    for token in range(row + first_of(covers), row + behind(covers)):
        least = min(least, trees.token[token, TOKEN_LEAST] + 0)
        greatest = max(greatest, trees.token[token, TOKEN_GREATEST] + 0)
    return least, greatest


@shared
def is_inside(trees, nodes, number, least, greatest):
    """Whether the words of these bounds are all in T(number)."""
    return number <= least and greatest < trees.node[nodes + number, NODE_STOP]


@shared
def count_missing(trees, nodes, missing, number):
    """(words, verbs, nouns) of T(number) that are not complete."""
    words = 0
    verbs = 0
    nouns = 0
    for below in range(number, trees.node[nodes + number, NODE_STOP]):
        if missing[below] > 0:
            kind = trees.node[nodes + below, NODE_KIND]
            words += 1
            verbs += kind == VERB
            nouns += kind == NOUN
    return words, verbs, nouns


@shared
def interruption_from_ends(trees, sentence, missing, before, covers):
    """Algorithms 1, 3 and 5: (whether interrupted, words, verbs, nouns) of the step from a packed span to the next.

    The foci are the words of the first and the last token of the span `before`; `missing` has `covers` covered.
    """
    nodes = trees.sentence[sentence, TREE_NODE] + 0
    row = trees.sentence[sentence, TREE_TOKEN] + 0
    least, greatest = bounds_of(trees, sentence, covers)
    left = row + first_of(before)
    right = row + behind(before) - 1
    words = 0
    verbs = 0
    nouns = 0
    # Foci in their order: those of the first token, then those of the last where it is another one.
    first = trees.token[left, TOKEN_WORD] + 0
    turn = trees.token[left, TOKEN_LAST] + 0
    more = 0
    if right != left:
        more = trees.token[right, TOKEN_LAST] - trees.token[right, TOKEN_WORD]
    for focus in range(turn - first + more):
        number = trees.word[focus_place(trees, first, turn, right, focus)] + 0
        if not is_inside(trees, nodes, number, least, greatest):
            above = trees.node[nodes + number, NODE_HEAD] + 0
            while above >= 0 and not is_inside(trees, nodes, above, least, greatest):
                number = above
                above = trees.node[nodes + number, NODE_HEAD] + 0
            counted = False
            for earlier in range(focus):
                other = trees.word[focus_place(trees, first, turn, right, earlier)] + 0
                counted |= number <= other and other < trees.node[nodes + number, NODE_STOP]
            if not counted:
                more_words, more_verbs, more_nouns = count_missing(trees, nodes, missing, number)
                words += more_words
                verbs += more_verbs
                nouns += more_nouns
    return min(words, 1), words, verbs, nouns


@shared
def focus_place(trees, first, turn, right, focus):
    """Place in ``trees.word`` of a focus, counted through the words of the first token and those of the last."""
    if first + focus < turn:
        return first + focus
    return trees.token[right, TOKEN_WORD] + (first + focus - turn)


@shared
def interruption_from_all(trees, sentence, missing, covers):
    """Algorithms 2 and 4: the same from all words begun before `covers` was; `missing` has it covered."""
    nodes = trees.sentence[sentence, TREE_NODE] + 0
    least, greatest = bounds_of(trees, sentence, covers)
    words = 0
    verbs = 0
    nouns = 0
    number = 0
    while number < trees.sentence[sentence, TREE_WORDS]:
        if is_inside(trees, nodes, number, least, greatest):
            number += 1
            continue
        stop = trees.node[nodes + number, NODE_STOP] + 0
        begun = False
        below = number
        while below < stop and not begun:
            tokens = trees.node[nodes + below, NODE_TOKENS] - missing[below]
            # The tokens of `covers` do not count as begun.
            begun = tokens > 0 and tokens > tokens_within(trees, sentence, below, covers, least, greatest)
            below += 1
        if begun:
            more_words, more_verbs, more_nouns = count_missing(trees, nodes, missing, number)
            words += more_words
            verbs += more_verbs
            nouns += more_nouns
        number = stop
    return min(words, 1), words, verbs, nouns


@shared
def tokens_within(trees, sentence, number, covers, least, greatest):
    """How many tokens of a word are in a packed span, whose words have these bounds."""
    count = 0
    if least <= number and number <= greatest:
        row = trees.sentence[sentence, TREE_TOKEN] + 0
        for token in range(row + first_of(covers), row + behind(covers)):
            for place in range(trees.token[token, TOKEN_WORD], trees.token[token, TOKEN_LAST]):
                count += trees.word[place] == number
    return count


@shared
def interruption(trees, sentence, missing, before, covers, exhaustive):
    """(whether interrupted, words, verbs, nouns) of one step; `before` is -1 in front of the first phrase."""
    if exhaustive:
        return interruption_from_all(trees, sentence, missing, covers)
    if before < 0:
        return 0, 0, 0, 0
    return interruption_from_ends(trees, sentence, missing, before, covers)


@shared
def cohesion_of_slots(trees, problem, state, lane, sentence, missing, first, last, exhaustive):
    """Sums over the steps to the slots first .. last - 1 of a sentence; covers their words.

    ``missing`` comes with the words of the slots before `first` covered.
    """
    slots = problem.sentence[sentence, SENTENCE_SLOT] + 0
    before = -1
    if first > 0:
        before = state.covers[lane, slots + first - 1] + 0
    return cohesion_of_steps(
        trees, sentence, missing, before, state.covers[lane], slots + first, slots + last, exhaustive
    )


@shared
def cohesion_of_steps(trees, sentence, missing, before, covers, begin, end, exhaustive):
    """Sums over the steps to the phrases begin .. end - 1 of a row of spans, the first from `before`; covers them."""
    interruptions = 0
    words = 0
    verbs = 0
    nouns = 0
    for place in range(begin, end):
        span = covers[place] + 0
        cover_words(trees, sentence, missing, span, 1)
        one, more_words, more_verbs, more_nouns = interruption(trees, sentence, missing, before, span, exhaustive)
        interruptions += one
        words += more_words
        verbs += more_verbs
        nouns += more_nouns
        before = span
    return interruptions, words, verbs, nouns


@shared
def cohesion_of_sentence(trees, problem, state, lane, local, sentence, missing, exhaustive):
    """(interruptions, words, verbs, nouns) of a whole sentence of a state; `local` counts within the unit."""
    open_words(trees, sentence, missing)
    return cohesion_of_slots(trees, problem, state, lane, sentence, missing, 0, state.length[lane, local], exhaustive)


@shared
def change_of_cohesion(
    trees, problem, state, scratch, lane, local, sentence, missing, first, replaced, count, exhaustive
):
    """By how much a proposal changes (interruptions, words, verbs, nouns) of its sentence; exact.

    Changes nothing but ``missing``, work space for the words of the longest tree.
    """
    slots = problem.sentence[sentence, SENTENCE_SLOT] + 0
    if trees.sentence[sentence, TREE_WORDS] == 0 or (
        count == 1 and replaced == 1 and scratch.covers[0] == state.covers[lane, slots + first]
    ):
        return 0, 0, 0, 0
    open_words(trees, sentence, missing)
    for slot in range(first):
        cover_words(trees, sentence, missing, state.covers[lane, slots + slot] + 0, 1)
    following = min(first + replaced + 1, state.length[lane, local] + 0)
    old_interruptions, old_words, old_verbs, old_nouns = cohesion_of_slots(
        trees, problem, state, lane, sentence, missing, first, following, exhaustive
    )
    for slot in range(first, following):
        cover_words(trees, sentence, missing, state.covers[lane, slots + slot] + 0, -1)
    before = -1
    if first > 0:
        before = state.covers[lane, slots + first - 1] + 0
    interruptions, words, verbs, nouns = cohesion_of_steps(
        trees, sentence, missing, before, scratch.covers, 0, count, exhaustive
    )
    if count > 0:
        before = scratch.covers[count - 1] + 0
    more_interruptions, more_words, more_verbs, more_nouns = cohesion_of_steps(
        trees, sentence, missing, before, state.covers[lane], slots + first + replaced, slots + following, exhaustive
    )
    return (
        interruptions + more_interruptions - old_interruptions,
        words + more_words - old_words,
        verbs + more_verbs - old_verbs,
        nouns + more_nouns - old_nouns,
    )
