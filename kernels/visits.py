"""Which sentence of a unit a step works on: a chain stays with one for a *visit*, a number of steps in a row.

Options and look-ups of one sentence fit a cache, those of a document do not. Visits are as long as the steps so far
allow if every sentence is to be seen in each doubling of them, so that early steps change the sentence each time. Their
sentences come in proportion to their source words, and as evenly as can be: a visit takes the sentence of the word at
the fractional part of (a random start + its number * golden ratio), whose gaps are never far from equal.
"""

from gpusearch.kernels.philox import (
    CHAIN,
    KEY0,
    KEY1,
    MASK,
    SENTENCE,
    STEP,
    VISIT_BEGIN,
    VISIT_END,
    VISIT_START,
    VISIT_WORD,
    philox,
)
from gpusearch.kernels.records import LONGEST_VISIT, UNIT_FIRST_WORD, UNIT_SENTENCES, UNIT_WORDS
from gpusearch.kernels.target import shared

# The golden ratio's fractional part in 2^-32, made odd.
GOLDEN = 0x9E3779B9
# Visits a sentence, on average, while the steps of a chain double.
VISITS = 8


@shared
def visited_sentence(problem, search, random, unit):
    """The sentence of a unit, counted within it, that the step of the open stream works on."""
    sentences = problem.unit[unit, UNIT_SENTENCES]
    if sentences == 1:
        return 0
    step = random[STEP]
    if step < random[VISIT_BEGIN] or step >= random[VISIT_END]:
        begin_visit(random, step, sentences, search.number[LONGEST_VISIT])
    word = random[VISIT_WORD] * problem.unit[unit, UNIT_WORDS] >> 32
    return problem.word[problem.unit[unit, UNIT_FIRST_WORD] + word] + 0


@shared
def begin_visit(random, step, sentences, longest):
    """Write down the visit that a step is part of."""
    if random[VISIT_END] == 0:  # of another chain, or of none
        random[VISIT_START], _, _, _ = philox(0, 0, random[CHAIN], SENTENCE, random[KEY0], random[KEY1])
    doubling = 1
    while 2 * doubling <= step:
        doubling *= 2
    length = 1
    while 2 * length <= longest and 2 * length * VISITS * sentences <= doubling:
        length *= 2
    number = step // length
    random[VISIT_BEGIN] = number * length
    random[VISIT_END] = (number + 1) * length
    random[VISIT_WORD] = (random[VISIT_START] + (number & MASK) * GOLDEN) & MASK
