"""The beam's own view of the translation options, made once for all sentences."""

from gpusearch.kernels.beam_order import backward_score, best_backward, best_forward
from gpusearch.kernels.beam_records import BEAM_POPS, LOWEST
from gpusearch.kernels.language_model import lookup
from gpusearch.kernels.records import LM_WEIGHT, OPTION_SCORE, OPTION_TARGET, OPTION_WORDS
from gpusearch.kernels.target import cpu_driver, shared


@shared
def view_option(problem, beam, option):
    """Estimate, bound, and the states and slack of an option's words."""
    target = problem.option_place[option, OPTION_TARGET] + 0
    words = problem.option_place[option, OPTION_WORDS] + 0
    bound = problem.option_score[option, OPTION_SCORE] + 0
    estimate = bound
    for model in range(problem.language.info.shape[0]):
        weight = problem.language.info[model, LM_WEIGHT]
        state = 0
        for j in range(target, target + words):
            value, state = lookup(problem.language, model, state, problem.target_word[model, j] + 0)
            estimate += weight * value
            bound += weight * problem.word_bound[model, j]
            beam.word_state[model, j] = state
            beam.word_slack[model, j] = value - problem.word_bound[model, j]
        slack = 0
        for k in range(words):
            j = target + words - 1 - k
            mine = beam.word_slack[model, j] + 0
            beam.word_slack[model, j] = slack
            slack += mine
    beam.estimate[option] = estimate
    beam.bound[option] = bound


@shared
def rank_options(problem, beam, row):
    """Order the options of a span by falling key; of equal keys the one that stands first in the problem."""
    first = problem.span[row] + 0
    for turn in range(beam.key.shape[0]):
        for option in range(first, problem.span[row + 1]):
            key = beam.bound[option] + 0
            if beam.number[BEAM_POPS] > 0:
                key = beam.estimate[option] + 0
            key += backward_score(problem.reordering, option, turn)
            place = option
            while place > first and beam.key[turn, place - 1] < key:
                beam.key[turn, place] = beam.key[turn, place - 1]
                beam.ranked[turn, place] = beam.ranked[turn, place - 1]
                place -= 1
            beam.key[turn, place] = key
            beam.ranked[turn, place] = option


@shared
def note_best(problem, beam, row):
    """What the options of a span are worth at best."""
    best = most = LOWEST
    forward = 0
    for option in range(problem.span[row], problem.span[row + 1]):
        behind = best_forward(problem.reordering, option)
        best = max(best, beam.estimate[option] + 0)
        most = max(most, beam.bound[option] + best_backward(problem.reordering, option) + behind)
        forward = max(forward, behind)
    beam.best[row] = best
    beam.most[row] = most
    beam.forward[row] = forward


@cpu_driver
def view_options(problem, beam, first, last):
    """The beam's own view of the options [first, last)."""
    for option in range(first, last):
        view_option(problem, beam, option)


@cpu_driver
def rank_spans(problem, beam, first, last):
    """Order the options of the spans [first, last), and note the best of them."""
    for row in range(first, last):
        rank_options(problem, beam, row)
        note_best(problem, beam, row)
