"""Language models that are asked on the host: what they have answered so far (`records.Host`).

A step that needs an answer which is not there leaves its question and changes nothing. When the host has answered,
the step is made once more: it draws the same proposal, and comes one word further at least.
"""

from gpusearch.kernels.records import HOST_FIRST, HOST_LENGTH_BITS, HOST_PLACES, HOST_REACH
from gpusearch.kernels.target import optional, shared, wrapping_product

# Odd, below 2^63. The product may wrap around when compiled: the bits that are kept are the same either way.
MULTIPLIER = 0x2545F4914F6CDD1D
MASK = 0xFFFFFFFF
LENGTH = (1 << HOST_LENGTH_BITS) - 1
EMPTY = -1
# State behind a word whose value is not known yet.
UNANSWERED = -1

KEY, ENTRY = range(2)


def _not_there(host, model):
    return False


@optional(_not_there)
def on_host(host, model):
    """Whether a language model is asked on the host."""
    return host.info[model, HOST_PLACES] > 0


def _no_reach(host, model):
    return 0


@optional(_no_reach)
def host_reach(host, model):
    """How many words back a language model on the host looks; 0 for others."""
    return host.info[model, HOST_REACH] + 0


@shared
def first_answer(key, places):
    """The place where the search for a key begins, in [0, places)."""
    return (((wrapping_product(key, MULTIPLIER) >> 31) & MASK) * places) >> 32


def _no_answer(host, question, model, state, word, key):
    return 0, 0


@optional(_no_answer)
def known_answer(host, question, model, state, word, key):
    """Value of a word in a state, and the state behind it; `UNANSWERED` and the question where it was not asked yet."""
    first = host.info[model, HOST_FIRST]
    places = host.info[model, HOST_PLACES]
    place = first_answer(key, places)
    while True:
        there = host.answer[first + place, KEY]
        if there == key:
            entry = host.answer[first + place, ENTRY]
            return entry >> 32, entry & MASK
        if there == EMPTY:
            question[0] = model
            question[1] = state
            question[2] = word
            return 0, UNANSWERED
        place += 1
        if place == places:
            place = 0
