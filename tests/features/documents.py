"""Translated documents in short: what features see of them, written by hand."""

from __future__ import annotations

from gpusearch.features.text import Phrase, Sentence


def document(*sentences: str) -> list[Sentence]:
    """Sentences written ``source words = target words | source words = target words``, phrases in target order.

    Source words of a phrase stand behind those of the phrase before it; words of a pair are aligned one to one, in
    order, as far as both sides go.
    """
    return [_sentence(text) for text in sentences]


def _sentence(text: str) -> Sentence:
    source: list[str] = []
    phrases = []
    for pair in filter(None, (part.strip() for part in text.split("|"))):
        left, _, right = pair.partition("=")
        here, there = left.split(), right.split()
        points = tuple((k, k) for k in range(min(len(here), len(there))))
        phrases.append(Phrase(len(source), len(source) + len(here), tuple(there), points))
        source += here
    return Sentence(tuple(source), tuple(phrases))
