"""The readable twin of features that look along a document: language models of their own, the cache of translations."""

from __future__ import annotations

from collections.abc import Sequence

from gpusearch.kernels.language_model import lookup
from gpusearch.kernels.records import LM_BEGIN, LM_END, Problem, Search
from gpusearch.kernels.reference import Phrases, Proposal, document_bound, document_value, lm_bounds
from gpusearch.kernels.reference_features import items, unit_of
from gpusearch.kernels.sequences import ACROSS, BACKWARDS, ENDS, SLACK_BITS, SequenceModel
from gpusearch.kernels.translation_cache import FIRST_ITEM, TABLE, WINDOW, TranslationCache


def read(feature: SequenceModel, phrases: Phrases) -> list[int]:
    """Rows of the words of the sequence in some phrases, in the order in which they are read."""
    order = reversed(phrases) if feature.number[BACKWARDS] else phrases
    return [row for option in order for row in range(int(feature.first[option]), int(feature.first[option + 1]))]


def words(feature: SequenceModel, phrases: Phrases) -> list[int]:
    """The words of the sequence in a sentence, </s> included."""
    end = [int(feature.language.info[0, LM_END])] if feature.number[ENDS] and phrases else []
    return [int(feature.word[row]) for row in read(feature, phrases)] + end


def values(feature: SequenceModel, text: Sequence[int]) -> list[int]:
    """Value of each word of a text that stands behind <s>."""
    found, state = [], int(feature.language.info[0, LM_BEGIN])
    for word in text:
        value, state = lookup(feature.language, 0, state, word)
        found.append(int(value))
    return found


@document_value.version(SequenceModel)
def sequences(feature: SequenceModel, problem: Problem, search: Search, sentences: Sequence[Phrases]) -> int:
    """Of each sentence by itself, or of all together."""
    texts = [words(feature, phrases) for phrases in sentences]
    if feature.number[ACROSS]:
        texts = [[word for text in texts for word in text]]
    return sum(sum(values(feature, text)) for text in texts)


@document_bound.version(SequenceModel)
def sequence_bound(
    feature: SequenceModel,
    weight: int,
    problem: Problem,
    search: Search,
    sentences: Sequence[Phrases],
    local: int,
    proposal: Proposal,
) -> int:
    """Words that are put in by their bounds, words that move by their values, and what follows a seam by its slack.

    A slot's words begin at ``begin[slot]`` of the sentence's text; words that are the same at both ends do not count.
    """
    phrases, first, last = sentences[local], proposal.first, proposal.first + proposal.replaced
    around = sentences if feature.number[ACROSS] else [phrases]
    front = sum(len(words(feature, one)) for one in around[:local]) if feature.number[ACROSS] else 0
    text = [word for one in around for word in words(feature, one)]
    present = values(feature, text)
    own = problem._replace(language=feature.language)

    def slack(place: int) -> int:
        behind = text[place:]
        total = sum(lm_bounds(own, 0, behind)) - sum(present[place:])
        rounded = -(-abs(total) >> SLACK_BITS) << SLACK_BITS
        return rounded if total > 0 else -rounded

    def begin(slots: Phrases) -> int:
        return front + len(read(feature, slots))

    backwards = bool(feature.number[BACKWARDS])
    low = begin(phrases[last:] if backwards else phrases[:first])
    high = begin(phrases[first:] if backwards else phrases[:last])
    fresh: list[tuple[int, int | None]] = []  # row of each word, and the place that it had
    pairs = list(zip(proposal.options, proposal.origins, strict=True))
    for option, origin in reversed(pairs) if backwards else pairs:
        rows = read(feature, [option])
        place = None
        if origin >= 0:
            place = begin(phrases[origin + 1 :] if backwards else phrases[:origin])
        fresh += [(row, None if place is None else place + k) for k, row in enumerate(rows)]
    while low < high and fresh and feature.word[fresh[0][0]] == text[low]:
        del fresh[0]
        low += 1
    while low < high and fresh and feature.word[fresh[-1][0]] == text[high - 1]:
        del fresh[-1]
        high -= 1
    if low == high and not fresh:
        return 0
    total = -sum(present[low:high])
    before: int | None = low - 1
    for row, place in fresh:
        total += int(feature.bound[row]) if place is None else present[place]
        if place is not None and (before is None or place != before + 1):
            total += slack(place)
        before = place
    if high < len(text) and (before is None or high != before + 1):
        total += slack(high)
    return weight * total


@document_value.version(TranslationCache)
def cache(feature: TranslationCache, problem: Problem, search: Search, sentences: Sequence[Phrases]) -> int:
    """Sentence by sentence with each of those before it."""
    options = [option for phrases in sentences for option in phrases]
    if not options:
        return 0
    first = int(feature.unit[unit_of(problem, options[0]), FIRST_ITEM])
    counts = [items(problem, int(feature.number[TABLE]), [phrases]) for phrases in sentences]
    total = 0
    for later in range(len(counts)):
        for earlier in range(max(0, later - int(feature.number[WINDOW])), later):
            for item, count in counts[later].items():
                if feature.begin[first + item] < feature.begin[first + item + 1]:
                    total += count * counts[earlier][item] * int(feature.decay[later - earlier])
    return total
