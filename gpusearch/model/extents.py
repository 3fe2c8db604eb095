"""How far the derivations of a sentence reach: the words of the longest, the largest feature sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusearch.io.compilation import Array, compiled


def longest_derivations(
    words: NDArray[np.int64],
    first_row: NDArray[np.int64],
    span: NDArray[np.int32],
    option_words: NDArray[np.int32],
    longest: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Target words of the longest derivation of each sentence, ``[N]``; 0 for a sentence without one.

    Args:
        words: ``[N]`` source words.
        first_row: ``[N]`` first row of each sentence in `span` (``Problem.span``).
        option_words: ``[O]`` target words.
        longest: ``[N]`` source words of the longest option of each sentence.
    """
    most = np.zeros(len(words), np.int64)
    _longest_derivations(words, first_row, span, option_words, longest, most)
    return most


def largest_sums(
    words: NDArray[np.int64],
    first_option: NDArray[np.int64],
    option_place: NDArray[np.int32],
    option_value: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Bounds ``[N, K']`` of the absolute sums of each feature over any derivation of each sentence.

    A phrase shares its absolute value out to its source words (rounded up); a derivation covers each word once, so
    the sum of each word's largest share bounds it.

    Args:
        first_option: ``[N + 1]`` first option of each sentence, ends with O.
        option_place: ``[O, 4]`` as in ``Problem``: starts with start and length.
        option_value: ``[O, K']``.
    """
    sums = np.zeros((len(words), option_value.shape[1]), np.int64)
    _largest_sums(words, first_option, option_place, option_value, sums)
    return sums


@compiled
def _longest_derivations(
    words: Array, first_row: Array, span: Array, option_words: Array, longest: Array, most: Array
) -> None:
    for sentence in range(len(words)):
        count = words[sentence]
        best = np.full(count + 1, -1, np.int64)
        best[0] = 0
        for start in range(count):
            if best[start] < 0:
                continue
            for length in range(1, min(longest[sentence], count - start) + 1):
                row = first_row[sentence] + start * longest[sentence] + length - 1
                for option in range(span[row], span[row + 1]):
                    total = best[start] + option_words[option]
                    if total > best[start + length]:
                        best[start + length] = total
        most[sentence] = max(best[count], 0)


@compiled
def _largest_sums(words: Array, first_option: Array, place: Array, value: Array, sums: Array) -> None:
    for sentence in range(len(words)):
        share = np.zeros((words[sentence], value.shape[1]), np.int64)
        for option in range(first_option[sentence], first_option[sentence + 1]):
            start = place[option, 0]
            length = np.int64(place[option, 1])
            for k in range(value.shape[1]):
                each = (abs(np.int64(value[option, k])) + length - 1) // length
                for position in range(start, start + length):
                    if each > share[position, k]:
                        share[position, k] = each
        for position in range(words[sentence]):
            for k in range(value.shape[1]):
                sums[sentence, k] += share[position, k]
