"""Filling what `host.py` looks up, between launches; on the host only."""

from gpusearch.kernels.host import EMPTY, ENTRY, KEY, MASK, UNANSWERED, first_answer
from gpusearch.kernels.language_tables import find_row
from gpusearch.kernels.target import cpu_driver, shared


@shared
def find_answer(answer, key):
    """Row of a key in a model's table, or of the empty place for it."""
    places = answer.shape[0]
    place = first_answer(key, places)
    while answer[place, KEY] != key and answer[place, KEY] != EMPTY:
        place += 1
        if place == places:
            place = 0
    return place


@shared
def put_answers(answer, keys, entries):
    """Put answers into a model's table, which has room for them; returns how many are new there."""
    fresh = 0
    for row in range(keys.shape[0]):
        place = find_answer(answer, keys[row] + 0)
        fresh += answer[place, KEY] == EMPTY
        answer[place, KEY] = keys[row]
        answer[place, ENTRY] = entries[row]
    return fresh


@shared
def follow_answers(answer, keys, following):
    """The states behind words whose keys are given; `UNANSWERED` where a model's table does not say."""
    for row in range(keys.shape[0]):
        place = find_answer(answer, keys[row] + 0)
        following[row] = UNANSWERED if answer[place, KEY] == EMPTY else answer[place, ENTRY] & MASK


@shared
def number_states(table, known, count, states, number):
    """Numbers of states, rows of word ids: those of equal rows of ``known``, where new ones are put behind `count`.

    ``table`` (see `language_tables.find_row`) and ``known`` have room for them. Returns the new count.
    """
    for row in range(states.shape[0]):
        place = find_row(table, known, states, row, 0, states.shape[1])
        if table[place] < 0:
            for column in range(states.shape[1]):
                known[count, column] = states[row, column]
            table[place] = count
            count += 1
        number[row] = table[place]
    return count


put_answers_cpu = cpu_driver(put_answers)
follow_answers_cpu = cpu_driver(follow_answers)
number_states_cpu = cpu_driver(number_states)
